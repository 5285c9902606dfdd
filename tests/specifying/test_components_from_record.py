"""Components in sheet 04: read from a record, by name."""

from __future__ import annotations

from pathlib import Path

from programs import recorded
from twice.specifying.filling.from_record import from_record

PROGRAM = """
def main(run):
    run.track("b", Walk(run.rng("b")))
    run.track("a", [1])
    for _ in run.ticks(2):
        pass
"""


def test_components_are_those_that_were_tracked(tmp_path: Path) -> None:
    with recorded(tmp_path, PROGRAM, walk=True) as record:
        proposed = {(each.sheet, each.key): each.value for each in from_record(record, "a.twice")}

    assert proposed["04", "components"] == [{"name": "a"}, {"name": "b"}]
