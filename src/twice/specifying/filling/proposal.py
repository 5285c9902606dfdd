"""A value for a sheet, with where it was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from twice.specifying.frontmatter import Row, Scalar, Value
from twice.specifying.kinds import UNKNOWN, Rows
from twice.specifying.sheets import SHEETS

Cell = Scalar | list[Scalar]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value that could stand in a sheet.

    Args:
        sheet: its number.
        key: the item.
        value: what it would say; cells that could not be read are "?".
        source: where it was read, in words.
    """

    sheet: str
    key: str
    value: Value
    source: str


def merged(key_of: Rows | None, now: Value | None, proposed: Value) -> Value | None:
    """Give what a key says with a proposal put in where nothing or "?" stood; None for no change.

    Args:
        key_of: the kind, when it is a list of maps: items with one name are one item.
        now: what stands there.
        proposed: what was read.
    """
    if now is None or now == UNKNOWN:
        return proposed
    if (
        key_of is None
        or not key_of.unique
        or not isinstance(now, list)
        or not isinstance(proposed, list)
    ):
        return None
    read = {row.get(key_of.unique): row for row in proposed if isinstance(row, dict)}
    rows: list[Row] = []
    for row in now:
        assert isinstance(row, dict), "the kind is a list of maps"
        other = read.get(row.get(key_of.unique), {})
        rows.append({name: _cell(cell, other.get(name, cell)) for name, cell in row.items()})
    return rows if rows != now else None


def _cell(now: Cell, proposed: Cell) -> Cell:
    return proposed if now == UNKNOWN else now


def kind_of(sheet: str, key: str) -> Rows | None:
    """Give the kind of an item when it is a list of maps."""
    item = SHEETS[sheet].item(key)
    assert item is not None, "a proposal is for an item that the sheet has"
    return item.kind if isinstance(item.kind, Rows) else None


def rows(read: Iterable[dict[str, str | int]]) -> Value:
    """Give a list of maps as a value; "?" for an empty one, because nothing was read."""
    found: list[Row] = [dict(each) for each in read]
    return found or UNKNOWN
