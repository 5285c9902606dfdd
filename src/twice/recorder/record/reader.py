"""The reader of a run record: what happened, from a file that nobody needs to trust.

A closed record opens through its index; one that was not closed is scanned, and what stands before
the tear is read like any other. Nothing in a record is ever executed or imported.

Invariant: every byte that leaves the reader was proved by the chain of checksums.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from twice.errors import RecordCorrupt, RecordTorn
from twice.foundation.printable import pluralize
from twice.foundation.with_blocks import Closing
from twice.recorder.record import payloads
from twice.recorder.record.blobs import Blobs
from twice.recorder.record.block_file import BlockFile, EntryIndex
from twice.recorder.record.form_checker import FormChecker
from twice.recorder.record.layout import BLOCK_HEADER_BYTES, Kind
from twice.recorder.record.payloads import SnapshotEntry, SymbolTable, decode_json
from twice.recorder.record.points import PointLog
from twice.recorder.record.prefix import Progress

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_PLACE_BITS = 32
"""Of a frame's place: below them its position in its block, above them the block's number."""
_BLOCKS_KEPT = 8
_COUNTED = (Kind.POINTS, Kind.FRAMES, Kind.SNAPSHOTS, Kind.TABLES, Kind.PAGES)


class Frame(NamedTuple):
    """One entry of the journal."""

    kind: str  # word for the meaning of the payload
    actor: int  # number of the actor
    tick: int  # in which it happened
    point: int  # index of the compare-point that follows it
    payload: bytes


# Makes a frame of a row without the checks of its constructor: a journal has millions.
_make_frame: Callable[[tuple[object, ...]], Frame] = partial(tuple.__new__, Frame)


class RecordReader(Closing):
    """One run record, read-only; made by `open`, a context manager.

    Raises:
        RecordCorrupt: E-RECORD-004, by every method, when a block that it needs was changed.
    """

    def __init__(self, file: BlockFile) -> None:
        self._file = file
        self.path = file.path
        # Number of the format, 16 random bytes of the run, and the algorithm of digests in compare-points.
        self.format, self.run_id, self.algorithm, _ = file.header
        # Where and why the intact part ends, if the record is not complete.
        self.tear = file.prefix.tear
        self.complete = self.tear is None  # closed, with an intact index and trailer
        # 32 bytes, of every byte up to the end of the last intact block.
        self.checksum = file.prefix.checksum
        # What the run is a function of, and how it ended, if the record says it.
        self.identity: dict[str, object] = file.decode(0, decode_json)
        self.ending: dict[str, object] | None = None
        if file.prefix.ended:
            self.ending = file.decode(file.blocks - 1, decode_json)
        self.points = PointLog(file, lambda: self._symbols)
        self.blobs = Blobs(file)  # byte strings that snapshots refer to
        self._snapshot_entries = EntryIndex(file, Kind.SNAPSHOTS)
        self._payloads = lru_cache(_BLOCKS_KEPT)(
            lambda number: file.decode(number, payloads.decode_frames)[-1]
        )

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a record; one that was not closed opens up to its tear.

        Raises:
            RecordUnreadable: E-RECORD-005, when it is missing, a folder, or not permitted.
            RecordForeign: E-RECORD-002, when it is not a run record.
            RecordVersion: E-RECORD-001, when it is of a format this version does not read.
            RecordTorn: E-RECORD-003, when it ends before anything of the run.
            RecordCorrupt: E-RECORD-004, when what is needed to open it was changed.
        """
        file = BlockFile(path)
        try:
            return cls(file)
        except BaseException:
            file.close()
            raise

    @cached_property
    def _symbols(self) -> SymbolTable:
        symbols = SymbolTable()
        for block in EntryIndex(self._file, Kind.NAMES).blocks:
            self._file.decode(int(block), symbols.add)
        return symbols

    def check(self, progress: Progress | None = None) -> None:
        """Prove every byte of the file and the form of every block, also of those that nobody read.

        Raises:
            RecordCorrupt: E-RECORD-004, when a byte was changed; names block, offset and kind.
            RecordTorn: E-RECORD-003, when the record was never closed.
        """
        file = self._file
        checker = FormChecker(file.chain.digest)
        tear = file.scan(progress, checker.visit).tear
        # The form first: it stands before the tear.
        if checker.fault is not None:
            raise file.corrupt(*checker.fault)
        if tear is None:
            return
        where = f"{file.path}: block {tear.block}, at byte {tear.offset}"
        fields = {
            "path": str(file.path),
            "block": tear.block,
            "offset": tear.offset,
            "kind": file.kind_at(tear.offset),
            "points": tear.points,
        }
        kept = f"The {pluralize(tear.points, 'compare-point')} before it can be read"
        if tear.damaged:
            raise RecordCorrupt(
                f"{where} ({fields['kind']}), was changed: {tear.reason}.",
                "Expected the bytes that were written when the run was recorded.",
                f"{kept}; take another copy of the file.",
                **fields,
            )
        raise RecordTorn(
            f"{where}: the record stops there, because {tear.reason}.",
            "Expected an ending, an index and a trailer; the recording process did not get there.",
            f"{kept}: `twice verify` judges them as PARTIAL, `migrate` closes the record there.",
            **fields,
        )

    def frames(
        self,
        kinds: Iterable[str] | None = None,
        first_point: int = 0,
        last_point: int | None = None,
        actor: int | None = None,
    ) -> Iterator[Frame]:
        """Yield journal frames in the order recorded.

        Args:
            kinds: only these; all when not given.
            first_point: only frames before this compare-point or a later one.
            last_point: only frames before this compare-point or an earlier one; so the frames that
                led to point i are those from i to i.
            actor: only this actor's.
        """
        wanted = self._number_kinds(kinds)
        for number in self._find_blocks(wanted, first_point, last_point):
            of_kind, frames = self.read_block(number)
            row = self._file.table[number]
            is_inside = row["low"] >= first_point and (
                last_point is None or row["high"] <= last_point
            )
            # Most reads are of whole blocks: no condition for each of their frames.
            if is_inside and wanted is None and actor is None:
                yield from frames
                continue
            for kind, frame in zip(of_kind, frames, strict=True):
                if (
                    frame.point >= first_point
                    and (last_point is None or frame.point <= last_point)
                    and (wanted is None or kind in wanted)
                    and (actor is None or frame.actor == actor)
                ):
                    yield frame

    def tick_frames(self, tick: int, kinds: Iterable[str]) -> Iterator[Frame]:
        """Yield journal frames of some kinds that were written in a tick, in the order recorded."""
        indices = self.points.indices_of_tick(tick)
        # Frames that follow the tick's last point are before the next one.
        between = {"first_point": indices[0], "last_point": indices[-1] + 1} if indices else {}
        return (frame for frame in self.frames(kinds, **between) if frame.tick == tick)

    def locate(self, kind: str, last_point: int | None = None) -> Iterator[tuple[int, Frame]]:
        """Yield journal frames of a kind in the order recorded, each with its place, for ``payload``.

        Args:
            kind: of the frames.
            last_point: only frames before this compare-point or an earlier one.
        """
        wanted = self._number_kinds([kind])
        for number in self._find_blocks(wanted, 0, last_point):
            for at, frame in enumerate(self.read_block(number)[1]):
                if frame.kind == kind and (last_point is None or frame.point <= last_point):
                    yield number << _PLACE_BITS | at, frame

    def payload(self, place: int) -> bytes:
        """Return the payload of a journal frame by its place, from any thread."""
        number, at = divmod(place, 1 << _PLACE_BITS)
        return self._payloads(number)[at]

    def frame_rows(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.void]]:
        """Return the blocks of the journal: numbers, and rows of the index, with the lowest and highest compare-point."""
        entries = EntryIndex(self._file, Kind.FRAMES)
        return entries.blocks, self._file.table[entries.blocks]

    @property
    def snapshot_count(self) -> int:
        """How many snapshots there are."""
        return self._snapshot_entries.count

    def _number_kinds(self, kinds: Iterable[str] | None) -> frozenset[int] | None:
        if kinds is None:
            return None
        asked = frozenset(kinds)
        return frozenset(n for n, kind in enumerate(self._symbols.kinds) if kind in asked)

    def _find_blocks(
        self, wanted: frozenset[int] | None, first_point: int, last_point: int | None
    ) -> list[int]:
        """Return the numbers of the blocks that may hold such frames."""
        import numpy as np

        rows = self._file.table
        fits = (rows["kind"] == Kind.FRAMES) & (rows["high"] >= first_point)
        if last_point is not None:
            fits &= rows["low"] <= last_point
        if wanted is not None:
            bits = sum(
                1 << bit for bit in {min(number, payloads.KIND_BIT_MAX) for number in wanted}
            )
            fits &= (rows["bits"] & np.uint64(bits)) != 0
        found: list[int] = fits.nonzero()[0].tolist()
        return found

    def read_block(self, number: int) -> tuple[Sequence[int], Iterator[Frame]]:
        """Return the kinds of the frames in a block, as numbers, and the frames."""
        known = self._symbols.kinds
        of_kind, *columns = self._file.decode(number, payloads.decode_frames)
        if max(of_kind) >= len(known):
            raise self._file.corrupt(number, "a frame has a kind that no names block says")
        names = [known[kind] for kind in of_kind]
        return of_kind, map(_make_frame, zip(names, *columns, strict=True))

    @cached_property
    def snapshots(self) -> list[SnapshotEntry]:
        """All snapshots, by number."""
        return [
            entry
            for block in self._snapshot_entries.blocks
            for entry, _ in self._file.decode(int(block), payloads.decode_snapshots)
        ]

    def latest_snapshot(self, tick: int) -> SnapshotEntry | None:
        """Return the latest snapshot at or before a tick, or None; only blocks that may have it are read.

        Where a rollback made a tick stand twice, the latest of them counts.
        """
        import numpy as np

        blocks = self._snapshot_entries.blocks
        rows = self._file.table[blocks]
        reaches = np.minimum(rows["high"], tick)
        fits = (rows["low"] <= tick).nonzero()[0].tolist()
        latest: SnapshotEntry | None = None
        for at in sorted(fits, key=lambda at: (reaches[at], at), reverse=True):
            if latest is not None and reaches[at] < latest.tick:
                break
            entries = self._file.decode(int(blocks[at]), payloads.decode_snapshots)
            found = [entry for entry, _ in entries if entry.tick <= tick]
            found += [] if latest is None else [latest]
            latest = max(found, key=lambda entry: (entry.tick, entry.number), default=None)
        return latest

    def snapshot(self, number: int) -> tuple[SnapshotEntry, bytes]:
        """Return a snapshot and its envelope, as it was written; E-RECORD-006 when there is no such snapshot."""
        count = self._snapshot_entries.count
        if not 0 <= number < count:
            raise self._file.out_of_range("snapshot", number, count, number=number)
        first, snapshots = self._snapshot_entries.decode(number, payloads.decode_snapshots)
        return snapshots[number - first]

    def envelope(self, number: int) -> bytes:
        """Return the envelope of a snapshot; errors are those of `snapshot`."""
        return self.snapshot(number)[1]

    def blob(self, number: int) -> bytearray:
        """Return a blob, its parts joined; errors are those of `Blobs.join`."""
        return self.blobs.join(number)

    def summary(self) -> dict[str, object]:
        """Summarise the content of the record and the bytes that it takes.

        Returns:
            ``file_bytes``, ``points``, ``frames``, ``snapshots``, ``blobs``, ``pages``, ``complete``,
            and ``blocks``: for each kind of block ``count``, ``stored_bytes`` and ``raw_bytes``. With
            the index and the trailer, the stored bytes and the file's header add up to the file.
        """
        rows = self._file.table
        blocks = {
            kind.name.lower(): {"count": 0, "stored_bytes": 0, "raw_bytes": 0}
            for kind in Kind
            if kind is not Kind.INDEX
        }
        for number in range(self._file.blocks):
            header = self._file.read(number).header
            of_kind = blocks[Kind(header.kind).name.lower()]
            of_kind["count"] += 1
            of_kind["stored_bytes"] += header.stored + BLOCK_HEADER_BYTES
            of_kind["raw_bytes"] += header.raw + BLOCK_HEADER_BYTES
        counts = {
            "blobs" if kind is Kind.TABLES else kind.name.lower(): int(
                rows["count"][rows["kind"] == kind].sum()
            )
            for kind in _COUNTED
        }
        return {
            "file_bytes": self._file.size_bytes,
            **counts,
            "blocks": blocks,
            "complete": self.complete,
        }

    def fetch(self) -> Path:
        """Return the path of the record on this machine, where other processes can read it; see `BlockFile.fetch`."""
        return self._file.fetch()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
