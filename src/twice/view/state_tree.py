"""A state as the page shows it: a tree of labels and texts.

No value of a program's is sent in a form of its own, so the page takes none for a form of the server's. What is cut says
so. The page tells whether two values differ by their marks.

Invariant: two values have one mark exactly if their whole canonical forms are equal, however much of them is shown. An
element of an array is the number or text that it holds, because the array has the type of all its elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import count, islice
from typing import Any, Final

from twice.foundation.comparison import FieldDifference, short
from twice.foundation.comparison.field_difference import ABSENT, clip
from twice.foundation.comparison.walk import walk
from twice.foundation.digests import digest_parts, digest_value
from twice.foundation.encoding import OpaqueValue, decompose, encode, encode_parts
from twice.foundation.printable import pluralize, printable
from twice.report.values import (
    is_array,
    list_children,
    list_components,
    spell_key,
    to_attribute,
)

NODES_MAX: Final = 5000
PARTS_MAX: Final = 1000
CHARACTERS_MAX: Final = 1000
FIELDS_MAX: Final = 300
LEVELS_MAX: Final = 40
_CONTAINERS: Final = (list, tuple, dict, OpaqueValue)
_FLAT_LEVELS: Final = 4
"""What is nested no deeper is read whole for each mark, which is quicker."""


def describe_state(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree of a state: the parts of components first, then those of small values before those of large.

    Returns:
        A node: ``parts``, those that are shown, ``size``, how many there are, and ``omitted``, how many parts of the
        shown nodes are not shown. Each part is a node as ``describe_value`` returns it, with ``label`` and ``mark``, and
        with ``parts`` where there are any. A component has its ``path``.
    """
    root: dict[str, Any] = {"size": len(state), "omitted": 0, "parts": []}
    left, order = NODES_MAX, count()
    waiting = [((False, 0, next(order)), root, iter(state.items()), 0, True)]
    marks = _Marks()
    while waiting:
        _, node, parts, depth, has_paths = heappop(waiting)
        node["parts"] = shown = []
        for label, value in islice(parts, min(PARTS_MAX, left) if depth < LEVELS_MAX else 0):
            child = {"label": label, "mark": marks.find(value), **describe_value(value)}
            # A path goes through no set, and a plot follows a path.
            child["is_number"] = child["is_number"] and has_paths
            shown.append(child)
            if child["size"]:
                below = has_paths and not isinstance(value, set | frozenset)
                rank = (depth > 0, child["size"], next(order))
                heappush(waiting, (rank, child, _list_parts(value), depth + 1, below))
        left -= len(shown)
        root["omitted"] += node["size"] - len(shown)
    for child, (path, _, _) in zip(root["parts"], list_components(state), strict=False):
        child["path"] = path
    return root


def compare_states(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, Any]:
    """Compare two states whole, those parts as well that are not shown.

    Returns:
        ``fields``, as a diagnosis has them, of an array or a list of numbers the first element that differs, and
        ``notes``, sentences on those that are left out.
    """
    paths = {name: path for path, name, _ in list_components({**a, **b})}
    found = (each for name in sorted(paths) for each in _compare(paths[name], name, a, b))
    fields = [*islice(found, FIELDS_MAX + 1)]
    is_whole, fields = len(fields) <= FIELDS_MAX, fields[:FIELDS_MAX]
    notes = list[str]()
    if not is_whole:
        notes.append(f"These are the first {FIELDS_MAX} differences. There are more.")
    if any(each.kind == "shape" and each.differing > 1 for each in fields):
        notes.append(
            "Of two lists of other lengths whose later items all differ, only the first two items are compared further."
        )
    return {"fields": [each.to_json() for each in fields], "notes": notes}


def _compare(
    path: str, name: str, a: Mapping[str, Any], b: Mapping[str, Any]
) -> Iterator[FieldDifference]:
    if name in a and name in b:
        return walk(a[name], b[name], root=path, is_component=True)
    one, two = (short(side[name]) if name in side else ABSENT for side in (a, b))
    return iter([FieldDifference(path, "missing", one, two)])


def describe_value(value: Any) -> dict[str, Any]:
    """Return a value without its parts: ``text``, ``size``, ``is_number``, and ``cut`` if its text is cut."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_array(value):
        is_number = not value.shape and value.dtype.kind in "iuf"
    text, cut = _print(value)
    node = {"text": text, "size": _count_parts(value), "is_number": is_number}
    return {**node, "cut": cut} if cut else node


class _Marks:
    """The marks of the parts of a state that is kept. What is nested deep is read once, from the innermost outwards."""

    def __init__(self) -> None:
        # By identity: how deep containers are nested, and the marks of the deep ones.
        self._heights = dict[int, int]()
        self._deep = dict[int, bytes]()

    def find(self, value: Any) -> str:
        """Return the mark of a value."""
        waiting = [value] if isinstance(value, _CONTAINERS) else []
        while waiting:
            each = waiting[-1]
            nested = [] if id(each) in self._heights else _list_nested(each)
            if missing := [child for child in nested if id(child) not in self._heights]:
                waiting += missing
            elif id(waiting.pop()) not in self._heights:
                height = 1 + max((self._heights[id(child)] for child in nested), default=0)
                self._heights[id(each)] = height
                if height > _FLAT_LEVELS:
                    self._deep[id(each)] = self._join(each)
        return (self._deep.get(id(value)) or digest_value(value).raw).hex()

    def _join(self, value: Any) -> bytes:
        decomposed = decompose(value)
        parts = [*decomposed.parts]
        for child in decomposed.children:
            mark = self._deep.get(id(child))
            # No canonical form begins with a zero byte.
            parts += encode_parts(child) if mark is None else (b"\0", mark)
        return digest_parts(parts).raw


def _list_nested(value: Any) -> list[Any]:
    """Return the parts of a container that are containers themselves."""
    parts = value
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, OpaqueValue):
        parts = [each for _, each in value.fields]
    return [each for each in parts if isinstance(each, _CONTAINERS)]


def _count_parts(value: Any) -> int:
    if is_array(value):
        return int(value.size) if value.shape else 0
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return len(value)
    return len(list_children(value) or ())


def _list_parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield label and value of each part, one by one: there may be millions."""
    if is_array(value):
        import numpy as np

        has_plain = value.dtype.kind in "biufcUS"
        # ndindex would go through all places before the first.
        for at in (np.unravel_index(number, value.shape) for number in range(value.size)):
            element = value[at].item() if has_plain else value[at]
            yield f"[{', '.join(map(str, at))}]", element
    elif isinstance(value, list | tuple):
        yield from ((f"[{at}]", each) for at, each in enumerate(value))
    elif isinstance(value, Mapping):
        items = value.items()
        yield from ((to_attribute(f"[{spell_key(key)}]"), each) for key, each in items)
    elif isinstance(value, set | frozenset):
        yield from ((f"{{{spell_key(each)}}}", each) for each in sorted(value, key=encode))
    else:
        yield from list_children(value) or ()


def _print(value: Any) -> tuple[str, str]:
    """Return the text of a value, that of a container by kind and size, and how it is cut."""
    if is_array(value):
        kind = printable(clip(str(value.dtype)))
        if type(value).__name__ == "ndarray":
            kind = f"{kind} {list(value.shape)}"
        if value.shape:
            return kind, ""
        # A number of numpy's has another canonical form than one of Python's.
        text, cut = _print_short(value)
        return f"{text} ({kind})", cut
    if isinstance(value, str):
        return repr(value[:CHARACTERS_MAX]), _describe_cut(len(value), "character")
    if isinstance(value, bytes | bytearray):
        kind = "bytearray of " if isinstance(value, bytearray) else ""
        shown = value[:CHARACTERS_MAX].hex()
        text = f"{kind}{pluralize(len(value), 'byte')}: {shown}"
        return text, _describe_cut(len(value), "byte")
    if isinstance(value, OpaqueValue) and list_children(value):
        return printable(value.name), ""
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return f"{type(value).__name__} of {len(value):,}", ""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() < 10_000:
        digits = str(value)
        return digits[:CHARACTERS_MAX], _describe_cut(len(digits), "digit")
    return _print_short(value)


def _print_short(value: Any) -> tuple[str, str]:
    text = short(value)
    return printable(text), "the first 77 characters" if text.endswith("...") else ""


def _describe_cut(size: int, noun: str) -> str:
    if size <= CHARACTERS_MAX:
        return ""
    return f"the first {CHARACTERS_MAX:,} of {pluralize(size, noun)}"
