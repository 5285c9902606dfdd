"""Recorded values for people and for scripts: as lines of text, and as plain JSON.

What came out of a record may have been written by a stranger: nothing is run, types that are not
plain stay names, and no character reaches a terminal that could move its cursor.

Invariant: equal canonical bytes give equal text.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from twice.foundation.comparison import short
from twice.foundation.encoding import OpaqueKind, OpaqueValue, encode
from twice.foundation.printable import printable

_INLINE_CHARACTERS = 100
_CHILDREN_SHOWN = 32
_ELEMENTS_SHOWN = 8
_DEPTH_MAX = 100
Labelled = list[tuple[str, Any]]


def inline(value: Any) -> str:
    """A value on one line, cut where it is long."""
    parts = _children(value)
    if parts is None:
        return printable(short(value))
    if isinstance(value, list | tuple | set | frozenset):
        texts = [_leaf(child) for _, child in parts]
    else:
        texts = [f"{label.strip('.[]')}: {_leaf(child)}" for label, child in parts]
    line = f"{_opening(value)}{', '.join(texts[:_CHILDREN_SHOWN])}"
    if len(line) < _INLINE_CHARACTERS and len(texts) <= _CHILDREN_SHOWN:
        return line + _closing(value)
    return f"{line[: _INLINE_CHARACTERS - 4]} ...{_closing(value)}"


def lines(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    """A value as ``path = leaf`` lines; long containers and arrays say how much is left out."""
    parts = _children(value) if depth < _DEPTH_MAX else None
    if parts is None:
        yield f"{path} = {_leaf(value)}"
    elif all(_children(child) is None for _, child in parts) and _fits(value):
        yield f"{path} = {inline(value)}"
    else:
        for label, child in parts[:_CHILDREN_SHOWN]:
            yield from lines(child, path + printable(label), depth + 1)
        if len(parts) > _CHILDREN_SHOWN:
            yield f"{path}: {len(parts) - _CHILDREN_SHOWN} of {len(parts)} are not shown"


def as_json(value: Any, depth: int = 0) -> Any:
    """A value as JSON can carry it, losing nothing but the difference of lists and tuples.

    What JSON has no form for becomes an object with one member that says what it is: ``float``
    (nan, inf), ``bytes`` (hexadecimal), ``set``, ``map`` (keys that are no text), ``array``
    (dtype, shape, values) or ``text`` (anything else, and what is nested deeper than 100).
    """
    if depth > _DEPTH_MAX:
        return {"text": short(value)}
    below = depth + 1
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [as_json(child, below) for child in value]
    if isinstance(value, bytes | bytearray):
        return {"bytes": value.hex()}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: as_json(child, below) for key, child in value.items()}
        return {
            "map": [[as_json(key, below), as_json(child, below)] for key, child in value.items()]
        }
    if isinstance(value, set | frozenset):
        return {"set": [as_json(child, below) for child in sorted(value, key=encode)]}
    if _is_opened(value):
        parts = {name: as_json(one, below) for name, one in value.fields}
        return {"type": value.name, **({"fields": parts} if value.has_fields else parts)}
    if _is_array(value):
        return _array_json(value)
    return {"text": short(value)}


def _array_json(array: Any) -> Any:
    if not array.shape:
        return as_json(array.item()) if array.dtype.kind in "biuf" else {"text": short(array)}
    plain = array.dtype.kind in "biu"
    values = array.tolist() if plain else _each(array.tolist())
    return {"array": {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}}


def _each(values: Any) -> Any:
    if isinstance(values, list):
        return [_each(value) for value in values]
    if isinstance(values, complex):
        return [as_json(values.real), as_json(values.imag)]
    return as_json(values)


def _children(value: Any) -> Labelled | None:
    """The parts of a container with how each is reached, or None for a leaf."""
    if isinstance(value, Mapping):
        return [(f"[{_leaf(key)}]", child) for key, child in value.items()]
    if _is_opened(value):
        return [(f".{name}", one) for name, one in value.fields]
    if isinstance(value, list | tuple):
        return [(f"[{at}]", child) for at, child in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [("{}", child) for child in sorted(value, key=encode)]
    return None


def _leaf(value: Any) -> str:
    if _is_array(value) and value.shape:
        first = value.ravel()[:_ELEMENTS_SHOWN].tolist()
        shown = " ".join(printable(short(element)) for element in first)
        rest = f" ... ({value.size} in all)" if value.size > len(first) else ""
        return f"{value.dtype} {list(value.shape)}: {shown}{rest}"
    if _is_array(value):
        return printable(short(value.item() if value.dtype.kind in "biuf" else value))
    return printable(short(value))


def _fits(value: Any) -> bool:
    return " ..." not in inline(value)


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def _is_opened(value: Any) -> bool:
    """Return whether a value of a type that is not loaded has values inside."""
    return isinstance(value, OpaqueValue) and (
        value.has_fields or value.kind is OpaqueKind.REGISTERED
    )


def _opening(value: Any) -> str:
    if _is_opened(value):
        return f"<{printable(value.name)} "
    return "[" if isinstance(value, list) else "(" if isinstance(value, tuple) else "{"


def _closing(value: Any) -> str:
    if _is_opened(value):
        return ">"
    return "]" if isinstance(value, list) else ")" if isinstance(value, tuple) else "}"


def mapping(value: object) -> Mapping[str, Any]:
    """The value, when it is an object of a JSON document; else an empty one."""
    return value if isinstance(value, Mapping) else {}
