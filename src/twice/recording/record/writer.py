"""The writer of a run record: points, frames, blobs and snapshots in, chained blocks out.

For the session that records. Entries wait in memory until a block of them is full, half a second
has passed when the next one arrives, or `flush` is called; then the block is written at once. A
killed process loses what waited, and what stands in the file is a valid prefix. Reading is in
`reader`.

What an entry needs stands before it: names and pages, then tables, then frames, then points, then
snapshots. So a prefix never holds a point without the frames that led to it.

Invariant: a block that was sealed is never touched again; entries come back in the order given.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from twice.errors import DigestRefused, OutputUnwritable
from twice.foundation.digests import DEFAULT, Algorithm
from twice.recording.record.blocklog import BlockLog
from twice.recording.record.layout import (
    FORMAT,
    FRAME_BYTES_MAX,
    FRAME_BYTES_PER_BLOCK,
    FRAMES_PER_BLOCK,
    POINTS_PER_BLOCK,
    Header,
    Kind,
)
from twice.recording.record.naming import Names
from twice.recording.record.pages import Bytes, PageStore
from twice.recording.record.pagetables import encode_pages, encode_table, encode_tables
from twice.recording.record.payloads import (
    FrameEntry,
    PointEntry,
    encode_frames,
    encode_json,
    encode_points,
    encode_snapshots,
)

# Sessions govern clock and entropy later on; the record needs the real ones.
_monotonic, _urandom = time.monotonic, os.urandom
SEAL_AFTER_S = 0.5
_WAITING_BYTES_MAX = 64 * 1024
_SNAPSHOTS_PER_BLOCK = 64
_Entry = TypeVar("_Entry")


class RecordWriter:
    """Writes one run record; made by `create`, used by one thread at a time.

    Attributes:
        run_id: 16 bytes that the chain of checksums starts from.
        points: compare-points given so far; the next one has this index.
    """

    def __init__(self, log: BlockLog, header: Header, *, durable: bool) -> None:
        self.run_id = header.run_id
        self.points = 0
        self._log = log
        self._durable = durable
        self._names = Names()
        self._pages = PageStore(header.algorithm, self._pages_full)
        self._sealing = threading.RLock()
        self._busy = False
        self._seal_at = _monotonic() + SEAL_AFTER_S
        self._points: list[PointEntry] = []
        self._frames: list[FrameEntry] = []
        self._tables: list[bytes] = []
        self._snapshots: list[tuple[int, int, bytes]] = []
        self._frame_bytes = self._table_bytes = self._snapshot_bytes = 0
        self._sealed = dict.fromkeys((Kind.POINTS, Kind.FRAMES, Kind.TABLES, Kind.SNAPSHOTS), 0)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        identity: Mapping[str, object],
        *,
        algorithm: str = DEFAULT,
        force: bool = False,
        durable: bool = False,
        run_id: bytes | None = None,
        written_by: str = "",
    ) -> RecordWriter:
        """Start a record: its header and identity are in the file when this returns.

        Args:
            path: the file; its folder exists.
            identity: what RFC 8785 can write: text, numbers to 2**53 - 1, lists, maps.
            algorithm: digest label of the compare-points; blocks are chained with the same one,
                or with blake3 where it is not a strong one.
            force: replace an old file.
            durable: wait for the disk at `flush`, at timed seals and at the end.
            run_id: 16 bytes; random when not given.
            written_by: version of twice, up to 16 ASCII characters, for older readers' messages.

        Raises:
            OutputExists: E-OUTPUT-001, when the file exists and ``force`` is not given.
            OutputUnwritable: E-OUTPUT-002, when it cannot be written.
            EncodingRefused: E-ENCODE-001, when the identity holds what RFC 8785 cannot write.
            DigestRefused: E-DIGEST-001, when the algorithm is not known.
        """
        header = Header(FORMAT, run_id or _urandom(16), _algorithm(algorithm), written_by)
        log = BlockLog.create(path, header, encode_json(identity), force=force)
        return cls(log, header, durable=durable)

    @property
    def failure(self) -> OutputUnwritable | None:
        """What stopped the writer, after it was raised once; later entries are dropped."""
        return self._log.failure

    def layout(self, components: Sequence[str]) -> int:
        """Number for points whose digests belong to these components, in this order.

        Raises:
            EncodingTextRefused: E-ENCODE-003, when a name has no UTF-8 form.
        """
        return self._names.layout(components)

    def point(
        self, layout: int, tick: int, name: str, root: bytes, chain: bytes, digests: bytes
    ) -> int:
        """Add a compare-point and return its index in the record, from 0.

        Args:
            layout: from `layout`.
            tick: tick number, within 62 bits.
            name: such as ``tick``, ``start``, or a phase.
            root: 16 bytes.
            chain: 16 bytes that depend on every point before.
            digests: 16 bytes per component of the layout, joined.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when a full block cannot be written.
        """
        waiting = self._points
        waiting.append(((layout, name), tick, root, chain, digests))
        index = self.points
        self.points = index + 1
        if _monotonic() >= self._seal_at:
            self.flush()
        elif len(waiting) >= POINTS_PER_BLOCK:
            self._guarded(self._seal_points)
        return index

    def frame(self, kind: str, actor: int, payload: bytes, *, tick: int) -> None:
        """Add a journal frame, stamped with the index of the next compare-point.

        Args:
            kind: word for what the payload is; few different ones in a record.
            actor: number of the actor, up to 2**32 - 1.
            payload: at most 1 GiB.
            tick: tick number, within 62 bits.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when a full block cannot be written; and when
                the payload is longer than a frame can be.
        """
        size = len(payload)
        if size > FRAME_BYTES_MAX:
            raise _too_long(kind, size)
        waiting = self._frames
        waiting.append((self._names.kind(kind), actor, tick, self.points, payload))
        self._frame_bytes += size
        if _monotonic() >= self._seal_at:
            self.flush()
        elif self._frame_bytes >= FRAME_BYTES_PER_BLOCK or len(waiting) >= FRAMES_PER_BLOCK:
            self._guarded(self._seal_frames)

    def page_blob(self, key: str, parts: Sequence[Bytes], *, dedupe: bool = True) -> int:
        """Store a byte string given as parts and return its number for `RecordReader.blob`.

        Args:
            key: what the blob is, such as a component's name; the next blob under the same key is
                compared with this one, and has the same number when nothing changed.
            parts: each is cut into pages of 4,096 bytes from its own beginning.
            dedupe: False writes every page anew.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when the disk is full.
        """
        store = self._pages
        number, table = store.store(key, parts) if dedupe else store.store_anew(parts)
        if table is not None:
            encoded = encode_table(table)
            self._tables.append(encoded)
            self._table_bytes += len(encoded)
            if self._table_bytes >= _WAITING_BYTES_MAX:
                self._guarded(self._seal_tables)
        return number

    def snapshot(self, tick: int, envelope: bytes) -> int:
        """Add a snapshot, whose envelope names blobs, and return its number, from 0.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when a full block cannot be written.
        """
        waiting = self._snapshots
        number = self._sealed[Kind.SNAPSHOTS] + len(waiting)
        waiting.append((tick, self.points, envelope))
        self._snapshot_bytes += len(envelope)
        if (
            _monotonic() >= self._seal_at
            or self._snapshot_bytes >= _WAITING_BYTES_MAX
            or len(waiting) >= _SNAPSHOTS_PER_BLOCK
        ):
            self.flush()
        return number

    def flush(self) -> None:
        """Seal everything that waits; it outlives this process from here on.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when the disk is full or fails.
        """
        self._guarded(self._seal_all)

    def close(self, ending: Mapping[str, object]) -> None:
        """Seal what waits, then write how the run ended, the index and the trailer.

        Raises:
            OutputUnwritable: E-OUTPUT-002, unless it was raised before (`failure`).
            EncodingRefused: E-ENCODE-001, when the ending holds what RFC 8785 cannot write.
        """
        document = encode_json(ending)
        try:
            self._guarded(self._seal_all)
            self._guarded(lambda: self._finish(document))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Drop what waits and close the descriptor: in a forked child, or after an error."""
        self._drop()
        self._log.close()

    def _guarded(self, seal: Callable[[], None]) -> None:
        """Seal unless the writer has failed, was closed, or belongs to the parent process."""
        with self._sealing:
            if self._busy:
                return  # a signal handler or a full block of pages came in between
            if not self._log.usable:
                self._drop()
                return
            self._busy = True
            try:
                seal()
            finally:
                self._busy = False
                if self._log.failure is not None:
                    self._drop()

    def _seal_all(self) -> None:
        self._seal_points()
        self._seal_snapshots()
        self._seal_at = _monotonic() + SEAL_AFTER_S
        if self._durable:
            self._log.sync()

    def _seal_points(self) -> None:
        self._seal_frames()
        entries = _taken(self._points)
        if entries:
            numbers = self._names.shape_numbers([entry[0] for entry in entries])
            self._seal_names()
            plain, rest = encode_points(self._sealed[Kind.POINTS], entries, numbers)
            self._append(Kind.POINTS, len(entries), plain, rest)

    def _seal_frames(self) -> None:
        self._seal_tables()
        entries = _taken(self._frames)
        self._frame_bytes = 0
        if entries:
            self._seal_names()
            plain, rest = encode_frames(self._sealed[Kind.FRAMES], entries)
            self._append(Kind.FRAMES, len(entries), plain, rest)

    def _seal_snapshots(self) -> None:
        entries = _taken(self._snapshots)
        self._snapshot_bytes = 0
        if entries:
            plain, rest = encode_snapshots(self._sealed[Kind.SNAPSHOTS], entries)
            self._append(Kind.SNAPSHOTS, len(entries), plain, rest)

    def _seal_tables(self) -> None:
        self._seal_pages()
        tables = _taken(self._tables)
        self._table_bytes = 0
        if tables:
            plain, rest = encode_tables(self._sealed[Kind.TABLES], tables)
            self._append(Kind.TABLES, len(tables), plain, rest)

    def _pages_full(self) -> None:
        self._guarded(self._seal_pages)

    def _seal_pages(self) -> None:
        first, pages = self._pages.take_fresh()
        if pages:
            self._log.append(Kind.PAGES, *encode_pages(first, pages))

    def _seal_names(self) -> None:
        new = self._names.take_new()
        if new is not None:
            self._log.append(Kind.NAMES, b"", encode_json(new))

    def _append(self, kind: Kind, count: int, plain: bytes, rest: bytes) -> None:
        self._sealed[kind] += count
        self._log.append(kind, plain, rest)

    def _finish(self, ending: bytes) -> None:
        self._log.append(Kind.ENDING, b"", ending)
        self._log.finish()
        if self._durable:
            self._log.sync()

    def _drop(self) -> None:
        for waiting in (self._points, self._frames, self._tables, self._snapshots):
            waiting.clear()
        self._pages.take_fresh()
        self._frame_bytes = self._table_bytes = self._snapshot_bytes = 0


def _taken(waiting: list[_Entry]) -> list[_Entry]:
    """What waits, taken out at once: an entry that another thread adds meanwhile stays."""
    entries = waiting[:]
    del waiting[: len(entries)]
    return entries


def _algorithm(label: str) -> Algorithm:
    try:
        return Algorithm(label)
    except ValueError as error:
        raise DigestRefused(
            f"{label!r} is not a digest algorithm.",
            f"Expected one of {', '.join(Algorithm)}.",
            "Choose blake3, the default.",
            algorithm=label,
        ) from error


def _too_long(kind: str, size: int) -> OutputUnwritable:
    return OutputUnwritable(
        f"A {kind!r} frame of {size} bytes does not fit in a run record.",
        f"Expected at most {FRAME_BYTES_MAX} bytes in one frame.",
        "Read or write the data in smaller pieces.",
        size=size,
    )
