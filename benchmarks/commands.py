"""CPU time of whole commands and of what a start imports, over that of bare Python: of all their processes, those that they leave included.

Usage: python benchmarks/commands.py [--rounds N] [--small] [--output FILE.jsonl] [--against SRC]

A program that ends with its PID namespace, because its parent does not wait for it, is not counted; so a checkout whose
commands leave such processes looks cheaper than it is.

``--against`` names the ``src`` folder of another checkout, which is measured in turn with this one, command
by command, so that both meet the same machine; a ratio is of two times that were taken one after the other. Goals, in milliseconds: ``record`` and ``verify`` of a
script that prints one word 250, ``verify --restores`` with six snapshots 700, ``twice --help`` 80.
"""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import measuring

SET_CHILD_SUBREAPER = 36
OWN = Path(__file__).parents[1] / "src"
SIX_SNAPSHOTS = """
def main(run):
    seen = run.track("seen", [])
    for tick in run.ticks(60):
        seen.append(tick)
"""
PREPARED = (
    ("record", "word.py", "--seed", "1", "-o", "word.twice"),
    ("record", "six.py:main", "--seed", "1", "-o", "six.twice", "--snapshots", "every=10"),
)
TWICE = ("-m", "twice")
COMMANDS = {
    "imports of a recording": ("-c", "import twice.recorder.__main__"),
    "imports of a replay": ("-c", "import twice.replayer.__main__"),
    "twice --help": (*TWICE, "--help"),
    "record --help": (*TWICE, "record", "--help"),
    "record": (*TWICE, "record", "word.py", "--seed", "1", "-o", "again.twice", "--force"),
    "verify": (*TWICE, "verify", "word.twice", "--no-statement"),
    "verify --restores": (*TWICE, "verify", "six.twice", "--no-statement", "--restores"),
}


def cpu_ms(
    command: Sequence[str], folder: str, source: Path, *, codes: Container[int] = (0,)
) -> float:
    """Return the CPU time of a command and of all that it waited for, in milliseconds; it ends with one of the codes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Byte code is written, as installed packages have it; images of containers forbid that by a variable.
    environ = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, check=False)
    assert done.returncode in codes, done.stderr.decode()
    with suppress(ChildProcessError):
        while (
            True
        ):  # processes that a command leaves to the system become this one's (see adopt_orphans)
            os.waitpid(-1, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def figures(rounds: int, against: Path | None) -> Iterator[dict[str, object]]:
    """Yield a figure for each command and checkout."""
    sources = {"": OWN, **({} if against is None else {", before": against.resolve()})}
    bare: list[float] = []
    times: dict[tuple[str, str], list[float]] = {(n, m): [] for n in COMMANDS for m in sources}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "word.py").write_text("print(1)\n", encoding="utf-8")
        Path(folder, "six.py").write_text(SIX_SNAPSHOTS, encoding="utf-8")
        for prepared in PREPARED:
            cpu_ms([sys.executable, *TWICE, *prepared], folder, OWN)
        for turn in range(rounds + 1):  # the first one writes byte code, and does not count
            began = cpu_ms([sys.executable, "-c", "pass"], folder, OWN)
            bare += [began] * bool(turn)
            for (name, mark), taken in times.items():
                spent = cpu_ms([sys.executable, *COMMANDS[name]], folder, sources[mark])
                taken += [spent - began] * bool(turn)
    yield {"figure": "bare Python", "unit": "ms"} | measuring.spread(bare, 0)
    for (name, mark), taken in times.items():
        yield {"figure": f"{name}{mark}", "unit": "ms"} | measuring.spread(taken, 0)
        if mark:
            ratios = [now / before for now, before in zip(times[name, ""], taken, strict=True)]
            yield {"figure": f"{name}, over before", "unit": "x"} | measuring.spread(ratios)


def adopt_orphans() -> None:
    """Let this process wait for what its children leave behind."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)


def main() -> None:
    """Measure and print."""
    adopt_orphans()
    chosen = measuring.options(
        "commands", __doc__.splitlines()[0], rounds=15,
        arrange=lambda parser: parser.add_argument("--against", type=Path, metavar="SRC"),
    )  # fmt: skip
    measuring.tell("commands", figures(chosen.rounds, chosen.against), chosen.output)


if __name__ == "__main__":
    main()
