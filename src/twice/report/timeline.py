"""What happened when, counted from the logs: rows over the ticks of a run.

A record of millions of ticks becomes a few hundred stretches. Points are read in chunks of whole
columns, so a large record costs seconds and little memory.

Invariant: what is counted in a stretch happened in its ticks; equal logs give equal rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from twice.foundation.printable import pluralize
from twice.recorder.effects.events import LENIENT, STRICT
from twice.recorder.record_form import ERRORS, INPUT, OUTPUT
from twice.recorder.runrecord import RunRecord

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Compared = Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]]
    """Ticks of points, chunk by chunk, and which of those points differ."""

STRETCHES_MAX = 240
SHADES = 4
_ROWS_MAX = 24
_CHUNK = 1 << 16
_ENDS = ("points: start", "points: end")
FRAMES = {
    INPUT: "inputs",
    STRICT: "reads of the world",
    LENIENT: "reads by libraries",
    OUTPUT: "printed",
    ERRORS: "printed (errors)",
}


@dataclass(frozen=True)
class Row:
    """What is drawn as one strip.

    Attributes:
        name: what it is about.
        ticks: of the run.
        counts: per stretch.
        of: what a count could be at most, per stretch.
        total: in words, such as ``300 points``.
    """

    name: str
    ticks: int
    counts: tuple[int, ...]
    of: tuple[int, ...]
    total: str

    def boxes(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield neighbours of one shade as one box: first tick, how many ticks, shade, count.

        Shades go from 1 to 4, by quarters of what could be; a stretch of nothing has no box.
        """
        size = stretch_ticks(self.ticks)
        shades = [
            min(SHADES, -(-SHADES * count // max(of, 1)))
            for count, of in zip(self.counts, self.of, strict=True)
        ]
        for shade, group in groupby(range(len(shades)), key=shades.__getitem__):
            inside = [*group]
            first, end = inside[0] * size, min((inside[-1] + 1) * size, self.ticks)
            if shade:
                yield first, end - first, shade, sum(self.counts[at] for at in inside)


def stretch_ticks(ticks_in_all: int) -> int:
    """Return how many ticks a stretch has; all have the same, but for the last."""
    return max(1, -(-ticks_in_all // STRETCHES_MAX))


def events(record: RunRecord) -> list[Row]:
    """Count what happened: phases and other compare-points by name, inputs, reads, snapshots."""
    import numpy as np

    reader, size = record.reader, stretch_ticks(record.ticks)
    zero = _count(np.zeros(0, np.int64), record.ticks)
    found: dict[str, npt.NDArray[np.int64]] = {}
    for first, last in _chunks(len(reader.points)):
        numbers, names = reader.points.names(first, last)
        ticks = reader.points.ticks(first, last)
        for number, name in enumerate(f"points: {name}" for name in names):
            at = ticks[(numbers == number) & (ticks >= 0)]
            found[name] = found.get(name, zero) + _count(at, record.ticks)
    ticks_of: dict[str, list[int]] = {}
    for frame in reader.frames(list(FRAMES)):
        ticks_of.setdefault(FRAMES[frame.kind], []).append(max(frame.tick, 0))
    ticks_of["snapshots"] = [entry.tick for entry in reader.snapshots]
    for name, listed in ticks_of.items():
        found[name] = _count(np.array(listed, np.int64), record.ticks)
    rows = []
    for name, per_stretch in found.items():
        counts = per_stretch.tolist()
        if name not in _ENDS and sum(counts):
            # The last stretch may be shorter, and so is the most that it could have.
            rest, most = record.ticks - (len(counts) - 1) * size, max(counts)
            of = (*(most,) * (len(counts) - 1), max(1, most * rest // size))
            rows.append(Row(name, record.ticks, tuple(counts), of, f"{sum(counts):,}"))
    return rows[:_ROWS_MAX]


def changes(record: RunRecord) -> list[Row]:
    """Count for each component the points at which its digest is not the one before."""
    import numpy as np

    log = record.reader.points

    def compare(name: str) -> _Compared:
        before: npt.NDArray[np.uint8] | None = None
        for first, end in _chunks(len(log)):
            digests, has = log.digests(name, first, end)
            if len(kept := digests[has]):
                start = kept[:1] if before is None else before
                differs = (kept != np.concatenate([start, kept[:-1]])).any(axis=1)
                before = kept[-1:]
                yield log.ticks(first, end)[has], differs

    return [_to_row(name, record.ticks, compare(name), ["change"]) for name in _components(record)]


def partings(a: RunRecord, b: RunRecord) -> list[Row]:
    """Count for each component the points at which two runs differ.

    Points are paired by their number, as far as both have the same tick and name.
    """
    logs = (a.reader.points, b.reader.points)

    def compare(name: str) -> _Compared:
        for first, end in _chunks(min(map(len, logs))):
            (one, has_one), (two, has_two) = (log.digests(name, first, end) for log in logs)
            ticks, others = (log.ticks(first, end) for log in logs)
            paired = has_one & has_two & (ticks == others)
            yield ticks[paired], (one != two).any(axis=1)[paired]

    ticks = max(a.ticks, b.ticks)
    return [
        _to_row(name, ticks, compare(name), ["differ", "differ"], "equal")
        for name in _components(a)
    ]


def _to_row(
    name: str, ticks_in_all: int, compared: _Compared, words: Sequence[str], none: str = ""
) -> Row:
    """Count in each stretch the points that differ, of those that could."""
    import numpy as np

    differing = present = _count(np.zeros(0, np.int64), ticks_in_all)
    for ticks, differs in compared:
        differing = differing + _count(ticks[differs & (ticks >= 0)], ticks_in_all)
        present = present + _count(ticks[ticks >= 0], ticks_in_all)
    counts = tuple(differing.tolist())
    total = pluralize(sum(counts), *words) if any(counts) or not none else none
    return Row(name, ticks_in_all, counts, tuple(present.tolist()), total)


def _components(record: RunRecord) -> list[str]:
    last = record.reader.points.last
    return [] if last is None else sorted(last.digests)[:_ROWS_MAX]


def _chunks(count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _CHUNK):
        yield first, min(first + _CHUNK, count) - 1


def _count(ticks: npt.NDArray[np.int64], ticks_in_all: int) -> npt.NDArray[np.int64]:
    """Count ticks by the stretch that they are in."""
    import numpy as np

    size, last = stretch_ticks(ticks_in_all), max(ticks_in_all, 1) - 1
    found = np.bincount(ticks.clip(0, last) // size, minlength=last // size + 1)
    return found.astype(np.int64)
