"""Further ways to break a system or its specification."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from breaks import (
    IMPORTS,
    UNUSED,
    Break,
    audited,
    copied,
    keep_counterexample,
    leave_tests_out,
    record_other_class,
    record_other_seed,
    replaced_in,
    row,
    said_anew,
    says,
    together,
    trait,
    without,
)
from gatesystems import AT_ONCE, COST, Heads, recorded

from twice.foundation.determinism_class import Predicate

IN_PROCESS = Predicate.parse(["bit-exact"], "process")
DICE = (
    (IMPORTS, f"{IMPORTS}\nimport random\n"),
    (
        "    for _ in run.ticks",
        '    dice = random.Random(SEED)\n    run.streams.adopt("dice", dice)\n    for _ in run.ticks',
    ),
    ("        weather.step()\n", "        weather.step()\n        dice.random()\n"),
)
"""A generator of the program's own, which the run governs."""


def accepted(place: str) -> Callable[[Heads], None]:
    """Accept a place that draws, with its reason."""
    return says("02", accepted=[{"place": place, "why": "looked at"}])


def name_dice(heads: Heads) -> None:
    heads["02"]["names"].append({"stream": "dice", "component": "herd"})
    heads["03"]["slots"].append({"stream": "dice", "owner": "herd", "kind": "other"})


def under(predicate: Predicate) -> Callable[[Path], None]:
    """Record the vector under another class, whose digest 01 says."""

    def change(project: Path) -> None:
        said_anew(project, recorded(project, predicate=predicate))

    return change


def concurrent(heads: Heads) -> None:
    """Declare what runs at once, in the sheets that are there."""
    trait("concurrency", here=True)(heads)
    row("04", "state", 6, answer="re-derived")(heads)


MORE = (
    Break(11, "tasks that 00 does not have", edits=AT_ONCE),
    Break(
        11,
        "tasks that hang on who comes first",
        "L",
        edits=(
            (" * push for at", " * (push + self.wind) for at"),
            (
                "        weather.step()\n\n",
                "        weather.step()\n        herd.wind = weather.wind\n\n",
            ),
            ("        self.food = 100\n", "        self.food = 100\n        self.wind = 0\n"),
        ),
    ),
    Break(11, "another model", "L", sheets=says("07", model=["threads"])),
    Break(12, "nobody pins BLAS", "L", sheets=without("08", "pins", 0)),
    Break(12, "fusing is forbidden", "L", sheets=says("08", fma="forbidden")),
    Break(
        12,
        "sums that hang on the number of threads",
        "L",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport threadpoolctl\n"),
            (
                "        self.food -= 1\n",
                "        self.food -= sum(each['num_threads'] for each in threadpoolctl.threadpool_info())\n",
            ),
        ),
    ),
    Break(3, "an audit that looks elsewhere", sheets=says("02", audit=["tests"])),
    Break(14, "an effects audit that looks elsewhere", sheets=says("10", audit=["tests"])),
    Break(8, "sources that leave the program out", sheets=says("00", sources=["tests"])),
    Break(8, "an encoding that is copied", sheets=audited, files=copied),
    Break(
        14,
        "an effect that the boundary does not name",
        "S",
        sheets=without("13", "boundary", 1),
    ),
    Break(14, "an open world at tier M", sheets=says("01", closed_world=False)),
    Break(
        4,
        "first draws that do not come out",
        sheets=row("03", "vectors", 0, draws=["0" * 16]),
    ),
    Break(
        14,
        "a mock in the core",
        edits=((IMPORTS, f"{IMPORTS}\nfrom unittest.mock import Mock\n\nSTUB = Mock\n"),),
    ),
    Break(
        3,
        "the one generator of the process",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport random\n"),
            ("self.rng.random()", "random.random()"),
        ),
        also=frozenset({4}),
    ),
    Break(
        3,
        "draws that nothing comes of",
        edits=(
            ("float(self.rng.random()) * push", "push + 0 * self.rng.random()"),
            ("randrange(10)", "randrange(1)"),
        ),
    ),
    Break(10, "a vector of another class", files=record_other_class, in_place=True),
    Break(10, "a vector of another seed", files=record_other_seed, in_place=True),
    Break(10, "a vector of another configuration", sheets=says("00", config=["n=2", "ticks=5"])),
    Break(5, "a component that names nothing", sheets=says("04", components=[{"name": "flock"}])),
    Break(14, "an operation that no row names", sheets=row("10", "inventory", 0, what="the clock")),
    Break(
        14,
        "a sheet of effects beside their absence",
        sheets=trait("external-effects", here=False),
    ),
    Break(16, "settings that leave tests out", files=leave_tests_out),
    Break(16, "a counterexample that nobody replays", files=keep_counterexample),
    Break(17, "the cost of another program", files=replaced_in(COST, "herd.py:main", "b.py:main")),
    Break(17, "a total that is no number", files=replaced_in(COST, "12.5", "NaN")),
    Break(17, "a budget that was found broken", files=replaced_in(COST, "inside", "breach")),
    Break(17, "a cost of no code", files=replaced_in(COST, '"code": {', '"cod": {')),
    Break(
        11,
        "a thread that asks nothing",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport threading\n"),
            (
                "    herd = run.track",
                "    threading.Thread(target=len, args=([],)).start()\n    herd = run.track",
            ),
        ),
    ),
    Break(
        3,
        "a generator that was adopted with a seed of its own",
        edits=(*DICE, ("SEED", "4")),
        sheets=together(name_dice, accepted("src/herd.py:main")),
    ),
    Break(
        12, "floats below tier L that 00 does not have", sheets=trait("floating-point", here=False)
    ),
    Break(
        16,
        "a law that only a comment names",
        files=replaced_in(
            "tests/test_laws.py", "def test_seed_isolation", "# seed_isolation\ndef test_x"
        ),
    ),
    Break(
        16,
        "a law that only a docstring names",
        files=replaced_in(
            "tests/test_laws.py",
            "def test_restore_idempotence():\n",
            'def test_y():\n    """The restore_idempotence."""\n',
        ),
    ),
    Break(1, "a trait without its reason", sheets=row("00", "traits", 6, why="?")),
    Break(1, "a goal that nobody named", sheets=says("00", goals="?")),
    Break(6, "a difference planted at no place", sheets=row("05", "planted", 0, field="[0]")),
    Break(6, "a step to no operation", sheets=says("05", procedure=["compare-points"])),
    Break(7, "an operation for nobody", sheets=row("06", "operations", 0, workload="?")),
    Break(9, "a whole without a rule", sheets=says("99", rule="?")),
    Break(15, "a library of another version", sheets=row("11", "pins", 0, version="0.0.1")),
    Break(15, "pickle as the rule", sheets=says("11", rule="pickle")),
    Break(13, "a mode of precision that nobody stated", "L", sheets=without("09", "knobs", 4)),
    Break(
        1, "what runs at once below the tier that asks how", "S", edits=AT_ONCE, sheets=concurrent
    ),
    Break(
        2,
        "a scope that the sentence does not say",
        sheets=says("01", scope="process"),
        files=under(IN_PROCESS),
        in_place=True,
    ),
    Break(
        6,
        "a difference that heals before it is compared",
        edits=(("self.age += 1", "self.age = min(self.age + 1, 2)"),),
        sheets=row("05", "planted", 0, field="age"),
    ),
    Break(
        11,
        "a thread that no run starts",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport threading\n"),
            (UNUSED, f"def aside():\n    threading.Thread(target=len).start()\n\n\n{UNUSED}"),
        ),
    ),
)
