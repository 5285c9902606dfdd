"""Times as people write them: functions that read the clock when they are given no time.

Covered: ``localtime``, ``gmtime``, ``ctime``, ``asctime``, ``strftime`` of ``time``; ``now``, ``utcnow``
and ``today`` of ``datetime`` and ``date``, also through names that were bound before the session.
They are recorded as the one clock read that they make; the time zone is the environment's.

Not covered: calendars of other libraries that read the clock in C (``numpy.datetime64("now")``).

Invariant: a value has the type, and the precision, that the real function gives.
"""

from __future__ import annotations

import sys
import time as _time
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime, tzinfo
from operator import call
from sys import _getframe
from types import CodeType
from typing import Any

from twice.recorder.effects.patches import Patch

Reading = Callable[[CodeType], Any]
"""Reads one clock for the code that asks."""
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use"
    " timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def patches(seconds: Reading, nanoseconds: Reading) -> list[Patch]:
    """Return the patches of these functions for a session.

    Args:
        seconds: reads ``time.time``.
        nanoseconds: reads ``time.time_ns``.
    """
    return [*_written_times(seconds), *_dates(nanoseconds)]


def _written_times(now: Reading) -> list[Patch]:
    """Patch the functions of ``time`` that read the clock when they get no time."""
    localtime, gmtime, ctime = _time.localtime, _time.gmtime, _time.ctime
    asctime, strftime = _time.asctime, _time.strftime

    def of_seconds(real: Callable[[float], Any]) -> Callable[..., Any]:
        def read(seconds: float | None = None, /) -> Any:
            return real(now(_getframe(1).f_code) if seconds is None else seconds)

        return read

    def governed_asctime(t: Any = None, /) -> str:
        return asctime(localtime(now(_getframe(1).f_code)) if t is None else t)

    def governed_strftime(format: str, t: Any = None, /) -> str:  # noqa: A002  (its name)
        return strftime(format, localtime(now(_getframe(1).f_code)) if t is None else t)

    return [
        Patch(_time, "localtime", of_seconds(localtime), call),
        Patch(_time, "gmtime", of_seconds(gmtime), call),
        Patch(_time, "ctime", of_seconds(ctime), call),
        Patch(_time, "asctime", governed_asctime, call),
        Patch(_time, "strftime", governed_strftime, lambda read: read("%s")),
    ]


def _dates(nanoseconds: Reading) -> list[Patch]:
    """Patch the constructors of ``datetime`` that read the clock."""

    def moment(cls: type[datetime], tz: tzinfo | None, asker: CodeType) -> datetime:
        whole, rest = divmod(nanoseconds(asker), 1_000_000_000)
        return cls.fromtimestamp(whole, tz).replace(microsecond=rest // 1000)

    def now(cls: type[datetime], tz: tzinfo | None = None) -> datetime:
        return moment(cls, tz, _getframe(1).f_code)

    def today_now(cls: type[datetime]) -> datetime:
        return moment(cls, None, _getframe(1).f_code)

    def utcnow(cls: type[datetime]) -> datetime:
        if sys.version_info >= (3, 12):
            warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)
        return moment(cls, UTC, _getframe(1).f_code).replace(tzinfo=None)

    def today(cls: type[date]) -> date:
        return cls.fromtimestamp(nanoseconds(_getframe(1).f_code) // 1_000_000_000)

    return [
        Patch(datetime, "now", classmethod(now), call),
        Patch(datetime, "utcnow", classmethod(utcnow), _quietly),
        Patch(datetime, "today", classmethod(today_now), call),
        Patch(date, "today", classmethod(today), call),
    ]


def _quietly(read: Callable[[], datetime]) -> datetime:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read()
