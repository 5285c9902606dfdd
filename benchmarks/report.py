"""Write ``benchmarks/README.md`` from the result files: goals first, then every figure.

Usage: python benchmarks/report.py

Of each figure the last line of its file counts. Whether a goal is met is decided here from the data;
a goal that is missed needs a page in ``notes/`` with the profile and the next step, and without one
the report is refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import measuring

REPORT = measuring.FOLDER / "README.md"
NOTES = measuring.FOLDER / "notes"
Line = dict[str, object]
_ABOUT = {"benchmark", "machine", "python", "commit"}

INTRODUCTION = """\
# Benchmarks

Written by `python benchmarks/report.py` from `benchmarks/results/*.jsonl`; do not edit it by hand.
`python benchmarks/run_all.py` measures everything anew (`pip install -e '.[bench,gymnasium,mujoco]'` first) and writes
this page; each file in this folder also runs alone.

Figures are medians with the lowest and highest round. Times are CPU time unless a table says
otherwise, so that a busy machine shows less; the load when a figure was taken stands beside it.
"""


@dataclass(frozen=True)
class Goal:
    """What was promised, and which figures tell.

    Attributes:
        name: a note ``missed-NAME.md`` says why, where it is missed.
        text: the promise.
        benchmark: whose results.
        picks: whether a figure belongs to the goal.
        limit: what the worst figure is held against.
        unit: of the figures.
        least: whether the figures must reach the limit instead of staying below it.
    """

    name: str
    text: str
    benchmark: str
    picks: Callable[[Line], bool]
    limit: float
    unit: str
    least: bool = False


def _inside(line: Line, cadence: str) -> bool:
    """Whether a tick is no bigger than the goal speaks of."""
    sizes = (line["components"], line["scalars"], line["bytes"])
    limits = (4, 40, 32 * 1024)
    small = all(int(str(size)) <= limit for size, limit in zip(sizes, limits, strict=True))
    return small and str(line["figure"]).endswith(cadence)


def _is(figure: str) -> Callable[[Line], bool]:
    return lambda line: line["figure"] == figure


def _named(*words: str) -> Callable[[Line], bool]:
    return lambda line: all(word in str(line["figure"]) for word in words)


GOALS = (
    Goal(
        "tick", "recording adds at most 50 us to a tick (5 % of 1 ms) up to 4 components, 40 "
        "scalars, 32 KB", "overhead", lambda line: _inside(line, "no snapshots"), 50, "us",
    ),
    Goal(
        "tick-snapshots", "the same with the default snapshots, every 100 ticks",
        "overhead", lambda line: _inside(line, "default snapshots"), 50, "us",
    ),
    Goal(
        "clock", "one clock read recorded costs at most 300 ns above raw, burst and sustained",
        "effects", lambda line: _named("time, ", "recorded")(line), 300, "ns",
    ),
    Goal(
        "replay", "verifying is at least as fast as recording",
        "replaying", _named("against record"), 1, "x", least=True,
    ),
    Goal(
        "difference", "the first difference of two logs of 10 million points in at most 100 ms",
        "record", _named("first difference", "both open"), 100, "ms",
    ),
    Goal(
        "snapshot", "a snapshot of 64 MB with 1 % of its pages changed writes at most 4 %",
        "record", _named("snapshot of 64 MB", "bytes of 1 %"), 0.04, "of full",
    ),
    Goal(
        "import", "import twice takes less than 150 ms",
        "import_time", _named("import twice"), 150, "ms",
    ),
    Goal(
        "help", "twice --help takes at most 80 ms of CPU over bare Python",
        "commands", _is("twice --help"), 80, "ms",
    ),
    Goal(
        "record", "recording a script that prints one word takes at most 250 ms of CPU over bare Python",
        "commands", _is("record"), 250, "ms",
    ),
    Goal(
        "verify", "and verifying it at most 250 ms",
        "commands", _is("verify"), 250, "ms",
    ),
    Goal(
        "restores", "and verifying a run with six restores at most 700 ms",
        "commands", _is("verify --restores"), 700, "ms",
    ),
    Goal(
        "ring", "a step of the simulated loop costs at most 1.1 times one of asyncio's on a ring of tokens",
        "schedules", _is("token ring, 100 tasks: twice, random to asyncio"), 1.1, "x",
    ),
    Goal(
        "crowd", "and at most 1.5 times with 1,000 tasks ready",
        "schedules", _is("1,000 tasks ready: twice, random to asyncio"), 1.5, "x",
    ),
    Goal(
        "recorded-loop", "an echo server and its clients in a recorded loop cost at most 1.03 times asyncio alone",
        "recorded_loop", _is("echo: --loop recorded to asyncio"), 1.03, "x",
    ),
    Goal(
        "schedules", "a small lost update is executed under at least 10,000 schedules in a second",
        "schedules", _is("lost update: twice"), 10_000, "schedules/s", least=True,
    ),
    Goal(
        "scene", "the fingerprint of 10,000 objects of real Blender takes at most 2.5 s of CPU time",
        "scenes", _named("10,000 objects, blender"), 2.5, "s",
    ),
    Goal(
        "environment", "measuring the environment with probes takes less than 300 ms",
        "environment", _named("with probes"), 300, "ms",
    ),
    Goal(
        "profiles", "under a floating-point profile at most one probe, torch.sqrt, differs on an emulated processor",
        "float_profiles", _named(", x86-64-", "differing"), 1, "probes",
    ),
    Goal(
        "planted", "ten planted differences of numeric policy are named, and held or stopped",
        "planted_policies", _named("named and held, of 10"), 10, "plants", least=True,
    ),
    Goal(
        "governed-read", "a recorded read of clock, entropy or a variable costs at most 300 ns above raw",
        "world", _named("added by twice"), 300, "ns",
    ),
    Goal(
        "http", "a recorded HTTP round trip takes at most 5 % longer",
        "world", _named("HTTP round trip, twice to raw"), 1.05, "x",
    ),
    Goal(
        "precision", "at most one in twenty findings on labelled sites is a false alarm",
        "findings", _named("corpus: precision"), 0.95, "of sites", least=True,
    ),
    Goal(
        "recall", "at least 85 % of labelled true sites are found",
        "findings", _named("corpus: recall"), 0.85, "of sites", least=True,
    ),
    Goal(
        "noise", "at most 2 findings of medium or above for each 1,000 lines of public code",
        "findings", _named("medium or above"), 2, "per kLOC",
    ),
    Goal(
        "noise-high", "at most 0.5 findings of high or above for each 1,000 lines of public code",
        "findings", _named("high or above"), 0.5, "per kLOC",
    ),
    Goal(
        "check", "twice check reads 100,000 lines in a second of one process, values not followed",
        "checking", _named("twice, one process, not followed: lines by CPU"), 100_000, "lines/s", least=True,
    ),
    Goal(
        "check-followed", "and 60,000 with values followed",
        "checking", _named("twice, one process, followed: lines by CPU"), 60_000, "lines/s", least=True,
    ),
    Goal(
        "check-two", "in two processes 180,000, by wall clock",
        "checking", _named("twice, two processes, not followed: lines by wall"), 180_000, "lines/s", least=True,
    ),
    Goal(
        "check-two-followed", "and 110,000 with values followed",
        "checking", _named("twice, two processes, followed: lines by wall"), 110_000, "lines/s", least=True,
    ),
    Goal(
        "check-warm", "what was checked before is checked again at 750,000 lines in a second (150,000 in 200 ms)",
        "checking", _named("twice, warm: lines by wall"), 750_000, "lines/s", least=True,
    ),
    Goal(
        "clock-bytes", "a recorded clock read takes at most 16 bytes",
        "world", _named("bytes of a record for each clock read"), 16, "bytes",
    ),
    Goal(
        "below-import", "seeing the files of any code costs at most 5 % of an import of torch, wall clock",
        "below_python", _named("import of torch: with this layer", "wall"), 1.05, "x",
    ),
    Goal(
        "below-nothing", "and at most 1 % of CPU of a program that touches no file of its own",
        "below_python", _named("no file touched: with this layer", "cpu"), 1.01, "x",
    ),
    Goal(
        "assets-gate", "the gate judges ten thousand assets with their logs in at most 20 s",
        "assets_gate", _named("gate, "), 20, "s",
    ),
    Goal(
        "ask", "a question about 100,000 catalogued records, known to be unchanged, takes at most 1 s",
        "catalogue", _named("question"), 1000, "ms",
    ),
    Goal(
        "page-drawn", "the page of 10 million compare-points is drawn within a second",
        "page", _named("drawn"), 1000, "ms",
    ),
    Goal(
        "page-frames", "it pans at 30 frames per second or more",
        "page", _named("frames"), 30, "per s", least=True,
    ),
    Goal("page-memory", "it takes at most 300 MB", "page", _named("memory"), 300, "MB"),
    Goal(
        "twin-msgspec", "with the compiled twin, a state is encoded in less time than msgspec takes",
        "compiled", lambda line: str(line["figure"]).endswith(": compiled to msgspec"), 1, "x",
    ),
    Goal(
        "twin-nodes", "and 150,000 nodes with their digest in at most 3.1 ms",
        "compiled", _is("encoding 150,001 nodes: compiled, with digest"), 3100, "us",
    ),
    Goal(
        "twin-small", "and a state of 72 nodes in at most 1.5 us",
        "compiled", _is("encoding 72 nodes: compiled"), 1.5, "us",
    ),
    Goal(
        "twin-effect", "with the twin, a declared effect costs at most 1 us",
        "compiled", _is("@effect call, burst: compiled"), 1000, "ns",
    ),
    Goal(
        "twin-tick", "with the twin, recording adds at most 10 us to a tick of 4 components, 40 scalars, 32 KB",
        "compiled", _is("tick, 4 components, 40 scalars, 32 KB, added: compiled"), 10, "us",
    ),
    Goal(
        "twin-cartpole", "with the twin, a recorded loop of CartPole takes at most 2.5 times as long",
        "compiled", _is("CartPole-v1, recorded to bare: compiled"), 2.5, "x",
    ),
    Goal(
        "twin-ant", "and one of Ant at most 1.15 times",
        "compiled", _is("Ant-v5, recorded to bare: compiled"), 1.15, "x",
    ),
)  # fmt: skip


def named(line: Line) -> Line:
    """Convert a result line to one shape: figure, value, unit, lowest, highest, ratio to twice."""
    if "encoder" in line:
        shape: Line = {"figure": f"{line['state']}: {line['encoder']}", "unit": "us"}
        if "refuses" in line:
            return line | shape | {"value": "refuses", "ratio": ""}
        ratio = (
            f"{line['to_twice_median']} ({line['to_twice_lowest']} .. {line['to_twice_highest']})"
        )
        return line | shape | {"value": line["cpu_us_median"], "ratio": ratio}
    if "figure" in line:
        return line
    if "way" not in line:
        return _guessed(line)
    shape = {"figure": f"{line['task']}: {line['way']}", "unit": "ms", "value": line.get("ms")}
    base = next((key for key in line if key.startswith("to_")), None)
    if base is None:
        return line | shape | {"value": line["share"], "unit": "of full", "ratio": ""}
    said = f"{line[base]} ({line['lowest']} .. {line['highest']}) to {base.removeprefix('to_')}"
    return {**line, **shape, "ratio": said, "lowest": None, "highest": None}


def _guessed(line: Line) -> Line:
    """Name a line of another shape by its texts; take its first number with a unit as its value."""
    words = [
        str(value) for key, value in line.items() if isinstance(value, str) and key not in _ABOUT
    ]
    timed = [key for key in line if key.split("_")[0] in {"ns", "us", "ms", "s"}]
    value = line[timed[0]] if timed else ""
    unit = timed[0].split("_")[0] if timed else ""
    return line | {"figure": ", ".join(words), "value": value, "unit": unit, "ratio": ""}


def latest(benchmark: str) -> list[Line]:
    """Return the last line of each figure and Python, in the order of first appearance."""
    path = measuring.RESULTS / f"{benchmark}.jsonl"
    if not path.exists():
        return []
    lines = [named(json.loads(text)) for text in path.read_text("utf-8").splitlines()]
    return list({(str(line["figure"]), _python(line)): line for line in lines}.values())


def _python(line: Line) -> str:
    return ".".join(str(line["python"]).split(".")[:2])


def verdict(goal: Goal) -> tuple[str, Line | None]:
    """``met``, ``missed`` or ``not measured``, with the worst figure."""
    found = [line for line in latest(goal.benchmark) if goal.picks(line)]
    if not found:
        return "not measured", None
    worst = min(found, key=_value) if goal.least else max(found, key=_value)
    value = _value(worst)
    met = value >= goal.limit if goal.least else value <= goal.limit
    return ("met" if met else "missed"), worst


def _value(line: Line) -> float:
    return float(str(line["value"]))


def lines() -> Iterator[str]:
    """Yield the lines of the whole report."""
    yield INTRODUCTION
    yield "## Goals\n"
    yield "| goal | worst figure | spread | goal value | result |\n|---|---|---|---|---|"
    missed = []
    for goal in GOALS:
        said, worst = verdict(goal)
        if said == "missed":
            missed.append(goal)
        sign = "≥" if goal.least else "≤"
        figure = "" if worst is None else f"{worst['value']} {goal.unit} ({worst['figure']})"
        spread = "" if worst is None else _spread(worst)
        yield f"| {goal.text} | {figure} | {spread} | {sign} {goal.limit:g} {goal.unit} | **{said}** |"
    yield ""
    for goal in missed:
        note = NOTES / f"missed-{goal.name}.md"
        if not note.exists():
            raise SystemExit(f"The goal {goal.name} is missed and {note.name} is not written.")
        yield f"### Missed: {goal.text}\n\n{note.read_text('utf-8').strip()}\n"
    for path in sorted(measuring.RESULTS.glob("*.jsonl")):
        yield from _table(path.stem)
        note = NOTES / f"{path.stem}.md"
        if note.exists():
            yield f"{note.read_text('utf-8').strip()}\n"


def _spread(line: Line) -> str:
    given = line.get("lowest") is not None and line.get("highest") is not None
    return f"{line['lowest']} .. {line['highest']}" if given else str(line.get("ratio", ""))


def _table(benchmark: str) -> Iterator[str]:
    found = latest(benchmark)
    yield f"## {benchmark}\n"
    yield "| figure | median | unit | lowest .. highest, or ratio | Python | load | commit |\n|---|---|---|---|---|---|---|"
    for line in found:
        yield (
            f"| {line['figure']} | {line['value']} | {line['unit']} | {_spread(line)} "
            f"| {_python(line)} | {line.get('load', '')} | {line['commit']} |"
        )
    conditions = sorted({f"{line['machine']}, Python {line['python']}" for line in found})
    yield f"\nTaken on: {'; '.join(conditions)}.\n"


def text() -> str:
    """Return the text of ``README.md``."""
    return "\n".join(lines()).rstrip() + "\n"


def write() -> None:
    """Write ``README.md``."""
    REPORT.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(write())
