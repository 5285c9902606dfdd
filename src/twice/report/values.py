"""Recorded values for people and for scripts: as lines of text, and as plain JSON.

A stranger may have written the record: nothing of it runs, types that are not plain stay names, and
no character reaches a terminal that could move its cursor.

Invariant: equal canonical bytes give equal text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from twice.foundation.comparison import short
from twice.foundation.encoding import OpaqueKind, OpaqueValue, encode
from twice.foundation.printable import printable

_INLINE_CHARACTERS = 100
_CHILDREN_SHOWN = 32
_ELEMENTS_SHOWN = 8
_DEPTH_MAX = 100


def inline(value: Any) -> str:
    """Return a value on one line, cut where it is long."""
    parts = _children(value)
    if parts is None:
        return printable(short(value))
    opening, closing = "{}"
    if _is_opened(value):
        opening, closing = f"<{printable(value.name)} ", ">"
    elif isinstance(value, list | tuple):
        opening, closing = "[]" if isinstance(value, list) else "()"
    if isinstance(value, list | tuple | set | frozenset):
        texts = [_leaf(child) for _, child in parts]
    else:
        texts = [f"{label.strip('.[]')}: {_leaf(child)}" for label, child in parts]
    line = f"{opening}{', '.join(texts[:_CHILDREN_SHOWN])}"
    if len(line) < _INLINE_CHARACTERS and len(texts) <= _CHILDREN_SHOWN:
        return line + closing
    return f"{line[: _INLINE_CHARACTERS - 4]} ...{closing}"


def lines(value: Any, path: str, depth: int = 0) -> Iterator[str]:
    """Yield a value as ``path = leaf``; long containers and arrays say how much is left out."""
    parts = _children(value) if depth < _DEPTH_MAX else None
    if parts is None:
        yield f"{path} = {_leaf(value)}"
        return
    if all(_children(child) is None for _, child in parts):
        whole = inline(value)
        if " ..." not in whole:
            yield f"{path} = {whole}"
            return
    for label, child in parts[:_CHILDREN_SHOWN]:
        yield from lines(child, path + printable(label), depth + 1)
    if len(parts) > _CHILDREN_SHOWN:
        yield f"{path}: {len(parts) - _CHILDREN_SHOWN} of {len(parts)} are not shown"


def as_json(value: Any, depth: int = 0, *, most: int | None = None) -> Any:
    """Return a value as JSON; only the difference of lists and tuples is lost.

    A value that JSON has no form for becomes an object with one member that names its kind: ``float``
    (nan, inf), ``bytes`` (hexadecimal), ``set``, ``map`` (keys that are not text), ``array``
    (dtype, shape, values) or ``text`` (any other value, and one nested deeper than 100).

    Args:
        value: to be shown.
        depth: in the value that it is part of.
        most: characters of a text, bytes, or elements of an array that are shown; None for all. Beside those of bytes
            and arrays ``omitted`` counts the others, and an array that is cut has its elements in a row.
    """
    if depth > _DEPTH_MAX:
        return {"text": short(value)}
    show = partial(as_json, depth=depth + 1, most=most)
    if isinstance(value, str):
        return value if most is None or len(value) <= most else f"{value[:most]}…"
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [show(child) for child in value]
    if isinstance(value, bytes | bytearray):
        return {"bytes": value[:most].hex(), **_count_omitted(len(value), most)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: show(child) for key, child in value.items()}
        return {"map": [[show(each) for each in pair] for pair in value.items()]}
    if isinstance(value, set | frozenset):
        return {"set": [show(child) for child in sorted(value, key=encode)]}
    if _is_opened(value):
        parts = {name: show(one) for name, one in value.fields}
        return {"type": value.name, **({"fields": parts} if value.has_fields else parts)}
    if _is_array(value) and value.shape:
        omitted = _count_omitted(value.size, most)
        kept = value.reshape(-1)[:most] if omitted else value
        # Integers are JSON already, and there may be millions of them.
        values = kept.tolist() if value.dtype.kind in "biu" else _elements(kept.tolist())
        told = {"dtype": str(value.dtype), "shape": list(value.shape), "values": values}
        return {"array": {**told, **omitted}}
    if _is_array(value) and value.dtype.kind in "biuf":
        return show(value.item())
    return {"text": short(value)}


def _count_omitted(size: int, most: int | None) -> dict[str, int]:
    return {} if most is None or size <= most else {"omitted": size - most}


def _elements(values: Any) -> Any:
    if isinstance(values, list):
        return [_elements(value) for value in values]
    if isinstance(values, complex):
        return [as_json(values.real), as_json(values.imag)]
    return as_json(values)


def _children(value: Any) -> list[tuple[str, Any]] | None:
    """Return the parts of a container, each with the path to it, or None for a leaf."""
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
    is_number = _is_array(value) and value.dtype.kind in "biuf"
    return printable(short(value.item() if is_number else value))


def _is_array(value: Any) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def _is_opened(value: Any) -> bool:
    """Return whether a value of a type that is not loaded has values inside."""
    return isinstance(value, OpaqueValue) and (
        value.has_fields or value.kind is OpaqueKind.REGISTERED
    )


def mapping(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object of a JSON document, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def find_part(state: Mapping[str, Any], path: str) -> Any:
    """Return the part of a state at a path, spelled as in a diagnosis or as ``lines`` spells it.

    Args:
        state: values by component.
        path: ``swarm``, ``swarm.energy``, ``swarm['cells'][3]`` or, in an array, ``swarm.position[3, 1]``.

    Raises:
        KeyError: the state has no such part.
    """
    rest, parts = _plain_path(path), [*state.items()]
    value: Any = None
    while rest:
        labels = [(_plain_path(label), child) for label, child in parts]
        starts = (each for each in labels if rest.startswith(each[0]))
        found = [each for each in starts if rest[len(each[0]) :][:1] in ("", ".", "[")]
        if found:
            label, value = max(found, key=lambda each: len(each[0]))
            rest, parts = rest[len(label) :], _children(value) or []
        elif _is_array(value) and re.fullmatch(r"\[\d+(, ?\d+)*\]", rest):
            try:
                return value[tuple(map(int, rest.strip("[]").split(",")))]
            except IndexError:
                raise KeyError(path) from None
        else:
            raise KeyError(path)
    return value


def _plain_path(path: str) -> str:
    """Return a path in which text keys that are identifiers stand after a dot."""
    return re.sub(r"\['([^\W\d]\w*)'\]", r".\1", path)


def list_numbers(state: Mapping[str, Any]) -> Iterator[tuple[str, int | float]]:
    """Yield path and value of the numbers in a state, as ``find_part`` spells them; of a small array each element."""
    waiting = [*state.items()]
    while waiting:
        path, value = waiting.pop(0)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield path, value
        elif _is_array(value) and value.dtype.kind in "iuf" and value.size <= _ELEMENTS_SHOWN:
            import numpy as np

            for at in np.ndindex(*value.shape):
                yield path + (f"[{', '.join(map(str, at))}]" if at else ""), value[at].item()
        else:
            parts = (_children(value) or [])[:_CHILDREN_SHOWN]
            waiting[:0] = [(_plain_path(path + label), child) for label, child in parts]


def limit_leaves(value: Any, limit: int) -> tuple[Any, int]:
    """Return JSON with its first leaves alone, and how many others there are.

    Args:
        value: a JSON value.
        limit: how many leaves to keep, at least 1.
    """
    left, dropped = limit, object()

    def cut(value: Any) -> Any:
        nonlocal left
        if isinstance(value, dict) and value:
            kept = {key: part for key, each in value.items() if (part := cut(each)) is not dropped}
            return kept or dropped
        if isinstance(value, list) and value:
            return [part for each in value if (part := cut(each)) is not dropped] or dropped
        left -= 1
        return value if left >= 0 else dropped

    kept = cut(value)
    return kept, max(-left, 0)
