"""A position in untrusted bytes, and the values without parts that begin there.

Every read is checked before it is made. A value whose text could be written in two ways is encoded
again and compared, so that decoding accepts canonical bytes only.

Invariant: no read goes past the end, no allocation is larger than the bytes justify, and a leaf encodes to
exactly the bytes that it was read from.
"""

from __future__ import annotations

import enum
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from math import prod
from struct import Struct
from typing import Any, Final, TypeAlias

from twice.foundation.encoding import built_in_types as types
from twice.foundation.encoding import format as fmt
from twice.foundation.encoding.arrays import (
    Description,
    describe_dtype,
    encode_description,
    make_dtype,
)
from twice.foundation.encoding.opaque import OpaqueKind, OpaqueValue, RecordedZone
from twice.foundation.encoding.registry import name_flag_bits
from twice.foundation.printable import pluralize

Resolve: TypeAlias = Callable[[str], type[Any] | None]
"""From ``module:qualified.name`` to the type, or None to leave the value opaque."""

_u32 = Struct("<I").unpack_from
_u64 = Struct("<Q").unpack_from
_i64 = Struct("<q").unpack_from
_f64 = Struct("<d").unpack_from
_DAY = Struct("<HBB")
_CLOCK = Struct("<BBBIB")
_SPAN = Struct("<iii")


class Malformed(Exception):  # becomes DecodingRefused, with the position
    """The bytes are not a canonical form."""


class Cursor:
    """Bytes, how far they are read, and which types may be looked up.

    Args:
        data: the bytes.
        resolve: see ``decode``.
    """

    __slots__ = ("at", "data", "end", "resolve")

    def __init__(self, data: bytes, resolve: Resolve | None) -> None:
        self.data = data
        self.resolve = resolve
        self.at = 0
        self.end = len(data)

    def take(self, size: int) -> bytes:
        """Read the next ``size`` bytes."""
        start = self.skip(size)
        return self.data[start : start + size]

    def skip(self, size: int) -> int:
        """Pass ``size`` bytes and return where they begin."""
        start = self.at
        if size > self.end - start:
            raise Malformed(
                f"{self.end - start:,} of {pluralize(size, 'announced byte is', 'announced bytes are')} left"
            )
        self.at = start + size
        return start

    def u8(self) -> int:
        """Read one byte."""
        return self.data[self.skip(1)]

    def u32(self) -> int:
        """Read a 32-bit length."""
        number: int = _u32(self.data, self.skip(4))[0]
        return number

    def u64(self) -> int:
        """Read a 64-bit length."""
        number: int = _u64(self.data, self.skip(8))[0]
        return number

    def i64(self) -> int:
        """Read a 64-bit integer."""
        number: int = _i64(self.data, self.skip(8))[0]
        return number

    def f64(self) -> float:
        """Read a double; a NaN must be the one NaN."""
        start = self.skip(8)
        number: float = _f64(self.data, start)[0]
        if number != number and self.data[start : start + 8] != fmt.NAN_BYTES:  # noqa: PLR0124  # NaN test
            raise Malformed("a NaN is not the one NaN")
        return number

    def count(self) -> int:
        """Read a number of items, each of at least one byte."""
        number = self.u32()
        if number > self.end - self.at:
            raise Malformed(
                f"{pluralize(self.end - self.at, 'byte is', 'bytes are')} left for {pluralize(number, 'announced item')}"
            )
        return number

    def text(self) -> str:
        """Read length and UTF-8."""
        raw = self.take(self.u32())
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed(f"a text is not UTF-8: {error.reason}") from None

    def integer(self) -> int:
        """Read a tagged integer of any width."""
        tag = self.take(1)
        if tag == fmt.INT:
            return self.i64()
        if tag == fmt.BIG_INT:
            return self.big_int()
        raise Malformed("an integer was expected")

    def big_int(self) -> int:
        """Read an integer of more than 64 bits, after its tag."""
        start = self.at - 1
        value = int.from_bytes(self.take(self.u32()), "little", signed=True)
        self.expect(fmt.encode_int(value), start)
        return value

    def expect(
        self, form: bytes, start: int, problem: str = "a value is not in its canonical form"
    ) -> None:
        """Check that the bytes since ``start`` are the canonical form of their value."""
        if self.data[start : self.at] != form:
            raise Malformed(problem)


@cache
def _known_zones() -> frozenset[str]:
    """Return the keys of the zone database. Any other key would reach an import inside zoneinfo."""
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


_OTHER_TIME: Final = (
    "a time is not in its canonical form, or the time zone data here gives it another "
    "offset than the one recorded"
)


class LeafDecoder(Cursor):
    """Reads a value without parts, after its tag."""

    __slots__ = ()

    def _decimal(self) -> object:
        from decimal import Decimal

        text = self.text()
        try:
            value = Decimal(text)
        except (ArithmeticError, ValueError) as error:
            raise Malformed(f"{text[:40]!r} is not a Decimal") from error
        if types.format_decimal(value) != text:
            raise Malformed(f"{text[:40]!r} is not how its Decimal is written")
        return value

    def _fraction(self) -> object:
        from fractions import Fraction

        start = self.at - 1
        above, below = self.integer(), self.integer()
        if below < 1 or self.at - start > 2 * fmt.FRACTION_BYTES_MAX + 16:
            raise Malformed("a fraction without a positive denominator, or too wide")
        value = Fraction(above, below)
        self.expect(types.encode_fraction(value), start)
        return value

    def _uuid(self) -> object:
        from uuid import UUID

        return UUID(bytes=self.take(16))

    def _range(self) -> range:
        start, stop, step = self.integer(), self.integer(), self.integer()
        if not step:
            raise Malformed("a range with step 0")
        return range(start, stop, step)

    def _path(self) -> object:
        import os
        import pathlib

        start = self.at - 1
        letter = self.take(1)
        kind = next((name for name, own in fmt.PATH_LETTERS.items() if own == letter), None)
        if kind is None:
            raise Malformed("an unknown kind of path")
        try:
            text = self.take(self.u32()).decode("utf-8", "surrogateescape")
        except UnicodeDecodeError as error:
            raise Malformed(f"a path is not text: {error.reason}") from None
        is_foreign = kind == ("WindowsPath" if os.name == "posix" else "PosixPath")
        value = getattr(pathlib, f"Pure{kind}" if is_foreign else kind)(text)
        if str(value) != text:
            raise Malformed(f"{text[:40]!r} is not how its path is written")
        self.expect(fmt.PATH + letter + fmt.encode_path_text(text), start)
        return OpaqueValue(OpaqueKind.PATH, kind, (("text", text),)) if is_foreign else value

    def _date(self) -> date:
        return date(*_DAY.unpack(self.take(4)))

    def _timedelta(self) -> timedelta:
        start = self.at - 1
        days, seconds, microseconds = _SPAN.unpack(self.take(12))
        value = timedelta(days, seconds, microseconds)
        self.expect(types.encode_timedelta(value), start)
        return value

    def _clock(self) -> time:
        hour, minute, second, microsecond, fold = _CLOCK.unpack(self.take(8))
        return time(hour, minute, second, microsecond, self._zone(), fold=fold)

    def _zone(self) -> tzinfo | None:
        kind = self.u8()
        if kind == types.NAIVE:
            return None
        if kind not in {
            types.FIXED,
            types.FIXED_AND_LABELLED,
            types.NAMED,
            types.NAMED_WITHOUT_OFFSET,
        }:
            raise Malformed("an unknown kind of time zone")
        offset = None
        if kind != types.NAMED_WITHOUT_OFFSET:
            offset = timedelta(microseconds=self.i64())
            if kind == types.FIXED:
                return timezone(offset) if offset else UTC
        key = self.text()
        if kind == types.FIXED_AND_LABELLED:
            assert offset is not None, "a fixed zone was read with its offset"
            return timezone(offset, key)
        named = self.resolve("zoneinfo:ZoneInfo") if self.resolve is not None else None
        if named is None:
            return RecordedZone(key, offset)
        if key not in _known_zones():
            raise Malformed(f"there is no time zone {key[:40]!r} here")
        zone = named(key)
        assert isinstance(zone, tzinfo), "the resolver names ZoneInfo"
        return zone

    def _time(self) -> time:
        start = self.at - 1
        value = self._clock()
        self.expect(types.encode_time(value), start, _OTHER_TIME)
        return value

    def _datetime(self) -> datetime:
        start = self.at - 1
        value = datetime.combine(self._date(), self._clock())
        self.expect(types.encode_time(value), start, _OTHER_TIME)
        return value

    def _vector(self) -> object:
        kind = self.take(2)
        count = self.u32()
        if kind not in {b"li", b"lf", b"ti", b"tf"} or not count:
            raise Malformed("a vector of nothing, or of an unknown kind")
        if count * 8 > self.end - self.at:
            raise Malformed(
                f"a vector of {pluralize(count, 'number')} is longer than the bytes left"
            )
        letter = "q" if kind[1:] == b"i" else "d"
        start = self.skip(8 * count)
        numbers: tuple[Any, ...] = struct.unpack_from(f"<{count}{letter}", self.data, start)
        if letter == "d" and (total := sum(numbers)) != total:  # a NaN, perhaps
            self.at = start
            for _ in range(count):
                self.f64()
        return list(numbers) if kind[:1] == b"l" else numbers

    def _enum_member(self) -> object:
        type_name, member = self.text(), self.text()
        cls = self.resolve(type_name) if self.resolve is not None else None
        if cls is None:
            return OpaqueValue(OpaqueKind.ENUM, type_name, (("member", member),))
        if not issubclass(cls, enum.Enum):
            raise Malformed(f"{type_name} is not an enum here")
        members = cls._member_map_
        value: Any
        try:
            if not issubclass(cls, enum.Flag):
                value = members[member]
                same = value._name_ == member  # not an alias, whose canonical form is another one
            else:
                value = cls(0)
                for name in filter(None, member.split("|")):
                    value = cls(value.value | members[name].value)
                same = name_flag_bits(value) == member
        except (KeyError, ValueError, TypeError, types.Refusal):
            same = False
        if not same or fmt.type_name(cls) != type_name:
            raise Malformed(f"{type_name} has no member {member[:40]!r} here")
        return value

    def _description(self, nesting: int = 0) -> Description:
        tag = self.take(1)
        if tag == fmt.TEXT:
            return self.text()
        if tag != fmt.TUPLE or nesting >= fmt.DTYPE_NESTING_MAX:
            raise Malformed("neither a plain dtype nor a structure of them")
        fields = []
        for _ in range(self.count()):
            if self.take(5) != fmt.pack_count(fmt.TUPLE, 3) or self.take(1) != fmt.TEXT:
                raise Malformed("a field of a dtype is (name, dtype, shape)")
            fields.append((self.text(), self._description(nesting + 1), self._sides()))
        return tuple(fields)

    def _sides(self) -> tuple[int, ...]:
        tag = self.take(1)
        if tag == fmt.TUPLE and not self.u32():
            return ()
        if tag == fmt.TUPLE or tag + self.take(2) != fmt.VECTOR_TUPLE_INT:
            raise Malformed("the shape of a field is integers")
        return tuple(self.i64() for _ in range(self.count()))

    def _dtype(self) -> Any:
        start = self.at
        dtype = make_dtype(self._description())
        self.expect(encode_description(describe_dtype(dtype)), start)
        return dtype

    def _array(self) -> object:
        import numpy as np

        dtype = self._dtype()
        shape = tuple([self.u64() for _ in range(self.u8())])
        size = self.u64()
        if not dtype.itemsize or prod(shape) * dtype.itemsize != size:
            raise Malformed(
                f"an array of shape {shape} with items of {pluralize(dtype.itemsize, 'byte')} in {pluralize(size, 'byte')}"
            )
        at = self.skip(size)
        raw = bytearray(memoryview(self.data)[at : at + size])
        return np.frombuffer(raw, dtype).reshape(shape) if raw else np.empty(shape, dtype)

    def _scalar(self) -> object:
        import numpy as np

        dtype = self._dtype()
        raw = self.take(self.u64())
        if len(raw) != dtype.itemsize:
            raise Malformed(
                f"a scalar of {pluralize(dtype.itemsize, 'byte')} in {pluralize(len(raw), 'byte')}"
            )
        items = np.frombuffer(bytearray(raw), dtype) if raw else np.zeros(1, dtype)
        value: object = items[0]
        return value


LEAF_READERS: Final[dict[bytes, Callable[[Any], object]]] = {
    fmt.NONE: lambda _cursor: None,
    fmt.TRUE: lambda _cursor: True,
    fmt.FALSE: lambda _cursor: False,
    fmt.INT: Cursor.i64,
    fmt.BIG_INT: Cursor.big_int,
    fmt.FLOAT: Cursor.f64,
    fmt.COMPLEX: lambda cursor: complex(cursor.f64(), cursor.f64()),
    fmt.TEXT: Cursor.text,
    fmt.BYTES: lambda cursor: cursor.take(cursor.u64()),
    fmt.BYTEARRAY: lambda cursor: bytearray(cursor.take(cursor.u64())),
    fmt.DECIMAL: LeafDecoder._decimal,
    fmt.FRACTION: LeafDecoder._fraction,
    fmt.UUID: LeafDecoder._uuid,
    fmt.RANGE: LeafDecoder._range,
    fmt.PATH: LeafDecoder._path,
    fmt.DATE: LeafDecoder._date,
    fmt.TIME: LeafDecoder._time,
    fmt.DATETIME: LeafDecoder._datetime,
    fmt.TIMEDELTA: LeafDecoder._timedelta,
    fmt.VECTOR: LeafDecoder._vector,
    fmt.ENUM: LeafDecoder._enum_member,
    fmt.ARRAY: LeafDecoder._array,
    fmt.NUMPY_SCALAR: LeafDecoder._scalar,
}
