"""Sheet 04 from a record: components by name, and a cadence that the gate can judge."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import recorded
from twice.foundation.comparison import tolerance_of
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.recorder.cadence import parse_cadence
from twice.specification.fill import propose_from_record

pytestmark = pytest.mark.integration

PROGRAM = """
def main(run):
    run.track("b", Walk(run.rng("b")))
    run.track("a", [1])
    for _ in run.ticks(2):
        pass
"""


def test_components_are_those_that_were_tracked(tmp_path: Path) -> None:
    with recorded(tmp_path, PROGRAM, walk=True) as record:
        proposed = {
            (each.sheet, each.key): each.value for each in propose_from_record(record, "a.twice")
        }

    assert proposed["04", "components"] == [{"name": "a"}, {"name": "b"}]


@pytest.mark.parametrize(
    ("snapshots", "proposed"),
    [("every=100", None), ("tick", "tick"), ("none", "none")],
)
def test_a_cadence_of_which_no_snapshot_stands_on_the_way_stays_open(
    tmp_path: Path, snapshots: str, proposed: str | None
) -> None:
    with recorded(tmp_path, PROGRAM, walk=True, cadence=parse_cadence(snapshots)) as record:
        found = {
            (each.sheet, each.key): each.value for each in propose_from_record(record, "a.twice")
        }

    assert found.get(("04", "cadence")) == proposed


def test_the_tolerance_and_the_margin_of_a_class_are_proposed(tmp_path: Path) -> None:
    logical = Predicate(DeterminismClass.LOGICAL, decisions=tolerance_of("abs", 1e-6))
    with recorded(tmp_path, PROGRAM, walk=True, predicate=logical) as record:
        found = {
            (each.sheet, each.key): each.value for each in propose_from_record(record, "a.twice")
        }

    assert (found["01", "measure"], found["01", "epsilon"]) == ("abs", "1e-06")
