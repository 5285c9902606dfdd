"""Canonical bytes to a value, from anybody's bytes.

No recursion, no import, no code of the bytes' choosing. Without a resolver, named types stay opaque
and encode to the same bytes again. A class that is resolved is filled field by field through
``object.__new__`` and ``object.__setattr__``: neither its ``__init__`` nor its ``__setattr__`` runs,
because neither ran when the state was read.

Invariant: either the value encodes to exactly ``data``, or ``DecodingRefused`` is raised.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
from collections.abc import Callable
from typing import Any, Final

from twice.errors import DecodingRefused
from twice.foundation.encoding import format as fmt
from twice.foundation.encoding.built_in_types import is_vector
from twice.foundation.encoding.leaf_decoder import LEAF_READERS, LeafDecoder, Malformed, Resolve
from twice.foundation.encoding.opaque import OpaqueKind, OpaqueValue
from twice.foundation.encoding.registry import Registry, is_named_tuple
from twice.foundation.encoding.registry import registry as _default
from twice.foundation.printable import pluralize


def decode(
    data: bytes | bytearray | memoryview,
    *,
    registry: Registry | None = None,
    resolve: Resolve | None = None,
) -> object:
    """Return the value of a canonical form.

    Args:
        data: canonical bytes, from anywhere.
        registry: where registered types are looked up; the default one when None.
        resolve: from a type name to a loaded type, such as ``loaded_types``; when None, no type is
            looked up and no user's code runs. Given one, ``from_value`` of registered types runs.

    Returns:
        The value. Arrays are fresh and writable. Dicts come back in canonical key order.

    Raises:
        DecodingRefused: E-ENCODE-004, the bytes are not a canonical form, or a resolved type does
            not fit them.
    """
    decoder = _Decoder(bytes(data), registry or _default, resolve)
    try:
        return decoder.read()
    except (Malformed, ValueError, OverflowError, MemoryError, TypeError) as error:
        raise DecodingRefused(
            f"Byte {decoder.at} of {decoder.end} does not continue a canonical form: {error}.",
            "Expected bytes that encode() of this version made.",
            "Take the bytes from an intact record: twice verify RECORD.",
            at=decoder.at,
        ) from error


def loaded_types(type_name: str) -> type[Any] | None:
    """Return the enum, dataclass or named tuple of that name, if the program has it loaded.

    Looks in ``sys.modules`` and in the class and module dictionaries on the way: no import, no
    ``__getattr__``, no descriptor runs. ``zoneinfo:ZoneInfo`` is found too, so that times come back
    in their real zone.

    Args:
        type_name: ``module:qualified.name``.

    Returns:
        The class, or None: not loaded, local to a function, or not of these kinds.
    """
    module_name, _, qualified = fmt.present_name(type_name).partition(":")
    found: object = sys.modules.get(module_name)
    for name in qualified.split("."):
        if found is None or not isinstance(found, (type, type(sys))):
            return None
        found = vars(found).get(name)
    if not isinstance(found, type):
        return None
    described = (
        issubclass(found, enum.Enum)
        or dataclasses.is_dataclass(found)
        or is_named_tuple(found)
        or type_name == "zoneinfo:ZoneInfo"
    )
    return found if described else None


class _Frame:
    """A container that waits for its items."""

    __slots__ = ("build", "items", "keyed", "marks", "want")

    def __init__(self, want: int, build: Callable[[_Frame], object], keyed: int = 0) -> None:
        self.want = want
        self.build = build
        self.items: list[Any] = []
        self.keyed = keyed  # how many of the items are keys or set elements
        self.marks: list[int] = []  # where each of these begins


class _Decoder(LeafDecoder):
    """Reads one value with a stack of its own."""

    def __init__(self, data: bytes, registry: Registry, resolve: Resolve | None) -> None:
        super().__init__(data, resolve)
        self._registry = registry
        self._stack: list[_Frame] = []
        self._key_levels: list[int] = []  # places on the stack of the frames whose keys are read

    def read(self) -> object:
        """Return the one value in the bytes."""
        stack = self._stack
        while True:
            self._mark_key()
            tag = self.take(1)
            leaf = LEAF_READERS.get(tag)
            if leaf is not None:
                value = leaf(self)
            else:
                begin = _CONTAINER_READERS.get(tag)
                if begin is None:
                    raise Malformed(f"{tag!r} is not a tag")
                frame = begin(self)
                if frame.want:
                    stack.append(frame)
                    continue
                value = frame.build(frame)
            while stack:
                frame = stack[-1]
                frame.items.append(value)
                if len(frame.items) < frame.want:
                    break
                stack.pop()
                value = frame.build(frame)
            else:
                if self.at != self.end:
                    raise Malformed(
                        f"{pluralize(self.end - self.at, 'byte follows', 'bytes follow')} the value"
                    )
                return value

    def _mark_key(self) -> None:
        """Note where a key begins, and refuse keys that nest too deeply."""
        stack, levels = self._stack, self._key_levels
        if not levels and (not stack or not stack[-1].keyed):
            return
        while levels and (
            levels[-1] >= len(stack) or len(stack[levels[-1]].items) >= stack[levels[-1]].keyed
        ):
            levels.pop()
        if not stack:
            return
        top = stack[-1]
        if len(top.items) < top.keyed:
            top.marks.append(self.at)
            if not levels or levels[-1] != len(stack) - 1:
                levels.append(len(stack) - 1)
        if len(levels) > fmt.KEY_NESTING_MAX or (
            levels and len(stack) - levels[-1] > fmt.KEY_DEPTH_MAX
        ):
            raise Malformed("keys or set elements nest too deeply")

    def begin_sequence(self, kind: type[list[Any] | tuple[Any, ...]]) -> _Frame:
        """Read the head of a list or a tuple."""

        def build(frame: _Frame) -> object:
            if is_vector(frame.items):
                raise Malformed("a sequence of nothing but numbers is not written as a vector")
            return frame.items if kind is list else tuple(frame.items)

        return _Frame(self.count(), build)

    def begin_dict(self) -> _Frame:
        """Read the head of a dict, and its keys if all are texts."""
        count = self.count()
        names = self._read_text_keys(count)
        if names is not None:
            return _Frame(count, lambda frame: dict(zip(names, frame.items, strict=True)))

        def build(frame: _Frame) -> object:
            keys, values = frame.items[:count], frame.items[count:]
            self._check_ascending(frame, count)
            return _check_count(dict(zip(keys, values, strict=True)), count)

        return _Frame(2 * count, build, keyed=count)

    def _read_text_keys(self, count: int) -> list[str] | None:
        """Return the keys of a dict that has text keys alone; None, and nothing read, for any other."""
        start = self.at
        names: list[str] = []
        for _ in range(count):
            if self.take(1) != fmt.TEXT:
                self.at = start
                return None
            name = self.text()
            if names and name <= names[-1]:  # code points order texts as their UTF-8 does
                raise Malformed("keys are not in ascending order")
            names.append(name)
        return names

    def begin_set(self, kind: Callable[[list[Any]], Any]) -> _Frame:
        """Read the head of a set."""
        count = self.count()

        def build(frame: _Frame) -> object:
            frame.marks.append(self.at)
            self._check_ascending(frame, count)
            return _check_count(kind(frame.items), count)

        return _Frame(count, build, keyed=count)

    def _check_ascending(self, frame: _Frame, count: int) -> None:
        data, marks = self.data, frame.marks
        for index in range(count - 1):
            if not _precedes(data, marks[index], marks[index + 1]):
                raise Malformed("keys or set elements are not in ascending order")

    def begin_fields(self, kind: OpaqueKind) -> _Frame:
        """Read the head of a dataclass or a named tuple: its name and those of its fields."""
        type_name = self.text()
        names = tuple(self.text() for _ in range(self.count()))
        if kind is OpaqueKind.DATACLASS and list(names) != sorted(set(names)):
            raise Malformed("field names are not in ascending order")

        def build(frame: _Frame) -> object:
            cls = self.resolve(type_name) if self.resolve is not None else None
            if cls is None:
                return OpaqueValue(kind, type_name, tuple(zip(names, frame.items, strict=True)))
            fill = _fill_dataclass if kind is OpaqueKind.DATACLASS else _fill_named_tuple
            return fill(cls, type_name, names, frame.items)

        return _Frame(len(names), build)

    def begin_registered(self) -> _Frame:
        """Read the name of a registered type."""
        name = self.text()

        def build(frame: _Frame) -> object:
            known = self._registry.find(name) if self.resolve is not None else None
            if known is None:
                return OpaqueValue(OpaqueKind.REGISTERED, name, (("value", frame.items[0]),))
            return known.from_value(frame.items[0])

        return _Frame(1, build)


_CONTAINER_READERS: Final[dict[bytes, Callable[[_Decoder], _Frame]]] = {
    fmt.LIST: lambda decoder: decoder.begin_sequence(list),
    fmt.TUPLE: lambda decoder: decoder.begin_sequence(tuple),
    fmt.DICT: _Decoder.begin_dict,
    fmt.SET: lambda decoder: decoder.begin_set(set),
    fmt.FROZENSET: lambda decoder: decoder.begin_set(frozenset),
    fmt.DATACLASS: lambda decoder: decoder.begin_fields(OpaqueKind.DATACLASS),
    fmt.NAMED_TUPLE: lambda decoder: decoder.begin_fields(OpaqueKind.NAMED_TUPLE),
    fmt.REGISTERED: _Decoder.begin_registered,
}


def _fill_dataclass(
    cls: type[Any], type_name: str, names: tuple[str, ...], values: list[Any]
) -> object:
    fields = vars(cls).get("__dataclass_fields__")
    declared = sorted(f.name for f in dataclasses.fields(cls)) if fields is not None else []
    if fields is None or tuple(declared) != names or fmt.type_name(cls) != type_name:
        raise Malformed(
            f"{type_name} has the fields {', '.join(declared) or 'of no dataclass'} here and "
            f"{', '.join(names)} in the bytes"
        )
    try:
        built: object = object.__new__(cls)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(built, name, value)
    except (TypeError, AttributeError) as error:
        raise Malformed(f"{type_name} cannot be filled without running it: {error}") from error
    return built


def _fill_named_tuple(
    cls: type[Any], type_name: str, names: tuple[str, ...], values: list[Any]
) -> object:
    if not is_named_tuple(cls) or cls._fields != names or fmt.type_name(cls) != type_name:
        raise Malformed(f"{type_name} does not have the fields {', '.join(names)} here")
    built: object = tuple.__new__(cls, values)
    return built


def _check_count(built: Any, count: int) -> object:
    if len(built) != count:
        raise Malformed("two keys or set elements are equal")
    return built


def _precedes(data: bytes, left: int, right: int) -> bool:
    """Return whether the key at ``left`` sorts before the one at ``right``, which follows it at once.

    Neighbours are compared only as far as they agree, so that nesting cannot make it slow.
    """
    tag = data[left : left + 1]
    if tag == data[right : right + 1] and tag in {fmt.TEXT, fmt.INT}:
        return _sort_key_at(data, left) < _sort_key_at(data, right)
    start, span = 0, 64
    while left + start < right:
        one = data[left + start : min(left + start + span, right)]
        two = data[right + start : right + start + len(one)]
        if one != two:
            return one < two
        start += span
        span *= 2
    return False  # no form is the beginning of another, so the two are the same


def _sort_key_at(data: bytes, start: int) -> bytes:
    if data[start : start + 1] == fmt.TEXT:
        size = int.from_bytes(data[start + 1 : start + 5], "little")
        return fmt.sort_key(data[start : start + 5 + size])
    return fmt.sort_key(data[start : start + 9])
