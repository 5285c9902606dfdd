"""Tables in memory, and tools for them: the smallest registry that has a state worth a fingerprint.

A table is an ordered list of rows under named columns; its order is part of the state. Not a
database: nothing is typed beyond JSON's own scalars, and nothing is fast.

Invariant: a table is replaced, never changed, so a checkpoint is a copy of the map of names.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from twice.foundation.comparison import Rel
from twice.foundation.printable import pluralize
from twice.tools.canonical_json import fingerprint, plain
from twice.tools.cases import Call, Case
from twice.tools.context import Context
from twice.tools.declaration import macro, tool
from twice.tools.errors import CallRefused
from twice.tools.registry import Registry

VERSION: Final = "1"

TWO_TABLES: Final = (
    Call(
        "table.create",
        {"name": "b", "columns": ["k", "x"], "rows": [["p", 1], ["q", 2.5], ["r", None], ["s", 4]]},
    ),
    Call("table.create", {"name": "a", "columns": ["k", "y"], "rows": [["q", True], ["p", "t"]]}),
)
"""The start in which the tools are tried; the two share a column and can be made in either order."""

Scalar: TypeAlias = bool | int | float | str | None
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=63)]
Columns: TypeAlias = Annotated[list[Name], Field(min_length=1, max_length=256)]
Rows: TypeAlias = Annotated[list[list[Scalar]], Field(max_length=1_000_000)]


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes:
        columns: names, each once.
        rows: as many cells each as there are columns.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Scalar, ...], ...] = ()


class Tables:
    """The state: tables by name."""

    name = "tables"

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}

    def profile(self) -> Mapping[str, str]:
        """Return the version of the semantics."""
        return {"version": VERSION}

    def state(self) -> Mapping[str, Any]:
        """Columns and rows by name, names in code point order."""
        return {
            name: {"columns": list(table.columns), "rows": [list(row) for row in table.rows]}
            for name, table in sorted(self._tables.items())
        }

    def fingerprint(self) -> str:
        """SHA-256 of the RFC 8785 form of ``["twice.tables/1", state]``."""
        return fingerprint(["twice.tables/1", plain(self.state())])

    def checkpoint(self) -> object:
        """Copy the map; tables do not change."""
        return dict(self._tables)

    def rollback(self, checkpoint: object) -> None:
        """Goes back to such a map."""
        assert isinstance(checkpoint, dict), "a checkpoint of this backend"
        self._tables = dict(checkpoint)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Load a state that ``state`` returned."""
        self._tables = {
            name: checked_table(table["columns"], table["rows"]) for name, table in state.items()
        }

    def reset(self) -> None:
        """Forgets every table."""
        self._tables = {}

    def holds(self, name: str) -> bool:
        """Whether there is a table of that name."""
        return name in self._tables

    def get(self, name: str) -> Table:
        """Return a table.

        Raises:
            CallRefused: ``not_found``.
        """
        found = self._tables.get(name)
        if found is None:
            raise CallRefused(
                "not_found",
                f"There is no table {name!r}.",
                f"Expected one of: {', '.join(sorted(self._tables)[:20]) or '(none yet)'}.",
                "Create it first: table.create.",
                table=name,
            )
        return found

    def add(self, name: str, table: Table) -> None:
        """Add a new table.

        Raises:
            CallRefused: ``conflict``, when the name is taken.
        """
        if name in self._tables:
            raise CallRefused(
                "conflict",
                f"There is a table {name!r} already.",
                "Expected a name that is free.",
                "Drop that table first, or give another name.",
                table=name,
            )
        self._tables[name] = table

    def replace(self, name: str, table: Table) -> None:
        """Replace an existing table."""
        self.get(name)
        self._tables[name] = table

    def drop(self, name: str) -> None:
        """Remove a table."""
        self.get(name)
        del self._tables[name]


def checked_table(columns: Sequence[str], rows: Sequence[Sequence[Scalar]]) -> Table:
    """Build a table, and check that its rows fit its columns.

    Raises:
        CallRefused: ``invalid_arguments``.
    """
    if len(dict.fromkeys(columns)) != len(columns):
        raise _unfit(f"The columns {list(columns)} hold a name twice", "every column once")
    for at, row in enumerate(rows):
        if len(row) != len(columns):
            cells = pluralize(len(row), "cell")
            raise _unfit(f"Row {at} has {cells}", f"{len(columns)}, one for each column")
    return Table(tuple(columns), tuple(map(tuple, rows)))


def _unfit(happened: str, expected: str) -> CallRefused:
    remedy = "Correct the arguments and call again."
    return CallRefused("invalid_arguments", f"{happened}.", f"Expected {expected}.", remedy)


def _position(table: Table, column: str) -> int:
    if column not in table.columns:
        raise CallRefused(
            "not_found",
            f"There is no column {column!r}.",
            f"Expected one of: {', '.join(table.columns)}.",
            "Name a column of the table.",
            column=column,
        )
    return table.columns.index(column)


@tool(
    "table.create",
    determinism="deterministic",
    version="1.0.0",
    cases=[Case({"name": "c", "columns": ["z"], "rows": [[1], ["two"]]}, start=TWO_TABLES)],
)
def create(context: Context, name: Name, columns: Columns, rows: Rows = []) -> dict[str, Any]:  # noqa: B006  (read, never changed)
    """Create a table from columns and rows."""
    context.backend.add(name, checked_table(columns, rows))
    return {"table": name, "rows": len(rows)}


@tool(
    "table.insert",
    determinism="deterministic",
    version="1.0.0",
    cases=[Case({"table": "a", "rows": [["z", 0]]}, start=TWO_TABLES)],
)
def insert(context: Context, table: Name, rows: Rows) -> dict[str, Any]:
    """Append rows to a table."""
    tables: Tables = context.backend
    there = tables.get(table)
    new = checked_table(there.columns, rows)
    tables.replace(table, Table(there.columns, there.rows + new.rows))
    return {"table": table, "rows": len(there.rows) + len(rows)}


@tool(
    "table.select",
    determinism="deterministic",
    version="1.0.0",
    reads_only=True,
    cases=[Case({"table": "b", "columns": ["x"], "where": {"k": "q"}}, start=TWO_TABLES)],
)
def select(
    context: Context,
    table: Name,
    columns: Columns | None = None,
    where: dict[str, Scalar] | None = None,
) -> dict[str, Any]:
    """Read rows of a table, in its order: some columns, or those rows whose cells are equal to some."""
    there = context.backend.get(table)
    wanted = list(there.columns) if columns is None else columns
    at = [_position(there, column) for column in wanted]
    tests = [(_position(there, column), value) for column, value in sorted((where or {}).items())]
    rows = [
        [row[position] for position in at]
        for row in there.rows
        if all(_same(row[position], value) for position, value in tests)
    ]
    return {"columns": wanted, "rows": rows}


@tool(
    "table.join",
    determinism="deterministic",
    version="1.0.0",
    cases=[Case({"left": "a", "right": "b", "on": "k", "into": "c"}, start=TWO_TABLES)],
)
def join(context: Context, left: Name, right: Name, on: Name, into: Name) -> dict[str, Any]:
    """Join two tables where a column is equal; rows in the order of the left, then of the right."""
    tables: Tables = context.backend
    one, other = tables.get(left), tables.get(right)
    at, there = _position(one, on), _position(other, on)
    kept = [place for place in range(len(other.columns)) if place != there]
    columns = [*one.columns, *(other.columns[place] for place in kept)]
    rows = [
        [*row, *(match[place] for place in kept)]
        for row in one.rows
        for match in other.rows
        if _same(row[at], match[there])
    ]
    tables.add(into, checked_table(columns, rows))
    return {"table": into, "rows": len(rows)}


@tool(
    "table.sample",
    determinism="seeded",
    version="1.0.0",
    cases=[Case({"table": "b", "rows": 2, "into": "c"}, start=TWO_TABLES)],
)
def sample(
    context: Context, table: Name, rows: Annotated[int, Field(ge=0)], into: Name
) -> dict[str, Any]:
    """Draw rows without putting them back into a table of their own, in the order of the first."""
    tables: Tables = context.backend
    there = tables.get(table)
    if rows > len(there.rows):
        raise _unfit(f"The call asks for {pluralize(rows, 'row')}", f"at most {len(there.rows)}")
    drawn = context.rng("rows").choice(len(there.rows), size=rows, replace=False)
    tables.add(into, Table(there.columns, tuple(there.rows[at] for at in sorted(drawn.tolist()))))
    return {"table": into, "rows": rows}


@tool(
    "table.shuffle",
    determinism="seeded",
    version="1.0.0",
    cases=[Case({"table": "b"}, start=TWO_TABLES)],
)
def shuffle(context: Context, table: Name) -> dict[str, Any]:
    """Put the rows of a table into another order."""
    tables: Tables = context.backend
    there = tables.get(table)
    order = context.rng("order").permutation(len(there.rows)).tolist()
    tables.replace(table, Table(there.columns, tuple(there.rows[at] for at in order)))
    return {"table": table, "rows": len(there.rows)}


@tool(
    "table.aggregate",
    determinism="deterministic",
    version="1.0.0",
    tolerance=Rel(1e-12),
    reads_only=True,
    cases=[Case({"table": "b", "column": "x", "how": "mean"}, start=TWO_TABLES)],
)
def aggregate(
    context: Context, table: Name, column: Name, how: Literal["count", "sum", "mean", "min", "max"]
) -> dict[str, Any]:
    """Reduce the numbers of a column to one; cells that hold none do not count."""
    there = context.backend.get(table)
    at = _position(there, column)
    numbers = [
        row[at]
        for row in there.rows
        if isinstance(row[at], int | float) and not isinstance(row[at], bool)
    ]
    if not numbers and how != "count":
        return {"how": how, "value": None}
    reduced = {
        "count": len(numbers),
        "sum": math.fsum(numbers),
        "mean": math.fsum(numbers) / max(len(numbers), 1),
        "min": min(numbers, default=None),
        "max": max(numbers, default=None),
    }
    return {"how": how, "value": reduced[how]}


@tool(
    "table.list",
    determinism="deterministic",
    version="1.0.0",
    reads_only=True,
    cases=[Case({}, start=TWO_TABLES)],
)
def listed(context: Context) -> list[dict[str, Any]]:
    """List the tables by name, with their columns and how many rows they have."""
    return [
        {"name": name, "columns": table["columns"], "rows": len(table["rows"])}
        for name, table in context.backend.state().items()
    ]


@tool(
    "table.drop",
    determinism="deterministic",
    version="1.0.0",
    destructive=True,
    cases=[Case({"table": "b"}, start=TWO_TABLES)],
)
def drop(context: Context, table: Name) -> dict[str, Any]:
    """Remove a table."""
    context.backend.drop(table)
    return {"table": table}


def _same(one: Scalar, other: Scalar) -> bool:
    """Whether two cells are equal; true is not 1, and 1 is 1.0."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other


@macro(
    "table.summary",
    uses=[aggregate],
    version="1.0.0",
    cases=[Case({"table": "b", "column": "x"}, start=TWO_TABLES)],
)
def summary(context: Context, table: Name, column: Name) -> dict[str, Scalar]:
    """Describe the numbers of a column: how many, least, largest, mean."""
    return {
        how: context.call(aggregate, table=table, column=column, how=how, step=how)["value"]
        for how in ("count", "min", "max", "mean")
    }


@macro(
    "table.holdout",
    uses=[sample, shuffle],
    version="1.0.0",
    cases=[Case({"table": "b", "rows": 2, "into": "c"}, start=TWO_TABLES)],
)
def holdout(
    context: Context, table: Name, rows: Annotated[int, Field(ge=0)], into: Name
) -> dict[str, Any]:
    """Draw rows into a table of their own, in an order of its own."""
    drawn = context.call(sample, table=table, rows=rows, into=into)
    return dict(context.call(shuffle, table=drawn["table"]))


registry = Registry(
    [
        create,
        insert,
        select,
        join,
        sample,
        shuffle,
        aggregate,
        listed,
        drop,
        summary,
        holdout,
    ],
    "tables",
    backend=Tables,
)
"""``twice tools list table_tools.py:registry``"""
