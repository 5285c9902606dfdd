"""A cursor whose every call is an effect.

Source: PEP 249, with what sqlite3 and psycopg add and programs use.

Invariant: description, row count and last row are those of the latest call, live and recorded alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

from twice.errors import EffectRefused
from twice.foundation.with_blocks import Closing
from twice.integrations.dbapi.proxy import DriverProxy, ResultColumn, columns, parameter

_STATE = ("rowcount", "lastrowid", "statusmessage")


class RecordedCursor(Closing):
    """A cursor under a run.

    Attributes:
        arraysize: how many rows ``fetchmany`` gives by default.
        connection: the connection that made it.
        description: columns of the latest result, or None.
        rowcount: rows of the latest statement, -1 where the driver does not say.
        lastrowid: as the driver says, or None.
        statusmessage: as psycopg says, or None.
    """

    def __init__(self, proxy: DriverProxy, connection: Any) -> None:
        self._proxy = proxy
        self.arraysize = 1
        self.connection = connection
        self.description: tuple[ResultColumn, ...] | None = None
        self.rowcount = -1
        self.lastrowid: Any = None
        self.statusmessage: str | None = None

    def execute(self, query: Any, params: Any = None, /, **options: Any) -> Self:
        """Execute a statement."""
        args = (query,) if params is None else (query, params)
        return self._run("execute", args, options)

    def executemany(self, query: Any, params: Any, /, **options: Any) -> Self:
        """Execute a statement once for each element of a sequence."""
        return self._run("executemany", (query, list(params)), options)

    def executescript(self, script: str, /) -> Self:
        """Execute several statements (sqlite3)."""
        return self._run("executescript", (script,), {})

    def callproc(self, name: str, params: Any = (), /) -> Any:
        """Call a stored procedure."""
        given = self._proxy.call("callproc", (name, params))
        self._keep(self._proxy.ask("description", self._read_state))
        return given

    def fetchone(self) -> Any:
        """Return the next row, or None."""
        return self._proxy.call("fetchone")

    def fetchmany(self, size: int | None = None) -> Any:
        """Return the next rows."""
        return self._proxy.call("fetchmany", (self.arraysize if size is None else size,))

    def fetchall(self) -> Any:
        """Return all rows that are left."""
        return self._proxy.call("fetchall")

    def nextset(self) -> bool | None:
        """Go to the next result."""
        more: bool | None = self._proxy.call("nextset")
        self._keep(self._proxy.ask("description", self._read_state))
        return more

    def close(self) -> None:
        """Close the cursor."""
        self._proxy.call("close")

    def setinputsizes(self, sizes: Any) -> None:
        """Ignore the sizes, as PEP 249 allows."""

    def setoutputsize(self, size: Any, column: Any = None) -> None:
        """Ignore the size, as PEP 249 allows."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise EffectRefused(
            f"{self._proxy.name}: a cursor's {name!r} is not recorded.",
            "Expected execute, executemany, executescript, callproc, the fetches, nextset, close.",
            "Wrap what uses it in a function of your own with @twice.effect.",
            name=name,
        )

    def _run(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Self:
        state = self._proxy.call(method, args, options, then=lambda _: self._read_state())
        self._keep(state)
        return self

    def _read_state(self) -> tuple[Any, ...]:
        real = self._proxy.require_real(self._proxy.name)
        where = f"{self._proxy.name}.cursor"
        rest = (parameter(getattr(real, name, None), where) for name in _STATE)
        return (columns(real.description), *rest)

    def _keep(self, state: tuple[Any, ...]) -> None:
        described, self.rowcount, self.lastrowid, self.statusmessage = state
        self.description = None if described is None else tuple(map(ResultColumn._make, described))
