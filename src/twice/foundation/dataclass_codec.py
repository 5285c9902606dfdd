"""Dataclasses as plain data that JSON can carry, and back, by the annotations of their fields.

The codec knows text, bytes, whole numbers, numbers, truth values, tuples, sequences, mappings with text keys,
``X | None``, ``Any``, and dataclasses of these. It ignores members that a class does not have, because fields
may be added under one format number. It refuses any other value, with its place. JSON has no bytes, the
canonical encoding has.

Invariant: ``from_plain(type(v), to_plain(v), ...) == v``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

OPTIONAL: Final = {"optional": True}
"""Metadata of a field that older documents do not have. Its default replaces it."""

Refuse: TypeAlias = Callable[[str, object, str], Exception]
"""Makes the error from a place, the value found there and the expected one."""

_WORDS: Final = {
    str: "text",
    bytes: "bytes",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}
_read_hints = cache(get_type_hints)  # it compiles every annotation anew


def to_plain(value: Any) -> Any:
    """Return dicts, lists and scalars for a dataclass, with fields in the order of the class."""
    if type(value) in _WORDS:
        return value
    if is_dataclass(value):
        return {each.name: to_plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {name: to_plain(item) for name, item in value.items()}
    return [to_plain(item) for item in value] if isinstance(value, list | tuple) else value


def from_plain(kind: Any, data: object, place: str, refuse: Refuse) -> Any:
    """Build a value of a type from plain data that anybody may have written.

    Args:
        kind: a dataclass, or the annotation of a field.
        data: plain data. An instance of a dataclass is returned as it is: its constructor has checked it.
        place: how the data is reached; empty for the whole document.
        refuse: makes the error to raise, from the place of a value that does not fit.
    """
    if kind is Any:
        return data
    if kind in _WORDS:
        if not _fits(data, kind):
            raise refuse(place, data, _WORDS[kind])
        return data
    if is_dataclass(kind):
        make: Any = kind
        if isinstance(data, make):
            return data
        hints = _read_hints(make)
        members = _expect(Mapping, data, "an object", place, refuse)
        values = {}
        for each in fields(kind):
            if each.name in members or not each.metadata.get("optional"):
                inner = f"{place}.{each.name}" if place else each.name
                wanted, found = hints[each.name], members.get(each.name)
                if each.name not in members and NoneType in get_args(wanted):
                    wanted = get_args(wanted)[0]  # a value may be None, but not missing
                values[each.name] = from_plain(wanted, found, inner, refuse)
        return make(**values)
    origin, arguments = get_origin(kind), get_args(kind)
    if NoneType in arguments:  # X | None
        return None if data is None else from_plain(arguments[0], data, place, refuse)
    if origin in {tuple, Sequence}:
        items = _expect(list | tuple, data, "a list", place, refuse)
        item_kind, is_row = arguments[0], origin is tuple and arguments[-1] is not Ellipsis
        if is_row and len(items) != len(arguments):
            raise refuse(place, data, f"a list of {len(arguments)}")
        if not is_row and not all(_fits(item, item_kind) for item in items if item_kind in _WORDS):
            raise refuse(place, data, f"a list of {_WORDS[item_kind]}")
        return tuple(
            from_plain(arguments[index] if is_row else item_kind, item, f"{place}[{index}]", refuse)
            for index, item in enumerate(items)
        )
    members = _expect(Mapping, data, "an object", place, refuse)
    for name, item in members.items():
        if not isinstance(name, str):
            raise refuse(f"{place}.{name}", item, _WORDS[str])
    return {
        name: from_plain(arguments[1], item, f"{place}.{name}", refuse)
        for name, item in members.items()
    }


def _expect(kind: Any, data: object, word: str, place: str, refuse: Refuse) -> Any:
    if not isinstance(data, kind):
        raise refuse(place, data, word)
    return data


def _fits(value: object, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)
