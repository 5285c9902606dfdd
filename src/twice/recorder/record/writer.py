"""The writer of a run record: points, frames, blobs and snapshots in, chained blocks out.

For the session that records. Entries wait in memory until a block of them is full, half a second
has passed when the next one arrives, or `flush` is called; then the block is written at once. A
killed process loses what waited, and what stands in the file is a valid prefix. Reading is in
`reader`.

Invariant: a block that was sealed is never touched again; entries come back in the order given.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from twice.errors import DigestRefused, OutputUnwritable
from twice.foundation.digests import DEFAULT, Algorithm
from twice.recorder.record.assembly import Assembly, monotonic
from twice.recorder.record.blocklog import BlockLog
from twice.recorder.record.layout import (
    FORMAT,
    FRAME_BYTES_MAX,
    FRAME_BYTES_PER_BLOCK,
    FRAMES_PER_BLOCK,
    POINTS_PER_BLOCK,
    SNAPSHOTS_PER_BLOCK,
    WAITING_BYTES_MAX,
    Header,
    Kind,
)
from twice.recorder.record.pages import Bytes
from twice.recorder.record.pagetables import encode_table
from twice.recorder.record.payloads import encode_json

_urandom = os.urandom  # the real one: sessions govern entropy later on


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
        self._waiting = Assembly(log, header.algorithm, durable=durable)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        identity: Mapping[str, object],
        *,
        algorithm: str = DEFAULT,
        force: bool = False,
        hold: bool = False,
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
            hold: leave the old file there until `publish`.
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
        log = BlockLog.create(path, header, encode_json(identity), force=force, hold=hold)
        return cls(log, header, durable=durable)

    @property
    def failure(self) -> OutputUnwritable | None:
        """Return the error that stopped the writer, after it was raised once; later entries are dropped."""
        return self._log.failure

    def go_on_after_failure(self, told: Callable[[OutputUnwritable], None]) -> None:
        """Raise nothing when the disk fails: written blocks stay, later ones are dropped.

        Args:
            told: called once, with what would have been raised.
        """
        self._waiting.failed = told

    def layout(self, components: Sequence[str]) -> int:
        """Return the number for points with digests of these components, in this order.

        Raises:
            EncodingTextRefused: E-ENCODE-003, when a name has no UTF-8 form.
        """
        return self._waiting.names.layout(components)

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
        waiting = self._waiting
        waiting.points.append(((layout, name), tick, root, chain, digests))
        index = self.points
        self.points = index + 1
        if monotonic() >= waiting.due_at:
            self.flush()
        elif len(waiting.points) >= POINTS_PER_BLOCK:
            waiting.guarded(waiting.seal_points)
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
        waiting = self._waiting
        waiting.frames.append((waiting.names.kind(kind), actor, tick, self.points, payload))
        waiting.frame_bytes += size
        if monotonic() >= waiting.due_at:
            self.flush()
        elif (
            waiting.frame_bytes >= FRAME_BYTES_PER_BLOCK or len(waiting.frames) >= FRAMES_PER_BLOCK
        ):
            waiting.guarded(waiting.seal_frames)

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
        waiting = self._waiting
        pages = waiting.pages
        number, table = pages.store(key, parts) if dedupe else pages.store_anew(parts)
        if table is not None:
            encoded = encode_table(table)
            waiting.tables.append(encoded)
            waiting.table_bytes += len(encoded)
            if waiting.table_bytes >= WAITING_BYTES_MAX:
                waiting.guarded(waiting.seal_tables)
        return number

    def snapshot(self, tick: int, envelope: bytes) -> int:
        """Add a snapshot, whose envelope names blobs, and return its number, from 0.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when a full block cannot be written.
        """
        waiting = self._waiting
        number = waiting.sealed[Kind.SNAPSHOTS] + len(waiting.snapshots)
        waiting.snapshots.append((tick, self.points, envelope))
        waiting.snapshot_bytes += len(envelope)
        if (
            monotonic() >= waiting.due_at
            or waiting.snapshot_bytes >= WAITING_BYTES_MAX
            or len(waiting.snapshots) >= SNAPSHOTS_PER_BLOCK
        ):
            self.flush()
        return number

    def flush(self) -> None:
        """Seal everything that waits; it outlives this process from here on.

        Raises:
            OutputUnwritable: E-OUTPUT-002, once, when the disk is full or fails.
        """
        self._waiting.guarded(self._waiting.seal_all)

    def close(self, ending: Mapping[str, object]) -> None:
        """Seal everything that waits, then write the run's ending, the index and the trailer.

        Raises:
            OutputUnwritable: E-OUTPUT-002, unless it was raised before (`failure`).
            EncodingRefused: E-ENCODE-001, when the ending holds what RFC 8785 cannot write.
        """
        document, waiting = encode_json(ending), self._waiting
        try:
            waiting.guarded(waiting.seal_all)
            waiting.guarded(lambda: waiting.finish(document))
        finally:
            self.abandon()

    def publish(self) -> None:
        """Replace the old record that `hold` left there; do nothing if there was none.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the folder does not take it.
        """
        self._log.publish()

    def withdraw(self) -> None:
        """Drop everything that waits and remove the record, unless it has replaced an old one."""
        self._waiting.drop()
        self._log.withdraw()

    def abandon(self) -> None:
        """Drop everything that waits and close the descriptor: in a forked child, or after an error."""
        self._waiting.drop()
        self._log.close()


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
