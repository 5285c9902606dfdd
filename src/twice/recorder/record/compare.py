"""The first compare-point in which two logs differ.

For localisation: reads logs, runs nothing. A chain depends on every point before it, so two logs
that differ once never have the same chain again, and the first difference can be found by halves;
what happens later (re-convergence, say) is seen in the roots, not here.

Invariant: the points before the answer are equal in both logs, and those at the answer are not.
"""

from __future__ import annotations

from twice.recorder.record.points import PointLog


def first_difference(a: PointLog, b: PointLog) -> int | None:
    """Return the index of the first different point, or of the shorter log's end; None when equal.

    The two need not have been cut into the same blocks. Blocks that are opened are proved.

    Raises:
        RecordCorrupt: E-RECORD-004, when a block that was opened was changed.
    """
    common = min(len(a), len(b))
    if not common:
        return None if len(a) == len(b) else 0
    if a.chain(common - 1) == b.chain(common - 1):
        return None if len(a) == len(b) else common
    low, high = _block_with_difference(a, b, common)
    return _within(a, b, low, high)


def _block_with_difference(a: PointLog, b: PointLog, common: int) -> tuple[int, int]:
    """Return the range of points with the difference: the common part of one block of ``a``."""
    ends = a.firsts[1:]
    chains = a.block_chains()
    low, high = 0, a.block_of(common - 1)
    while low < high:
        middle = (low + high) // 2
        if chains[middle].tobytes() == b.chain(int(ends[middle]) - 1):
            low = middle + 1
        else:
            high = middle
    return int(a.firsts[low]), min(int(ends[low]), common)


def _within(a: PointLog, b: PointLog, low: int, high: int) -> int:
    """Return the first difference between two indices; the point before ``high`` differs."""
    from twice.recorder.record.columns import chains

    differs = (chains(a, low, high - 1) != chains(b, low, high - 1)).any(axis=1)
    assert differs.any(), "chains that differ at the end of a block differ somewhere in it"
    return low + int(differs.argmax())
