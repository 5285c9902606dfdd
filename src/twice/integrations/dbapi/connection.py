"""``connect``: a connection of any PEP 249 driver, each of whose calls is one effect.

Covered: psycopg 3 and sqlite3, and other drivers as far as they keep to PEP 249. Not covered:
asynchronous connections, COPY, notifications, callbacks into Python, types that a driver makes of its
own (they are refused by name), attributes of exceptions other than their arguments.

Invariant: outside of a run ``connect`` is the driver's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from twice.errors import EffectRefused
from twice.integrations.dbapi.cursor import RecordedCursor
from twice.integrations.dbapi.proxy import DriverProxy, TransactionBlock, parameter, result
from twice.recorder.effects import ops
from twice.recorder.run import current_session

_READ = frozenset(
    {"autocommit", "closed", "in_transaction", "isolation_level", "read_only", "total_changes"}
)
_SET = frozenset({"autocommit", "isolation_level", "read_only", "row_factory"})


def connect(connector: Callable[..., Any], /, *args: Any, name: str = "db", **kwargs: Any) -> Any:
    """Connect to a database, so that a replay needs none.

    Args:
        connector: the driver's ``connect``, such as ``psycopg.connect`` or ``sqlite3.connect``.
        *args: for it.
        name: what the connection is called in the record.
        **kwargs: for it.

    Returns:
        A connection as PEP 249 describes it; outside of a run, the driver's own.

    Raises:
        EffectRefused: E-EFFECT-002, for what cannot be recorded: arguments, rows, methods.
        EffectMismatch: E-EFFECT-001, in replay, for another statement or other parameters.
    """
    session = current_session()
    if session is None:
        return connector(*args, **kwargs)
    layer = session.wiring.layer
    actor = layer.require_actor(ops.CALL)
    proxy = DriverProxy(layer, name, "" if actor is None else actor.next_key("connection"))

    def live() -> None:
        real = connector(*args, **kwargs)
        if inspect.isawaitable(real):
            getattr(real, "close", lambda: None)()
            raise EffectRefused(
                f"{name}: the connector is asynchronous, and such connections are not recorded.",
                "Expected a connect function that returns a connection.",
                "Use the driver's synchronous interface, or one that is written in Python.",
            )
        proxy.real = real

    proxy.ask("connect", live, parameter((connector, args, kwargs), f"{name}.connect"))
    return RecordedConnection(proxy)


class RecordedConnection(TransactionBlock):
    """A connection under a run; made by ``connect``."""

    def cursor(self, *args: Any, **kwargs: Any) -> RecordedCursor:
        """Make a cursor."""
        return RecordedCursor(self._proxy.make("cursor", args, kwargs), self)

    def execute(self, query: Any, params: Any = None, /, **options: Any) -> RecordedCursor:
        """Execute a statement on a new cursor."""
        return self.cursor().execute(query, params, **options)

    def executemany(self, query: Any, params: Any, /) -> RecordedCursor:
        """Execute a statement many times on a new cursor (sqlite3)."""
        return self.cursor().executemany(query, params)

    def executescript(self, script: str, /) -> RecordedCursor:
        """Execute several statements on a new cursor (sqlite3)."""
        return self.cursor().executescript(script)

    def transaction(self, *args: Any, **kwargs: Any) -> TransactionBlock:
        """Open a transaction block (psycopg)."""
        return TransactionBlock(self._proxy.make("transaction", args, kwargs))

    def commit(self) -> None:
        """Commit."""
        self._proxy.call("commit")

    def rollback(self) -> None:
        """Roll back."""
        self._proxy.call("rollback")

    def close(self) -> None:
        """Close the connection."""
        self._proxy.call("close")

    def __getattr__(self, name: str) -> Any:
        proxy: DriverProxy = self.__dict__["_proxy"]
        if name in _READ:
            where = f"{proxy.name}.{name}"
            return proxy.ask(name, lambda: result(getattr(proxy.require_real(where), name), where))
        if name.startswith("__"):
            raise AttributeError(name)
        raise EffectRefused(
            f"{proxy.name}: a connection's {name!r} is not recorded.",
            f"Expected cursor, execute, commit, rollback, close, or {', '.join(sorted(_READ))}.",
            "Wrap what uses it in a function of your own with @twice.effect.",
            name=name,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        proxy = self._proxy
        if name not in _SET:
            raise EffectRefused(
                f"{proxy.name}: a connection's {name!r} cannot be set while recorded.",
                f"Expected one of {', '.join(sorted(_SET))}.",
                "Set it before, in a connect function of your own, and pass that.",
                name=name,
            )
        where = f"{proxy.name}.{name}"
        proxy.ask(
            f"set {name}",
            lambda: setattr(proxy.require_real(where), name, value),
            parameter(value, where),
        )
