"""Fifty-one ways to break a system or its specification, three for each check, each with what turns red.

A break of the code is made before anything is recorded and consolidated: test vector, costs and sheet 99 are
those of the broken code, so that only what is wrong with it is wrong. A break of a sheet is locked like any
honest change, unless it is the lock that is broken.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gatesystems import COST, HERD, VECTOR, Heads, costs, locked, recorded

from twice.foundation.determinism_class import Predicate
from twice.specification.location import FOLDER
from twice.specification.lock import Owed, read_lock
from twice.testing.counterexamples import Example, KeptExample, keep

Edit = tuple[str, str]


def nothing(heads: Heads) -> None:
    del heads


def untouched(project: Path) -> None:
    del project


@dataclass(frozen=True)
class Break:
    """One way to break it.

    Args:
        check: the check that has to turn red.
        name: what was broken, in words.
        tier: of the system that is broken.
        edits: what is changed in the code before anything is recorded.
        sheets: changes what the sheets say.
        files: changes files after everything was written and locked.
        in_place: whether the system has to be built where it is broken.
        also: other checks that turn red with it: a miss.
    """

    check: int
    name: str
    tier: str = "M"
    edits: tuple[Edit, ...] = ()
    sheets: Callable[[Heads], None] = nothing
    files: Callable[[Path], None] = untouched
    in_place: bool = False
    also: frozenset[int] = frozenset()

    def __str__(self) -> str:
        return f"{self.check}-{self.name.replace(' ', '-')}"


def says(number: str, **values: Any) -> Callable[[Heads], None]:
    """Let a sheet say something else; ``type_`` stands for a key that Python keeps for itself."""

    def change(heads: Heads) -> None:
        heads[number].update({key.rstrip("_"): value for key, value in values.items()})

    return change


def row(number: str, key: str, at: int, **values: Any) -> Callable[[Heads], None]:
    """Let one item of a list say something else."""

    def change(heads: Heads) -> None:
        heads[number][key][at].update(values)

    return change


def without(number: str, key: str, at: int) -> Callable[[Heads], None]:
    """Take one item out of a list."""

    def change(heads: Heads) -> None:
        del heads[number][key][at]

    return change


def together(*changes: Callable[[Heads], None]) -> Callable[[Heads], None]:
    def change(heads: Heads) -> None:
        for each in changes:
            each(heads)

    return change


def gone(number: str) -> Callable[[Heads], None]:
    def change(heads: Heads) -> None:
        del heads[number]

    return change


def trait(name: str, *, here: bool) -> Callable[[Heads], None]:
    def change(heads: Heads) -> None:
        for each in heads["00"]["traits"]:
            if each["name"] == name:
                each["here"] = here

    return change


def replaced_in(path: str, old: str, new: str) -> Callable[[Path], None]:
    def change(project: Path) -> None:
        text = (project / path).read_text(encoding="utf-8")
        assert old in text, old
        (project / path).write_text(text.replace(old, new), encoding="utf-8")

    return change


def _vector_gone(project: Path) -> None:
    (project / VECTOR).unlink()


def _code_goes_on(project: Path) -> None:
    """Change the code and measure its costs anew, but do not record the vector."""
    source = project / "src" / "herd.py"
    source.write_text(HERD.replace("randrange(10)", "randrange(12)"), encoding="utf-8")
    (project / COST).write_text(json.dumps(costs(project)), encoding="utf-8")


def record_other_class(project: Path) -> None:
    recorded(project, predicate=Predicate.parse(["logical"]))


def record_other_seed(project: Path) -> None:
    said_anew(project, recorded(project, seed=8))


def said_anew(project: Path, digest: str) -> None:
    """Say the vector's digest in 01, which decides nothing there."""
    sheet = project / FOLDER / "01-determinism-class.md"
    lines = sheet.read_text(encoding="utf-8").split("\n")
    told = [f'vector_digest: "{digest}"' if "vector_digest" in each else each for each in lines]
    sheet.write_text("\n".join(told), encoding="utf-8")


def leave_tests_out(project: Path) -> None:
    (project / "tests" / "pytest.ini").write_text("[pytest]\npython_functions = test_replay*\n")


def keep_counterexample(project: Path) -> None:
    found = KeptExample("seed_isolation", "herd:main", Example({}, 0, {"at": 1}))
    keep(project / "tests" / "examples", found)


def _owed(project: Path) -> None:
    path = project / FOLDER / "spec.lock"
    lock = read_lock(path)
    owed = Owed("06", "05", "05.compare-points", "the replay loop emits them", breaks=False)
    path.write_text(replace(lock, owed=(owed,)).text(), encoding="utf-8")


def audited(heads: Heads) -> None:
    trait("audit-log", here=True)(heads)
    heads["04"]["audit_encoding"] = "docs/audit.md"


def copied(project: Path) -> None:
    lines = [f"{word} of the log is written in its canonical form, in order" for word in "ABCD"]
    (project / "docs").mkdir()
    (project / "docs" / "audit.md").write_text("\n".join(lines), encoding="utf-8")
    sheet = project / FOLDER / "04-snapshot-strategy.md"
    sheet.write_text(sheet.read_text(encoding="utf-8") + "\n".join(lines), encoding="utf-8")
    locked(project)


IMPORTS = '"""A herd that walks, and the wind that pushes it."""\n'
UNUSED = "def lane(name):\n"

BREAKS = (
    Break(1, "a sheet that the tier needs is not there", sheets=gone("12")),
    Break(1, "two sheets declare two tiers", sheets=says("01", tier="S")),
    Break(1, "nobody answers for a sheet", sheets=says("05", owner="?")),
    Break(2, "a vague sentence", sheets=says("01", predicate="the system is deterministic")),
    Break(2, "people disagree", sheets=says("01", contested=True)),
    Break(
        2,
        "the sentence of another scope",
        sheets=says(
            "01",
            predicate="two runs are equivalent iff on any host, the canonical bytes of their state are "
            "equal at every compare-point",
        ),
    ),
    Break(
        3,
        "a generator without a seed",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport random\n"),
            (UNUSED, f"def jitter():\n    return random.Random().random()\n\n\n{UNUSED}"),
        ),
    ),
    Break(3, "a sub-seed that is not derived so", sheets=row("02", "vectors", 0, seed="0" * 32)),
    Break(3, "a stream that is not named", sheets=without("02", "names", 1)),
    Break(
        4,
        "one generator for a whole module",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport random\n\nRNG = random.Random(4)\n"),
            (UNUSED, f"def jitter():\n    return RNG.random()\n\n\n{UNUSED}"),
        ),
        also=frozenset({3}),  # and its seed is a literal
    ),
    Break(4, "a stream without a slot", sheets=without("03", "slots", 1)),
    Break(4, "a stream with two owners", sheets=row("03", "slots", 1, owner="herd")),
    Break(
        5,
        "state that a restore forgets",
        edits=(
            (
                '        self.food = state["food"]\n        self.age = state["age"]\n',
                '        self.food = state["food"]\n',
            ),
            (
                "        self.age += 1\n",
                "        self.age += 1\n        self.food -= int(self.age == 4)\n",
            ),
        ),
    ),
    Break(5, "streams that a snapshot leaves out", sheets=row("04", "state", 1, answer="accepted")),
    Break(5, "a cadence that is none", sheets=says("04", cadence="now and then")),
    Break(6, "logs are compared", sheets=says("05", procedure=["structured-comparison"])),
    Break(6, "a digest that is none", sheets=says("05", hash="a checksum")),
    Break(6, "a component that is not compared", sheets=says("05", projection=["flock"])),
    Break(7, "branching is called reading", sheets=row("06", "operations", 2, kind="read-only")),
    Break(7, "branches that nobody makes", sheets=trait("branching", here=False)),
    Break(7, "nobody says how sessions end", sheets=says("06", lifecycle="?")),
    Break(8, "findings that no sheet covers", sheets=says("99", findings=[])),
    Break(
        8,
        "another finding is covered",
        sheets=says("99", findings=[{"sheet": "02", "rules": ["time-seed"]}]),
    ),
    Break(8, "a reference to nowhere", sheets=audited),
    Break(
        9,
        "a change without a version",
        files=replaced_in(f"{FOLDER}/05-divergence-protocol.md", "a year", "a month"),
    ),
    Break(
        9,
        "a step that is too small",
        files=replaced_in(
            f"{FOLDER}/01-determinism-class.md",
            'version: "1.0.0"',
            'version: "1.0.1"\ntolerates: ["text"]',
        ),
    ),
    Break(9, "a sheet that is owed", files=_owed),
    Break(10, "the vector is gone", files=_vector_gone),
    Break(10, "another digest", sheets=says("01", vector_digest=f"blake3:{'0' * 32}")),
    Break(10, "a vector of other code", files=_code_goes_on, in_place=True),
    Break(
        11,
        "a schedule in no form",
        "L",
        sheets=row("07", "subsystems", 0, strategy="recorded-schedule"),
    ),
    Break(
        11,
        "mostly deterministic",
        "L",
        sheets=row("07", "subsystems", 0, how="mostly deterministic on N cores"),
    ),
    Break(11, "nobody says what depends on the schedule", "L", sheets=says("07", sensitive="?")),
    Break(12, "another library", "L", sheets=row("08", "pins", 0, version="1.0.0")),
    Break(12, "more threads than a library can have", "L", sheets=says("08", threads=1024)),
    Break(12, "subnormal numbers are not flushed", "L", sheets=says("08", denormals="flushed")),
    Break(13, "a switch that chooses by speed", "L", sheets=row("09", "knobs", 2, value="true")),
    Break(13, "a switch that nobody set", "L", sheets=without("09", "knobs", 3)),
    Break(13, "nobody says which driver", "L", sheets=says("09", driver="?")),
    Break(
        14,
        "a question beside the layer",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport time\n"),
            (
                "        self.wind = self.rng.randrange(10)\n",
                "        self.wind = self.rng.randrange(10) + int(time.time() < 0)\n",
            ),
        ),
    ),
    Break(14, "a source that is not listed", sheets=row("10", "inventory", 0, source="filesystem")),
    Break(
        14,
        "an effect that cannot be substituted",
        sheets=row("10", "inventory", 0, substitutable=False),
    ),
    Break(
        15,
        "an answer that does not come out",
        sheets=row("11", "vectors", 0, value='{"a": [2, 1]}'),
    ),
    Break(15, "another digest than runs have", sheets=says("11", hash="sha256")),
    Break(
        15,
        "state is pickled",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport pickle\n"),
            (UNUSED, f"def saved(herd):\n    return pickle.dumps(herd.state())\n\n\n{UNUSED}"),
        ),
    ),
    Break(16, "a law that the tier asks for", sheets=without("12", "properties", 3)),
    Break(
        16,
        "a law that does not hold",
        files=replaced_in("tests/test_laws.py", "(3, 5)\n", "(4, 5)\n"),
    ),
    Break(16, "a database that is not there", sheets=says("12", database="tests/nowhere")),
    Break(17, "a cost that was guessed", sheets=row("13", "rules", 0, rule="snapshot")),
    Break(17, "a budget that is broken", sheets=says("13", budget_percent=5)),
    Break(
        17, "something crosses as itself", sheets=row("13", "boundary", 0, crosses_as="whatever")
    ),
)
