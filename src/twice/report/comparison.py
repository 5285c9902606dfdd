"""What the figures show, read from the logs in columns: counts per stretch of ticks.

A record of millions of ticks is drawn as a few hundred stretches. Points are read in chunks of whole
columns, so a large record costs seconds and little memory.

Invariant: what is counted in a stretch happened in its ticks; nothing is executed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from twice.recording.effects.events import LENIENT, STRICT
from twice.recording.frame_kinds import ERRORS, INPUT, OUTPUT
from twice.recording.record import columns
from twice.recording.runrecord import RunRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

STRETCHES_MAX = 240
ROWS_MAX = 24
_CHUNK = 1 << 16
_ENDS = ("points: start", "points: end")
_FRAMES = {
    INPUT: "inputs",
    STRICT: "reads of the world",
    LENIENT: "reads by libraries",
    OUTPUT: "printed",
    ERRORS: "printed (errors)",
}


@dataclass(frozen=True)
class Row:
    """One strip of a figure.

    Attributes:
        name: what it is about.
        counts: per stretch.
        of: what a count could be at most, per stretch.
        total: in words, such as ``300 points``.
    """

    name: str
    counts: tuple[int, ...]
    of: tuple[int, ...]
    total: str


def stretch_ticks(ticks_in_all: int) -> int:
    """How many ticks a stretch has; all have the same, but for the last."""
    return max(1, -(-ticks_in_all // STRETCHES_MAX))


def events(record: RunRecord) -> list[Row]:
    """When what happened: phases and other compare-points by name, inputs, reads, snapshots."""
    import numpy as np

    counts: dict[str, npt.NDArray[np.int64]] = {}
    for first, last in _chunks(len(record.reader.points)):
        numbers, names = columns.names(record.reader.points, first, last)
        ticks = columns.ticks(record.reader.points, first, last)
        for number, name in enumerate(names):
            at = ticks[(numbers == number) & (ticks >= 0)]
            _add(counts, f"points: {name}", at, record.ticks)
    ticks_of: dict[str, list[int]] = {}
    for frame in record.reader.frames(list(_FRAMES)):
        ticks_of.setdefault(_FRAMES[frame.kind], []).append(max(frame.tick, 0))
    for name, here in ticks_of.items():
        _add(counts, name, np.array(here, np.int64), record.ticks)
    before = np.array([entry.tick for entry in record.reader.snapshots], np.int64)
    _add(counts, "snapshots", before, record.ticks)
    rows = []
    for name, found in counts.items():
        total = int(found.sum())
        if total and name not in _ENDS:
            rows.append(Row(name, tuple(found.tolist()), _most(found, record.ticks), f"{total:,}"))
    return rows[:ROWS_MAX]


def changes(record: RunRecord) -> list[Row]:
    """Per component, at how many points of each stretch its digest is not the one before."""
    import numpy as np

    log = record.reader.points
    last = log.last
    rows = []
    for name in sorted(last.digests)[:ROWS_MAX] if last is not None else ():
        changed, present = _zeros(record.ticks), _zeros(record.ticks)
        before: npt.NDArray[np.uint8] | None = None
        for first, end in _chunks(len(log)):
            digests, has = columns.digests(log, name, first, end)
            ticks = columns.ticks(log, first, end)[has]
            kept = digests[has]
            if not len(kept):
                continue
            start = kept[:1] if before is None else before
            differs = (kept != np.concatenate([start, kept[:-1]])).any(axis=1)
            before = kept[-1:]
            inside = ticks >= 0
            changed += _counted(ticks[differs & inside], record.ticks)
            present += _counted(ticks[inside], record.ticks)
        total = f"{int(changed.sum()):,} changes"
        rows.append(Row(name, tuple(changed.tolist()), tuple(present.tolist()), total))
    return rows


def partings(a: RunRecord, b: RunRecord) -> list[Row]:
    """Per component, at how many points of each stretch two runs differ.

    Points are paired by their number, as far as both have the same tick and name.
    """
    import numpy as np

    ticks_in_all = max(a.ticks, b.ticks)
    common = min(len(a.reader.points), len(b.reader.points))
    last = a.reader.points.last
    rows = []
    for name in sorted(last.digests)[:ROWS_MAX] if last is not None else ():
        differing, present = _zeros(ticks_in_all), _zeros(ticks_in_all)
        for first, end in _chunks(common):
            (one, has_one), (two, has_two) = (
                columns.digests(side.reader.points, name, first, end) for side in (a, b)
            )
            ticks, others = (columns.ticks(side.reader.points, first, end) for side in (a, b))
            paired = has_one & has_two & (ticks == others) & (ticks >= 0)
            differs = paired & (one != two).any(axis=1)
            differing += _counted(ticks[differs], ticks_in_all)
            present += _counted(ticks[paired], ticks_in_all)
        total = int(np.sum(differing))
        said = f"{total:,} differ" if total else "equal"
        rows.append(Row(name, tuple(differing.tolist()), tuple(present.tolist()), said))
    return rows


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _CHUNK):
        yield first, min(first + _CHUNK, count) - 1


def _zeros(ticks_in_all: int) -> npt.NDArray[np.int64]:
    import numpy as np

    return np.zeros(max(1, -(-ticks_in_all // stretch_ticks(ticks_in_all))), np.int64)


def _counted(ticks: npt.NDArray[np.int64], ticks_in_all: int) -> npt.NDArray[np.int64]:
    import numpy as np

    inside = ticks.clip(0, max(ticks_in_all, 1) - 1)
    stretches = inside // stretch_ticks(ticks_in_all)
    return np.bincount(stretches, minlength=len(_zeros(ticks_in_all))).astype(np.int64)


def _most(found: npt.NDArray[np.int64], ticks_in_all: int) -> tuple[int, ...]:
    """The largest count of any stretch, for every one; less for a last one that is shorter."""
    size = stretch_ticks(ticks_in_all)
    rest = ticks_in_all - (len(found) - 1) * size
    most = max(found.tolist())
    return (*(most,) * (len(found) - 1), max(1, most * rest // size))


def _add(
    counts: dict[str, npt.NDArray[np.int64]],
    name: str,
    ticks: npt.NDArray[np.int64],
    ticks_in_all: int,
) -> None:
    if name not in counts:
        counts[name] = _zeros(ticks_in_all)
    counts[name] += _counted(ticks, ticks_in_all)
