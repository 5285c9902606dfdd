"""Parameters and rows as values that a record can hold.

Scalars and containers of PEP 249's world pass as they are; views of bytes become bytes. Everything else
is refused by the name of its type, because a replay could not give the program the same thing.

Invariant: what a program is given while recording is what it is given in replay.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

from twice.errors import EffectRefused
from twice.recording.effects.patches import StandIn

_SCALARS = frozenset(
    {type(None), bool, int, float, str, bytes, Decimal, datetime, date, time, timedelta}
)
_UUID = ("uuid", "UUID")  # By name: the module draws entropy, and has an owner elsewhere.
_CALLABLES = (FunctionType, BuiltinFunctionType, MethodType, StandIn, type)
Walk = Callable[[Any], Any]


class Column(NamedTuple):
    """One column of a result, as PEP 249 describes it; ``name`` is what programs use."""

    name: str
    type_code: Any
    display_size: Any
    internal_size: Any
    precision: Any
    scale: Any
    null_ok: Any


def result(value: Any, where: str) -> Any:
    """What a driver gave, as plain values.

    Raises:
        EffectRefused: E-EFFECT-002, naming the type that has no plain form.
    """
    kind = type(value)
    if _is_scalar(kind):
        return value
    if kind in (memoryview, bytearray):
        return bytes(value)
    return _container(value, where, lambda part: result(part, where))


def parameter(value: Any, where: str) -> Any:
    """What a program passes, as plain values to be compared; the driver is given the real ones.

    Functions and classes (row factories) count by their names, psycopg's ``Json`` and ``Jsonb`` by what
    they hold, its composed statements by their text.

    Raises:
        EffectRefused: E-EFFECT-002, naming the type that has no plain form.
    """
    kind = type(value)
    if _is_scalar(kind):
        return value
    if kind in (memoryview, bytearray):
        return bytes(value)
    if isinstance(value, _CALLABLES):
        return ("named", f"{value.__module__}.{value.__qualname__}")
    if kind.__module__.startswith("psycopg"):
        if kind.__name__ in ("Json", "Jsonb"):
            return (kind.__name__, parameter(value.obj, where))
        if kind.__module__ == "psycopg.sql":
            return ("sql", repr(value))
    return _container(value, where, lambda part: parameter(part, where))


def columns(description: Any) -> tuple[Any, ...] | None:
    """A cursor's description as plain tuples; a type that is an object counts by its name."""
    if description is None:
        return None
    found = []
    for column in description:
        seven = (*tuple(column), *(None,) * 7)[:7]
        found.append(tuple(part if _is_scalar(type(part)) else str(part) for part in seven))
    return tuple(found)


def _is_scalar(kind: type) -> bool:
    return kind in _SCALARS or (kind.__module__, kind.__name__) == _UUID


def _container(value: Any, where: str, walk: Walk) -> Any:
    kind = type(value)
    if kind in (tuple, list):
        return kind(walk(part) for part in value)
    if kind is dict:
        return {walk(key): walk(part) for key, part in value.items()}
    raise EffectRefused(
        f"{where} has a value of type {kind.__module__}.{kind.__qualname__}, which cannot be"
        " recorded.",
        "Expected None, numbers, text, bytes, Decimal, dates and times, UUID, or tuples, lists and"
        " dicts of these.",
        "Convert it in the query (a cast to text) or before it is passed; rows as tuples or dicts.",
        type=f"{kind.__module__}.{kind.__qualname__}",
    )
