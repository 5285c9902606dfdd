"""Recorded values for people and for scripts: as lines of text, and as plain JSON.

A stranger may have written the record: nothing of it runs, types that are not plain stay names, and
no character reaches a terminal that could move its cursor.

Invariant: equal canonical bytes give equal text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from twice.errors import UsageError
from twice.foundation.comparison import short
from twice.foundation.digests import digest_value
from twice.foundation.encoding import OpaqueKind, OpaqueValue, encode
from twice.foundation.printable import printable

_INLINE_CHARACTERS = 100
_CHILDREN_SHOWN = 32
_ELEMENTS_SHOWN = 8
_KEY_CHARACTERS = 200
DEPTH_MAX = 100


def inline(value: Any) -> str:
    """Return a value on one line, cut where it is long."""
    parts = list_children(value)
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
    parts = list_children(value) if depth < DEPTH_MAX else None
    if parts is None:
        yield f"{path} = {_leaf(value)}"
        return
    if all(list_children(child) is None for _, child in parts):
        whole = inline(value)
        if " ..." not in whole:
            yield f"{path} = {whole}"
            return
    for label, child in parts[:_CHILDREN_SHOWN]:
        yield from lines(child, path + printable(label), depth + 1)
    if len(parts) > _CHILDREN_SHOWN:
        yield f"{path}: {len(parts) - _CHILDREN_SHOWN} of {len(parts)} are not shown"


def as_json(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON for scripts; the difference of lists and tuples is lost.

    A value that JSON has no form for becomes an object with one member that names its kind: ``float``
    (nan, inf), ``bytes`` (hexadecimal), ``set``, ``map`` (keys that are not text), ``array``
    (dtype, shape, values) or ``text`` (any other value, and one nested deeper than 100). A dict of the program's can
    have such a member too, so this form cannot be read back.

    Args:
        value: to be shown.
        depth: in the value that it is part of.
    """
    if depth > DEPTH_MAX:
        return {"text": short(value)}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return [as_json(child, depth + 1) for child in value]
    if isinstance(value, bytes | bytearray):
        return {"bytes": value.hex()}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: as_json(child, depth + 1) for key, child in value.items()}
        return {"map": [[as_json(each, depth + 1) for each in pair] for pair in value.items()]}
    if isinstance(value, set | frozenset):
        return {"set": [as_json(child, depth + 1) for child in sorted(value, key=encode)]}
    if _is_opened(value):
        parts = {name: as_json(one, depth + 1) for name, one in value.fields}
        return {"type": value.name, **({"fields": parts} if value.has_fields else parts)}
    if is_array(value) and value.shape:
        # Integers are JSON already, and there may be millions of them.
        values = value.tolist() if value.dtype.kind in "biu" else _elements(value.tolist())
        return {"array": {"dtype": str(value.dtype), "shape": list(value.shape), "values": values}}
    if is_array(value) and value.dtype.kind in "biuf":
        return as_json(value.item(), depth + 1)
    return {"text": short(value)}


def _elements(values: Any) -> Any:
    if isinstance(values, list):
        return [_elements(value) for value in values]
    if isinstance(values, complex):
        return [as_json(values.real), as_json(values.imag)]
    return as_json(values)


def spell_key(key: Any, depth: int = 0) -> str:
    """Return the text of a key in a path; that of no other key is equal.

    A key without an exact text, or with a long one, ends in digits of its digest.
    """
    text = printable(short(key))
    if type(key) is tuple and depth < DEPTH_MAX:
        text = f"({', '.join(spell_key(each, depth + 1) for each in key[:_KEY_CHARACTERS])})"
        is_exact = len(key) <= _KEY_CHARACTERS
    elif is_exact := key is None or isinstance(key, str | bytes | int | float):
        try:
            text = printable(repr(key))
        except ValueError:  # Python refuses to print more than some thousand digits
            is_exact = False
    if is_exact and len(text) <= _KEY_CHARACTERS:
        return text
    return f"{text[:_KEY_CHARACTERS]}… ~{digest_value(key).raw.hex()[:16]}"


def list_children(value: Any) -> list[tuple[str, Any]] | None:
    """Return the parts of a container, each with the path to it, or None for a leaf."""
    if isinstance(value, Mapping):
        return [(f"[{spell_key(key)}]", child) for key, child in value.items()]
    if _is_opened(value):
        return [(f".{name}", one) for name, one in value.fields]
    if isinstance(value, list | tuple):
        return [(f"[{at}]", child) for at, child in enumerate(value)]
    if isinstance(value, set | frozenset):
        return [("{}", child) for child in sorted(value, key=encode)]
    return None


def _leaf(value: Any) -> str:
    if is_array(value) and value.shape:
        first = value.ravel()[:_ELEMENTS_SHOWN].tolist()
        shown = " ".join(printable(short(element)) for element in first)
        rest = f" ... ({value.size} in all)" if value.size > len(first) else ""
        return f"{value.dtype} {list(value.shape)}: {shown}{rest}"
    is_number = is_array(value) and value.dtype.kind in "biuf"
    return printable(short(value.item() if is_number else value))


def is_array(value: Any) -> bool:
    """Return whether a value is an array or a number of numpy's."""
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
        path: ``swarm``, ``swarm.energy``, ``swarm['cells'][3]`` or, in an array, ``swarm.position[3, 1]``. A component
            can stand in brackets: ``['swarm.left'].energy``.

    Raises:
        KeyError: the state has no such part. UsageError: E-USE-001, it has several.
    """
    brackets = {f"[{spell_key(name)}]": name for name in state}
    if path in state and path not in brackets:
        return state[path]
    found = [
        (name, part)
        for start, name in (*zip(state, state, strict=True), *brackets.items())
        if path.startswith(start)
        for part in _find_below(state[name], path[len(start) :])
    ]
    if len(found) > 1:
        names = ", ".join(f"[{spell_key(name)}]" for name, _ in found)
        raise UsageError(
            f"The path {path!r} means several parts, below {names}.",
            "Expected the path of one part.",
            "Write the component as here, with its brackets, and then the path below it.",
        )
    if not found:
        raise KeyError(path)
    return found[0][1]


def _find_below(value: Any, path: str) -> Iterator[Any]:
    """Yield the parts of a value that a path can mean."""
    waiting = [(value, path)]
    while waiting:
        value, rest = waiting.pop()
        if not rest:
            yield value
        elif is_array(value) and re.fullmatch(r"\[\d+(, ?\d+)*\]", rest):
            with suppress(IndexError):
                yield value[tuple(map(int, rest.strip("[]").split(",")))]
        labels = [
            (start, child)
            for label, child in list_children(value) or []
            for start in dict.fromkeys((label, to_attribute(label)))
        ]
        waiting += [
            (child, below)
            for start, child in labels
            if rest.startswith(start) and (below := rest[len(start) :])[:1] in ("", ".", "[")
        ]


def to_attribute(label: str) -> str:
    """Return the label of a text key that is an identifier as one after a dot; another as it is."""
    return re.sub(r"^\['([^\W\d]\w*)'\]$", r".\1", label)


def list_components(state: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield path, name and value of each component; a name that could be taken for another path stands in brackets."""
    shorter, bracketed = list[str](), {name for name in state if name.startswith("[")}
    for name in sorted(state):
        while shorter and not name.startswith(shorter[-1]):
            shorter.pop()
        begun = [each for each in shorter if name[len(each)] in ".["]
        bracketed |= {name, *begun} if begun else set()
        shorter.append(name)
    for name, value in state.items():
        yield (f"[{spell_key(name)}]" if name in bracketed else name), name, value


def list_numbers(state: Mapping[str, Any]) -> Iterator[tuple[str, int | float]]:
    """Yield path and value of the numbers in a state, as ``find_part`` spells them; of a small array each element."""
    waiting = [(path, value) for path, _, value in list_components(state)]
    while waiting:
        path, value = waiting.pop(0)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield path, value
        elif is_array(value) and value.dtype.kind in "iuf" and value.size <= _ELEMENTS_SHOWN:
            import numpy as np

            for at in np.ndindex(*value.shape):
                yield path + (f"[{', '.join(map(str, at))}]" if at else ""), value[at].item()
        elif not isinstance(value, set | frozenset):
            parts = (list_children(value) or [])[:_CHILDREN_SHOWN]
            waiting[:0] = [(path + to_attribute(label), child) for label, child in parts]


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
