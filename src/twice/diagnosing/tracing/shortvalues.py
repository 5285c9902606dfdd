"""Short text for a value, for people who read a report.

For: plain data, arrays and generators of random numbers. Anything else is shown by its type.

Not for: comparing. Two different values may have one short text.

Invariant: never calls a method of the user's, and the text is the same in every process (members of
a set are sorted, no address is shown).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from twice.diagnosing.objects import librarystate
from twice.diagnosing.objects.graphdigest import digest_roots
from twice.diagnosing.objects.objectfacts import attributes, class_facts, derives
from twice.diagnosing.objects.statehash import short_hash
from twice.diagnosing.tracing.trace import Shown

EVERYTHING = "*"
"""Asks for every path; values with many items then come without their items."""
_ITEMS = 8
_NESTING = 3
_TEXT_MAX = 80
_ATTRIBUTES = 4
_PLAIN = (int, float, bool)
_CELLS_MAX = 4096  # items of a list that are compared one by one
_CELLS_BYTES_MAX = 1 << 22  # of an array
_FEW, _FEW_BYTES = 64, 1 << 12  # the same, where every value of many events is kept


def short(value: object, *, width: int = 120) -> str:
    """One line about a value, at most ``width`` characters."""
    text = _text(value, 0)
    return text if len(text) <= width else text[: width - 3] + "..."


def show(paths: Iterable[str], objects: Mapping[str, object]) -> dict[str, Shown]:
    """The values at some paths; ``path@7`` is item 7 of a list or of a flat array.

    Args:
        paths: what is wanted; a path that holds nothing is left out; ``EVERYTHING`` alone for all.
        objects: path -> live object.
    """
    wanted = list(paths)
    if wanted == [EVERYTHING]:
        return {path: _shown(value, _FEW, _FEW_BYTES) for path, value in objects.items()}
    shown: dict[str, Shown] = {}
    for path in wanted:
        owner, at, number = path.rpartition("@")
        if path in objects:
            shown[path] = _shown(objects[path])
        elif at and owner in objects:
            item = _item(objects[owner], int(number))
            if item is not None:
                shown[path] = Shown(short(item[0]))
    return shown


def first_difference(one: Shown, two: Shown) -> tuple[int, int, int] | None:
    """Index of the first item that differs, how many do, and of how many; None without items."""
    size = one.cell
    if not size or size != two.cell or len(one.cells) != len(two.cells):
        return None
    total = len(one.cells) // size
    apart = [
        index
        for index in range(total)
        if one.cells[index * size : (index + 1) * size]
        != two.cells[index * size : (index + 1) * size]
    ]
    return (apart[0], len(apart), total) if apart else None


def _shown(
    value: object, cells_max: int = _CELLS_MAX, cells_bytes_max: int = _CELLS_BYTES_MAX
) -> Shown:
    facts = class_facts(type(value))
    kind = "stream" if librarystate.is_stream(value) else "value"
    if derives(facts, set) or derives(facts, frozenset):
        kind = "set"
    items: list[object] | None = None
    if type(value) is list or type(value) is tuple:
        items = list(value)
    elif type(value) is dict:
        items = list(dict.items(value))
    if items is not None and (len(items) <= cells_max or cells_max == _CELLS_MAX):
        cells = [_item_digest(item) for item in items[:cells_max]]
        return Shown(short(value), b"".join(sorted(cells)), kind, 8, b"".join(cells))
    if "numpy.ndarray" in facts.lineage:
        numpy: Any = sys.modules["numpy"]
        plain = numpy.ndarray.view(value, numpy.ndarray)
        if not plain.dtype.hasobject and plain.nbytes <= cells_bytes_max:
            return Shown(short(value), b"", kind, plain.itemsize, plain.tobytes())
    return Shown(short(value), b"", kind)


def _item(value: object, index: int) -> tuple[object] | None:
    if type(value) is list or type(value) is tuple:
        return (value[index],) if index < len(value) else None
    if type(value) is dict:
        pairs = list(dict.items(value))
        return (pairs[index],) if index < len(pairs) else None
    if "numpy.ndarray" in class_facts(type(value)).lineage:
        numpy: Any = sys.modules["numpy"]
        return (numpy.ndarray.view(value, numpy.ndarray).ravel()[index],)
    return None


def _item_digest(item: object) -> bytes:
    joined = b"".join(digest_roots({"": item}).values())
    return short_hash(joined)[:8]


def _text(value: object, depth: int) -> str:
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is float or kind is complex:
        return repr(value)
    if kind is str or kind is bytes:
        held: Any = value
        return repr(held) if len(held) <= _TEXT_MAX else f"{held[:60]!r}... ({len(held)} long)"
    if depth < _NESTING:
        if kind is list or kind is tuple:
            return _sequence(list(value), "[]" if kind is list else "()", depth)  # type: ignore[call-overload]
        if kind is set or kind is frozenset:
            return _members(list(value), depth)  # type: ignore[call-overload]
        if kind is dict:
            return _mapping(list(dict.items(value)), depth)  # type: ignore[arg-type]
    return _known(value)


def _sequence(items: list[object], brackets: str, depth: int) -> str:
    shown = [_text(item, depth + 1) for item in items[:_ITEMS]]
    if len(items) > _ITEMS:
        shown.append(f"... ({len(items)})")
    comma = "," if brackets == "()" and len(items) == 1 else ""
    return brackets[0] + ", ".join(shown) + comma + brackets[1]


def _members(items: list[object], depth: int) -> str:
    shown = sorted(_text(item, depth + 1) for item in items)
    rest = [f"... ({len(items)})"] if len(items) > _ITEMS else []
    return "{" + ", ".join(shown[:_ITEMS] + rest) + "}" if items else "set()"


def _mapping(pairs: list[tuple[object, object]], depth: int) -> str:
    shown = [f"{_text(key, depth + 1)}: {_text(held, depth + 1)}" for key, held in pairs[:_ITEMS]]
    if len(pairs) > _ITEMS:
        shown.append(f"... ({len(pairs)})")
    return "{" + ", ".join(shown) + "}"


def _known(value: object) -> str:
    facts = class_facts(type(value))
    if "numpy.ndarray" in facts.lineage:
        numpy: Any = sys.modules["numpy"]
        plain = numpy.ndarray.view(value, numpy.ndarray)
        first = "" if plain.dtype.hasobject else f" {plain.ravel()[:4].tolist()}"
        more = "" if plain.size <= 4 else "..."
        return f"array({plain.dtype}, shape {plain.shape}){first}{more}"
    if "numpy.generic" in facts.lineage:
        number: Any = value
        return f"{type(value).__name__}({number.item()!r})"
    if librarystate.is_stream(value):
        return f"{facts.name} at {_position(value)}"
    if "builtins.BaseException" in facts.lineage:
        args = _sequence(list(BaseException.__dict__["args"].__get__(value)), "()", 1)
        return f"{facts.name.removeprefix('builtins.')}{args}"
    if facts.is_metaclass or facts.name in librarystate.NAMED_TYPES:
        named: Any = value
        return f"<{facts.name} {type.__repr__(named) if facts.is_metaclass else named.__name__}>"
    held = attributes(value, facts) if facts.python_made and not librarystate.knows(facts) else []
    plain_ones = [f"{name}={each!r}" for name, each in held if type(each) in _PLAIN][:_ATTRIBUTES]
    return f"<{' '.join([facts.name, *plain_ones])}>"


def _position(value: object) -> str:
    digests = digest_roots({"stream": value})
    return short_hash(b"".join(digests.values()))[:4].hex()
