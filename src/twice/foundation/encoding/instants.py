"""Times of day and dates with times, and the zone they are told in.

A naive value has no zone. A zone is a fixed offset (``datetime.timezone``) or a ``ZoneInfo`` by
key; both are written with the offset in force, so that a change of the zone database is visible in
the bytes. Other ``tzinfo`` classes are code with hidden tables and are refused.

Invariant: the bytes depend on the value and the offset it reports, on nothing else.
"""

from __future__ import annotations

import sys
from datetime import datetime, time, timedelta, timezone, tzinfo
from struct import Struct

from twice.foundation.encoding import forms
from twice.foundation.encoding.refusals import Refusal

NAIVE, FIXED, NAMED, NAMED_WITHOUT_OFFSET, FIXED_AND_LABELLED = range(5)

pack_time = Struct("<BBBIB").pack
pack_day = Struct("<HBB").pack
pack_zone = Struct("<Bq").pack

_MICROSECOND = timedelta(microseconds=1)


class RecordedZone(tzinfo):
    """A zone known by key and by the offset that was in force when the value was written.

    Decoding without a resolver yields it in place of ``ZoneInfo``: no zone file is read. It stands
    for one offset, so arithmetic across a clock change needs the real zone.

    Args:
        key: the name in the zone database, such as ``Europe/Berlin``.
        offset: the offset from UTC, or None for a time of day, whose offset depends on the date.
    """

    def __init__(self, key: str, offset: timedelta | None) -> None:
        self.key = key
        self.offset = offset

    def utcoffset(self, _when: datetime | None, /) -> timedelta | None:
        """The recorded offset, whatever the date."""
        return self.offset

    def dst(self, _when: datetime | None, /) -> timedelta | None:
        """Not recorded."""
        return None

    def tzname(self, _when: datetime | None, /) -> str:
        """The key of the zone."""
        return self.key

    def __repr__(self) -> str:
        return f"RecordedZone({self.key!r}, {self.offset!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordedZone):
            return NotImplemented
        return (self.key, self.offset) == (other.key, other.offset)

    def __hash__(self) -> int:
        return hash((self.key, self.offset))


def _zone_form(zone: tzinfo | None, offset: timedelta | None) -> bytes:
    if zone is None:
        return bytes((NAIVE,))
    if type(zone) is timezone:
        assert offset is not None, "a fixed offset zone reports its offset"
        label = zone.tzname(None)
        if label == timezone(offset).tzname(None):
            return pack_zone(FIXED, offset // _MICROSECOND)
        return pack_zone(FIXED_AND_LABELLED, offset // _MICROSECOND) + forms.name_form(label)
    key = _zone_key(zone)
    if offset is None:
        return bytes((NAMED_WITHOUT_OFFSET,)) + forms.name_form(key)
    return pack_zone(NAMED, offset // _MICROSECOND) + forms.name_form(key)


def _zone_key(zone: tzinfo) -> str:
    named = getattr(sys.modules.get("zoneinfo"), "ZoneInfo", None)
    if type(zone) in (named, RecordedZone):
        key: str | None = getattr(zone, "key", None)
        if key is not None:
            return key
    cls = type(zone)
    raise Refusal(
        f"a time in a {cls.__module__}.{cls.__qualname__} zone without a key",
        "Expected no zone, datetime.timezone, or zoneinfo.ZoneInfo made from a key.",
        "Convert it: value.astimezone(zoneinfo.ZoneInfo('Area/City')).",
    )


def _clock_form(value: time | datetime) -> bytes:
    return pack_time(value.hour, value.minute, value.second, value.microsecond, value.fold)


def time_form(value: time) -> bytes:
    """Tag, hour, minute, second, microsecond, fold, zone."""
    return forms.TIME + _clock_form(value) + _zone_form(value.tzinfo, value.utcoffset())


def datetime_form(value: datetime) -> bytes:
    """Tag, year, month, day, then as a time."""
    day = pack_day(value.year, value.month, value.day)
    zone = _zone_form(value.tzinfo, value.utcoffset())
    return forms.DATETIME + day + _clock_form(value) + zone
