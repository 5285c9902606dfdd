"""The journal of a record: its frames, filtered without opening blocks that hold none.

For replay (effects and inputs of an actor, in order) and for localisation (what happened before a
compare-point). What a payload says is known to those who wrote it.

Invariant: frames come in the order in which they were recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.layout import Kind
from twice.recorder.record.payloads import KIND_BIT_MAX, decode_frames
from twice.recorder.record.words import Words


class Frame(NamedTuple):
    """One entry of the journal.

    Attributes:
        kind: word for what the payload is.
        actor: number of the actor.
        tick: tick in which it happened.
        point: index of the compare-point that follows it.
        payload: as it was written.
    """

    kind: str
    actor: int
    tick: int
    point: int
    payload: bytes


# Makes a frame of a row without the checks of its constructor: a journal has millions.
_frame: Callable[[tuple[object, ...]], Frame] = partial(tuple.__new__, Frame)


def read_frames(
    file: BlockFile,
    words: Callable[[], Words],
    *,
    kinds: Iterable[str] | None,
    first_point: int,
    last_point: int | None,
    actor: int | None,
) -> Iterator[Frame]:
    """Yield the frames that match, and read the blocks as they are needed.

    Raises:
        RecordCorrupt: E-RECORD-004, when a block that may hold one was changed.
    """
    rows = file.table()
    fits = (rows["kind"] == Kind.FRAMES) & (rows["high"] >= first_point)
    if last_point is not None:
        fits &= rows["low"] <= last_point
    known = words().kinds
    wanted = None if kinds is None else _numbers(known, kinds)
    if wanted is not None:
        bits = sum(1 << bit for bit in {min(number, KIND_BIT_MAX) for number in wanted})
        fits &= (rows["bits"] & _unsigned(bits)) != 0
    for number in fits.nonzero()[0]:
        columns = file.decoded(int(number), decode_frames)
        if max(columns.kinds) >= len(known):
            raise file.corrupt(int(number), "a frame has a kind that no names block says")
        names = [known[kind] for kind in columns.kinds]
        frames = map(_frame, zip(names, *columns[1:], strict=True))
        inside = rows["low"][number] >= first_point and (
            last_point is None or rows["high"][number] <= last_point
        )
        if inside and wanted is None and actor is None:
            yield from frames
            continue
        for kind, frame in zip(columns.kinds, frames, strict=True):
            if (
                frame.point >= first_point
                and (last_point is None or frame.point <= last_point)
                and (wanted is None or kind in wanted)
                and (actor is None or frame.actor == actor)
            ):
                yield frame


def _numbers(known: list[str], kinds: Iterable[str]) -> frozenset[int]:
    asked = frozenset(kinds)
    return frozenset(number for number, kind in enumerate(known) if kind in asked)


def _unsigned(bits: int) -> object:
    import numpy as np

    return np.uint64(bits)
