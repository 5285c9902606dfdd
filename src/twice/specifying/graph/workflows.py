"""The update workflows: for a shape of change, what is run again and which checks of the gate.

Where they differ from the re-emission tables, the union holds.

Invariant: each check is one of the gate's seventeen; ``ALL`` stands for every one.

Source: the table of update workflows of the specification's seed document.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

ALL: Final = tuple(range(1, 18))


@dataclass(frozen=True, slots=True)
class Workflow:
    """One shape of change.

    Args:
        shape: what changed, in words.
        rows: ids of the rows of the re-emission tables that are this shape.
        sheets: numbers of the sheets that are run again; ``"*"`` for all that rest on the changed one.
        checks: which checks of the gate are run again.
    """

    shape: str
    rows: tuple[str, ...]
    sheets: tuple[str, ...]
    checks: tuple[int, ...]


WORKFLOWS: Final = (
    Workflow(
        "new RNG-bearing component added",
        ("02.propagation", "03.hierarchy"),
        ("02", "03", "05", "06", "12"),
        (3, 4, 6, 16),
    ),
    Workflow("determinism class promoted", ("01.class",), ("01", "*"), ALL),
    Workflow("tier promoted", ("00.tier", "13.tier"), ("04", "05", "07", "12"), ALL),
    Workflow(
        "snapshot encoding changed", ("04.encoding",), ("04", "05", "06", "11"), (5, 6, 7, 15)
    ),
    Workflow("new compare-point added", ("05.compare-points",), ("05", "06"), (6,)),
    Workflow("branching replay added", ("06.capability",), ("04", "06", "12"), (5, 7, 16)),
    Workflow(
        "external effect introduced", ("10.effect", "10.pattern"), ("10", "06", "12"), (14, 16)
    ),
    Workflow(
        "new thread, process, actor or task introduced",
        ("07.component", "07.strategy"),
        ("07", "12"),
        (11,),
    ),
    Workflow(
        "library upgraded that affects arithmetic, the GPU or the canonical form",
        ("08.pin", "09.knob", "11.rule"),
        ("08", "09", "11"),
        (12, 13, 15),
    ),
    Workflow("determinism rule relaxed for speed", ("13.relaxed",), ("13",), (17,)),
)

# The checks that judge a sheet: what is run again where no workflow lists the change.
JUDGED_BY: Final[dict[str, tuple[int, ...]]] = {
    "00": ALL,
    "01": ALL,
    "02": (3,),
    "03": (4,),
    "04": (5, 8),
    "05": (6,),
    "06": (7,),
    "07": (11,),
    "08": (12,),
    "09": (13,),
    "10": (14,),
    "11": (15,),
    "12": (16,),
    "13": (17,),
    "99": (8, 9),
}


def checks_for(sheet: str, rows: Iterable[str]) -> tuple[int, ...]:
    """Give the checks to run again after changes of a sheet, in order; versions (9) always."""
    found = {9, *JUDGED_BY[sheet]}
    known = set(rows)
    for workflow in WORKFLOWS:
        if known & set(workflow.rows):
            found |= set(workflow.checks)
    return tuple(sorted(found))


def sheets_for(row: str) -> tuple[str, ...]:
    """Give the sheets that the workflows of a row run again, in order."""
    found = {each for workflow in WORKFLOWS if row in workflow.rows for each in workflow.sheets}
    return tuple(sorted(found))
