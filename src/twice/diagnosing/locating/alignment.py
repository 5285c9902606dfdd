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
number of events plus at most 2,048 steps for each place where the sides part.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

_WINDOWS = (32, 256, 2048)
_RUN = 4  # equal events that make a meeting point


def align(a: Sequence[int], b: Sequence[int], depths_a: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of indices whose events are taken to be the same moment.

    Args:
        a: one integer per event of the first side.
        b: the same for the second side, equal integers for equal places and depths.
        depths_a: frame depth per event of the first side.

    Returns:
        Pairs that rise on both sides.
    """
    first, second = array("Q", a), array("Q", b)
    head = _common(first, second)
    if head == len(first) == len(second):
        return [(index, index) for index in range(head)]
    tail = _common(first[head:][::-1], second[head:][::-1])
    pairs = [(index, index) for index in range(head)]
    end_a, end_b = len(first) - tail, len(second) - tail
    i, j = head, head
    while i < end_a and j < end_b:
        if first[i] == second[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
            continue
        meeting = _meeting(first, second, i, j, end_a, end_b)
        if meeting is None:
            meeting = _after_frame(first, second, depths_a, i, j, end_a, end_b)
        if meeting is None:
            break
        i, j = meeting
    pairs += [(end_a + step, end_b + step) for step in range(tail)]
    return pairs


def _common(a: array[int], b: array[int]) -> int:
    """Length of the common beginning, by halving over raw memory."""
    size = min(len(a), len(b))
    view_a, view_b = memoryview(a).cast("B"), memoryview(b).cast("B")
    width = a.itemsize
    low, step = 0, 4096
    while low < size:
        step = min(step, size - low)
        if view_a[low * width : (low + step) * width] == view_b[low * width : (low + step) * width]:
            low += step
        elif step == 1:
            break
        else:
            step //= 2
    return low


def _meeting(
    a: array[int], b: array[int], i: int, j: int, end_a: int, end_b: int
) -> tuple[int, int] | None:
    """The nearest place where both sides go on alike, counted in events left out."""
    for window in _WINDOWS:
        run = _RUN if min(end_a - i, end_b - j) > _RUN else 1
        places: dict[bytes, int] = {}
        for dj in range(min(window, end_b - j - run + 1)):
            places.setdefault(b[j + dj : j + dj + run].tobytes(), dj)
        best: tuple[int, int] | None = None
        for di in range(min(window, end_a - i - run + 1)):
            if best is not None and di >= sum(best):
                break
            dj = places.get(a[i + di : i + di + run].tobytes(), -1)
            if dj >= 0 and (best is None or di + dj < sum(best)):
                best = (di, dj)
        if best is not None:
            return i + best[0], j + best[1]
        if window >= max(end_a - i, end_b - j):
            break
    return None


def _after_frame(
    a: array[int], b: array[int], depths: Sequence[int], i: int, j: int, end_a: int, end_b: int
) -> tuple[int, int] | None:
    """Where both sides stand again in a frame outside the one they parted in."""
    depth = depths[i]
    places: dict[int, int] = {}
    for dj in range(j, end_b):
        places.setdefault(b[dj], dj)
    for di in range(i, end_a):
        if depths[di] < depth:
            depth = depths[di]
            dj = places.get(a[di], -1)
            if dj >= 0:
                return di, dj
    return None
