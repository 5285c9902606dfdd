"""Changes of components: in a range of compare-points, in one tick, and the next one from a tick on.

A component changes at a compare-point whose digest of it differs from the one at the previous point that has the
component. Points between them may have other components, or compare one value.

Invariant: a change is named, or denied, from digests that were read, never from counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from twice.recorder.record import RecordReader

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from twice.recorder.record.points import PointLog

    _Ticks = npt.NDArray[np.int64]

_SEARCHED_POINTS: Final = 1_000_000
_SEARCHED_BLOCKS: Final = 2_000
"""Of one search; the next one goes on behind them."""


def read_changes(
    log: PointLog, first: int, last: int, blocks: int | None = None
) -> tuple[dict[str, tuple[_Ticks, _Ticks]], bool]:
    """Read the changes of all components in a range of compare-points.

    Args:
        log: of the record.
        first: index.
        last: index; in the range.
        blocks: how many are searched for the digests before the range; None for all.

    Returns:
        By component the ticks at which it changed and the ticks at which it was compared, and whether these are all.
    """
    components = log.components(first, last)
    before, is_known = _find_before(log, components, first, blocks)
    found = {
        name: _compare(log, name, first, last, before.get(name, (0, None))[1])
        for name in components
    }
    return found, is_known


def list_changed(log: PointLog, tick: int) -> dict[str, Any]:
    """Return the components that changed in a tick.

    Returns:
        ``changed``: their names, sorted. ``sentence``: says so, with the tick in which each was compared before where
        it lies farther back, or that no component was compared in this tick.
    """
    since, is_compared = dict[str, int](), False
    for _, run in groupby(enumerate(log.indices_of_tick(tick)), lambda each: each[1] - each[0]):
        indices = [index for _, index in run]
        components = log.components(indices[0], indices[-1])
        is_compared |= bool(components)
        before, _ = _find_before(log, components, indices[0])
        for name in components:
            at, digest = before.get(name, (tick, None))
            if len(_compare(log, name, indices[0], indices[-1], digest)[0]):
                since.setdefault(name, at)
    names = [
        f"{name} (since {_name_tick(at)})" if at < tick - 1 else name
        for name, at in sorted(since.items())
    ]
    nothing = "no component changed" if is_compared else "no component was compared"
    sentence = f"{', '.join(names)} changed" if names else nothing
    return {"changed": sorted(since), "sentence": sentence}


def find_change(
    readers: Sequence[RecordReader], component: str, tick: int, *, backwards: bool
) -> dict[str, Any]:
    """Find the nearest tick after or before another one at which a component changes in one of some records.

    Args:
        readers: of the records.
        component: its name.
        tick: from which the search starts; not in it.
        backwards: search before the tick.

    Returns:
        ``tick``, or None. ``until``: the tick up to which there is none, from which the search can go on; None where
        a tick was found, and where the whole records were searched. ``sentence``: says what was not found.
    """
    found = [_search(each, component, tick, backwards=backwards) for each in readers]
    ticks = [each for each, _, _ in found if each is not None]
    pauses = [until for _, until, _ in found if until is not None]
    # A change counts only if every record was searched as far as its tick.
    end = (max if backwards else min)([*ticks, *pauses], default=None)
    if end in ticks:
        return {"tick": end, "until": None, "sentence": ""}
    changes = "changes in neither run" if len(readers) > 1 else "does not change"
    sentence = f"{component} {changes} {'before' if backwards else 'after'} {_name_tick(tick)}"
    if end is not None:
        points = sum(points for _, _, points in found)
        sentence += (
            f" as far as {_name_tick(end)}: {points:,} compare-points were read. Ask again to go on"
        )
    return {"tick": None, "until": end, "sentence": f"{sentence}."}


def _name_tick(tick: int) -> str:
    return "construction" if tick < 0 else f"tick {tick:,}"


def _search(
    reader: RecordReader, component: str, tick: int, *, backwards: bool
) -> tuple[int | None, int | None, int]:
    """Search one record; return the tick of the change, the tick to go on from, and the number of points read."""
    log, sign = reader.points, -1 if backwards else 1
    rows = log.block_rows()
    # In the direction of the search. A rollback lets blocks overlap, so they are taken by their nearest tick.
    nearest, farthest = (
        sign * rows[name].astype("int64")
        for name in (("high", "low") if backwards else ("low", "high"))
    )
    start, best, read, blocks = sign * tick, None, 0, 0
    # Ticks behind the last one were rolled back, and the page has no place for them.
    last = log.last.tick if log.last else 0
    start, end = (max(start, -last - 1), math.inf) if backwards else (start, last)
    for at in nearest.argsort(kind="stable").tolist():
        if farthest[at] <= start:
            continue
        begin = int(nearest[at])
        if begin > end or (best is not None and begin >= best):
            break
        # One tick may have many points: the search goes on until it has a tick behind it.
        is_long = read >= _SEARCHED_POINTS or blocks >= _SEARCHED_BLOCKS
        if is_long and begin - 1 > start:
            return None, sign * (begin - 1), read
        first, count = int(rows[at]["first"]), int(rows[at]["count"])
        before, _ = _find_before(log, [component], first)
        _, digest = before.get(component, (0, None))
        changed = sign * _compare(log, component, first, first + count - 1, digest)[0]
        changed = changed[(changed > start) & (changed <= end)]
        if len(changed) and (best is None or changed.min() < best):
            best = int(changed.min())
        read, blocks = read + count, blocks + 1
    return None if best is None else sign * best, None, read


def _compare(
    log: PointLog, component: str, first: int, last: int, before: bytes | None
) -> tuple[_Ticks, _Ticks]:
    """Return the ticks at which a component changed in a range, and those at which it was compared."""
    import numpy as np

    ticks, digests = log.states(component, first, last)
    differs = np.zeros(len(digests), np.bool_)
    differs[1:] = (digests[1:] != digests[:-1]).any(axis=1)
    if before is not None and len(digests):
        differs[0] = digests[0].tobytes() != before
    return ticks[differs], ticks


def _find_before(
    log: PointLog, components: Iterable[str], index: int, blocks: int | None = None
) -> tuple[dict[str, tuple[int, bytes | None]], bool]:
    """Return each component's tick and digest at its last point before an index, and whether no other has one."""
    found: dict[str, tuple[int, bytes | None]] = {}
    missing, end, read = set(components), index - 1, 0
    while missing and end >= 0:
        if read == blocks:
            return found, False
        # The point before is the usual case, and costs no block.
        begin = end
        if end < index - 1:
            firsts = log.block_rows()["first"]
            begin = int(firsts[firsts.searchsorted(end, "right") - 1])
        for name in sorted(missing.intersection(log.components(begin, end))):
            ticks, digests = log.states(name, begin, end)
            found[name] = int(ticks[-1]), digests[-1].tobytes()
        missing -= found.keys()
        end, read = begin - 1, read + 1
    return found, True
