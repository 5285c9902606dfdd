"""Whole columns of a log of compare-points as numpy arrays.

For analysis and export over many points at once; one point at a time is `PointLog.point`.

Invariant: row i belongs to compare-point ``first + i``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from twice.recorder.record.layout import DIGEST_BYTES
from twice.recorder.record.points import PointBlock, PointLog

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def ticks(log: PointLog, first: int = 0, last: int | None = None) -> npt.NDArray[np.int64]:
    """Return the ticks of the points from ``first`` up to and including ``last``: int64, (points,)."""
    import numpy as np

    found = [block.columns.ticks[rows] for block, rows in _spans(log, first, last)]
    return np.concatenate(found) if found else np.empty(0, np.int64)


def names(
    log: PointLog, first: int = 0, last: int | None = None
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return the name of each point.

    Returns:
        int64, (points,): places in the list that follows; and all names that occur in the record.
    """
    import numpy as np

    known: dict[str, int] = {}
    found = [np.empty(0, np.int64)]
    for block, rows in _spans(log, first, last):
        places = [known.setdefault(name, len(known)) for name in block.names_of_shapes()]
        found.append(np.array(places, np.int64)[block.columns.shapes[rows]])
    return np.concatenate(found), list(known)


def roots(log: PointLog, first: int = 0, last: int | None = None) -> npt.NDArray[np.uint8]:
    """Return the roots of the points from ``first`` up to and including ``last``: uint8, (points, 16)."""
    return _records(log, first, last, 0)


def chains(log: PointLog, first: int = 0, last: int | None = None) -> npt.NDArray[np.uint8]:
    """Return the chains of the points from ``first`` up to and including ``last``: uint8, (points, 16)."""
    return _records(log, first, last, 1)


def digests(
    log: PointLog, component: str, first: int = 0, last: int | None = None
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
    """Return a component's digests, and a mask of the points that have one.

    Returns:
        uint8, (points, 16), zeros where there is none; and bool, (points,).
    """
    import numpy as np

    found, present = [np.empty((0, DIGEST_BYTES), np.uint8)], [np.empty(0, np.bool_)]
    for block, rows in _spans(log, first, last):
        starts = block.starts_of(component)[rows]
        has = starts >= 0
        joined = np.frombuffer(block.columns.digests, np.uint8)
        column = np.zeros((len(starts), DIGEST_BYTES), np.uint8)
        column[has] = joined[starts[has, None] + np.arange(DIGEST_BYTES)]
        found.append(column)
        present.append(has)
    return np.concatenate(found), np.concatenate(present)


def _records(log: PointLog, first: int, last: int | None, which: int) -> npt.NDArray[np.uint8]:
    import numpy as np

    found = [block.columns.records[rows, which] for block, rows in _spans(log, first, last)]
    return np.concatenate([np.empty((0, DIGEST_BYTES), np.uint8), *found])


def _spans(log: PointLog, first: int, last: int | None) -> Iterator[tuple[PointBlock, slice]]:
    """Yield the blocks that contain these points, and their rows."""
    end = len(log) if last is None else min(last + 1, len(log))
    at = max(first, 0)
    while at < end:
        block = log.block(log.block_of(at))
        stop = min(end, block.first + len(block.columns.ticks))
        yield block, slice(at - block.first, stop - block.first)
        at = stop
