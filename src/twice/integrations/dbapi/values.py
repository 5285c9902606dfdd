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
    """Return what a driver gave, as plain values."""
    kind = type(value)
    if _is_scalar(kind):
        return value
    if kind in (memoryview, bytearray):
        return bytes(value)
    return _walk(value, where, result)


def parameter(value: Any, where: str) -> Any:
    """Return what a program passes, as plain values to be compared; the driver is given the real ones.

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
