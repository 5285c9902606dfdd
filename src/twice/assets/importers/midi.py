"""Standard MIDI files: tempo, meter and key, with where they change.

A file with several tempos has no one tempo; all of them are candidates. So is what holds before the first event:
120 beats per minute and 4/4. Notes are stepped over.

Source: Standard MIDI Files 1.0, MIDI Manufacturers Association, 1996.

Invariant: reading takes one pass, at most ``EVENTS_MAX`` events, and never runs over a chunk's end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.assets.containers.source import Source
from twice.assets.importers import fields
from twice.assets.importers.imported import Reading, Value, distinct
from twice.foundation.printable import pluralize

EVENTS_MAX: Final = 2_000_000
_TRACK_MAX: Final = 64 << 20
_TRACKS_MAX: Final = 65535
_TEMPO, _METER, _KEY = 0x51, 0x58, 0x59
_DEFAULTS: Final[dict[int, Value]] = {_TEMPO: 120, _METER: "4/4"}
"""What holds until a file says something else."""

_MAJORS: Final = ("Cb", "Gb", "Db", "Ab", "Eb", "Bb", "F", "C", "G", "D", "A", "E", "B", "F#", "C#")
_MINORS: Final = ("Ab", "Eb", "Bb", "F", "C", "G", "D", "A", "E", "B", "F#", "C#", "G#", "D#", "A#")


class _Cut(ValueError):
    """A track ends within an event, or holds what no event is."""


@dataclass(frozen=True, slots=True)
class _Meta:
    tick: int
    kind: int
    data: bytes


def read_midi(source: Source, reading: Reading) -> None:
    """Read a file."""
    if source.size < 14 or source.number(4, 4, big=True) < 6:
        reading.puzzle("MThd", "its header is cut off")
        return
    division = source.number(12, 2, big=True)
    reading.keep("format", source.number(8, 2, big=True))
    if division & 0x8000:
        reading.puzzle("MThd", "time is counted in SMPTE frames; a tempo in it changes nothing")
    elif not division:
        reading.puzzle("MThd", "a quarter note has no ticks, so no time can be told")
    else:
        reading.keep("ticks per quarter note", division)
    found: list[_Meta] = []
    left = EVENTS_MAX
    for at, track in enumerate(_tracks(source, reading)):
        left = _read_track(at, track, found, left, reading)
    _say(found, reading, timed=0 < division < 0x8000)


def _tracks(source: Source, reading: Reading) -> Iterator[bytes]:
    at = 8 + source.number(4, 4, big=True)
    for _ in range(_TRACKS_MAX):
        if at + 8 > source.size:
            return
        size = source.number(at + 4, 4, big=True)
        if source.read(at, 4) == b"MTrk":
            if at + 8 + size > source.size:
                reading.puzzle(f"MTrk at byte {at}", "the track is cut off")
            if size <= _TRACK_MAX:
                yield source.read(at + 8, size)
            else:
                reading.puzzle(
                    f"MTrk at byte {at}", f"the track is longer than {_TRACK_MAX >> 20} MiB"
                )
        at += 8 + size


def _read_track(at: int, data: bytes, found: list[_Meta], left: int, reading: Reading) -> int:
    """Collect a track's meta events; give how many events may still be read."""
    try:
        for event in _events(data):
            left -= 1
            if left < 0:
                reading.puzzle(f"track {at}", f"the file holds more than {EVENTS_MAX} events")
                return 0
            if event is not None and event.kind in (_TEMPO, _METER, _KEY):
                found.append(event)
    except _Cut as error:
        reading.puzzle(f"track {at}", str(error))
    return left


def _events(data: bytes) -> Iterator[_Meta | None]:
    """Give meta events, and ``None`` for all others."""
    at, tick, running = 0, 0, 0
    while at < len(data):
        delta, at = _length(data, at)
        tick += delta
        status = _byte(data, at)
        if status < 0x80:
            if not running:
                raise _Cut(f"an event at byte {at} has no status")
            status = running
        else:
            at += 1
        if status == 0xFF:
            kind = _byte(data, at)
            size, at = _length(data, at + 1)
            if at + size > len(data):
                raise _Cut(f"an event at byte {at} is cut off")
            yield _Meta(tick, kind, data[at : at + size])
            at += size
            if kind == 0x2F:
                return
        elif status in (0xF0, 0xF7):
            size, at = _length(data, at)
            at += size
            yield None
        elif status > 0xF0:
            raise _Cut(f"a byte {status:02x} before byte {at} begins no event of a file")
        else:
            running = status
            count = 1 if status & 0xE0 == 0xC0 else 2
            if any(_byte(data, at + each) > 0x7F for each in range(count)):
                raise _Cut(f"an event at byte {at} holds what is no data")
            at += count
            yield None


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise _Cut(f"it is cut off at byte {at}")
    return data[at]


def _length(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(4):
        byte = _byte(data, at + step)
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    raise _Cut(f"a length at byte {at} has no end")


def _say(found: list[_Meta], reading: Reading, *, timed: bool) -> None:
    """Say what the meta events come to.

    Args:
        found: them, in the order of the file.
        reading: takes it.
        timed: whether the file counts time in quarter notes, so that a tempo means something.
    """
    for kind, pointer, read in (
        (_TEMPO, fields.TEMPO, _tempo), (_METER, fields.METER, _meter), (_KEY, fields.KEY, _key),
    ):  # fmt: skip
        events = [each for each in found if each.kind == kind]
        values: list[Value] = []
        for event in events:
            value = read(event.data)
            if value is None:
                reading.puzzle(
                    f"tick {event.tick}", f"{event.data[:8].hex()} is no value for {pointer}"
                )
            else:
                values.append(value)
        late = kind in _DEFAULTS and values and min(each.tick for each in events) > 0
        known = distinct([_DEFAULTS[kind], *values] if late else values)
        if kind == _TEMPO and known and not timed:
            reading.doubt(pointer, known[:64], "time is not counted in quarter notes")
        elif len(known) == 1:
            reading.say(pointer, known[0])
        elif late:
            reading.doubt(pointer, known[:64], f"it is first said at tick {events[0].tick}")
        elif known:
            reading.doubt(pointer, known[:64], f"it changes {pluralize(len(values) - 1, 'time')}")


def _tempo(data: bytes) -> Value | None:
    """Give beats per minute from microseconds per quarter note, to six decimals."""
    length_us = int.from_bytes(data, "big")
    if len(data) != 3 or not length_us:
        return None
    whole, rest = divmod(60_000_000, length_us)
    return whole if not rest else round(60_000_000 / length_us, 6)


def _meter(data: bytes) -> Value | None:
    if len(data) < 2 or not data[0] or data[1] > 12:
        return None
    return f"{data[0]}/{1 << data[1]}"


def _key(data: bytes) -> Value | None:
    sharps = int.from_bytes(data[:1], "big", signed=True)
    if len(data) != 2 or not -7 <= sharps <= 7 or data[1] not in (0, 1):
        return None
    return f"{_MAJORS[sharps + 7]} major" if data[1] == 0 else f"{_MINORS[sharps + 7]} minor"
