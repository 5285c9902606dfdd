"""The log of compare-points: one of millions, whole columns, and the first difference of two logs.

Invariant: point i is the i-th that was recorded, also when a rollback made ticks repeat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from twice.recorder.record.block_file import BlockFile, EntryIndex
from twice.recorder.record.layout import (
    DIGEST_BYTES,
    HEAD_BYTES,
    POINT_BYTES,
    Kind,
    MalformedError,
)
from twice.recorder.record.payloads import Shape, SymbolTable, open_payload

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Content: TypeAlias = tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32], bytes]

_KEPT_BLOCKS = 512
_COLUMN_BYTES = 8 + 4  # a step between ticks, and the number of a shape


@dataclass(frozen=True, slots=True)
class Point:
    """One compare-point."""

    index: int  # its number in the record, from 0
    tick: int  # -1 before the first
    name: str  # `start`, `tick`, a phase, or an explicit compare
    root: bytes  # 16 bytes over all that is judged
    chain: bytes  # 16 bytes over everything up to here
    digests: Mapping[str, bytes]  # 16 bytes per component


class PointBlock:
    """The points of one block as arrays, made from its payload."""

    def __init__(self, payload: bytes, symbols: SymbolTable) -> None:
        import numpy as np

        head, end = open_payload(payload, Kind.POINTS, POINT_BYTES + _COLUMN_BYTES)
        n, columns = head.entries, HEAD_BYTES + POINT_BYTES * head.entries
        records = np.frombuffer(payload, np.uint8, POINT_BYTES * n, HEAD_BYTES)
        self.first = head.first  # its index in the record
        self.records = records.reshape(n, 2, DIGEST_BYTES)  # root and chain
        self.ticks = np.frombuffer(payload, "<i8", n, columns).cumsum()
        self.shapes = np.frombuffer(payload, "<u4", n, columns + 8 * n)  # their numbers
        self.digests = payload[end:]  # of all points, joined in order
        self._known = symbols.shapes
        if (self.ticks.min(), self.ticks.max()) != (head.low, head.high):
            raise MalformedError("a points block names another range of ticks than it holds")
        if int(self.shapes.max()) >= len(self._known):
            raise MalformedError("a compare-point has a shape that no names block says")
        widths = np.array([DIGEST_BYTES * len(s.components) for s in self._known], np.int64)
        self.ends = widths.take(self.shapes).cumsum()  # of each point's digests
        if self.ends[-1] != len(self.digests):
            raise MalformedError("the digests of a points block do not add up to its layouts")

    def __len__(self) -> int:
        return len(self.ticks)

    def content(self, first: int, stop: int) -> _Content:
        """Return ticks, numbers of shapes and joined digests of the points from ``first`` to before ``stop``."""
        rows = slice(first - self.first, stop - self.first)
        begin = int(self.ends[rows.start - 1]) if rows.start else 0
        digests = self.digests[begin : int(self.ends[rows.stop - 1])]
        return self.ticks[rows], self.shapes[rows], digests

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
        self._entries = EntryIndex(file, Kind.POINTS)
        self._kept: OrderedDict[int, PointBlock] = OrderedDict()

    def __len__(self) -> int:
        return self._entries.count

    def block_rows(self) -> npt.NDArray[np.void]:
        """Return the rows of the index about points (``ROW_FIELDS``): a block's first entry, count, lowest and highest tick."""
        rows: npt.NDArray[np.void] = self._file.table[self._entries.blocks]
        return rows

    def point(self, index: int) -> Point:
        """Return the point with this index; -1 is the last; E-RECORD-006 when there is none."""
        count = self._entries.count
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

    @property
    def shapes(self) -> list[Shape]:
        """Names of points and of their columns, each pair once, in the order they were first taken."""
        return self._symbols().shapes

    def columns(self) -> list[str]:
        """Return the names of the components and compared values whose digests points have, sorted."""
        return sorted({name for shape in self.shapes for name in shape.components})

    def components(self, first: int | None = None, last: int | None = None) -> list[str]:
        """Return the names of the components whose state points have, in the record or in a range, sorted."""
        import numpy as np

        shapes = self.shapes
        numbers = set(range(len(shapes)))
        if first is not None:
            stretches = self._stretches(first, last)
            numbers = {
                each for block, rows in stretches for each in np.unique(block.shapes[rows]).tolist()
            }
        states = [shapes[each] for each in sorted(numbers) if not shapes[each].is_value]
        return sorted({name for shape in states for name in shape.components})

    def index_of_tick(self, tick: int) -> int | None:
        """Return the index of the last point of a tick itself, or None."""
        found = reversed(self.indices_of_tick(tick))
        return next((at for at in found if self.point(at).name == "tick"), None)

    def indices_of_tick(self, tick: int) -> list[int]:
        """Return the indices of all points at this tick, in order; a tick after a rollback repeats."""
        rows = self._file.table[self._entries.blocks]
        found: list[int] = []
        for number in ((rows["low"] <= tick) & (tick <= rows["high"])).nonzero()[0]:
            block = self._block_with(int(self._entries.firsts[number]))
            found += (block.first + (block.ticks == tick).nonzero()[0]).tolist()
        return found

    def ticks(self, first: int = 0, last: int | None = None) -> npt.NDArray[np.int64]:
        """Return the ticks of a range: int64, (points,)."""
        import numpy as np

        found = [block.ticks[rows] for block, rows in self._stretches(first, last)]
        return np.concatenate([np.empty(0, np.int64), *found])

    def names(
        self, first: int = 0, last: int | None = None
    ) -> tuple[npt.NDArray[np.int64], list[str]]:
        """Return places (int64, one per point of a range) in a list, and that list: all names in the record."""
        import numpy as np

        known: dict[str, int] = {}
        # Shapes with other components share a name, and here its number.
        of_shape = [known.setdefault(each.name, len(known)) for each in self.shapes]
        numbers = np.array(of_shape, np.int64)
        found = [numbers[block.shapes[rows]] for block, rows in self._stretches(first, last)]
        return np.concatenate([np.empty(0, np.int64), *found]), list(known)

    def digests(
        self, component: str, first: int = 0, last: int | None = None
    ) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.bool_]]:
        """Return a component's digests in a range (uint8, 16 per point, zeros without one), and who has one."""
        import numpy as np

        # Shapes differ in length, so a digest is found from the end of its point's digests.
        of_shape = [
            DIGEST_BYTES * (len(names) - names.index(component)) if component in names else 0
            for _, names in self.shapes
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

    def states(
        self, component: str, first: int = 0, last: int | None = None
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
        """Return ticks and digests (uint8, 16 per point) of the points of a range that have a component's state.

        A value that is compared by the name of a component is not its state.
        """
        import numpy as np

        digests, has = self.digests(component, first, last)
        is_value = np.array([each.is_value for each in self.shapes], np.bool_)
        found = [is_value[block.shapes[rows]] for block, rows in self._stretches(first, last)]
        has &= ~np.concatenate([np.empty(0, np.bool_), *found])
        return self.ticks(first, last)[has], digests[has]

    def chains(self, first: int = 0, last: int | None = None) -> npt.NDArray[np.uint8]:
        """Return the chains of a range: uint8, (points, 16)."""
        return self.roots_and_chains(first, last)[:, 1]

    def roots_and_chains(self, first: int = 0, last: int | None = None) -> npt.NDArray[np.uint8]:
        """Return the root and the chain of each point of a range: uint8, (points, 2, 16)."""
        import numpy as np

        found = [block.records[rows] for block, rows in self._stretches(first, last)]
        return np.concatenate([np.empty((0, 2, DIGEST_BYTES), np.uint8), *found])

    def _stretches(self, first: int, last: int | None) -> Iterator[tuple[PointBlock, slice]]:
        """Yield the blocks that contain the points of a range, and their rows."""
        end = len(self) if last is None else min(last + 1, len(self))
        at = max(first, 0)
        while at < end:
            block = self._block_with(at)
            stop = min(end, block.first + len(block))
            yield block, slice(at - block.first, stop - block.first)
            at = stop

    def _block_with(self, index: int) -> PointBlock:
        """Return the block with a point, proved and decoded; the last ones used are cached."""
        at = self._entries.position(index)
        kept = self._kept.get(at)
        if kept is not None:
            self._kept.move_to_end(at)
            return kept
        symbols = self._symbols()
        first, block = self._entries.decode(index, lambda payload: PointBlock(payload, symbols))
        if block.first != first:
            why = "it holds other compare-points than the index says"
            raise self._file.corrupt(self._entries.find(index), why)
        self._kept[at] = block
        if len(self._kept) > _KEPT_BLOCKS:
            self._kept.popitem(last=False)
        return block


def is_same_content(a: PointLog, b: PointLog, stop: int) -> bool:
    """Return whether two logs hold the same before a point: ticks, names and digests of every column.

    Roots and chains are not compared: a record from elsewhere may hold any.
    """
    of_a, of_b = _number_shapes(a, b, lambda shape: shape)
    return all(
        digests_a == digests_b
        and (ticks_a == ticks_b).all()
        and (of_a[shapes_a] == of_b[shapes_b]).all()
        for _, (ticks_a, shapes_a, digests_a), (ticks_b, shapes_b, digests_b) in _pairs(a, b, stop)
    )


def first_other_columns(
    a: PointLog, b: PointLog, stop: int, is_judged: Callable[[str], bool]
) -> int | None:
    """Return the index of the first point before ``stop`` that has other judged columns in each log; None without one.

    Chains do not tell: a root is over digests alone, without the names of their columns.
    """
    of_a, of_b = _number_shapes(
        a, b, lambda shape: [each for each in shape.components if shape.is_value or is_judged(each)]
    )
    for at, (_, shapes_a, _), (_, shapes_b, _) in _pairs(a, b, stop):
        differs = of_a[shapes_a] != of_b[shapes_b]
        if differs.any():
            return at + int(differs.argmax())
    return None


def _number_shapes(
    a: PointLog, b: PointLog, read: Callable[[Shape], object]
) -> list[npt.NDArray[np.int64]]:
    """Return a number for each shape of both logs; those of which ``read`` returns the same have the same."""
    import numpy as np

    known: dict[str, int] = {}
    return [
        np.array([known.setdefault(repr(read(each)), len(known)) for each in log.shapes])
        for log in (a, b)
    ]


def _pairs(a: PointLog, b: PointLog, stop: int) -> Iterator[tuple[int, _Content, _Content]]:
    """Yield what two logs hold before a point, in pieces of equal length: index of the first point, and both contents."""
    at = 0
    while at < stop:
        one, two = a._block_with(at), b._block_with(at)
        end = min(stop, one.first + len(one), two.first + len(two))
        yield at, one.content(at, end), two.content(at, end)
        at = end


def first_difference(a: PointLog, b: PointLog) -> int | None:
    """Return the index of the first different point, or of the shorter log's end; None when equal.

    A chain depends on every point before it, so two logs that differ once never have the same chain
    again, and the first difference is found by halves. What happens later (re-convergence, say) is
    seen in the roots, not here. The two need not have been cut into the same blocks.

    Raises:
        RecordCorrupt: E-RECORD-004, when a block that was opened was changed.
    """

    def chain(log: PointLog, index: int) -> bytes:
        return log.chains(index, index).tobytes()

    common = min(len(a), len(b))
    if not common or chain(a, common - 1) == chain(b, common - 1):
        return None if len(a) == len(b) else common
    # The index has the chain at the end of each block of `a`: no block of it is opened to halve.
    firsts = a._entries.firsts
    chains = a._file.table["chain"][a._entries.blocks]
    low, high = 0, a._entries.position(common - 1)
    while low < high:
        middle = (low + high) // 2
        if chains[middle].tobytes() == chain(b, int(firsts[middle + 1]) - 1):
            low = middle + 1
        else:
            high = middle
    first, last = int(firsts[low]), min(int(firsts[low + 1]), common) - 1
    differs = (a.chains(first, last) != b.chains(first, last)).any(axis=1)
    assert differs.any(), "chains that differ at the end of a block differ somewhere in it"
    return first + int(differs.argmax())
