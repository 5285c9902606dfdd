"""Traits of sheet 00 are filled where a line or a run shows that they are there, and nowhere else."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import NamedTuple

import pytest

from twice.cli.code_facts import read_presence, read_sources
from twice.recorder.cadence import parse_cadence
from twice.recorder.program_spec import parse_program
from twice.recorder.recorder import record
from twice.specification.create import create_workspace
from twice.specification.fill import fill_workspace
from twice.specification.front_matter import Value
from twice.specification.record_traits import find_floats, is_fractional
from twice.specification.tiers import Tier, Trait
from twice.specification.workspace import Workspace

ROUNDS = "import math\n\n\ndef grown(x):\n    return math.exp(x)\n"
BESIDE = "import threading\n\n\ndef begin(work):\n    threading.Thread(target=work).start()\n"
TASKS = "import asyncio\n\n\nasync def both(a, b):\n    await asyncio.gather(a, b)\n"
ASKS = "import time\n\n\ndef stamped(state):\n    state['at'] = time.time()\n    return state\n"
CARD = "import torch\n\n\ndef moved(x):\n    return x.to('cuda:0')\n"
ONLY_IMPORTED = (
    "import asyncio\nimport threading\nimport torch\n\nHAS = torch.cuda.is_available()\n"
)
PROGRAM = """
import time
import threading


def main(run):
    total = run.track("total", [0.5])
    for tick in run.ticks(2):
        worker = threading.Thread(target=int)
        worker.start()
        worker.join()
        total.append(time.time())
"""


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (ROUNDS, {Trait.FLOATING_POINT: "a.py:5: math.exp"}),
        (BESIDE, {Trait.CONCURRENCY: "a.py:5: threading.Thread"}),
        (TASKS, {Trait.CONCURRENCY: "a.py:5: asyncio.gather"}),
        (ASKS, {Trait.EXTERNAL_EFFECTS: "a.py:5: time.time()"}),
        (CARD, {Trait.GPU: "a.py:5: to"}),
        (ONLY_IMPORTED, {}),
        ("x = [1, 2]\n", {}),
    ],
)
def test_a_call_shows_what_is_there_and_an_import_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, seen: dict[Trait, str]
) -> None:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert read_presence(tmp_path, ["a.py"]).traits == seen


def test_what_tests_do_is_nothing_that_the_system_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text(BESIDE, encoding="utf-8")
    (tmp_path / "b.py").write_text("x = 1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert read_presence(tmp_path, ["."]).traits == {}


def begin(project: Path, known: dict[Trait, bool]) -> Workspace:
    """Create a program, and the first sheets, which know of some traits alone."""
    (project / "a.py").write_text(PROGRAM, encoding="utf-8")
    sources: dict[str, dict[str, Value]] = {"00": {"sources": ["a.py"], "program": "a.py:main"}}
    return create_workspace(Workspace(project, {}), "a", Tier.S, known, sources)


def traits_of(workspace: Workspace) -> dict[str, tuple[object, object]]:
    rows = workspace.require("00", "it has them").head.entries["traits"].value
    return {each["name"]: (each["here"], each["why"]) for each in rows}


def test_what_the_code_shows_is_filled_with_its_line_and_the_rest_stays_unknown(
    tmp_path: Path,
) -> None:
    traits = traits_of(fill_workspace(begin(tmp_path, {}), read_sources=read_sources).workspace)

    assert traits["concurrency"] == (True, "a.py:9: threading.Thread")
    assert traits["external-effects"] == (True, "a.py:12: time.time()")
    assert traits["floating-point"] == ("?", "?")
    assert {traits[name] for name in ("gpu", "hashed-snapshots", "branching", "audit-log")} == {
        ("?", "?")
    }


def test_a_run_shows_what_no_line_does(tmp_path: Path) -> None:
    workspace = begin(tmp_path, {})
    record(parse_program("a.py:main", cwd=tmp_path), seed=1, out=tmp_path / "a.twice").close()

    traits = traits_of(
        fill_workspace(workspace, tmp_path / "a.twice", read_sources=read_sources).workspace
    )

    assert traits["floating-point"] == (True, "in a run the state of total holds floats")
    assert traits["gpu"] == ("?", "?")


def test_what_somebody_denied_stays_denied_and_is_told(tmp_path: Path) -> None:
    done = fill_workspace(begin(tmp_path, {Trait.CONCURRENCY: False}), read_sources=read_sources)

    assert traits_of(done.workspace)["concurrency"][0] is False
    assert done.against == ("00 says that there is no concurrency: a.py:9: threading.Thread",)


LATE = """
def main(run):
    log = run.track("log", {"last": 0})
    for tick in run.ticks(5):
        log["last"] = VALUE if tick == 3 else tick
"""


@pytest.mark.parametrize("value", ["0.5", "[{'a': (1, 0.5)}]"])
def test_a_float_that_comes_late_into_the_state_is_found(tmp_path: Path, value: str) -> None:
    (tmp_path / "late.py").write_text(LATE.replace("VALUE", value), encoding="utf-8")
    path = tmp_path / "late.twice"
    program, each = parse_program("late.py:main", cwd=tmp_path), parse_cadence("tick")
    with record(program, seed=1, out=path, cadence=each) as found:
        assert find_floats(found) == "log"


@dataclasses.dataclass
class Reading:
    value: object


class Pair(NamedTuple):
    first: object
    second: object


@pytest.mark.parametrize("value", [Reading(0.5), Pair(1, 0.5), {"a": [Reading(Pair(1, 0.5))]}])
def test_a_float_in_a_dataclass_or_a_named_tuple_is_one(value: object) -> None:
    assert is_fractional(value)
    assert not is_fractional(Reading(Pair(1, "0.5")))
