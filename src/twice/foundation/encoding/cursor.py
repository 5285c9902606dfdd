"""A position in bytes that may be anybody's: every read is checked before it is made.

Invariant: no read reaches past the end, and nothing is allocated that the bytes do not back.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Any

_u32 = Struct("<I").unpack_from
_u64 = Struct("<Q").unpack_from
_i64 = Struct("<q").unpack_from
_f64 = Struct("<d").unpack_from


class Malformed(Exception):  # becomes DecodingRefused, with the position
    """The bytes are not a canonical form."""


class Cursor:
    """Bytes and how far they are read.

    Args:
        data: the bytes.
    """

    __slots__ = ("at", "data", "end")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.end = len(data)

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        start = self.skip(size)
        return self.data[start : start + size]

    def skip(self, size: int) -> int:
        """Passes ``size`` bytes; returns where they begin."""
        start = self.at
        if size > self.end - start:
            raise Malformed(f"{size} bytes were announced and {self.end - start} are left")
        self.at = start + size
        return start

    def u8(self) -> int:
        """One byte."""
        return self.data[self.skip(1)]

    def u32(self) -> int:
        """A 32-bit length."""
        number: int = _u32(self.data, self.skip(4))[0]
        return number

    def u64(self) -> int:
        """A 64-bit length."""
        number: int = _u64(self.data, self.skip(8))[0]
        return number

    def i64(self) -> int:
        """A 64-bit integer."""
        number: int = _i64(self.data, self.skip(8))[0]
        return number

    def f64(self) -> float:
        """A double; a NaN must be the one NaN."""
        start = self.skip(8)
        number: float = _f64(self.data, start)[0]
        if number != number and self.data[start : start + 8] != _QUIET:  # noqa: PLR0124  # NaN test
            raise Malformed("a NaN is not the one NaN")
        return number

    def numbers(self, count: int, letter: str) -> tuple[Any, ...]:
        """``count`` integers (``q``) or doubles (``d``), whose room the caller has checked."""
        start = self.skip(8 * count)
        numbers = struct.unpack_from(f"<{count}{letter}", self.data, start)
        if letter == "d" and (total := sum(numbers)) != total:  # a NaN, perhaps
            self.at = start
            for _ in range(count):
                self.f64()
        return numbers

    def count(self) -> int:
        """A number of items, each of at least one byte."""
        number = self.u32()
        if number > self.end - self.at:
            raise Malformed(
                f"{number} items were announced and {self.end - self.at} bytes are left"
            )
        return number

    def text(self) -> str:
        """Length and UTF-8."""
        raw = self.take(self.u32())
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Malformed(f"a text is not UTF-8: {error.reason}") from None

    def expect(self, form: bytes, start: int) -> None:
        """Checks that what was read since ``start`` is how its value is written."""
        if self.data[start : self.at] != form:
            raise Malformed("a value is not in its canonical form")


_QUIET = bytes.fromhex("000000000000f87f")
