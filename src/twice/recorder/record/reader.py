"""The reader of a run record: what happened, from a file that nobody needs to trust.

For verify, replay, diagnosis and reports. A closed record opens through its index; one that was not
closed is scanned, and what stands before the tear is read like any other. Nothing in a record is
ever executed or imported.

Invariant: every byte that leaves the reader was proved by the chain of checksums.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

from twice.errors import RecordOutOfRange
from twice.foundation.digests import Algorithm
from twice.foundation.printable import pluralize
from twice.foundation.with_blocks import Closing
from twice.recorder.record.blobs import Blobs
from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.checking import check_file
from twice.recorder.record.frames import Frame, read_frames
from twice.recorder.record.layout import Kind
from twice.recorder.record.payloads import SnapshotEntry, decode_json, decode_snapshots
from twice.recorder.record.points import PointLog
from twice.recorder.record.runs import Runs
from twice.recorder.record.scan import Progress, Tear
from twice.recorder.record.words import Words


class RecordReader(Closing):
    """One run record, read-only; made by `open`, a context manager.

    Attributes:
        path: of the file.
        identity: what the run is a function of, from its RFC 8785 document.
        ending: how the run ended, or None when the record does not say.
        points: the log of compare-points.
        blobs: byte strings that snapshots refer to.
    """

    def __init__(self, file: BlockFile) -> None:
        self._file = file
        self.path: Path = file.path
        self.identity: dict[str, object] = file.decoded(0, decode_json)
        self.ending: dict[str, object] | None = None
        if file.prefix.ended:
            self.ending = file.decoded(file.blocks - 1, decode_json)
        self.points = PointLog(file, lambda: self._words)
        self.blobs = Blobs(file)

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

    @property
    def run_id(self) -> bytes:
        """16 random bytes of the run."""
        return self._file.header.run_id

    @property
    def algorithm(self) -> Algorithm:
        """Of the digests in compare-points."""
        return self._file.header.algorithm

    @property
    def format(self) -> int:
        """Format number of the file."""
        return self._file.header.format

    @property
    def complete(self) -> bool:
        """Return whether the record was closed, and its index and trailer are intact."""
        return self._file.prefix.tear is None

    @property
    def tear(self) -> Tear | None:
        """Where and why the intact part ends, or None when the record is complete."""
        return self._file.prefix.tear

    def check(self, progress: Progress | None = None) -> None:
        """Prove every byte of the file and the form of every block.

        Opening and reading prove only what they touch; this proves the rest.

        Args:
            progress: called with bytes done and bytes in all.

        Raises:
            RecordCorrupt: E-RECORD-004, when a byte was changed; names block, offset and kind.
            RecordTorn: E-RECORD-003, when the record was never closed.
        """
        check_file(self._file, progress)

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

        Raises:
            RecordCorrupt: E-RECORD-004, when a block that may hold one was changed.
        """
        return read_frames(
            self._file,
            lambda: self._words,
            kinds=kinds,
            first_point=first_point,
            last_point=last_point,
            actor=actor,
        )

    @cached_property
    def snapshots(self) -> list[SnapshotEntry]:
        """All snapshots, by number."""
        return [
            entry
            for block in self._file.numbers(Kind.SNAPSHOTS)
            for entry in self._file.decoded(int(block), decode_snapshots)[0]
        ]

    def envelope(self, number: int) -> bytes:
        """Return the envelope of a snapshot, as it was written.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is no such snapshot.
            RecordCorrupt: E-RECORD-004, when its block was changed.
        """
        if not 0 <= number < self._snapshot_runs.count:
            raise RecordOutOfRange(
                f"Snapshot {number} was asked for.",
                f"{self.path} holds {pluralize(self._snapshot_runs.count, 'snapshot')}, from 0.",
                "Ask for one of those.",
                number=number,
            )
        block, first, end = self._snapshot_runs.find(number)
        envelopes = self._file.decoded(block, decode_snapshots)[1]
        if len(envelopes) != end - first:
            raise self._file.corrupt(block, "it holds other snapshots than the index says")
        return envelopes[number - first]

    def blob(self, number: int) -> bytearray:
        """Return a blob, its parts joined.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is no such blob.
            RecordCorrupt: E-RECORD-004, when a block that it needs was changed.
        """
        return self.blobs.joined(number)

    def summary(self) -> dict[str, object]:
        """Summarise the content of the record and the bytes that it takes.

        Returns:
            ``file_bytes``, ``points``, ``frames``, ``snapshots``, ``blobs``, ``complete``, and
            ``blocks``: for each kind of block ``count``, ``stored_bytes`` and ``raw_bytes``.
        """
        from twice.recorder.record.summary import summarise

        return {**summarise(self._file), "complete": self.complete}

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @cached_property
    def _snapshot_runs(self) -> Runs:
        return Runs(self._file, Kind.SNAPSHOTS)

    @cached_property
    def _words(self) -> Words:
        words = Words()
        for block in self._file.numbers(Kind.NAMES):
            self._file.decoded(int(block), words.add)
        return words
