"""Short text for a value, for people who read a report.

For: plain data, arrays and generators of random numbers. Anything else is shown by its type.

Not for: comparing. Two different values may have one short text.

Invariant: never calls a method of the user's, and the text is the same in every process (members of
a set are sorted, no address is shown).
"""

from __future__ import annotations

import collections
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from twice.diagnosis.object_digest import carriers, librarystate, mujocostate, tables
from twice.diagnosis.object_digest.graphdigest import digest_roots
from twice.diagnosis.object_digest.state import short_hash
from twice.diagnosis.tracing.trace import Shown
from twice.foundation.object_attributes import ClassFacts, attributes, class_facts, derives
from twice.foundation.printable import pluralize

EVERYTHING = "*"
"""Asks for every path; values with many items then come without their items."""
_ITEMS = 8
_NESTING = 3
_TEXT_MAX = 80
_ATTRIBUTES = 4
_PLAIN = (int, float, bool, str, type(None))
_WORDS_MAX = 40  # of a text among attributes
_PATHS = {"pathlib.PurePath", "pathlib._local.PurePath"}
_TEXT_TELLS = frozenset(
    {
        "builtins.bytearray", "builtins.range", "builtins.slice", "datetime.date", "datetime.datetime",
        "datetime.time", "datetime.timedelta", "decimal.Decimal",
    }
)  # fmt: skip
"""Classes of C, of themselves and not of a subclass, whose ``repr`` runs nobody's code and says what they hold."""
_CELLS_MAX = 4096  # items of a list that are compared one by one
_CELLS_BYTES_MAX = 1 << 22  # of an array
_PARTS_MAX, _PARTS_DEEP = 256, 4  # leaves of an object that are compared one by one, and how deep
_FEW, _FEW_BYTES = 64, 1 << 12  # the same, where every value of many events is kept


def short(value: object, *, width: int = 120) -> str:
    """One line about a value, at most ``width`` characters."""
    text = _text(value, 0)
    return text if len(text) <= width else text[: width - 3] + "..."


def show(paths: Iterable[str], objects: Mapping[str, object]) -> dict[str, Shown]:
    """Show the values at some paths; ``path@7`` is item 7 of a list or of a flat array.

    Args:
        paths: the paths to show; a path without a value is left out; ``EVERYTHING`` alone for all.
        objects: path -> live object.
    """
    wanted = list(paths)
    if wanted == [EVERYTHING]:
        return {path: _shown(value, _FEW, _FEW_BYTES) for path, value in objects.items()}
    shown: dict[str, Shown] = {}
    for path in wanted:
        owner, at, number = path.rpartition("@")
        if path in objects:
            shown[path] = replace(_shown(objects[path]), parts=_list_leaves(objects[path]))
        elif at and owner in objects and number.isdecimal():
            item = _item(objects[owner], int(number))
            if item is not None:
                shown[path] = Shown(short(item[0]))
    return shown


def _list_leaves(value: object) -> tuple[tuple[str, bytes, str], ...]:
    """List the leaves of an object, the outer ones first."""
    found: list[tuple[str, bytes, str]] = []
    seen: set[int] = set()
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting and len(found) < _PARTS_MAX:
        where, held = waiting.pop(0)
        inside = _list_parts(held) if where.count(".") + where.count("[") < _PARTS_DEEP else []
        if id(held) in seen:
            continue
        if inside:
            seen.add(id(held))
            waiting += [(where + label, member) for label, member in inside[:_PARTS_MAX]]
        elif where:
            found.append((where, _item_digest(held), short(held)))
    return tuple(found)


def _list_parts(value: Any) -> list[tuple[str, object]]:
    """List the parts of a value, each with its access; empty for a leaf."""
    kind = type(value)
    if kind is dict:
        return [(f"[{_text(key, 2)}]", held) for key, held in dict.items(value)]
    if kind is list or kind is tuple:
        return [(f"[{at}]", held) for at, held in enumerate(value)]
    if mujocostate.is_mjdata(value):
        return [(f".{name}", held) for name, held in mujocostate.mjdata_fields(value).items()]
    facts = class_facts(kind)
    if facts.is_metaclass or not facts.python_made or librarystate.knows(facts):
        return []
    return [(f".{name}", held) for name, held in attributes(value, facts)]


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
        plain = numpy.ndarray.view(value, numpy.ndarray)
        return (plain.flat[index],) if index < plain.size else None
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
    return _known(value, depth)


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


def _inside(value: Any, facts: ClassFacts) -> object | None:
    """Return the plain container inside an object of a derived class, or None."""
    if derives(facts, tuple):
        return tuple(tuple.__iter__(value))
    if derives(facts, list) or derives(facts, collections.deque):
        base: Any = list if derives(facts, list) else collections.deque
        return list(base.__iter__(value))
    if derives(facts, dict):
        return dict(dict.items(value))
    return None


def _known(value: object, depth: int = 0) -> str:
    facts = class_facts(type(value))
    if "numpy.ndarray" in facts.lineage:
        numpy: Any = sys.modules["numpy"]
        return _array("array", numpy.ndarray.view(value, numpy.ndarray))
    if "torch.Tensor" in facts.lineage or facts.name == "jaxlib._jax.ArrayImpl":
        plain = tables.read_array(value, facts)
        if plain is not None:
            return _array(_kind_of_tensor(value, facts), plain)
    frame = tables.read_frame(value, facts)
    if frame is not None:
        return f"DataFrame({pluralize(frame[0], 'row')}, columns {_sequence(frame[1], '[]', 1)})"
    if "numpy.generic" in facts.lineage:
        return f"{facts.name.rpartition('.')[2]}({_number(value)})"
    if librarystate.is_stream(value):
        return f"{facts.name} in state {_position(value)}"
    if "builtins.BaseException" in facts.lineage:
        args = _sequence(list(BaseException.__dict__["args"].__get__(value)), "()", 1)
        return f"{facts.name.removeprefix('builtins.')}{args}"
    if facts.is_metaclass or facts.name in librarystate.NAMED_TYPES:
        named: Any = value
        return f"<{facts.name} {type.__repr__(named) if facts.is_metaclass else named.__name__}>"
    inside = _inside(value, facts)
    if inside is not None and depth < _NESTING:
        text = _text(inside, depth + 1)
        return facts.name.rpartition(".")[2] + (text if type(inside) is tuple else f"({text})")
    if not _PATHS.isdisjoint(facts.lineage):
        return f"{facts.name.rpartition('.')[2]}({librarystate.read_path(value, facts)!r})"
    if facts.name in _TEXT_TELLS:
        return repr(value)
    ahead = carriers.list_items_ahead(value, facts)
    if ahead is not None:
        return _sequence(ahead, "[]", 1)
    if "enum.Enum" in facts.lineage:
        return f"{facts.name.rpartition('.')[2]}.{dict(attributes(value, facts)).get('_name_')}"
    held = attributes(value, facts) if facts.python_made and not librarystate.knows(facts) else []
    plain = [(name, each) for name, each in held if type(each) in _PLAIN]
    told = [
        f"{name}={each!r}"
        for name, each in plain
        if type(each) is not str or len(each) <= _WORDS_MAX
    ]
    return f"<{' '.join([facts.name, *told[:_ATTRIBUTES]])}>"


ON_GPU: Final = "cuda "
"""How the text of a tensor on a GPU begins."""


def _kind_of_tensor(value: Any, facts: ClassFacts) -> str:
    """Name a tensor, with its device where that is a GPU."""
    if "torch.Tensor" not in facts.lineage:
        return "jax array"
    return f"{ON_GPU}tensor" if sys.modules["torch"].Tensor.is_cuda.__get__(value) else "tensor"


def _number(value: object) -> str:
    """Show what a scalar of numpy's holds, by numpy's own means also where its class is the user's."""
    numpy: Any = sys.modules["numpy"]
    plain = numpy.generic.item(value)
    # Python has no such numbers: they are their own items.
    is_long = type(plain) is numpy.longdouble or type(plain) is numpy.clongdouble
    return repr(plain) if is_long else _text(plain, 1)


def _array(kind: str, plain: Any) -> str:
    first = "" if plain.dtype.hasobject else f" {plain.ravel()[:4].tolist()}"
    more = "" if plain.size <= 4 else "..."
    return f"{kind}({plain.dtype}, shape {plain.shape}){first}{more}"


def _position(value: object) -> str:
    digests = digest_roots({"stream": value})
    return short_hash(b"".join(digests.values()))[:4].hex()
