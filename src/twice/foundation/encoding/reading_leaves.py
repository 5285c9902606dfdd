"""Bytes to values without parts.

A value whose text could be written in two ways is encoded again and compared, so that decoding
accepts canonical bytes only.

Invariant: a leaf reader returns a value that encodes to exactly the bytes it consumed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from functools import cache
from struct import Struct

from twice.foundation.encoding import forms, instants, scalars
from twice.foundation.encoding.cursor import Cursor, Malformed
from twice.foundation.encoding.opaque import PathValue
from twice.foundation.encoding.resolving import Resolve

_DAY = Struct("<HBB")
_CLOCK = Struct("<BBBIB")
_SPAN = Struct("<iii")


def _big_int(cursor: Cursor) -> int:
    start = cursor.at - 1
    value = int.from_bytes(cursor.take(cursor.u32()), "little", signed=True)
    cursor.expect(forms.int_form(value), start)
    return value


def _int(cursor: Cursor) -> int:
    tag = cursor.take(1)
    if tag == forms.INT:
        return cursor.i64()
    if tag == forms.BIG_INT:
        return _big_int(cursor)
    raise Malformed("an integer was expected")


def _complex(cursor: Cursor) -> complex:
    return complex(cursor.f64(), cursor.f64())


def _decimal(cursor: Cursor) -> object:
    from decimal import Decimal

    text = cursor.text()
    try:
        value = Decimal(text)
    except (ArithmeticError, ValueError) as error:
        raise Malformed(f"{text[:40]!r} is not a Decimal") from error
    if scalars.decimal_text(value) != text:
        raise Malformed(f"{text[:40]!r} is not how its Decimal is written")
    return value


def _fraction(cursor: Cursor) -> object:
    from fractions import Fraction

    start = cursor.at - 1
    above, below = _int(cursor), _int(cursor)
    if below < 1 or cursor.at - start > 2 * forms.FRACTION_BYTES_MAX + 16:
        raise Malformed("a fraction without a positive denominator, or too wide")
    value = Fraction(above, below)
    cursor.expect(scalars.LIBRARY["Fraction"](value), start)
    return value


def _uuid(cursor: Cursor) -> object:
    from uuid import UUID

    return UUID(bytes=cursor.take(16))


def _range(cursor: Cursor) -> range:
    start, stop, step = _int(cursor), _int(cursor), _int(cursor)
    if not step:
        raise Malformed("a range with step 0")
    return range(start, stop, step)


def _path(cursor: Cursor) -> object:
    import os
    import pathlib

    kinds = {letter: name for name, letter in scalars.PATH_KINDS.items()}
    start = cursor.at - 1
    kind = kinds.get(cursor.take(1))
    if kind is None:
        raise Malformed("an unknown kind of path")
    try:
        text = cursor.take(cursor.u32()).decode("utf-8", "surrogateescape")
    except UnicodeDecodeError as error:
        raise Malformed(f"a path is not text: {error.reason}") from None
    foreign = "WindowsPath" if os.name == "posix" else "PosixPath"
    pure = f"Pure{kind.removeprefix('Pure')}"
    value = getattr(pathlib, pure if kind == foreign else kind)(text)
    if str(value) != text:
        raise Malformed(f"{text[:40]!r} is not how its path is written")
    cursor.expect(forms.PATH + scalars.PATH_KINDS[kind] + scalars.path_text_form(text), start)
    return PathValue(kind, text) if kind == foreign else value


def _date(cursor: Cursor) -> date:
    return date(*_DAY.unpack(cursor.take(4)))


def _timedelta(cursor: Cursor) -> timedelta:
    start = cursor.at - 1
    days, seconds, microseconds = _SPAN.unpack(cursor.take(12))
    value = timedelta(days, seconds, microseconds)
    cursor.expect(scalars.LIBRARY["timedelta"](value), start)
    return value


def _zone(cursor: Cursor, resolve: Resolve | None) -> tzinfo | None:
    kind = cursor.u8()
    if kind == instants.NAIVE:
        return None
    offset = None
    if kind in {instants.FIXED, instants.FIXED_AND_LABELLED, instants.NAMED}:
        offset = timedelta(microseconds=cursor.i64())
    elif kind != instants.NAMED_WITHOUT_OFFSET:
        raise Malformed("an unknown kind of time zone")
    if kind == instants.FIXED:
        assert offset is not None, "a fixed zone was read with its offset"
        return timezone(offset) if offset else UTC
    key = cursor.text()
    if kind == instants.FIXED_AND_LABELLED:
        assert offset is not None, "a fixed zone was read with its offset"
        return timezone(offset, key)
    named = resolve("zoneinfo:ZoneInfo") if resolve is not None else None
    if named is None:
        return instants.RecordedZone(key, offset)
    if key not in _known_zones():
        raise Malformed(f"there is no time zone {key[:40]!r} here")
    zone = named(key)
    assert isinstance(zone, tzinfo), "the resolver names ZoneInfo"
    return zone


@cache
def _known_zones() -> frozenset[str]:
    """The keys of the zone database. Any other key would reach an import inside zoneinfo."""
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


def _clock(cursor: Cursor, resolve: Resolve | None) -> time:
    hour, minute, second, microsecond, fold = _CLOCK.unpack(cursor.take(8))
    zone = _zone(cursor, resolve)
    return time(hour, minute, second, microsecond, zone, fold=fold)


def _time(cursor: Cursor, resolve: Resolve | None) -> time:
    start = cursor.at - 1
    value = _clock(cursor, resolve)
    _same_instant(cursor, instants.time_form(value), start)
    return value


def _datetime(cursor: Cursor, resolve: Resolve | None) -> datetime:
    start = cursor.at - 1
    day = _date(cursor)
    value = datetime.combine(day, _clock(cursor, resolve))
    _same_instant(cursor, instants.datetime_form(value), start)
    return value


def _same_instant(cursor: Cursor, form: bytes, start: int) -> None:
    if cursor.data[start : cursor.at] != form:
        raise Malformed(
            "a time is not in its canonical form, or the time zone data here gives it another "
            "offset than the one recorded"
        )


LEAF_READERS: dict[bytes, Callable[[Cursor], object]] = {
    forms.NONE: lambda _cursor: None,
    forms.TRUE: lambda _cursor: True,
    forms.FALSE: lambda _cursor: False,
    forms.INT: Cursor.i64,
    forms.BIG_INT: _big_int,
    forms.FLOAT: Cursor.f64,
    forms.COMPLEX: _complex,
    forms.TEXT: Cursor.text,
    forms.BYTES: lambda cursor: cursor.take(cursor.u64()),
    forms.BYTEARRAY: lambda cursor: bytearray(cursor.take(cursor.u64())),
    forms.DECIMAL: _decimal,
    forms.FRACTION: _fraction,
    forms.UUID: _uuid,
    forms.RANGE: _range,
    forms.PATH: _path,
    forms.DATE: _date,
    forms.TIMEDELTA: _timedelta,
}

ZONED_READERS: dict[bytes, Callable[[Cursor, Resolve | None], object]] = {
    forms.TIME: _time,
    forms.DATETIME: _datetime,
}
