"""``connect``: a connection of any PEP 249 driver, each of whose calls is one effect.

Covered: psycopg 3 and sqlite3, and other drivers as far as they keep to PEP 249. Not covered:
asynchronous connections, COPY, notifications, callbacks into Python, types that a driver makes of its
own (they are refused by name), attributes of exceptions other than their arguments.

Invariant: outside of a run ``connect`` is the driver's own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Self

from twice.errors import EffectRefused
from twice.integrations.dbapi.asking import Asked
from twice.integrations.dbapi.cursors import Cursor
from twice.integrations.dbapi.values import parameter, result
from twice.recording import active
from twice.recording.effects import ops

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
    session = active.session()
    if session is None:
        return connector(*args, **kwargs)
    layer = session.wiring.layer
    actor = layer.named(ops.CALL)
    key = "" if actor is None else actor.next_key("connection")
    asked = Asked(layer, name, key)

    def live() -> None:
        real = connector(*args, **kwargs)
        if inspect.isawaitable(real):
            getattr(real, "close", lambda: None)()
            raise EffectRefused(
                f"{name}: the connector is asynchronous, and such connections are not recorded.",
                "Expected a connect function that returns a connection.",
                "Use the driver's synchronous interface, or one that is written in Python.",
            )
        asked.real = real

    asked.ask("connect", live, parameter((connector, args, kwargs), f"{name}.connect"))
    return Connection(asked)


class Connection:
    """A connection under a run; made by ``connect``."""

    def __init__(self, asked: Asked) -> None:
        self.__dict__["_asked"] = asked
        self.__dict__["_made"] = 0

    def cursor(self, *args: Any, **kwargs: Any) -> Cursor:
        """A new cursor."""
        asked = self._part("cursor")

        def keep(real: Any) -> None:
            asked.real = real

        self._asked.call("cursor", args, kwargs, then=keep)
        return Cursor(asked, self)

    def execute(self, query: Any, params: Any = None, /, **options: Any) -> Cursor:
        """Execute a statement on a new cursor."""
        return self.cursor().execute(query, params, **options)

    def executemany(self, query: Any, params: Any, /) -> Cursor:
        """Execute a statement many times on a new cursor (sqlite3)."""
        return self.cursor().executemany(query, params)

    def executescript(self, script: str, /) -> Cursor:
        """Execute several statements on a new cursor (sqlite3)."""
        return self.cursor().executescript(script)

    def transaction(self, *args: Any, **kwargs: Any) -> Block:
        """A transaction block (psycopg)."""
        asked = self._part("transaction")

        def keep(real: Any) -> None:
            asked.real = real

        self._asked.call("transaction", args, kwargs, then=keep)
        return Block(asked)

    def commit(self) -> None:
        """Commit."""
        self._asked.call("commit")

    def rollback(self) -> None:
        """Roll back."""
        self._asked.call("rollback")

    def close(self) -> None:
        """Close the connection."""
        self._asked.call("close")

    def __enter__(self) -> Self:
        _enter(self._asked)
        return self

    def __exit__(self, *raised: object) -> bool:
        return _exit(self._asked, raised)

    def __getattr__(self, name: str) -> Any:
        asked: Asked = self.__dict__["_asked"]
        if name in _READ:
            where = f"{asked.name}.{name}"
            return asked.ask(name, lambda: result(getattr(asked.existing(where), name), where))
        if name.startswith("__"):
            raise AttributeError(name)
        raise EffectRefused(
            f"{asked.name}: a connection's {name!r} is not recorded.",
            f"Expected cursor, execute, commit, rollback, close, or {', '.join(sorted(_READ))}.",
            "Wrap what uses it in a function of your own with @twice.effect.",
            name=name,
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _SET:
            raise EffectRefused(
                f"{self._asked.name}: a connection's {name!r} cannot be set while recorded.",
                f"Expected one of {', '.join(sorted(_SET))}.",
                "Set it before, in a connect function of your own, and pass that.",
                name=name,
            )
        where = f"{self._asked.name}.{name}"
        self._asked.ask(
            f"set {name}",
            lambda: setattr(self._asked.existing(where), name, value),
            parameter(value, where),
        )

    def _part(self, kind: str) -> Asked:
        number = self.__dict__["_made"]
        self.__dict__["_made"] = number + 1
        part: Asked = self._asked.part(kind, number)
        return part


class Block:
    """A transaction block under a run."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def __enter__(self) -> Self:
        _enter(self._asked)
        return self

    def __exit__(self, *raised: object) -> bool:
        return _exit(self._asked, raised)


def _enter(asked: Asked) -> None:
    asked.call("__enter__", then=lambda _: None)


def _exit(asked: Asked, raised: tuple[object, ...]) -> bool:
    """The driver's own end of a block: it commits or rolls back, and may swallow what was raised."""
    kind = raised[0]
    shown = f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else ""
    swallowed: bool = asked.call("__exit__", raised, shown=(shown,), then=bool)
    return swallowed
