"""What an event loop took from the world in each of its rounds, as it is written down and read again.

A round begins with an answer of the selector. In it are the callbacks that came from other threads, the descriptors
that are ready, and what the loop's clock says until the next one. Descriptors are numbered in the order in which
they were registered, since the system's numbers are others in a replay.

Invariant: the rounds read are the rounds written, in order; the last block of a run that was killed may be missing.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from twice.recorder.effects.events import little_endian

ROUNDS_IN_BLOCK = 64
_MASKS = 4
"""Two bits of a ready descriptor's number say for what it is ready."""


class Round(NamedTuple):
    """What a loop took from the world in one round.

    Attributes:
        arrivals: names of the callbacks that came from other threads, and of signals, in their order.
        ready: numbers of descriptors, and for what each is ready (1 to read, 2 to write), in their order.
        times: what the clock says in it, in seconds.
    """

    arrivals: list[str]
    ready: list[tuple[int, int]]
    times: deque[float]


class RoundsWriter:
    """Gathers rounds, and writes them down in blocks.

    Args:
        write: takes a block: plain values.
    """

    def __init__(self, write: Callable[[tuple[bytes, bytes, tuple[str, ...]]], None]) -> None:
        self._write = write
        self._left = ROUNDS_IN_BLOCK
        self._clear()

    def _clear(self) -> None:
        self.times = array("d")
        self.add_time = self.times.append
        # Of each round: how many times came before it in the block, how many entries follow, and these: a ready
        # descriptor, or ``~n`` for the name of that number.
        self._codes = array("i")
        self._names: list[str] = []

    def add(self, arrivals: list[str], ready: list[tuple[int, int]]) -> None:
        """Begin a round; times that are added from here on are of this round."""
        self._left -= 1
        if self._left <= 0:
            self.flush()
        codes = self._codes
        codes.append(len(self.times))
        codes.append(len(arrivals) + len(ready))
        for name in arrivals:
            codes.append(~len(self._names))
            self._names.append(name)
        for number, mask in ready:
            codes.append(number * _MASKS + mask)

    def flush(self) -> None:
        """Write down what is gathered."""
        self._write((little_endian(self._codes), little_endian(self.times), tuple(self._names)))
        self._clear()
        self._left = ROUNDS_IN_BLOCK


def read_rounds(blocks: Iterator[Any]) -> Iterator[Round]:
    """Yield rounds from blocks; the first one has only the times before the first answer of a selector."""
    current = Round([], [], deque())
    for packed, packed_times, names in blocks:
        codes, times = _unpack("i", packed), _unpack("d", packed_times)
        at = taken = 0
        while at < len(codes):
            before, count = codes[at : at + 2]
            current.times.extend(times[taken:before])
            taken = before
            yield current
            entries = codes[at + 2 : at + 2 + count]
            current = Round(
                [names[~each] for each in entries if each < 0],
                [divmod(each, _MASKS) for each in entries if each >= 0],
                deque(),
            )
            at += 2 + count
        current.times.extend(times[taken:])
    yield current


def _unpack(kind: str, packed: bytes) -> array[Any]:
    values = array(kind)
    values.frombytes(packed)
    if sys.byteorder == "big":
        values.byteswap()
    return values
