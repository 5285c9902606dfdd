"""Effect events as bytes: one journal frame holds a run of consecutive reads.

A frame is the canonical form of ``(numbers, floats, values)``: operation numbers as little-endian
16-bit, the values of all reads whose result is a float as little-endian 64-bit, the other values
as a tuple. Splitting them keeps a million clock reads at ten bytes and a tenth of a microsecond.

Invariant: ``unpack(pack(events)) == events``, in order.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any

from twice.errors import DecodingRefused
from twice.foundation.encoding import decode, encode

Event = tuple[int, object]
STRICT = "effects"
LENIENT = "effects-lenient"
CONNECTION = "connection"
ACTOR = "actor"
RUN_READS_MAX = 2048
RUNS_MAX = 1024


class Waiting:
    """Reads that wait to be written, kept as runs of one operation.

    Most reads repeat the one before them, so a read costs one append to a list of plain values, and
    writing a run down costs no Python code per value.

    Attributes:
        number: operation of the last run, 0 before any.
        values: values of the last run.
        runs: all runs, oldest first.
    """

    __slots__ = ("number", "runs", "values")

    def __init__(self) -> None:
        self.number = 0
        self.values: list[object] = []
        self.runs: list[tuple[int, list[object]]] = []

    def add(self, number: int, value: object) -> None:
        """Add one read."""
        if number != self.number:
            values: list[object] = []
            self.runs.append((number, values))
            # Nothing is allocated between these two: a finalizer that reads cannot come in between.
            self.values = values
            self.number = number
        self.values.append(value)

    @property
    def full(self) -> bool:
        """Whether it is time to write them down."""
        return len(self.values) >= RUN_READS_MAX or len(self.runs) >= RUNS_MAX

    def take(self) -> tuple[list[int], list[object]]:
        """Operation numbers and values of everything that waits, taken out at once."""
        runs, self.runs, self.values, self.number = self.runs, [], [], 0
        numbers: list[int] = []
        values: list[object] = []
        for number, of_run in runs:
            numbers += [number] * len(of_run)
            values += of_run
        return numbers, values


def pack(events: Sequence[Event]) -> bytes:
    """Encode a run of reads for one journal frame."""
    return pack_columns([number for number, _ in events], [value for _, value in events])


def pack_columns(numbers: Sequence[int], values: Sequence[object]) -> bytes:
    """``pack`` for reads whose operations and values stand apart already."""
    kinds = list(map(type, values))
    packed = little_endian(array("H", numbers))
    if kinds.count(float) == len(kinds):
        column: Sequence[Any] = values
        return encode((packed, little_endian(array("d", column)), b"", ()))
    floats = array("d", [value for value in values if type(value) is float])
    others = tuple([value for value in values if type(value) is not float])
    mask = bytes(kind is float for kind in kinds)
    return encode((packed, little_endian(floats), mask, others))


def unpack(payload: bytes | bytearray | memoryview) -> list[Event]:
    """Decode what ``pack`` wrote.

    Raises:
        DecodingRefused: E-ENCODE-004, when the columns do not fit each other.
    """
    decoded: Any = decode(payload)
    try:
        raw_numbers, raw_floats, mask, others = decoded
        numbers, floats = array("H"), array("d")
        numbers.frombytes(raw_numbers)
        floats.frombytes(raw_floats)
        if sys.byteorder == "big":
            numbers.byteswap()
            floats.byteswap()
        if not mask:
            return list(zip(numbers, floats, strict=True))
        next_float, next_other = iter(floats), iter(others)
        return [
            (number, next(next_float) if is_float else next(next_other))
            for number, is_float in zip(numbers, mask, strict=True)
        ]
    except (TypeError, ValueError, StopIteration) as error:
        raise DecodingRefused(
            f"An effects frame does not hold together: {error}.",
            "Expected operation numbers, floats, a mask and other values of fitting lengths.",
            "The record was written by something else than twice, or damaged.",
        ) from error


def little_endian(column: array[float] | array[int]) -> bytes:
    """A column's bytes in the order that the record stores, whatever this machine's is."""
    if sys.byteorder == "big":
        column = column[:]
        column.byteswap()
    return column.tobytes()
