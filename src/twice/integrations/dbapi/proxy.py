"""One object of a driver, asked through the effects layer, with parameters and rows as a record can hold them.

Scalars and containers of PEP 249's world pass as they are; views of bytes become bytes. Everything else
is refused by the name of its type, because a replay could not give the program the same thing.

Invariant: the real object is touched by what is recorded live, and by nothing else; what a program is given
while recording is what it is given in replay.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple, Self

from twice.errors import EffectRefused
from twice.recorder.effects.effects_api import governed_call
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.patches import StandIn

_SCALARS = frozenset(
    {type(None), bool, int, float, str, bytes, Decimal, datetime, date, time, timedelta}
)
_UUID = ("uuid", "UUID")  # By name: the module draws entropy, and has an owner elsewhere.
_CALLABLES = (FunctionType, BuiltinFunctionType, MethodType, StandIn, type)


class DriverProxy:
    """Asks a driver's object, or the record in its place."""

    def __init__(self, layer: EffectLayer, name: str, key: str) -> None:
        self._layer, self._key = layer, key
        self.name = name
        self.real: Any = None
        self._n_parts = 0

    def call(
        self,
        method: str,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        *,
        shown: Any = None,
        then: Callable[[Any], Any] | None = None,
    ) -> Any:
        """Call a method of the real object as one effect."""
        named = kwargs or {}
        where = f"{self.name}.{method}"
        asked = parameter((args, named), where) if shown is None else shown

        def live() -> Any:
            given = getattr(self.require_real(where), method)(*args, **named)
            return result(given, where) if then is None else then(given)

        return self.ask(method, live, asked)

    def ask(self, what: str, live: Callable[[], Any], asked: Any = ()) -> Any:
        """Do something live as one effect; its result must be plain."""
        effect = f"{self.name}.{what}"
        return governed_call(self._layer, effect, lambda *_: live(), self._key, asked)

    def make(self, kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> DriverProxy:
        """Call a method that makes another object, and return its proxy."""
        proxy = DriverProxy(self._layer, self.name, f"{self._key}/{kind}:{self._n_parts}")
        self._n_parts += 1

        def keep(real: Any) -> None:
            proxy.real = real

        self.call(kind, args, kwargs, then=keep)
        return proxy

    def require_real(self, where: str) -> Any:
        """Return the real object."""
        if self.real is None:
            raise EffectRefused(
                f"{where} would ask the database, and this execution has no connection to it.",
                "Expected what the record answers: its connections were served, not opened.",
                "Branch from the first tick, or record a new run: twice record",
                where=where,
            )
        return self.real


class TransactionBlock:
    """A transaction block under a run."""

    _proxy: DriverProxy

    def __init__(self, proxy: DriverProxy) -> None:
        self.__dict__["_proxy"] = proxy

    def __enter__(self) -> Self:
        self._proxy.call("__enter__", then=lambda _: None)
        return self

    def __exit__(self, *raised: object) -> bool:
        """Let the driver end the block: it commits or rolls back, and may swallow the exception."""
        kind = raised[0]
        shown = f"{kind.__module__}.{kind.__qualname__}" if isinstance(kind, type) else ""
        is_swallowed: bool = self._proxy.call("__exit__", raised, shown=(shown,), then=bool)
        return is_swallowed


class ResultColumn(NamedTuple):
    """One column of a result, as PEP 249 describes it; ``name`` is what programs use."""

    name: str
    type_code: Any
    display_size: Any
    internal_size: Any
    precision: Any
    scale: Any
    null_ok: Any


def result(value: Any, where: str) -> Any:
    """Return a driver's result as plain values."""
    kind = type(value)
    if _is_scalar(kind):
        return value
    if kind in (memoryview, bytearray):
        return bytes(value)
    return _walk(value, where, result)


def parameter(value: Any, where: str) -> Any:
    """Return a program's argument as plain values to compare; the driver gets the real ones.

    Functions and classes (row factories) count by their names, psycopg's ``Json`` and ``Jsonb`` by what
    they hold, its composed statements by their text. Raises as ``result``.
    """
    kind = type(value)
    if isinstance(value, _CALLABLES):
        return ("named", f"{value.__module__}.{value.__qualname__}")
    if kind.__module__.startswith("psycopg") and kind.__name__ in ("Json", "Jsonb"):
        return (kind.__name__, parameter(value.obj, where))
    if kind.__module__ == "psycopg.sql":
        return ("sql", repr(value))
    if kind in (tuple, list, dict):
        return _walk(value, where, parameter)
    return result(value, where)


def columns(description: Any) -> tuple[Any, ...] | None:
    """Return a cursor's description as plain tuples; a type that is an object counts by its name."""
    if description is None:
        return None
    found = []
    for column in description:
        seven = (*tuple(column), *(None,) * 7)[:7]
        found.append(tuple(part if _is_scalar(type(part)) else str(part) for part in seven))
    return tuple(found)


def _is_scalar(kind: type) -> bool:
    return kind in _SCALARS or (kind.__module__, kind.__name__) == _UUID


def _walk(value: Any, where: str, walk: Callable[[Any, str], Any]) -> Any:
    kind = type(value)
    if kind in (tuple, list):
        return kind(walk(part, where) for part in value)
    if kind is dict:
        return {walk(key, where): walk(part, where) for key, part in value.items()}
    name = f"{kind.__module__}.{kind.__qualname__}"
    raise EffectRefused(
        f"{where} has a value of type {name}, which cannot be recorded.",
        "Expected None, numbers, text, bytes, Decimal, dates and times, UUID, or tuples, lists and"
        " dicts of these.",
        "Convert it in the query (a cast to text) or before it is passed; rows as tuples or dicts.",
        type=name,
    )
