"""The writer of a run record: points, frames, blobs and snapshots in, chained blocks out.

Entries wait in memory until a block of them is full, half a second has passed when the next one
arrives, or `flush` is called. A killed process loses what waited.

Invariant: whatever an entry needs stands before it in the file: names and pages, then tables, frames,
points, snapshots.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from twice.errors import DigestRefused, OutputUnwritable
from twice.foundation.digests import DEFAULT, Algorithm
from twice.recorder.record import payloads
from twice.recorder.record.blobs import PageStore
from twice.recorder.record.block_writer import BlockWriter
from twice.recorder.record.layout import FORMAT, Chain, Header, Kind, Sealer, encode_row

POINTS_PER_BLOCK = 1024
FRAMES_PER_BLOCK = 4096
SNAPSHOTS_PER_BLOCK = 64
WAITING_BYTES_MAX = 64 * 1024  # of one kind
FRAME_BYTES_MAX = 1 << 30
# The real ones: sessions govern the clock and entropy later on.
_urandom, _monotonic = os.urandom, time.monotonic
_SEAL_AFTER_S = 0.5
_Entry = TypeVar("_Entry")


class _Queue(Generic[_Entry]):
    """Entries of one kind that wait, oldest first; their payload bytes; and how many were taken."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []
        self.size_bytes = self.taken = 0

    def take(self) -> tuple[int, list[_Entry]]:
        """Take all waiting entries, and the number of the first."""
        # A copy and a deletion of as many: an entry that another thread adds meanwhile stays.
        entries = self.entries[:]
        del self.entries[: len(entries)]
        self.size_bytes, first = 0, self.taken
        self.taken += len(entries)
        return first, entries


class RecordWriter:
    """Writes one run record; made by `create`, used by one thread at a time.

    Raises:
        OutputUnwritable: E-OUTPUT-002, once, by the method that finds the disk full or failing.
    """

    def __init__(self, blocks: BlockWriter, chain: Chain) -> None:
        self.points = 0  # compare-points given so far; the next one has this index
        # Where it is set, nothing is raised when the disk fails: it is called once, with the error,
        # written blocks stay, and later entries are dropped.
        self.on_failure: Callable[[OutputUnwritable], None] | None = None
        self._blocks = blocks
        self._lock = threading.RLock()
        self._is_sealing = False
        self._symbols = payloads.SymbolWriter()
        self._pages = PageStore(chain.digest, lambda: self._seal(self._seal_filled_pages))
        self._points = _Queue[payloads.PointEntry]()
        self._frames = _Queue[payloads.FrameEntry]()
        self._tables = _Queue[bytes]()
        self._snapshots = _Queue[tuple[int, int, bytes]]()
        self._due_at = _monotonic() + _SEAL_AFTER_S

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        identity: Mapping[str, object],
        *,
        algorithm: str = DEFAULT,
        force: bool = False,
        hold: bool = False,
        run_id: bytes | None = None,
        written_by: str = "",
    ) -> RecordWriter:
        """Start a record: its header and identity are in the file when this returns.

        Args:
            path: the file; its folder exists.
            identity: what RFC 8785 can write: text, numbers to 2**53 - 1, lists, maps.
            algorithm: digest label of the compare-points; blocks are chained with the same one,
                or with blake3 where it is not a strong one.
            force: replace an old file, which is refused otherwise (E-OUTPUT-001).
            hold: leave the old file there until `publish`.
            run_id: 16 bytes; random when not given.
            written_by: version of twice, up to 16 ASCII characters, for older readers' messages.

        Raises:
            EncodingRefused: E-ENCODE-001, when the identity holds what RFC 8785 cannot write.
            DigestRefused: E-DIGEST-001, when the algorithm is not known.
        """
        try:
            chosen = Algorithm(algorithm)
        except ValueError as error:
            raise DigestRefused(
                f"{algorithm!r} is not a digest algorithm.",
                f"Expected one of {', '.join(Algorithm)}.",
                "Choose blake3, the default.",
                algorithm=algorithm,
            ) from error
        header = Header(FORMAT, run_id or _urandom(16), chosen, written_by).pack()
        chain = Chain(chosen, header)
        sealer = Sealer(chain, chain.start)
        # One write for both: a reader never meets a header without an identity.
        start = header + sealer.seal(Kind.IDENTITY, b"", payloads.encode_json(identity))
        row = encode_row(len(header), Kind.IDENTITY, b"")
        blocks = BlockWriter(path, [start], sealer, row, force=force, hold=hold)
        return cls(blocks, chain)

    @property
    def failure(self) -> OutputUnwritable | None:
        """Return the error that stopped the writer, after it was raised once; later entries are dropped."""
        return self._blocks.failure

    def layout(self, components: Sequence[str]) -> int:
        """Return the number for points with digests of these components; E-ENCODE-003 for one without UTF-8."""
        return self._symbols.number_layout(components)

    def point(
        self, layout: int, tick: int, name: str, root: bytes, chain: bytes, digests: bytes
    ) -> int:
        """Add a compare-point and return its index in the record, from 0.

        Args:
            layout: from `layout`.
            tick: within 62 bits.
            name: such as ``tick``, ``start``, or a phase.
            root: 16 bytes.
            chain: 16 bytes that depend on every point before.
            digests: 16 bytes per component of the layout, joined.
        """
        waiting = self._points.entries
        waiting.append(((layout, name), tick, root, chain, digests))
        index = self.points
        self.points = index + 1
        if _monotonic() >= self._due_at:
            self.flush()
        elif len(waiting) >= POINTS_PER_BLOCK:
            self._seal(self._seal_points)
        return index

    def frame(self, kind: str, actor: int, payload: bytes, *, tick: int) -> None:
        """Add a journal frame, stamped with the index of the next compare-point.

        Args:
            kind: word for what the payload is; few different ones in a record.
            actor: up to 2**32 - 1.
            payload: at most 1 GiB; a longer one is refused (E-OUTPUT-002).
            tick: within 62 bits.
        """
        size = len(payload)
        if size > FRAME_BYTES_MAX:
            raise OutputUnwritable(
                f"A {kind!r} frame of {size} bytes does not fit in a run record.",
                f"Expected at most {FRAME_BYTES_MAX} bytes in one frame.",
                "Read or write the data in smaller pieces.",
                size=size,
            )
        queue = self._frames
        waiting = queue.entries
        waiting.append((self._symbols.number_kind(kind), actor, tick, self.points, payload))
        queue.size_bytes += size
        if _monotonic() >= self._due_at:
            self.flush()
        elif queue.size_bytes >= WAITING_BYTES_MAX or len(waiting) >= FRAMES_PER_BLOCK:
            self._seal(self._seal_frames)

    def page_blob(
        self, key: str, parts: Sequence[bytes | bytearray | memoryview], *, dedupe: bool = True
    ) -> int:
        """Store a byte string given as parts and return its number for `RecordReader.blob`.

        Args:
            key: what the blob is, such as a component's name; the next blob under the same key is
                compared with this one, and has the same number when nothing changed.
            parts: each is cut into pages of 4,096 bytes from its own beginning.
            dedupe: False writes every page anew.
        """
        number, table = self._pages.store(key, parts, dedupe=dedupe)
        if table is not None:
            encoded = payloads.encode_table(table)
            self._tables.entries.append(encoded)
            self._tables.size_bytes += len(encoded)
            if self._tables.size_bytes >= WAITING_BYTES_MAX:
                self._seal(self._seal_tables)
        return number

    def snapshot(self, tick: int, envelope: bytes) -> int:
        """Add a snapshot, whose envelope names blobs, and return its number, from 0."""
        queue = self._snapshots
        queue.entries.append((tick, self.points, envelope))
        queue.size_bytes += len(envelope)
        number = queue.taken + len(queue.entries) - 1
        if (
            _monotonic() >= self._due_at
            or queue.size_bytes >= WAITING_BYTES_MAX
            or len(queue.entries) >= SNAPSHOTS_PER_BLOCK
        ):
            self.flush()
        return number

    def flush(self) -> None:
        """Seal everything that waits; it outlives this process from here on."""
        self._seal(self._seal_all)

    def close(self, ending: Mapping[str, object]) -> None:
        """Seal everything that waits, then write the ending, as RFC 8785 has it, the index and the trailer."""
        document = payloads.encode_json(ending)

        def finish() -> None:
            self._seal_all()
            self._blocks.append(Kind.ENDING, b"", document)
            self._blocks.finish()

        try:
            self._seal(finish)
        finally:
            self.abandon()

    def publish(self) -> None:
        """Replace the old record that `hold` left there; do nothing if there was none."""
        self._blocks.publish()

    def withdraw(self) -> None:
        """Drop everything that waits and remove the record, unless it has replaced an old one."""
        self._drop()
        self._blocks.withdraw()

    def abandon(self) -> None:
        """Drop everything that waits and close the descriptor: in a forked child, or after an error."""
        self._drop()
        self._blocks.close()

    def _seal(self, seal: Callable[[], None]) -> None:
        """Seal unless the writer has failed, was closed, or belongs to the parent process."""
        if not self._blocks.is_usable:
            self._drop()  # before the lock: in a forked child nobody may be left to release it
            return
        with self._lock:
            if self._is_sealing:
                return  # a signal handler, or a full block of pages, came in between
            self._is_sealing = True
            try:
                seal()
            except OutputUnwritable as error:
                if self.on_failure is None:
                    raise
                self.on_failure(error)
            finally:
                self._is_sealing = False
                if self._blocks.failure is not None:
                    self._drop()

    def _seal_all(self) -> None:
        self._seal_points()
        first, snapshots = self._snapshots.take()
        if snapshots:
            self._blocks.append(Kind.SNAPSHOTS, *payloads.encode_snapshots(first, snapshots))
        self._due_at = _monotonic() + _SEAL_AFTER_S

    def _seal_points(self, pages_before: int | None = None) -> None:
        """Seal points, and the blocks before them; ``pages_before`` leaves later pages waiting."""
        self._seal_frames(pages_before)
        first, points = self._points.take()
        if points:
            shapes = self._symbols.number_shapes([point[0] for point in points])
            self._seal_symbols()
            self._blocks.append(Kind.POINTS, *payloads.encode_points(first, points, shapes))

    def _seal_frames(self, pages_before: int | None = None) -> None:
        self._seal_tables(pages_before)  # a frame may name blobs
        first, frames = self._frames.take()
        if frames:
            self._seal_symbols()
            self._blocks.append(Kind.FRAMES, *payloads.encode_frames(first, frames))

    def _seal_tables(self, pages_before: int | None = None) -> None:
        self._seal_pages(pages_before)
        first, tables = self._tables.take()
        if tables:
            self._blocks.append(Kind.TABLES, *payloads.encode_tables(first, tables))

    def _seal_filled_pages(self) -> None:
        """Seal a full block of pages of the blob under way, whose table does not wait yet."""
        # First the points that do not need them: a disk that these pages fill keeps the points.
        if self._points.entries:
            self._seal_points(pages_before=self._pages.begun)
        self._seal_pages()

    def _seal_pages(self, before: int | None = None) -> None:
        first, pages = self._pages.take_fresh(before)
        if pages:
            self._blocks.append(Kind.PAGES, *payloads.encode_pages(first, pages))

    def _seal_symbols(self) -> None:
        symbols = self._symbols.take_new()
        if symbols is not None:
            self._blocks.append(Kind.NAMES, b"", payloads.encode_json(symbols))

    def _drop(self) -> None:
        """Drop everything that waits."""
        for queue in (self._points, self._frames, self._tables, self._snapshots):
            queue.take()
        self._pages.take_fresh()
