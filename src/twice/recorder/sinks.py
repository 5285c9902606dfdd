"""Where a session's observations go: into a record, against a record, or both.

Recording writes them down. Verifying compares each with the record. A branch does both, one after
the other. The session does not know which.

Invariant: a sink sees every observation, in order, exactly once.
"""

from __future__ import annotations

from collections.abc import Mapping

from twice.recorder.cadence import Strategy
from twice.recorder.compare_points import ComparePoint
from twice.recorder.record import RecordWriter
from twice.recorder.snapshots import Captured, store

VALUE = "value"


class Sink:
    """Receives what a session observes; this one lets everything pass."""

    def point(self, taken: ComparePoint) -> None:
        """Take a compare-point."""

    def frame(self, kind: str, payload: bytes, tick: int, actor: int = 0) -> None:
        """Take a frame for the journal: reads, inputs, output, values with a tolerance."""

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Take a value that is compared with a tolerance, before its point."""

    def pass_over(self, column: str) -> None:
        """Compare a column no more: its state has another version than the recorded one."""

    def snapshot(self, captured: Captured) -> None:
        """Take a captured snapshot."""

    def wants_snapshots(self) -> bool:
        """Return whether captured snapshots are of use here."""
        return False

    def flush(self) -> None:
        """Make sure that everything given so far outlives this process."""

    def close(self, ending: Mapping[str, object]) -> None:
        """Close at the end of the run."""

    def disown(self) -> None:
        """Stop writing: this process is a forked child."""


class RecordingSink(Sink):
    """Writes everything into one record.

    Args:
        writer: the open record.
        strategy: ``full`` stores every snapshot whole, ``event-sourced`` stores none. The others store pages
            once and refer to them; each record has its event stream, so ``delta`` and ``hybrid`` are one.
    """

    def __init__(self, writer: RecordWriter, strategy: Strategy = "hybrid") -> None:
        self.writer = writer
        self._strategy = strategy
        self._layouts: dict[tuple[str, ...], int] = {}

    def point(self, taken: ComparePoint) -> None:
        """Append the point."""
        layout = self._layouts.get(taken.columns)
        if layout is None:
            layout = self._layouts[taken.columns] = self.writer.layout(taken.columns)
        self.writer.point(layout, taken.tick, taken.name, taken.root, taken.chain, taken.digests)

    def frame(self, kind: str, payload: bytes, tick: int, actor: int = 0) -> None:
        """Append a journal frame."""
        self.writer.frame(kind, actor, payload, tick=tick)

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Append the value as a journal frame."""
        del column
        self.writer.frame(VALUE, 0, payload, tick=tick)

    def snapshot(self, captured: Captured) -> None:
        """Store the snapshot's pages and its envelope."""
        store(self.writer, captured, dedupe=self._strategy != "full")

    def wants_snapshots(self) -> bool:
        """Return whether snapshots are kept: not with the event-sourced strategy."""
        return self._strategy != "event-sourced"

    def flush(self) -> None:
        """Seal the blocks that wait, full or not."""
        self.writer.flush()

    def close(self, ending: Mapping[str, object]) -> None:
        """Seal the record."""
        self.writer.close(ending)

    def disown(self) -> None:
        """Close the descriptor and write nothing."""
        self.writer.abandon()
