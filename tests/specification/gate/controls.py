"""For each break its nearest innocent variant: it touches what the break touches, and nothing turns red.

What tells a break from its control is what the check is about; a control that leaves the system as it was would
only show that an unbroken system is green.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from breaks import (
    IMPORTS,
    UNUSED,
    Break,
    audited,
    replaced_in,
    row,
    said_anew,
    says,
    together,
    trait,
    without,
)
from gatesystems import (
    AT_ONCE,
    COST,
    HERD,
    SENTENCE,
    VECTOR,
    Heads,
    costs,
    heads_at,
    locked,
    recorded,
)
from more_breaks import DICE, IN_PROCESS, accepted, concurrent, name_dice, under

from twice.specification.location import FOLDER
from twice.specification.lock import read_lock

Change = Callable[[Heads], None]
CORES = len(os.sched_getaffinity(0))
ASIDE = (IMPORTS, f"{IMPORTS}\nimport threading\n")
_LINES = [f"{word} of the log is written in its canonical form, in order" for word in "ABCD"]


def unsaid(number: str, key: str) -> Change:
    """Let a sheet not say something."""

    def change(heads: Heads) -> None:
        del heads[number][key]

    return change


def also(number: str, key: str, *more: Any) -> Change:
    """Let a list say more."""

    def change(heads: Heads) -> None:
        heads[number][key] = [*heads[number].get(key, []), *more]

    return change


def reordered(number: str, key: str) -> Change:
    def change(heads: Heads) -> None:
        heads[number][key].reverse()

    return change


def with_tasks(heads: Heads) -> None:
    """Declare what runs at once, with the sheet that answers for it."""
    concurrent(heads)
    heads["07"] = heads_at("L")["07"]
    heads["02"]["workers"] = "rank"
    if "12" in heads:
        heads["12"]["properties"].append("schedule-independence")


def _other_sheet(heads: Heads) -> None:
    for each in heads["99"]["findings"]:
        each["sheet"] = "05"


def _there(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "audit.md").write_text("\n".join(_LINES), encoding="utf-8")


def _two_lines(project: Path) -> None:
    _there(project)
    sheet = project / FOLDER / "04-snapshot-strategy.md"
    sheet.write_text(sheet.read_text("utf-8") + "\n".join(_LINES[:2]), encoding="utf-8")
    locked(project)


def _note(project: Path) -> None:
    with (project / FOLDER / "05-divergence-protocol.md").open("a", encoding="utf-8") as file:
        file.write("\n## Notes\n\nA month would do as well.\n")


def _major(project: Path) -> None:
    path = f"{FOLDER}/01-determinism-class.md"
    replaced_in(path, 'version: "1.0.0"', 'version: "2.0.0"\ntolerates: ["text"]')(project)
    locked(project)


def _acknowledged(project: Path) -> None:
    path = project / FOLDER / "spec.lock"
    told = {"sheet": "06", "because": "05", "reason": "it emits the same"}
    path.write_text(replace(read_lock(path), acknowledged=(told,)).text(), encoding="utf-8")


def _moved_vector(project: Path) -> None:
    (project / VECTOR).rename((project / VECTOR).with_name("known.twice"))


def _recorded_again(project: Path) -> None:
    said_anew(project, recorded(project))


def _goes_on_whole(project: Path) -> None:
    source = project / "src" / "herd.py"
    source.write_text(HERD.replace("randrange(10)", "randrange(12)"), encoding="utf-8")
    (project / COST).write_text(json.dumps(costs(project)), encoding="utf-8")
    _recorded_again(project)


def _with_seed_8(project: Path) -> None:
    said_anew(project, recorded(project, seed=8))


def _kept_elsewhere(project: Path) -> None:
    (project / "tests" / "kept").mkdir()
    (project / "tests" / "kept" / "README.md").write_text("Found examples.\n", encoding="utf-8")


def _described(project: Path) -> None:
    (project / "tests" / "examples" / "README.md").write_text("Found examples.\n", encoding="utf-8")


def _all_tests(project: Path) -> None:
    (project / "tests" / "pytest.ini").write_text("[pytest]\npython_functions = test_*\n")


def _cost_of_more_code(project: Path) -> None:
    from twice.foundation.digests import Algorithm, digest_bytes

    document = costs(project)
    laws = (project / "tests" / "test_laws.py").read_bytes()
    document["code"]["tests/test_laws.py"] = str(digest_bytes(laws, Algorithm.SHA256))
    (project / COST).write_text(json.dumps(document), encoding="utf-8")


_FILES = {
    "source": "filesystem", "what": "the map: files.read", "pattern": "record-and-replay",
    "substitutable": True,
}  # fmt: skip
_LIMIT = {"what": "the news", "crosses_as": "input", "why": "it cannot be recorded"}
_IDLE = {"stream": "idle", "component": "herd"}
_SEED = heads_at("M")["02"]["vectors"][0]["seed"]
_DRAWS = heads_at("M")["03"]["vectors"][0]["draws"]
_DICE = "        self.places = [at + float(self.rng.random()) * push for at in self.places]\n"

CONTROLS: dict[str, Break] = {
    "a sheet that the tier needs is not there": Break(
        1, "a sheet that the tier does not need is not there", sheets=lambda heads: heads.pop("11")
    ),
    "two sheets declare two tiers": Break(
        1, "two sheets declare another tier",
        sheets=together(
            says("00", tier="S"), says("01", tier="S"), unsaid("04", "ownership"),
            unsaid("05", "cross_process"),
        ),
    ),
    "nobody answers for a sheet": Break(1, "others answer for it", sheets=says("05", owner="others")),
    "a trait without its reason": Break(
        1, "a trait with another reason", sheets=row("00", "traits", 6, why="nobody audits it")
    ),
    "a goal that nobody named": Break(
        1, "two goals", sheets=says("00", goals=["bugs come back", "what if"])
    ),
    "what runs at once below the tier that asks how": Break(
        1, "what runs at once with its sheet", "S", edits=AT_ONCE, sheets=with_tasks
    ),
    "a vague sentence": Break(
        2, "the sentence in other letters", sheets=says("01", predicate=f"{SENTENCE.capitalize()}.")
    ),
    "people disagree": Break(2, "a change is tolerated", sheets=says("01", tolerates=["text"])),
    "the sentence of another scope": Break(
        2, "another scope with its sentence",
        sheets=says("01", scope="process", predicate=IN_PROCESS.sentence()),
        files=under(IN_PROCESS), in_place=True,
    ),
    "a scope that the sentence does not say": Break(
        2, "another scope and its sentence in other letters",
        sheets=says("01", scope="process", predicate=IN_PROCESS.sentence().capitalize()),
        files=under(IN_PROCESS), in_place=True,
    ),
    "a generator without a seed": Break(
        3, "a generator that is handed in",
        edits=((UNUSED, f"def jitter(rng):\n    return rng.random()\n\n\n{UNUSED}"),),
    ),
    "a sub-seed that is not derived so": Break(
        3, "a sub-seed written without its prefix",
        sheets=row("02", "vectors", 0, seed=_SEED.removeprefix("0x")),
    ),
    "a stream that is not named": Break(
        3, "a name that no stream has", sheets=also("02", "names", _IDLE)
    ),
    "an audit that looks elsewhere": Break(
        3, "an audit that looks elsewhere too", sheets=says("02", audit=["src", "tests"])
    ),
    "the one generator of the process": Break(
        3, "the module of that generator",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport random\n"),
            (_DICE, f"{_DICE}        assert random.Random\n"),
        ),
    ),
    "a generator that was adopted with a seed of its own": Break(
        3, "a generator that was adopted with a seed of the run",
        edits=(*DICE, ("SEED", 'run.streams.seed_for("dice").value')), sheets=name_dice,
    ),
    "draws that nothing comes of": Break(
        3, "draws that little comes of", edits=(("randrange(10)", "randrange(2)"),)
    ),
    "one generator for a whole module": Break(
        4, "a shared generator that is accepted",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport random\n\nRNG = random.Random(4)\n"),
            (UNUSED, f"def jitter():\n    return RNG.random()\n\n\n{UNUSED}"),
        ),
        sheets=together(
            accepted("src/herd.py"),
            says("03", shared=[{"stream": "src/herd.py", "owners": ["a", "b"], "why": "a plot"}]),
        ),
    ),
    "a stream without a slot": Break(
        4, "a slot without a stream",
        sheets=also("03", "slots", {"stream": "idle", "owner": "herd", "kind": "numpy"}),
    ),
    "a stream with two owners": Break(
        4, "a stream with another owner",
        sheets=together(row("03", "slots", 1, owner="herd"), row("02", "names", 1, component="herd")),
    ),
    "first draws that do not come out": Break(
        4, "fewer first draws", sheets=row("03", "vectors", 0, draws=_DRAWS[:2])
    ),
    "state that a restore forgets": Break(
        5, "state that a restore works out",
        edits=(('        self.age = state["age"]\n', "        self.age = 100 - self.food\n"),),
    ),
    "streams that a snapshot leaves out": Break(
        5, "caches that a snapshot leaves out", sheets=row("04", "state", 3, answer="accepted")
    ),
    "a cadence that is none": Break(5, "another cadence", sheets=says("04", cadence="every=2")),
    "a component that names nothing": Break(
        5, "a component that is tracked", sheets=says("04", components=[{"name": "herd"}])
    ),
    "logs are compared": Break(
        6, "structures are compared where a search led",
        sheets=says("05", procedure=["binary-search", "structured-comparison", "re-execution"]),
    ),
    "a digest that is none": Break(6, "a digest in capitals", sheets=says("05", hash="BLAKE3")),
    "a component that is not compared": Break(
        6, "components that are compared", sheets=says("05", projection=["herd", "weather"])
    ),
    "a difference planted at no place": Break(
        6, "a difference planted at another place", sheets=row("05", "planted", 0, field="places[1]")
    ),
    "a step to no operation": Break(
        6, "two steps", sheets=says("05", procedure=["compare-points", "re-execution"])
    ),
    "a difference that heals before it is compared": Break(
        6, "a difference beside one that heals",
        edits=(("self.age += 1", "self.age = min(self.age + 1, 2)"),),
        sheets=row("05", "planted", 0, field="food"),
    ),
    "branching is called reading": Break(
        7, "another operation of branching", sheets=row("06", "operations", 2, operation="step-with")
    ),
    "branches that nobody makes": Break(
        7, "no branches, and nobody makes any",
        sheets=together(trait("branching", here=False), without("06", "operations", 2)),
    ),
    "nobody says how sessions end": Break(
        7, "sessions end by a call", sheets=says("06", lifecycle="until they are closed")
    ),
    "an operation for nobody": Break(
        7, "an operation for others", sheets=row("06", "operations", 0, workload="whoever looks")
    ),
    "findings that no sheet covers": Break(
        8, "more is covered than was found",
        sheets=also("99", "findings", {"sheet": "13", "rules": ["time-seed"]}),
    ),
    "another finding is covered": Break(8, "another sheet covers it", sheets=_other_sheet),
    "a reference to nowhere": Break(8, "a reference that leads there", sheets=audited, files=_there),
    "sources that leave the program out": Break(
        8, "sources with the tests", sheets=says("00", sources=["src", "tests"])
    ),
    "an encoding that is copied": Break(8, "two lines alike", sheets=audited, files=_two_lines),
    "a change without a version": Break(9, "a note without a version", files=_note),
    "a step that is too small": Break(9, "a step that is as large as it has to be", files=_major),
    "a sheet that is owed": Break(9, "a sheet that was left with a reason", files=_acknowledged),
    "a whole without a rule": Break(
        9, "a whole with another rule", sheets=says("99", rule="every change is major")
    ),
    "the vector is gone": Break(
        10, "the vector lies elsewhere",
        sheets=says("01", vector=VECTOR.replace("vector.twice", "known.twice")), files=_moved_vector,
    ),
    "another digest": Break(10, "a vector recorded again", files=_recorded_again, in_place=True),
    "a vector of other code": Break(
        10, "code that went on with its vector", files=_goes_on_whole, in_place=True
    ),
    "a vector of another class": Break(
        10, "another class of both",
        sheets=says("01", scope="process", predicate=IN_PROCESS.sentence()),
        files=under(IN_PROCESS), in_place=True,
    ),
    "a vector of another seed": Break(
        10, "another seed of both", sheets=says("00", seed=8), files=_with_seed_8, in_place=True
    ),
    "a vector of another configuration": Break(
        10, "the configuration in another order", sheets=says("00", config=["ticks=4", "n=2"])
    ),
    "a schedule in no form": Break(
        11, "the schedule of asyncio in the form of a record", "L",
        sheets=together(
            row("07", "subsystems", 0, name="asyncio", strategy="recorded-schedule"),
            says("07", trace_format="the order in the policies of the record"),
            says("04", cadence="none"),  # no snapshot holds where an order stands
        ),
    ),
    "mostly deterministic": Break(
        11, "a barrier, however many cores there are", "L",
        sheets=row("07", "subsystems", 0, how="a barrier each tick, however many cores there are"),
    ),
    "nobody says what depends on the schedule": Break(
        11, "two things depend on it", "L",
        sheets=also("07", "sensitive", {"operation": "who wakes first", "ordered_by": "the barrier"}),
    ),
    "tasks that 00 does not have": Break(11, "tasks that 00 has", edits=AT_ONCE, sheets=with_tasks),
    "tasks that hang on who comes first": Break(
        11, "tasks that read what was before both", "L",
        edits=(
            (" * push for at", " * (push + self.wind) for at"),
            ("async def both(weather, herd, push):\n", "async def both(weather, herd, push):\n    herd.wind = weather.wind\n\n"),
            ("        self.food = 100\n", "        self.food = 100\n        self.wind = 0\n"),
        ),
    ),
    "another model": Break(
        11, "another subsystem of the model", "L",
        sheets=also("07", "subsystems", {"name": "wind", "strategy": "lockstep", "how": "the same barrier"}),
    ),
    "a thread that asks nothing": Break(
        11, "a thread that is asked for its name",
        edits=(ASIDE, ("    herd = run.track", "    threading.current_thread()\n    herd = run.track")),
    ),
    "a thread that no run starts": Break(
        11, "a lock that no run takes",
        edits=(ASIDE, (UNUSED, f"def guard():\n    return threading.Lock()\n\n\n{UNUSED}")),
    ),
    "another library": Break(12, "the pins in another order", "L", sheets=reordered("08", "pins")),
    "nobody pins BLAS": Break(
        12, "another library is pinned too", "L",
        sheets=also("08", "pins", {"library": "blake3", "version": version("blake3")}),
    ),
    "more threads than a library can have": Break(
        12, "as many threads as there are cores, two at most", "L", sheets=says("08", threads=min(CORES, 2))
    ),
    "subnormal numbers are not flushed": Break(
        12, "subnormal numbers are named", "L",
        sheets=says("08", implication="every bit, of subnormal numbers too", denormals="kept"),
    ),
    "fusing is forbidden": Break(12, "fusing is allowed", "L", sheets=says("08", fma="allowed")),
    "sums that hang on the number of threads": Break(
        12, "sums that hang on the number of libraries", "L",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport threadpoolctl\n"),
            ("        self.food -= 1\n", "        self.food -= len(threadpoolctl.threadpool_info())\n"),
        ),
    ),
    "floats below tier L that 00 does not have": Break(
        12, "whole numbers below tier L",
        edits=(
            ("[0.0] * n", "[0] * n"),
            ("float(self.rng.random()) * push", "int(self.rng.random() * 9) * int(push)"),
        ),
        sheets=trait("floating-point", here=False),
    ),
    "a switch that chooses by speed": Break(
        13, "another size that keeps the class", "L", sheets=row("09", "knobs", 3, value=":16:8")
    ),
    "a switch that nobody set": Break(
        13, "a switch more", "L", sheets=also("09", "knobs", {"name": "nccl.algo", "value": "ring"})
    ),
    "nobody says which driver": Break(13, "a driver as a whole", "L", sheets=says("09", driver="570")),
    "a mode of precision that nobody stated": Break(
        13, "the mode of one library", "L", sheets=row("09", "knobs", 4, name="cudnn.allow_tf32")
    ),
    "a question beside the layer": Break(
        14, "a question through the layer",
        edits=(("        weather.step()\n", "        weather.step()\n        weather.wind += int(run.effects.clock.time() < 0)\n"),),
    ),
    "a source that is not listed": Break(
        14, "a source that was not asked", sheets=also("10", "inventory", _FILES)
    ),
    "an effect that cannot be substituted": Break(
        14, "another one at tier S", "S",
        sheets=together(
            also("10", "inventory", {**_FILES, "source": "network", "what": "the news", "substitutable": False}),
            also("13", "boundary", _LIMIT),
        ),
    ),
    "an effects audit that looks elsewhere": Break(
        14, "an effects audit that looks elsewhere too", sheets=says("10", audit=["src", "tests"])
    ),
    "an effect that the boundary does not name": Break(
        14, "a boundary in another order", "S", sheets=reordered("13", "boundary")
    ),
    "an open world at tier M": Break(
        14, "an open world at tier S", "S", sheets=says("10", manifest="in each record")
    ),
    "a mock in the core": Break(
        14, "a mock in a test",
        files=replaced_in("tests/test_laws.py", "import random\n", "import random\nfrom unittest.mock import Mock\n"),
    ),
    "an operation that no row names": Break(
        14, "an operation that a row names among others",
        sheets=row("10", "inventory", 0, what="clock.time and clock.monotonic"),
    ),
    "a sheet of effects beside their absence": Break(
        14, "a sheet of effects beside their reason", sheets=row("00", "traits", 3, why="the clock")
    ),
    "an answer that does not come out": Break(
        15, "an answer that is written closer", sheets=row("11", "vectors", 0, value='{"a":[1,2]}')
    ),
    "another digest than runs have": Break(15, "the digest in capitals", sheets=says("11", hash="BLAKE3")),
    "state is pickled": Break(
        15, "state is written as JSON",
        edits=(
            (IMPORTS, f"{IMPORTS}\nimport json\n"),
            (UNUSED, f"def saved(herd):\n    return json.dumps(herd.state(), sort_keys=True)\n\n\n{UNUSED}"),
        ),
    ),
    "a library of another version": Break(
        15, "another library with its version",
        sheets=also("11", "pins", {"library": "numpy", "version": version("numpy")}),
    ),
    "pickle as the rule": Break(15, "another rule", sheets=says("11", rule="form 1 of twice")),
    "a law that the tier asks for": Break(
        16, "a law more than the tier asks for",
        sheets=also("12", "properties", "schedule-independence"),
    ),
    "a law that does not hold": Break(
        16, "the law for another seed",
        files=replaced_in("tests/test_laws.py", "(3, 5) == walked(3, 5)", "(4, 5) == walked(4, 5)"),
    ),
    "a database that is not there": Break(
        16, "a database elsewhere", sheets=says("12", database="tests/kept"), files=_kept_elsewhere
    ),
    "settings that leave tests out": Break(16, "settings that leave none out", files=_all_tests),
    "a counterexample that nobody replays": Break(16, "a page beside the examples", files=_described),
    "a law that only a comment names": Break(
        16, "a law that a comment names too",
        files=replaced_in("tests/test_laws.py", "def test_seed_isolation", "# seed_isolation\ndef test_seed_isolation"),
    ),
    "a law that only a docstring names": Break(
        16, "a law that a docstring names too",
        files=replaced_in(
            "tests/test_laws.py", "def test_restore_idempotence():\n",
            'def test_restore_idempotence():\n    """The restore_idempotence."""\n',
        ),
    ),
    "a cost that was guessed": Break(
        17, "a cost that nothing can measure",
        sheets=together(
            also("13", "rules", {**heads_at("M")["13"]["rules"][0], "rule": "reviews"}),
            says("13", unmeasured=["reviews: people read"]),
        ),
    ),
    "a budget that is broken": Break(17, "a budget that just holds", sheets=says("13", budget_percent=13)),
    "something crosses as itself": Break(
        17, "something crosses as an input", sheets=row("13", "boundary", 0, crosses_as="input: the clock")
    ),
    "the cost of another program": Break(
        17, "another cost of the program", files=replaced_in(COST, "4 %", "5 %")
    ),
    "a total that is no number": Break(17, "a whole total", files=replaced_in(COST, "12.5", "12")),
    "a budget that was found broken": Break(
        17, "a measurement without a budget", files=replaced_in(COST, "inside", "no-budget")
    ),
    "a cost of no code": Break(17, "a cost of more code", files=_cost_of_more_code),
}  # fmt: skip
"""By the name of the break."""
