"""Programs that lose data when something fails: the fault is found and named, and what was mended holds under all of them."""

from __future__ import annotations

import importlib
import os
import sys
import tomllib
from pathlib import Path

import pytest
from explored_programs import look

from twice.schedules.trial import Main
from twice.simulation.faults import KINDS, parse_kinds

FOLDER = Path(__file__).parents[1] / "corpora" / "lost_data"
LABELS = tomllib.loads((FOLDER / "labels.toml").read_text(encoding="utf-8"))
SCHEDULES = int(os.environ.get("TWICE_SCHEDULES", "40"))


@pytest.fixture(autouse=True)
def _beside_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)


def load(name: str) -> Main:
    sys.modules.pop(name, None)
    main: Main = importlib.import_module(name).main
    return main


@pytest.mark.parametrize("name", LABELS)
def test_the_fault_that_loses_data_is_named_alone(name: str):
    label = LABELS[name]

    findings = look(load(f"{name}_broken"), "portfolio", 500, kinds=parse_kinds(label["kinds"]))

    (found,) = findings.found
    assert found.failure.type == "AssertionError"
    assert found.number > 0, "without faults it holds"
    (fault,) = found.faults
    assert str(fault).startswith(label["fault"])
    assert fault.place is not None
    assert fault.place.file == str(FOLDER / f"{name}_broken.py")
    # Whether it needs an order besides follows from the moment at which the fault came, and so from the version of asyncio.
    assert (found.order.faults, found.is_minimal) == ((fault.key,), True)


@pytest.mark.parametrize("name", LABELS)
def test_without_faults_nothing_is_lost(name: str):
    assert look(load(f"{name}_broken"), "portfolio", SCHEDULES).found == []


@pytest.mark.parametrize("name", LABELS)
def test_what_was_mended_holds_under_every_fault(name: str):
    findings = look(load(f"{name}_mended"), "portfolio", SCHEDULES, kinds=KINDS)

    assert (findings.found, findings.unshrunk) == ([], [])
    assert findings.schedules == SCHEDULES


@pytest.mark.heavy
@pytest.mark.parametrize("name", LABELS)
def test_it_holds_in_two_thousand_schedules(name: str):
    """Each schedule has virtual minutes in which hosts go round."""
    findings = look(load(f"{name}_mended"), "portfolio", 2_000, kinds=KINDS)

    assert (findings.found, findings.unshrunk) == ([], [])
