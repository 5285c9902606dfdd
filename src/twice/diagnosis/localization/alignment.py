"""Pairs the events of two executions by code position.

For: two sequences of small integers (place and depth of each event) that are mostly equal: a loop over
a set in another order, a branch that one side takes. Common beginnings and ends are taken off first;
then the walk goes on as long as the events agree, and where they part it looks for the nearest
common run of events, in windows of 32, 256 and 2,048 events, and at last for the place where both
sides have left the frame they parted in.

Tried and rejected: ``difflib`` and unbounded Myers (quadratic when the sides differ much), resync on
one equal event (any loop line matches any other iteration).

Not for: judging whether a difference of flow matters.

Invariant: pairs rise strictly on both sides, and paired events have equal keys. Time is linear in the
number of events plus, for each place where the sides part, at most 2,048 steps, or one pass per frame
that is left over the events that remain.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]

_WINDOWS = (32, 256, 2048)
_RUN = 4  # equal events that make a meeting point
_PIECE = 64  # events compared at once at first; most runs after a parting are short


def align(a: npt.ArrayLike, b: npt.ArrayLike, depths_a: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Pairs of indices whose events are taken to be the same moment.

    Args:
        a: one integer per event of the first side.
        b: the same for the second side, equal integers for equal places and depths.
        depths_a: frame depth per event of the first side.

    Returns:
        The indices on either side, pair by pair; both rise.
    """
    first, second, depths = np.asarray(a, np.uint64), np.asarray(b, np.uint64), np.asarray(depths_a)
    i = j = head = _common(first, second)
    tail = _common(first[head:][::-1], second[head:][::-1])
    end_a, end_b = len(first) - tail, len(second) - tail
    # The two ends are most of it: what is looked through is only what lies between.
    runs = [(0, 0, head)]
    while i < end_a and j < end_b:
        meeting = _meeting(first[:end_a], second[:end_b], i, j)
        meeting = meeting or _after_frame(first[:end_a], second[:end_b], depths, i, j)
        if meeting is None:
            break
        i, j = meeting
        size = _common(first[i:], second[j:])
        runs.append((i, j, size))
        i, j = i + size, j + size
        # The side that goes round more often does so at the end: what begins alike is paired first.
        tail = min(tail, len(first) - i, len(second) - j)
        end_a, end_b = len(first) - tail, len(second) - tail
    runs.append((end_a, end_b, tail))
    return _count([(i, size) for i, _, size in runs]), _count([(j, size) for _, j, size in runs])


def _count(runs: list[tuple[int, int]]) -> Numbers:
    """List the integers of some runs, each a first one and a count."""
    return np.concatenate([np.arange(at, at + size, dtype=np.int32) for at, size in runs])


def _common(a: Keys, b: Keys) -> int:
    """Length of the common beginning."""
    low, size, piece = 0, min(len(a), len(b)), _PIECE
    while low < size:
        high = min(low + piece, size)
        apart = a[low:high] != b[low:high]
        at = int(apart.argmax())
        if apart[at]:
            return low + at
        low, piece = high, 2 * piece
    return size


def _meeting(a: Keys, b: Keys, i: int, j: int) -> tuple[int, int] | None:
    """Find the nearest place where both sides agree again, counted in events left out."""
    left_a, left_b = len(a) - i, len(b) - j
    run = _RUN if min(left_a, left_b) > _RUN else 1
    width = run * a.itemsize
    for window in _WINDOWS:
        here, there = (
            each.tobytes() for each in (a[i : i + window + run], b[j : j + window + run])
        )
        places: dict[bytes, int] = {}
        for dj in range(min(window, left_b - run + 1)):
            places.setdefault(there[dj * a.itemsize : dj * a.itemsize + width], dj)
        best: tuple[int, int] | None = None
        for di in range(min(window, left_a - run + 1)):
            if best is not None and di >= sum(best):
                break
            dj = places.get(here[di * a.itemsize : di * a.itemsize + width], -1)
            if dj >= 0 and (best is None or di + dj < sum(best)):
                best = (di, dj)
        if best is not None:
            return i + best[0], j + best[1]
        if window >= max(left_a, left_b):
            break
    return None


def _after_frame(
    a: Keys, b: Keys, depths: npt.NDArray[np.unsignedinteger], i: int, j: int
) -> tuple[int, int] | None:
    """Where both sides stand again in a frame outside the one they parted in, or leave it alike."""
    shallowest = np.minimum.accumulate(depths[i : len(a)])
    for at in (np.flatnonzero(shallowest[1:] < shallowest[:-1]) + i + 1).tolist():
        same = b[j:] == a[at]
        dj = int(same.argmax())
        if same[dj]:
            alike = _common(a[i:at][::-1], b[j : j + dj][::-1])
            return at - alike, j + dj - alike
    return None
