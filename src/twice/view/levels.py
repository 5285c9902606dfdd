"""Counts for a timeline at any zoom: compare-points, what the journal has, changes of components, moves of streams.

A narrow range is counted from all its blocks. Of a wide one the index says how many entries lie where, and a sample of
the blocks says of which kind they are, so ten million points cost as much as a hundred thousand. A compare-point has one
digest for all streams: where one of them moved, only snapshots tell.

Invariant: what is said to be exact was counted, every entry of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from twice.foundation.encoding import decode, encode
from twice.foundation.seeds import is_shared
from twice.recorder.effects.events import LENIENT, STRICT, read_numbers
from twice.recorder.effects.ops import MAIN, OPS
from twice.recorder.record import RecordReader
from twice.recorder.record_form import reading
from twice.recorder.snapshots import STREAMS, read_envelope
from twice.report.timeline import FRAMES
from twice.report.values import mapping
from twice.view.component_changes import read_changes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Ticks = npt.NDArray[np.int64]
    _Counts = npt.NDArray[np.float64]
    _Found = dict[tuple[str, str], tuple[_Ticks, _Ticks]]
    """What a block holds, by group and name: the ticks of what is counted, and of what could have been."""
    _Tracks = dict[tuple[str, str], tuple[_Counts, _Counts]]

BINS_MAX: Final = 2000
_GROUPS: Final = ("points", "journal", "component", "stream", "effect", "actor")
_EXACT_BLOCKS: Final = 64
_SAMPLED_BLOCKS: Final = 64
_SNAPSHOTS_MAX: Final = 256
_MERGED_BLOCKS: Final = 8
_MERGED_ENTRIES: Final = 256
"""Blocks that are counted as one, and how many entries they have, about."""
_TRACKS_MAX: Final = 64
_BLOCKS_BACK: Final = 64
"""In which a component's digest before a block is looked for; where it lies farther back, a count is not exact."""


@dataclass(frozen=True, slots=True)
class Bins:
    """A range of ticks in equal parts; the last one may reach over its end.

    Attributes:
        first: tick.
        width: ticks in each.
        count: how many there are.
    """

    first: int
    width: int
    count: int

    @property
    def end(self) -> int:
        """The tick behind the last."""
        return self.first + self.width * self.count

    def add(self, ticks: _Ticks) -> _Counts:
        """Count ticks; those outside are left out."""
        import numpy as np

        at = (ticks - self.first) // self.width
        inside = at[(at >= 0) & (at < self.count)]
        return np.bincount(inside, minlength=self.count).astype(np.float64)


def count_events(
    reader: RecordReader,
    first: int,
    last: int,
    bins: int,
    actors: Mapping[int, str] = {},
    snapshots: Sequence[int] | None = None,
) -> dict[str, Any]:
    """Count what happened in a range of ticks.

    Args:
        reader: of the record.
        first: tick.
        last: tick; in the range.
        bins: how many parts at most, 1 to 2,000.
        actors: the keys of those other than the main program, by their numbers.
        snapshots: the numbers of those that count, in the order of their ticks; all by default.

    Returns:
        ``from``, ``to``, ``bins``, ``width`` (ticks in each), ``exact``, and ``tracks``: ``group``, ``name``,
        ``counts`` and ``most``, which a count could be, for each bin. ``omitted`` counts tracks that are left out. The
        counts of a stream are of the ticks between two snapshots that differ in it. Where one of them does not have it,
        nothing is known.
    """
    import numpy as np

    width = max(1, -(-(last - first + 1) // bins))
    parts = Bins(first, width, max(1, -(-(last - first + 1) // width)))
    rows = reader.points.block_rows()
    merged, _ = _merge(rows)
    points, is_exact = _count(
        merged,
        merged["low"],
        parts,
        lambda at: _read_points(reader, int(merged[at]["first"]), int(merged[at]["count"])),
    )
    numbers, frame_rows = reader.frame_rows()
    placed, begins = _place_frames(rows, frame_rows)
    placed, starts = _merge(placed)
    groups = np.split(numbers, starts[1:])
    frames, are_exact = _count(
        placed, begins[starts], parts, lambda at: _read_frames(reader, groups[at].tolist(), actors)
    )
    every = range(reader.snapshot_count)
    streams, are_all = _count_moves(reader, parts, every if snapshots is None else snapshots)
    tracks = sorted(
        {**points, **frames, **streams}.items(),
        key=lambda each: (_GROUPS.index(each[0][0]), each[0][1]),
    )
    return {
        "from": first,
        "to": last,
        "bins": parts.count,
        "width": width,
        "exact": is_exact and are_exact and are_all,
        "tracks": [
            {
                "group": group,
                "name": name,
                "counts": counts.round().astype(int).tolist(),
                "most": most.round().astype(int).tolist(),
            }
            for (group, name), (counts, most) in tracks[:_TRACKS_MAX]
        ],
        "omitted": max(0, len(tracks) - _TRACKS_MAX),
    }


def _merge(rows: npt.NDArray[np.void]) -> tuple[npt.NDArray[np.void], npt.NDArray[np.intp]]:
    """Merge rows of short blocks, which a slow run has, into those of longer ones; and return where each begins."""
    import numpy as np

    before = rows["count"].cumsum() - rows["count"]
    group = np.stack((before // _MERGED_ENTRIES, np.arange(len(rows)) // _MERGED_BLOCKS))
    starts = np.append(True, (group[:, 1:] != group[:, :-1]).any(axis=0))[: len(rows)].nonzero()[0]
    merged = rows[starts]
    for name, join in (("count", np.add), ("low", np.minimum), ("high", np.maximum)):
        merged[name] = join.reduceat(rows[name], starts) if len(starts) else merged[name]
    return merged, starts


def _count(
    rows: npt.NDArray[np.void],
    begins: _Ticks,
    bins: Bins,
    read: Callable[[int], tuple[_Found, bool]],
) -> tuple[_Tracks, bool]:
    """Count the entries of blocks in bins; whether every one was read.

    Args:
        rows: of the blocks: ``low`` and ``high``, outside of which none of their ticks lies, and ``count`` of entries.
        begins: about the tick at which each begins.
        bins: to count in.
        read: the block at a position; and whether that is all of it.
    """
    import numpy as np

    inside = ((rows["low"] < bins.end) & (rows["high"] >= bins.first)).nonzero()[0]
    is_exact = len(inside) <= _EXACT_BLOCKS
    if not is_exact:
        inside = inside[np.linspace(0, len(inside) - 1, _SAMPLED_BLOCKS).astype(int)]
        middles = begins[inside].astype(np.float64)
        centres = bins.first + bins.width * (np.arange(bins.count) + 0.5)
        nearest = np.abs(middles[None, :] - centres[:, None]).argmin(axis=1)
        edges = bins.first + bins.width * np.arange(bins.count + 1)
        before = np.concatenate(([0], np.cumsum(rows["count"], dtype=np.int64)))
        starts = np.maximum.accumulate(np.append(begins, max(bins.end, rows["low"].max() + 1)))
        total = np.diff(np.interp(edges, starts, before))
    tracks: _Tracks = {}
    are_known = True
    for place, at in enumerate(inside.tolist()):
        found, is_known = read(at)
        are_known &= is_known
        for key, (ticks, of) in found.items():
            counts, most = tracks.setdefault(key, (np.zeros(bins.count), np.zeros(bins.count)))
            if is_exact:
                counts += bins.add(ticks)
                most += bins.add(of)
            else:
                here = nearest == place
                share = total[here] / max(int(rows["count"][at]), 1)
                counts[here] = len(ticks) * share
                most[here] = len(of) * share
    return tracks, is_exact and are_known


def _count_moves(reader: RecordReader, bins: Bins, numbers: Sequence[int]) -> tuple[_Tracks, bool]:
    """Count the ticks between two snapshots in which a stream differs; whether no snapshot was left out."""
    import numpy as np

    if not numbers:
        return {}, True
    before, behind = (
        bisect_right(numbers, tick, key=lambda number: reader.snapshot(number)[0].tick)
        for tick in (bins.first, bins.end - 1)
    )
    first, last = max(before - 1, 0), min(behind, len(numbers) - 1)
    count = min(last - first + 1, _SNAPSHOTS_MAX)
    states = dict[int, dict[str, bytes]]()
    for number in (numbers[at] for at in np.linspace(first, last, count).astype(int).tolist()):
        with reading(f"snapshot {number}", reader.path):
            envelope = read_envelope(reader, number)
            held = mapping(decode(reader.blob(envelope["subsystems"][STREAMS]["blob"])))
            tick = reader.snapshot(number)[0].tick
            states[tick] = {str(name): encode(state) for name, state in held.items()}
    ticks = sorted(states)
    edges = bins.first + bins.width * np.arange(bins.count + 1)
    tracks: _Tracks = {}
    for name in sorted({name for each in states.values() for name in each}):
        pairs = [*pairwise(states[tick].get(name) for tick in ticks)]
        known = [None not in pair for pair in pairs]
        moved = [None not in pair and pair[0] != pair[1] for pair in pairs]
        if any(moved) or not is_shared(name):
            spans = np.diff(ticks)
            counts, most = (
                np.diff(np.interp(edges, ticks, np.append(0, np.cumsum(spans * each))))
                for each in (moved, known)
            )
            tracks["stream", name] = counts, most
    return tracks, count == last - first + 1


def _read_points(reader: RecordReader, first: int, count: int) -> tuple[_Found, bool]:
    """Read compare-points by name, and changes by component, of a block; whether these are all."""
    import numpy as np

    log, last = reader.points, first + count - 1
    ticks = log.ticks(first, last)
    numbers, names = log.names(first, last)
    found: _Found = {}
    for number in np.unique(numbers).tolist():
        found["points", names[number]] = ticks[numbers == number], ticks
    changes, is_known = read_changes(log, first, last, _BLOCKS_BACK)
    found |= {("component", name): changed for name, changed in changes.items()}
    return found, is_known


def _read_frames(
    reader: RecordReader, numbers: Sequence[int], actors: Mapping[int, str]
) -> tuple[_Found, bool]:
    """Read all that the journal has in some blocks, by kind, by operation and by actor."""
    import numpy as np

    found: dict[tuple[str, str], list[int]] = {}
    ticks = list[int]()
    for frame in (each for number in numbers for each in reader.read_block(number)[1]):
        ticks.append(frame.tick)
        if frame.kind not in FRAMES:
            continue
        keys = [("journal", FRAMES[frame.kind])]
        if actors:
            keys.append(("actor", actors.get(frame.actor, MAIN)))
        if frame.kind in {STRICT, LENIENT}:
            names = (OPS[each].name for each in read_numbers(frame.payload) if each in OPS)
            keys += [("effect", name) for name in names]
        for key in keys:
            found.setdefault(key, []).append(frame.tick)
    of = np.array(ticks, np.int64)
    counted = {key: np.array(each, np.int64) for key, each in found.items()}
    return {key: (each, each if key[0] == "effect" else of) for key, each in counted.items()}, True


def _place_frames(
    points: npt.NDArray[np.void], frames: npt.NDArray[np.void]
) -> tuple[npt.NDArray[np.void], _Ticks]:
    """Return the rows of the journal's blocks with ticks for compare-points, and about where each block begins."""
    import numpy as np

    placed, begins = frames.copy(), np.zeros(len(frames), np.int64)
    if len(points):
        begins = np.interp(frames["low"], points["first"], points["low"]).astype(np.int64)
        # A frame stands before its compare-point, and behind the one before that.
        before = points["first"].searchsorted(frames["low"].clip(1) - 1, "right") - 1
        after = points["first"].searchsorted(frames["high"], "right") - 1
        placed["low"], placed["high"] = points["low"][before], points["high"][after]
        # Behind the last compare-point the index knows no tick.
        is_last = frames["high"] >= points["first"][-1] + points["count"][-1]
        placed["high"][is_last] = np.iinfo(np.int64).max
    else:
        placed["low"], placed["high"] = -1, np.iinfo(np.int64).max
    return placed, begins
