"""The log of compare-points: any of millions by number or tick, and whole columns as arrays.

For reading what a run was at each position. Points stand in blocks; the index says which block
holds which, so one block is opened for one point. Comparing two logs is in `compare`.

Invariant: point i is the i-th that was recorded, also when a rollback made ticks repeat.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from twice.errors import RecordOutOfRange
from twice.foundation.printable import pluralize
from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.layout import DIGEST_BYTES, Kind
from twice.recorder.record.payloads import MalformedError, PointColumns, decode_points
from twice.recorder.record.words import Shape, Words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_KEPT_BLOCKS = 512


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
    """The points of one block, decoded.

    Args:
        columns: arrays of the block.
        words: names of shapes and components.

    Raises:
        MalformedError: when the digests do not add up to the layouts.
    """

    def __init__(self, columns: PointColumns, words: Words) -> None:
        import numpy as np

        self.columns = columns
        self.first = columns.head.first
        self._words = words
        if int(np.max(columns.shapes)) >= len(words.shapes):
            raise MalformedError("a compare-point has a shape that no names block says")
        widths = np.array([DIGEST_BYTES * len(s.components) for s in words.shapes], np.int64)
        self.ends = np.cumsum(widths[columns.shapes])
        if self.ends[-1] != len(columns.digests):
            raise MalformedError("the digests of a points block do not add up to its layouts")

    def starts_of(self, component: str) -> npt.NDArray[np.int64]:
        """Return where this component's digest starts among the digests, or -1: int64, (points,)."""
        import numpy as np

        shapes = self._words.shapes
        from_end = np.array(
            [
                DIGEST_BYTES * (len(shape.components) - shape.components.index(component))
                if component in shape.components
                else 0
                for shape in shapes
            ],
            np.int64,
        )[self.columns.shapes]
        return np.where(from_end > 0, self.ends - from_end, -1)

    def names_of_shapes(self) -> list[str]:
        """Return the name of a point of each shape, by the shape's number."""
        return [shape.name for shape in self._words.shapes]

    def point(self, index: int) -> Point:
        """Return the point with this index in the record."""
        at = index - self.first
        shape = self._words.shapes[int(self.columns.shapes[at])]
        end = int(self.ends[at])
        begin = end - DIGEST_BYTES * len(shape.components)
        digests = {
            name: self.columns.digests[start : start + DIGEST_BYTES]
            for name, start in zip(shape.components, range(begin, end, DIGEST_BYTES), strict=True)
        }
        root, chain = self.columns.records[at]
        return Point(
            index, int(self.columns.ticks[at]), shape.name, root.tobytes(), chain.tobytes(), digests
        )


class PointLog:
    """All compare-points of a record, in the order they were taken.

    Args:
        file: of the record.
        words: its names.
    """

    def __init__(self, file: BlockFile, words: Callable[[], Words]) -> None:
        self._file = file
        self._words = words
        self._kept: OrderedDict[int, PointBlock] = OrderedDict()

    @cached_property
    def _numbers(self) -> npt.NDArray[np.intp]:
        return self._file.numbers(Kind.POINTS)

    @cached_property
    def firsts(self) -> npt.NDArray[np.int64]:
        """int64, one per block and one more: index of its first point; the last is the length."""
        import numpy as np

        rows = self._file.table()[self._numbers]
        return np.concatenate(([0], np.cumsum(rows["count"], dtype=np.int64)))

    def __len__(self) -> int:
        return int(self.firsts[-1])

    def point(self, index: int) -> Point:
        """Return the point with this index; -1 is the last.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is none.
            RecordCorrupt: E-RECORD-004, when its block was changed.
        """
        count = len(self)
        at = index + count if index < 0 else index
        if not 0 <= at < count:
            raise RecordOutOfRange(
                f"Compare-point {index} was asked for.",
                f"{self._file.path} holds {pluralize(count, 'compare-point')}, from 0.",
                "Ask for one of those.",
                index=index,
                count=count,
            )
        return self.block(self.block_of(at)).point(at)

    @property
    def last(self) -> Point | None:
        """The last point, or None when there is none."""
        return self.point(-1) if len(self) else None

    def iterate(self, first: int = 0, last: int | None = None) -> Iterator[Point]:
        """Yield the points from ``first`` up to and including ``last``; to the end without it."""
        end = len(self) if last is None else min(last + 1, len(self))
        for index in range(max(first, 0), end):
            yield self.block(self.block_of(index)).point(index)

    def rows(self, first: int = 0) -> Iterator[tuple[int, Shape, bytes]]:
        """Yield tick, shape and joined digests of every point from ``first`` on, to compare with many.

        What a replay takes is compared with these at every point, so nothing is made of them.
        """
        index = first
        while index < len(self):
            block = self.block(self.block_of(index))
            shapes, digests = self._words().shapes, block.columns.digests
            at = index - block.first
            begin = int(block.ends[at - 1]) if at else 0
            columns = (block.columns.ticks, block.columns.shapes, block.ends)
            rows = zip(*(column[at:].tolist() for column in columns), strict=True)
            for tick, shape, end in rows:
                yield tick, shapes[shape], digests[begin:end]
                begin = end
            index = block.first + len(block.ends)

    def columns(self) -> list[str]:
        """Return the names of the components and compared values whose digests points have, sorted."""
        return sorted({name for shape in self._words().shapes for name in shape.components})

    def index_of_tick(self, tick: int, name: str = "tick") -> int | None:
        """Return the index of the last point of this name at this tick, or None."""
        import numpy as np

        shapes = [at for at, shape in enumerate(self._words().shapes) if shape.name == name]
        rows = self._file.table()[self._numbers]
        inside = ((rows["low"] <= tick) & (tick <= rows["high"])).nonzero()[0]
        for number in inside[::-1]:
            block = self.block(int(number))
            found = (block.columns.ticks == tick) & np.isin(block.columns.shapes, shapes)
            if found.any():
                return block.first + int(found.nonzero()[0][-1])
        return None

    def indices_of_tick(self, tick: int) -> list[int]:
        """Return the indices of all points at this tick, in order; a tick after a rollback repeats."""
        rows = self._file.table()[self._numbers]
        found = []
        for number in ((rows["low"] <= tick) & (tick <= rows["high"])).nonzero()[0]:
            block = self.block(int(number))
            places = (block.columns.ticks == tick).nonzero()[0]
            found += [block.first + int(place) for place in places]
        return found

    def block_of(self, index: int) -> int:
        """Return the number, among the points blocks, of the one with this point."""
        return int(self.firsts.searchsorted(index, "right")) - 1

    def block(self, number: int) -> PointBlock:
        """Return one points block, proved and decoded; the last ones used are cached.

        Raises:
            RecordCorrupt: E-RECORD-004, when it was changed.
        """
        kept = self._kept.get(number)
        if kept is not None:
            self._kept.move_to_end(number)
            return kept
        in_file = int(self._numbers[number])
        words = self._words()
        block = self._file.decoded(in_file, lambda data: PointBlock(decode_points(data), words))
        first, end = (int(bound) for bound in self.firsts[number : number + 2])
        if (block.first, block.first + len(block.columns.ticks)) != (first, end):
            raise self._file.corrupt(in_file, "it holds other compare-points than the index says")
        self._kept[number] = block
        if len(self._kept) > _KEPT_BLOCKS:
            self._kept.popitem(last=False)
        return block

    def block_chains(self) -> npt.NDArray[np.uint8]:
        """Return the chain of the last point of every block, from the index: uint8, (blocks, 16)."""
        import numpy as np

        chains = np.ascontiguousarray(self._file.table()["chain"][self._numbers])
        return chains.view(np.uint8).reshape(-1, DIGEST_BYTES)

    def chain(self, index: int) -> bytes:
        """Return the chain of one point, 16 bytes."""
        block = self.block(self.block_of(index))
        chain: bytes = block.columns.records[index - block.first, 1].tobytes()
        return chain
