"""Effect events as bytes: one journal frame holds a run of consecutive reads.

A frame is the canonical form of columns: operation numbers as little-endian 16-bit, the values of all reads
whose result is a float as little-endian 64-bit, the other values as a tuple; entropy as sizes and bytes,
and values that stand there already by their places. Splitting them keeps a million clock reads at ten bytes
and a tenth of a microsecond, and the others at a few tenths.

Invariant: ``unpack(pack(events)) == events``, in order.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from operator import getitem
from typing import Any

from twice.errors import DecodingRefused
from twice.foundation.encoding import decode, encode
from twice.foundation.printable import pluralize

Event = tuple[int, object]
Run = tuple[int, list[object]]
"""An operation, and the values of reads of it that followed each other."""
STRICT = "effects"
LENIENT = "effects-lenient"
CONNECTION = "connection"
ACTOR = "actor"
RUN_READS_MAX = 2048
RUNS_MAX = 1024
_OTHER, _FLOAT, _SIZED, _AGAIN = range(4)
_FEW = 64
_NONE = object()
_Columns = tuple["array[float]", bytes | bytearray, Sequence[object], Sequence[bytes], "array[int]"]
"""Floats, mask, others, sized, again: see ``docs/format/journal.md``."""


class Waiting:
    """Reads that wait to be written, kept as runs of one operation.

    Most reads repeat the one before them, so a read costs one append to a list of plain values, and
    writing a run down costs no Python code per value.
    """

    __slots__ = ("number", "runs", "values")

    def __init__(self) -> None:
        # Operation and values of the last run, 0 before any; and all runs, oldest first.
        self.number = 0
        self.values: list[object] = []
        self.runs: list[Run] = []

    def add(self, number: int, value: object) -> bool:
        """Add one read; return whether enough wait to write them to the journal."""
        if number != self.number:
            values: list[object] = []
            self.runs.append((number, values))
            # Nothing is allocated between these two: a finalizer that reads cannot come in between.
            self.values = values
            self.number = number
        self.values.append(value)
        return len(self.values) >= RUN_READS_MAX or len(self.runs) >= RUNS_MAX

    def take(self) -> list[Run]:
        """Take everything that waits, at once."""
        runs, self.runs, self.values, self.number = self.runs, [], [], 0
        return runs


def join_runs(runs: Sequence[Run]) -> tuple[array[int], Sequence[object]]:
    """Return the operation number and the value of each read, as two columns."""
    if len(runs) == 1:
        number, values = runs[0]
        return array("H", [number]) * len(values), values
    numbers, joined = array("H"), []
    for number, values in runs:
        if len(values) == 1:
            numbers.append(number)
        else:
            numbers.extend([number] * len(values))
        joined += values
    return numbers, joined


def pack(events: Sequence[Event]) -> bytes:
    """Encode a run of reads for one journal frame."""
    return pack_columns(array("H", [number for number, _ in events]), [each for _, each in events])


def pack_columns(numbers: array[int], values: Sequence[object]) -> bytes:
    """Encode reads whose operations and values are separate already."""
    kinds = list(map(type, values))
    packed = little_endian(numbers)
    if kinds.count(float) == len(kinds):
        # An array would take four times as long.
        return encode((packed, struct.pack(f"<{len(values)}d", *values), b"", ()))
    columns = _pack_entropy(values, kinds) or _pack_repeated(values) or _pack_mixed(values, kinds)
    floats, mask, others, sized, again = columns
    whole = (packed, little_endian(floats), bytes(mask), tuple(others))
    if not sized and not again:
        return encode(whole)
    sizes = little_endian(array("I", map(len, sized)))
    return encode((*whole, sizes, b"".join(sized), little_endian(again)))


def _pack_entropy(values: Sequence[Any], kinds: list[type]) -> _Columns | None:
    """Return columns of reads that all gave as many bytes as asked, without Python code for each."""
    if kinds.count(tuple) != len(kinds) or not _is_sized(*values[0]):
        return None
    try:
        asked, given = zip(*values, strict=True)
    except ValueError:  # one has more than a size and bytes
        return None
    if set(map(type, given)) != {bytes} or set(map(type, asked)) != {int}:
        return None
    if list(map(len, given)) != list(asked):
        return None
    return array("d"), bytes([_SIZED]) * len(values), (), given, array("I")


def _pack_repeated(values: Sequence[object]) -> _Columns | None:
    """Return columns of reads that gave a few objects again and again."""
    ids = list(map(id, values))
    places = {one: place for place, one in enumerate(dict.fromkeys(ids))}
    if len(places) > _FEW or len(places) * 4 > len(ids):
        return None
    firsts = [ids.index(one) for one in places]
    mask = bytearray([_AGAIN]) * len(ids)
    for at in firsts:
        mask[at] = _OTHER
    again = array("I", map(places.__getitem__, ids))
    for at in reversed(firsts):
        del again[at]
    return array("d"), mask, [values[at] for at in firsts], (), again


def _pack_mixed(values: Sequence[Any], kinds: Sequence[type]) -> _Columns:
    """Return columns of any reads."""
    mask = bytearray(len(values))
    floats, sized, again = array("d"), [], array("I")
    others: list[object] = []
    places: dict[int, int] = {}  # by identity: what is read again and again is one object
    for at, value in enumerate(values):
        place = places.get(id(value))
        if place is not None:
            mask[at] = _AGAIN
            again.append(place)
        elif kinds[at] is float:
            mask[at] = _FLOAT
            floats.append(value)
        elif kinds[at] is tuple and _is_sized(*value):
            mask[at] = _SIZED
            sized.append(value[1])
        else:
            places[id(value)] = len(others)
            others.append(value)
    return floats, mask, others, sized, again


def _is_sized(size: object = None, data: object = None, *more: object) -> bool:
    """Return whether this is a size and so many bytes, the form of a read of entropy."""
    return type(data) is bytes and type(size) is int and size == len(data) and not more


def unpack(payload: bytes | bytearray | memoryview) -> list[Event]:
    """Decode the bytes of ``pack``; columns that do not fit each other are E-ENCODE-004."""
    decoded: Any = decode(payload)
    try:
        raw_numbers, raw_floats, mask, others, *more = decoded
        sizes, blob, again = more or (b"", b"", b"")
        numbers, floats = _column("H", raw_numbers), _column("d", raw_floats)
        if not mask:
            return list(zip(numbers, floats, strict=True))
        sized = _cut(_column("I", sizes), blob)
        repeated = map(partial(getitem, others), _column("I", again))
        columns = (iter(others), iter(floats), sized, repeated)  # by the numbers of the mask
        events = list(zip(numbers, [next(columns[kind]) for kind in mask], strict=True))
        if any(next(rest, _NONE) is not _NONE for rest in columns):
            raise ValueError("more values than reads")  # noqa: TRY301
    except (TypeError, ValueError, StopIteration, IndexError) as error:
        raise _unfit(error) from error
    return events


def read_numbers(payload: bytes | bytearray | memoryview) -> array[int]:
    """Return the operation numbers alone of the bytes of ``pack``; without any they are E-ENCODE-004."""
    decoded: Any = decode(payload)
    try:
        return _column("H", decoded[0])
    except (TypeError, ValueError, IndexError) as error:
        raise _unfit(error) from error


def _unfit(error: Exception) -> DecodingRefused:
    return DecodingRefused(
        f"An effects frame does not hold together: {error}.",
        "Expected operation numbers, floats, a mask and other values of fitting lengths.",
        "The record was written by something else than twice, or damaged.",
    )


def _cut(sizes: Sequence[int], blob: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    for size in sizes:
        yield size, blob[at : at + size]
        at += size
    if at != len(blob):
        raise ValueError(f"{pluralize(len(blob), 'byte')} instead of {at:,}")


def _column(kind: str, raw: bytes) -> array[Any]:
    column = array(kind)
    column.frombytes(raw)
    if sys.byteorder == "big":
        column.byteswap()
    return column


def little_endian(column: array[float] | array[int]) -> bytes:
    """Return a column's bytes in the record's order, whatever this machine's byte order is."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()
