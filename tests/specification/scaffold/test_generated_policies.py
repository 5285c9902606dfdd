"""The policies that are laid down hold the pins of sheet 08 against what a run has."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

import twice
from small_system import build
from twice.errors import UsageError
from twice.recorder.environment.libraries import measure_versions
from twice.specification.fill import propose_from_environment
from twice.specification.scaffold.lock import Layer
from twice.specification.scaffold.plan import apply_plan, make_plan
from twice.specification.workspace import open_workspace

HERE = measure_versions()
PINS = {name: HERE.versions[name] for name in HERE.arithmetic}


def drift(project: Path, pins: dict[str, str]) -> list[str]:
    """Return the generated ``drift``'s report on libraries, and check that ``hold`` refuses them."""
    rows: list[Any] = [{"library": name, "version": pinned} for name, pinned in pins.items()]
    build(project, s08={"pins": rows})
    apply_plan(make_plan(project, "swarm", [Layer.POLICIES]))
    laid = runpy.run_path(str(project / "swarm/determinism/policies.py"))
    assert laid["VERSIONS"] == pins
    with twice.recording(project / "a.twice", seed=0) as run:
        found: list[str] = laid["drift"](run)
        if found:
            with pytest.raises(RuntimeError, match="policies of 08 and 09"):
                laid["hold"](run)
    return [each for each in found if each.partition(" ")[0] in pins]


def test_pins_of_blas_and_libm_that_are_as_here_hold(tmp_path: Path) -> None:
    assert drift(tmp_path, PINS) == []


@pytest.mark.parametrize("name", PINS)
def test_a_pin_of_another_version_is_refused_with_both(tmp_path: Path, name: str) -> None:
    assert drift(tmp_path, {**PINS, name: "0.0.1"}) == [f"{name} is {PINS[name]}, not 0.0.1"]


def test_a_pin_of_nothing_known_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="E-USE-001  Pins name 'openblaz'"):
        drift(tmp_path, {"openblaz": "1"})


def test_filling_proposes_each_pin_that_the_gate_asks_for(tmp_path: Path) -> None:
    proposals = propose_from_environment(open_workspace(build(tmp_path)))
    (rows,) = (each.value for each in proposals if (each.sheet, each.key) == ("08", "pins"))

    assert isinstance(rows, list)
    assert PINS.items() <= {row["library"]: row["version"] for row in rows}.items()
