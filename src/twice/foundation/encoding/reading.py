"""Canonical bytes to a value, from anybody's bytes.

No recursion, no import, no code of the bytes' choosing. Without a resolver, named types stay opaque
and encode to the same bytes again.

Invariant: either the value encodes to exactly ``data``, or ``DecodingRefused`` is raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twice.errors import DecodingRefused
from twice.foundation.encoding import forms, rebuilding
from twice.foundation.encoding.cursor import Cursor, Malformed
from twice.foundation.encoding.reading_arrays import read_array, read_scalar
from twice.foundation.encoding.reading_leaves import LEAF_READERS, ZONED_READERS
from twice.foundation.encoding.registry import Registry
from twice.foundation.encoding.registry import registry as _default
from twice.foundation.encoding.resolving import Resolve

_INT_MIN, _INT_MAX = -(1 << 63), (1 << 63) - 1


class _Frame:
    """A container that waits for its items."""

    __slots__ = ("build", "items", "keyed", "marks", "want")

    def __init__(
        self,
        want: int,
        build: Callable[[_Frame], object],
        keyed: int = 0,
    ) -> None:
        self.want = want
        self.build = build
        self.items: list[Any] = []
        self.keyed = keyed  # how many of the items are keys or set elements
        self.marks: list[int] = []  # where each of these begins


def decode(
    data: bytes | bytearray | memoryview,
    *,
    registry: Registry | None = None,
    resolve: Resolve | None = None,
) -> object:
    """The value of a canonical form.

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
    cursor = Cursor(bytes(data))
    reader = _Reader(cursor, _default if registry is None else registry, resolve)
    try:
        return reader.read()
    except (Malformed, ValueError, OverflowError, MemoryError, TypeError) as error:
        raise DecodingRefused(
            f"Byte {cursor.at} of {cursor.end} does not continue a canonical form: {error}.",
            "Expected bytes that encode() of this version made.",
            "Take the bytes from an intact record: twice verify RECORD.",
            at=cursor.at,
        ) from error


class _Reader:
    """Reads one value with a stack of its own."""

    def __init__(self, cursor: Cursor, registry: Registry, resolve: Resolve | None) -> None:
        self._cursor = cursor
        self._registry = registry
        self._resolve = resolve
        self._stack: list[_Frame] = []
        self._key_levels: list[int] = []
        self._openers: dict[bytes, Callable[[], _Frame]] = {
            forms.LIST: self._list,
            forms.TUPLE: self._tuple,
            forms.DICT: self._dict,
            forms.SET: lambda: self._set(set),
            forms.FROZENSET: lambda: self._set(frozenset),
            forms.DATACLASS: self._dataclass,
            forms.NAMED_TUPLE: self._named_tuple,
            forms.REGISTERED: self._registered,
        }

    def read(self) -> object:
        """The one value that the bytes hold."""
        stack, cursor = self._stack, self._cursor
        while True:
            value = self._next()
            if isinstance(value, _Frame):
                if value.want:
                    stack.append(value)
                    continue
                value = value.build(value)
            while stack:
                frame = stack[-1]
                frame.items.append(value)
                if len(frame.items) < frame.want:
                    break
                stack.pop()
                value = frame.build(frame)
            else:
                if cursor.at != cursor.end:
                    raise Malformed(f"{cursor.end - cursor.at} bytes follow the value")
                return value

    def _next(self) -> object:
        cursor = self._cursor
        self._mark()
        tag = cursor.take(1)
        leaf = LEAF_READERS.get(tag)
        if leaf is not None:
            return leaf(cursor)
        opener = self._openers.get(tag)
        if opener is not None:
            return opener()
        zoned = ZONED_READERS.get(tag)
        if zoned is not None:
            return zoned(cursor, self._resolve)
        if tag == forms.VECTOR:
            return self._vector()
        if tag == forms.ENUM:
            return rebuilding.enum_member(cursor.text(), cursor.text(), self._resolve)
        if tag == forms.ARRAY:
            return read_array(cursor)
        if tag == forms.NUMPY_SCALAR:
            return read_scalar(cursor)
        raise Malformed(f"{tag!r} is not a tag")

    def _mark(self) -> None:
        """Notes where a key begins, and refuses keys that nest too deeply."""
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
            top.marks.append(self._cursor.at)
            if not levels or levels[-1] != len(stack) - 1:
                levels.append(len(stack) - 1)
        if len(levels) > forms.KEY_NESTING_MAX or (
            levels and len(stack) - levels[-1] > forms.KEY_DEPTH_MAX
        ):
            raise Malformed("keys or set elements nest too deeply")

    def _list(self) -> _Frame:
        return _Frame(self._cursor.count(), _build_list)

    def _tuple(self) -> _Frame:
        return _Frame(self._cursor.count(), _build_tuple)

    def _vector(self) -> object:
        cursor = self._cursor
        kind = cursor.take(2)
        count = cursor.u32()
        if kind not in {b"li", b"lf", b"ti", b"tf"} or not count:
            raise Malformed("a vector of nothing, or of an unknown kind")
        if count * 8 > cursor.end - cursor.at:
            raise Malformed(f"a vector of {count} numbers is longer than the bytes left")
        numbers = cursor.numbers(count, "q" if kind[1:] == b"i" else "d")
        return list(numbers) if kind[:1] == b"l" else numbers

    def _dict(self) -> _Frame:
        count = self._cursor.count()
        names = self._text_keys(count)
        if names is not None:
            return _Frame(count, lambda frame: dict(zip(names, frame.items, strict=True)))

        def build(frame: _Frame) -> object:
            keys, values = frame.items[:count], frame.items[count:]
            self._check_ascending(frame, count)
            return _complete(dict(zip(keys, values, strict=True)), count)

        return _Frame(2 * count, build, keyed=count)

    def _text_keys(self, count: int) -> list[str] | None:
        """The keys of a dict that has text keys alone; None, and nothing read, for any other."""
        cursor, start = self._cursor, self._cursor.at
        names = []
        last = ""
        for index in range(count):
            if cursor.take(1) != forms.TEXT:
                cursor.at = start
                return None
            name = cursor.text()
            if index and name <= last:  # code points order texts as their UTF-8 does
                raise Malformed("keys are not in ascending order")
            names.append(name)
            last = name
        return names

    def _set(self, kind: Callable[[list[Any]], Any]) -> _Frame:
        count = self._cursor.count()

        def build(frame: _Frame) -> object:
            frame.marks.append(self._cursor.at)
            self._check_ascending(frame, count)
            return _complete(kind(frame.items), count)

        return _Frame(count, build, keyed=count)

    def _check_ascending(self, frame: _Frame, count: int) -> None:
        """Compares neighbours only as far as they agree, so that nesting cannot make it slow."""
        data, marks = self._cursor.data, frame.marks
        for index in range(count - 1):
            if not _precedes(data, marks[index], marks[index + 1]):
                raise Malformed("keys or set elements are not in ascending order")

    def _names(self) -> tuple[str, ...]:
        cursor = self._cursor
        return tuple(cursor.text() for _ in range(cursor.count()))

    def _dataclass(self) -> _Frame:
        type_name, names = self._cursor.text(), self._names()
        if list(names) != sorted(set(names)):
            raise Malformed("field names are not in ascending order")
        return _Frame(
            len(names),
            lambda frame: rebuilding.instance(type_name, names, tuple(frame.items), self._resolve),
        )

    def _named_tuple(self) -> _Frame:
        type_name, names = self._cursor.text(), self._names()
        return _Frame(
            len(names),
            lambda frame: rebuilding.named_tuple(
                type_name, names, tuple(frame.items), self._resolve
            ),
        )

    def _registered(self) -> _Frame:
        name = self._cursor.text()
        return _Frame(
            1,
            lambda frame: rebuilding.registered(
                name, frame.items[0], self._registry, self._resolve
            ),
        )


def _build_list(frame: _Frame) -> object:
    _check_not_vector(frame.items)
    return frame.items


def _build_tuple(frame: _Frame) -> object:
    _check_not_vector(frame.items)
    return tuple(frame.items)


def _check_not_vector(items: list[Any]) -> None:
    kinds = set(map(type, items))
    if kinds == {float} or (kinds == {int} and all(_INT_MIN <= item <= _INT_MAX for item in items)):
        raise Malformed("a sequence of nothing but numbers is not written as a vector")


def _complete(built: Any, count: int) -> object:
    if len(built) != count:
        raise Malformed("two keys or set elements are equal")
    return built


def _precedes(data: bytes, left: int, right: int) -> bool:
    """Whether the key at ``left`` sorts before the one at ``right``, which follows it at once."""
    tag = data[left : left + 1]
    if tag == data[right : right + 1] and tag in {forms.TEXT, forms.INT}:
        return _sort_form_at(data, left) < _sort_form_at(data, right)
    start, span = 0, 64
    while left + start < right:
        one = data[left + start : min(left + start + span, right)]
        two = data[right + start : right + start + len(one)]
        if one != two:
            return one < two
        start += span
        span *= 2
    return False  # no form is the beginning of another, so the two are the same


def _sort_form_at(data: bytes, start: int) -> bytes:
    if data[start : start + 1] == forms.TEXT:
        size = int.from_bytes(data[start + 1 : start + 5], "little")
        return forms.sort_form(data[start : start + 5 + size])
    return forms.sort_form(data[start : start + 9])
