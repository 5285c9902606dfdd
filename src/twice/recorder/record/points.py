"""The log of compare-points: any of millions by number or tick, whole columns, and the first difference of two logs.

Points stand in blocks; the index says which block holds which, so one block is opened for one point.

Invariant: point i is the i-th that was recorded, also when a rollback made ticks repeat.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from twice.recorder.record.block_file import BlockFile, EntryIndex
from twice.recorder.record.layout import (
    DIGEST_BYTES,
    HEAD_BYTES,
    POINT_BYTES,
    Kind,
    MalformedError,
)
from twice.recorder.record.payloads import open_payload
from twice.recorder.record.symbols import Shape, SymbolTable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_KEPT_BLOCKS = 512
_COLUMN_BYTES = 8 + 4  # a step between ticks, and the number of a shape


@dataclass(frozen=True, slots=True)
class Point:
    """One compare-point.

    Attributes:
        index: its number in the record, from 0.
        tick: tick number, -1 before the first.
        name: ``start``, ``tick``, a phase, or an explicit compare.
        root: 16 bytes over what is judged.
        chain: 16 bytes over everything up to here.
        digests: 16 bytes per component.
    """

    index: int
    tick: int
    name: str
    root: bytes
    chain: bytes
    digests: Mapping[str, bytes]


class PointBlock:
    """The points of one block as arrays, made from its payload."""

    def __init__(self, payload: bytes, symbols: SymbolTable) -> None:
        import numpy as np

        head, end = open_payload(payload, Kind.POINTS, POINT_BYTES + _COLUMN_BYTES)
        n, columns = head.entries, HEAD_BYTES + POINT_BYTES * head.entries
        records = np.frombuffer(payload, np.uint8, POINT_BYTES * n, HEAD_BYTES)
        self.first = head.first  # its index in the record
        self.records = records.reshape(n, 2, DIGEST_BYTES)  # root and chain
        self.ticks = np.cumsum(np.frombuffer(payload, "<i8", n, columns))
        self.shapes = np.frombuffer(payload, "<u4", n, columns + 8 * n)  # their numbers
        self.digests = payload[end:]  # of all points, joined in order
        self._known = symbols.shapes
        if (self.ticks.min(), self.ticks.max()) != (head.low, head.high):
            raise MalformedError("a points block names another range of ticks than it holds")
        if int(self.shapes.max()) >= len(self._known):
            raise MalformedError("a compare-point has a shape that no names block says")
        widths = np.array([DIGEST_BYTES * len(s.components) for s in self._known], np.int64)
        self.ends = np.cumsum(widths[self.shapes])  # of each point's digests
        if self.ends[-1] != len(self.digests):
            raise MalformedError("the digests of a points block do not add up to its layouts")

    def __len__(self) -> int:
        return len(self.ticks)

    def point(self, index: int) -> Point:
        """Return the point with this index in the record."""
        at = index - self.first
        shape = self._known[int(self.shapes[at])]
        end = int(self.ends[at])
        begin = end - DIGEST_BYTES * len(shape.components)
        digests = {
            name: self.digests[start : start + DIGEST_BYTES]
            for name, start in zip(shape.components, range(begin, end, DIGEST_BYTES), strict=True)
        }
        root, chain = self.records[at]
        return Point(
            index, int(self.ticks[at]), shape.name, root.tobytes(), chain.tobytes(), digests
        )


class PointLog:
    """All compare-points of a record, in the order they were taken.

    Ranges are from ``first`` up to and including ``last``, or to the end without it.
    """

    def __init__(self, file: BlockFile, symbols: Callable[[], SymbolTable]) -> None:
        self._file = file
        self._symbols = symbols
        self._kept: OrderedDict[int, PointBlock] = OrderedDict()

    @cached_property
    def _entries(self) -> EntryIndex:
        return EntryIndex(self._file, Kind.POINTS)

    def __len__(self) -> int:
        return self._entries.count

    def point(self, index: int) -> Point:
        """Return the point with this index; -1 is the last.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is none.
        """
        count = len(self)
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            raise self._file.out_of_range("compare-point", index, count, index=index, count=count)
        return self._block_with(at).point(at)

    @property
    def last(self) -> Point | None:
        """The last point, or None when there is none."""
        return self.point(-1) if len(self) else None

    def iterate(self, first: int = 0, last: int | None = None) -> Iterator[Point]:
        """Yield the points of a range."""
        for block, rows in self._stretches(first, last):
            for at in range(rows.start, rows.stop):
                yield block.point(block.first + at)

    def rows(self, first: int = 0) -> Iterator[tuple[int, Shape, bytes]]:
        """Yield tick, shape and joined digests of every point from ``first`` on, to compare with many.

        A replay compares with these at every point, so nothing is made of them.
        """
        shapes = self._symbols().shapes
        for block, rows in self._stretches(first, None):
            begin = int(block.ends[rows.start - 1]) if rows.start else 0
            columns = (block.ticks, block.shapes, block.ends)
            for tick, shape, end in zip(*(each[rows].tolist() for each in columns), strict=True):
                yield tick, shapes[shape], block.digests[begin:end]
                begin = end

    def columns(self) -> list[str]:
        """Return the names of the components and compared values whose digests points have, sorted."""
        return sorted({name for shape in self._symbols().shapes for name in shape.components})

    def index_of_tick(self, tick: int, name: str = "tick") -> int | None:
        """Return the index of the last point of this name at this tick, or None."""
        import numpy as np

        shapes = [at for at, shape in enumerate(self._symbols().shapes) if shape.name == name]
        for block in map(self._block, reversed(self._blocks_at_tick(tick))):
            places = ((block.ticks == tick) & np.isin(block.shapes, shapes)).nonzero()[0]
            if len(places):
                return block.first + int(places[-1])
        return None

    def indices_of_tick(self, tick: int) -> list[int]:
        """Return the indices of all points at this tick, in order; a tick after a rollback repeats."""
        return [
            block.first + int(place)
            for block in map(self._block, self._blocks_at_tick(tick))
            for place in (block.ticks == tick).nonzero()[0]
        ]

    def ticks(self, first: int = 0, last: int | None = None) -> npt.NDArray[np.int64]:
        """Return the ticks of a range: int64, (points,)."""
        import numpy as np

        found = [block.ticks[rows] for block, rows in self._stretches(first, last)]
        return np.concatenate([np.empty(0, np.int64), *found])

    def names(
        self, first: int = 0, last: int | None = None
    ) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return the name of each point of a range.

        Returns:
            int64, (points,): places in the list that follows; and all names that occur in the record.
        """
        import numpy as np

        known: dict[str, int] = {}
        # Shapes with other components share a name, and here its number.
        of_shape = [known.setdefault(each.name, len(known)) for each in self._symbols().shapes]
        numbers = np.array(of_shape, np.int64)
        found = [numbers[block.shapes[rows]] for block, rows in self._stretches(first, last)]
        return np.concatenate([np.empty(0, np.int64), *found]), list(known)

    def digests(
        self, component: str, first: int = 0, last: int | None = None
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Return a component's digests in a range, and a mask of the points that have one.

        Returns:
            uint8, (points, 16), zeros where there is none; and bool, (points,).
        """
        import numpy as np

        # Shapes differ in length, so a digest is found from the end of its point's digests.
        of_shape = [
            DIGEST_BYTES * (len(names) - names.index(component)) if component in names else 0
            for _, names in self._symbols().shapes
        ]
        found, present = [np.empty((0, DIGEST_BYTES), np.uint8)], [np.empty(0, np.bool_)]
        for block, rows in self._stretches(first, last):
            from_end = np.array(of_shape, np.int64)[block.shapes[rows]]
            has = from_end > 0
            starts = (block.ends[rows] - from_end)[has]
            column = np.zeros((len(has), DIGEST_BYTES), np.uint8)
            joined = np.frombuffer(block.digests, np.uint8)
            column[has] = joined[starts[:, None] + np.arange(DIGEST_BYTES)]
            found.append(column)
            present.append(has)
        return np.concatenate(found), np.concatenate(present)

    def chains(self, first: int = 0, last: int | None = None) -> npt.NDArray[np.uint8]:
        """Return the chains of a range: uint8, (points, 16)."""
        import numpy as np

        found = [block.records[rows, 1] for block, rows in self._stretches(first, last)]
        return np.concatenate([np.empty((0, DIGEST_BYTES), np.uint8), *found])

    def chain(self, index: int) -> bytes:
        """Return the chain of one point, 16 bytes."""
        block = self._block_with(index)
        chain: bytes = block.records[index - block.first, 1].tobytes()
        return chain

    def _stretches(self, first: int, last: int | None) -> Iterator[tuple[PointBlock, slice]]:
        """Yield the blocks that contain the points of a range, and their rows."""
        end = len(self) if last is None else min(last + 1, len(self))
        at = max(first, 0)
        while at < end:
            block = self._block_with(at)
            stop = min(end, block.first + len(block))
            yield block, slice(at - block.first, stop - block.first)
            at = stop

    def _blocks_at_tick(self, tick: int) -> list[int]:
        """Return the numbers of the points blocks whose range of ticks includes this one."""
        rows = self._file.table()[self._entries.blocks]
        inside: list[int] = ((rows["low"] <= tick) & (tick <= rows["high"])).nonzero()[0].tolist()
        return inside

    def _block_with(self, index: int) -> PointBlock:
        return self._block(int(self._entries.firsts.searchsorted(index, "right")) - 1)

    def _block(self, number: int) -> PointBlock:
        """Return one points block, proved and decoded; the last ones used are cached."""
        kept = self._kept.get(number)
        if kept is not None:
            self._kept.move_to_end(number)
            return kept
        in_file, symbols = int(self._entries.blocks[number]), self._symbols()
        block = self._file.decode(in_file, lambda payload: PointBlock(payload, symbols))
        first, end = self._entries.firsts[number : number + 2].tolist()
        if (block.first, block.first + len(block)) != (first, end):
            raise self._file.corrupt(in_file, "it holds other compare-points than the index says")
        self._kept[number] = block
        if len(self._kept) > _KEPT_BLOCKS:
            self._kept.popitem(last=False)
        return block


def first_difference(a: PointLog, b: PointLog) -> int | None:
    """Return the index of the first different point, or of the shorter log's end; None when equal.

    A chain depends on every point before it, so two logs that differ once never have the same chain
    again, and the first difference is found by halves. What happens later (re-convergence, say) is
    seen in the roots, not here. The two need not have been cut into the same blocks.

    Raises:
        RecordCorrupt: E-RECORD-004, when a block that was opened was changed.
    """
    common = min(len(a), len(b))
    if not common or a.chain(common - 1) == b.chain(common - 1):
        return None if len(a) == len(b) else common
    # The index has the chain at the end of each block of `a`: no block of it is opened to halve.
    firsts: list[int] = a._entries.firsts.tolist()
    chains = a._file.table()["chain"][a._entries.blocks]
    low, high = 0, bisect_right(firsts, common - 1) - 1
    while low < high:
        middle = (low + high) // 2
        if chains[middle].tobytes() == b.chain(firsts[middle + 1] - 1):
            low = middle + 1
        else:
            high = middle
    first, last = firsts[low], min(firsts[low + 1], common) - 1
    differs = (a.chains(first, last) != b.chains(first, last)).any(axis=1)
    assert differs.any(), "chains that differ at the end of a block differ somewhere in it"
    return first + int(differs.argmax())
