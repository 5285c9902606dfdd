"""Entries that wait, and how they become blocks in the right order.

For the writer. What an entry needs stands before it in the file: names and pages, then tables, then
frames, then points, then snapshots. So a prefix never holds a point without the frames that led to
it, nor a snapshot without its pages.

Invariant: sealing takes what waits at once, in order; nothing is written twice or by two at a time.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from twice.errors import OutputUnwritable
from twice.foundation.digests import Algorithm
from twice.recorder.record.blocklog import BlockLog
from twice.recorder.record.layout import Kind
from twice.recorder.record.naming import Names
from twice.recorder.record.pages import PageStore
from twice.recorder.record.pagetables import encode_pages, encode_tables
from twice.recorder.record.payloads import (
    FrameEntry,
    PointEntry,
    encode_frames,
    encode_json,
    encode_points,
    encode_snapshots,
)

monotonic = time.monotonic  # the real one: sessions govern the clock later on
SEAL_AFTER_S = 0.5
_Entry = TypeVar("_Entry")


class Assembly:
    """What waits for one file.

    Args:
        log: the blocks so far.
        algorithm: of the record's compare-points.
        durable: wait for the disk whenever everything is sealed.

    Attributes:
        names: words and their numbers.
        pages: chooses the pages of blobs.
        points, frames, tables, snapshots: entries that wait, oldest first.
        frame_bytes, table_bytes, snapshot_bytes: payload bytes among them.
        sealed: entries of each kind that stand in the file.
        due_at: `monotonic` time from which whoever adds an entry seals everything.
    """

    def __init__(self, log: BlockLog, algorithm: Algorithm, *, durable: bool) -> None:
        self._log = log
        self._durable = durable
        self._lock = threading.RLock()
        self._busy = False
        self.failed: Callable[[OutputUnwritable], None] | None = None
        self.names = Names()
        self.pages = PageStore(algorithm, self._pages_full)
        self.points: list[PointEntry] = []
        self.frames: list[FrameEntry] = []
        self.tables: list[bytes] = []
        self.snapshots: list[tuple[int, int, bytes]] = []
        self.frame_bytes = self.table_bytes = self.snapshot_bytes = 0
        self.sealed = dict.fromkeys((Kind.POINTS, Kind.FRAMES, Kind.TABLES, Kind.SNAPSHOTS), 0)
        self.due_at = monotonic() + SEAL_AFTER_S

    def guarded(self, seal: Callable[[], None]) -> None:
        """Seal unless the writer has failed, was closed, or belongs to the parent process."""
        if not self._log.usable:
            self.drop()  # before the lock: in a forked child nobody may be left to release it
            return
        with self._lock:
            if self._busy:
                return  # a signal handler, or a full block of pages, came in between
            self._busy = True
            try:
                seal()
            except OutputUnwritable as error:
                if self.failed is None:
                    raise
                self.failed(error)
            finally:
                self._busy = False
                if self._log.failure is not None:
                    self.drop()

    def seal_all(self) -> None:
        """Seal everything; on the disk when the record is durable."""
        self.seal_points()
        self.seal_snapshots()
        self.due_at = monotonic() + SEAL_AFTER_S
        if self._durable:
            self._log.sync()

    def seal_points(self, *, pages_before: int | None = None) -> None:
        """Seal points, and the blocks before them; ``pages_before`` leaves later pages waiting."""
        self.seal_frames(pages_before=pages_before)
        entries = _taken(self.points)
        if entries:
            numbers = self.names.shape_numbers([entry[0] for entry in entries])
            self._seal_names()
            plain, rest = encode_points(self.sealed[Kind.POINTS], entries, numbers)
            self._append(Kind.POINTS, len(entries), plain, rest)

    def seal_frames(self, *, pages_before: int | None = None) -> None:
        """Seal frames, and the blobs that they may name."""
        self.seal_tables(pages_before=pages_before)
        entries = _taken(self.frames)
        self.frame_bytes = 0
        if entries:
            self._seal_names()
            plain, rest = encode_frames(self.sealed[Kind.FRAMES], entries)
            self._append(Kind.FRAMES, len(entries), plain, rest)

    def seal_snapshots(self) -> None:
        """Seal snapshots; the blocks that they need were sealed with the points before them."""
        entries = _taken(self.snapshots)
        self.snapshot_bytes = 0
        if entries:
            plain, rest = encode_snapshots(self.sealed[Kind.SNAPSHOTS], entries)
            self._append(Kind.SNAPSHOTS, len(entries), plain, rest)

    def seal_tables(self, *, pages_before: int | None = None) -> None:
        """Seal blob tables, and the pages that they name."""
        self._seal_pages(pages_before)
        tables = _taken(self.tables)
        self.table_bytes = 0
        if tables:
            plain, rest = encode_tables(self.sealed[Kind.TABLES], tables)
            self._append(Kind.TABLES, len(tables), plain, rest)

    def finish(self, ending: bytes) -> None:
        """Close the chain: the ending, the index, the trailer."""
        self._log.append(Kind.ENDING, b"", ending)
        self._log.finish()
        if self._durable:
            self._log.sync()

    def drop(self) -> None:
        """Drop everything that waits."""
        for waiting in (self.points, self.frames, self.tables, self.snapshots):
            waiting.clear()
        self.pages.take_fresh()
        self.frame_bytes = self.table_bytes = self.snapshot_bytes = 0

    def _pages_full(self) -> None:
        self.guarded(self._seal_filled)

    def _seal_filled(self) -> None:
        """Seal the pages of a blob under way, and before them the points that do not need them.

        A disk that these pages fill keeps the points.
        """
        if self.points:
            self.seal_points(pages_before=self.pages.begun)
        self._seal_pages()

    def _seal_pages(self, before: int | None = None) -> None:
        first, pages = self.pages.take_fresh(before)
        if pages:
            self._log.append(Kind.PAGES, *encode_pages(first, pages))

    def _seal_names(self) -> None:
        new = self.names.take_new()
        if new is not None:
            self._log.append(Kind.NAMES, b"", encode_json(new))

    def _append(self, kind: Kind, count: int, plain: bytes, rest: bytes) -> None:
        self.sealed[kind] += count
        self._log.append(kind, plain, rest)


def _taken(waiting: list[_Entry]) -> list[_Entry]:
    """Take all waiting entries at once: an entry that another thread adds meanwhile stays."""
    entries = waiting[:]
    del waiting[: len(entries)]
    return entries
