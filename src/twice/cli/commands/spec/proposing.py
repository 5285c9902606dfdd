"""Everything that can be read into open keys: from a record, from this environment, from the code.

Invariant: nothing is executed, and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from twice.cli.commands.spec.reading_code import from_code, traits_in_code
from twice.errors import TwiceError
from twice.recording.runrecord import RunRecord
from twice.specification.cost.result import propose_costs
from twice.specification.fill import (
    FillResult,
    Proposal,
    fill_sheets,
    list_denied,
    propose_from_environment,
    propose_from_record,
    propose_traits,
)
from twice.specification.record_traits import find_shown_traits, find_told_traits
from twice.specification.workspace import Workspace


def propose_fill(
    workspace: Workspace, record: Path | None = None, *, traits: bool = True
) -> FillResult:
    """Give a workspace with everything put in that can be read.

    Args:
        workspace: the sheets.
        record: the record to read; None for the one that 01 names, where it is there.
        traits: whether the traits of 00 are looked for, for which all sources and snapshots are read.

    Raises:
        RecordCorrupt and others: E-RECORD, when the record cannot be read.
    """
    denied: list[str] = []
    first = fill_sheets(workspace, _read(workspace, record or _vector(workspace), denied, traits))
    # Draws and pins follow from what the record filled in.
    second = fill_sheets(first.workspace, propose_from_environment(first.workspace))
    put_in = (*first.put_in, *second.put_in)
    return FillResult(second.workspace, put_in, second.unknown, tuple(denied))


def list_against(workspace: Workspace) -> tuple[str, ...]:
    """Return what the end of the record that 01 names shows though 00 denies it; () where none can be read."""
    place = _vector(workspace)
    if place is None:
        return ()
    try:
        with RunRecord.open(place) as record:
            shown = dict(find_told_traits(record.ending or {}))
    except TwiceError:  # Check 10 of the gate says what is wrong with it.
        return ()
    return tuple(
        f"{each}, in {_inside(workspace, place)}" for each in list_denied(workspace, shown)
    )


def _vector(workspace: Workspace) -> Path | None:
    said = workspace.text("01", "vector")
    named = workspace.project / said
    return named if said and named.is_file() else None


def _read(
    workspace: Workspace, place: Path | None, denied: list[str], traits: bool
) -> Iterator[Proposal]:
    """Give what can be read, and note what is seen though 00 says that it is not there."""
    found = traits_in_code(workspace) if traits else {}
    yield from propose_traits(workspace, found, "read from the code")
    denied += list_denied(workspace, found)
    if place is not None:
        named = _inside(workspace, place)
        with RunRecord.open(place) as record:
            yield from propose_from_record(record, named)
            shown = dict(find_shown_traits(record)) if traits else {}
        yield from propose_traits(workspace, shown, f"read from {named}")
        denied += (f"{each}, in {named}" for each in list_denied(workspace, shown))
    yield from from_code(workspace)
    yield from propose_costs(workspace)


def _inside(workspace: Workspace, place: Path) -> str:
    """Give a path as sheets name it: from the project on, where it lies in there."""
    try:
        return place.resolve().relative_to(workspace.project.resolve()).as_posix()
    except ValueError:
        return place.as_posix()
