"""A diagnosis is held to the class that the runs declare: what it does not judge neither parts nor clears them."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from twice import DeterminismClass, Predicate
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.trace_file.compare import diagnose_traces
from twice.diagnosis.trace_file.write import write_trace

pytestmark = [
    pytest.mark.integration,
    pytest.mark.fresh,
]  # forks have the addresses of their server

PROGRAM = """
import os
from twice import Abs

class Noise:
    def __init__(self):
        self.mark = object()
    def state(self):
        return {"address": float(id(self.mark) % 4096)}

class Game:
    def __init__(self):
        self.total = 0
    def state(self):
        return {"total": self.total}

def main(run):
    run.track("noise", Noise()TOLERANCE)
    game = run.track("game", Game())
    for tick in run.ticks(12):
        game.total += tick
        if tick == 7 and os.environ.get("EXTRA"):
            game.total += 1  # here
"""
LOGICAL = Predicate(subsystems={"noise": DeterminismClass.LOGICAL})


def told(
    folder: Path,
    program: str,
    env_b: dict[str, str],
    env_a: dict[str, str] | None = None,
    **policies: object,
) -> Divergence:
    (folder / "game.py").write_text(program)
    for name, env in (("a", env_a or {}), ("b", env_b)):
        made = twice.record(
            f"{folder / 'game.py'}:main", seed=1, out=folder / f"{name}.twice", env=env, **policies
        )
        made.close()
    return diagnose(folder / "a.twice", folder / "b.twice")


def line(program: str) -> int:
    return 1 + next(at for at, text in enumerate(program.splitlines()) if "# here" in text)


@pytest.mark.heavy
def test_trace_files_are_held_to_the_class_as_well(tmp_path: Path) -> None:
    program = PROGRAM.replace("TOLERANCE", "")
    told(tmp_path, program, {"EXTRA": "1"}, predicate=LOGICAL)
    for name in ("a", "b"):
        write_trace(tmp_path / f"{name}.twice", 7, tmp_path / f"{name}.trace")

    found = diagnose_traces(tmp_path / "a.trace", tmp_path / "b.trace")

    assert found.result == "localised"
    assert found.components == ("game",)
    assert found.operation is not None
    assert found.operation.line == line(program)


def test_what_a_declared_state_shows_is_no_blind_spot(tmp_path: Path) -> None:
    program = PROGRAM.replace("TOLERANCE", "") + '        run.compare("total", game.total)\n'

    found = told(tmp_path, program, {"EXTRA": "1"}, predicate=LOGICAL)

    assert found.components == ("total",)
    assert list(found.blind_spots) == []


@pytest.mark.heavy
def test_a_component_that_no_class_judges_may_be_noise(tmp_path: Path) -> None:
    program = PROGRAM.replace("TOLERANCE", "")

    found = told(tmp_path, program, {"EXTRA": "1"}, predicate=LOGICAL)

    assert found.result == "localised"
    assert all(len(each) > 1 and all(each) for each in found.repeats.values()), found.repeats
    assert "reproduced:" not in found.to_text()
    assert found.components == ("game",)
    assert [field.path for field in found.fields] == ["game.total"]
    assert found.operation is not None
    assert found.operation.line == line(program)


@pytest.mark.heavy
def test_noise_within_its_tolerance_does_not_keep_a_side_from_reproducing_itself(
    tmp_path: Path,
) -> None:
    program = PROGRAM.replace("TOLERANCE", ", equivalence=Abs(5000.0)")

    found = told(tmp_path, program, {"EXTRA": "1"})

    assert found.result == "localised"
    assert found.components == ("game",)
    assert found.operation is not None
    assert found.operation.line == line(program)


@pytest.mark.heavy
def test_a_surrounding_that_moves_only_what_no_class_judges_is_not_guilty(tmp_path: Path) -> None:
    program = PROGRAM.replace("TOLERANCE", "")

    found = told(
        tmp_path, program, {"EXTRA": "1", "OMP_NUM_THREADS": "2"}, {"OMP_NUM_THREADS": "1"},
        predicate=LOGICAL,
    )  # fmt: skip

    assert found.result == "localised"
    assert found.operation is not None
    assert found.operation.line == line(program)


@pytest.mark.heavy
def test_noise_beyond_its_tolerance_keeps_a_side_from_reproducing_itself(tmp_path: Path) -> None:
    program = PROGRAM.replace("TOLERANCE", ", equivalence=Abs(1e-9)")
    program = program.replace("float(id(self.mark) % 4096)", "float(id(self.mark))")

    found = told(tmp_path, program, {"EXTRA": "1"})

    assert found.result == "non-reproducing"
    assert found.components == ("noise",)
    assert any(not all(each) for each in found.repeats.values())
    assert "  reproduced: run " in found.to_text()
