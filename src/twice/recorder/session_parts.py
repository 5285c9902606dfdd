"""The exchangeable parts of a session: who may pause it, where it starts, where its observations go.

Recording writes observations down, verifying compares each with the record, and a branch does both, one after the
other. The session does not know which.

Invariant: a session made from other parts does the same to the program's state. A sink sees every observation, in
order, exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING

from twice.foundation.dataclass import dataclass
from twice.foundation.seeds import Seed
from twice.recorder.audit.hook import Refuse
from twice.recorder.audit.inventory import Inventory
from twice.recorder.cadence import Strategy
from twice.recorder.compare_points import VALUE, ComparePoint
from twice.recorder.effects.layer import EffectLayer, Journal
from twice.recorder.effects.sources import Source
from twice.recorder.inputs import Inputs
from twice.recorder.output import Output, OutputCapture
from twice.recorder.record import RecordWriter
from twice.recorder.record_form import LoopSpan
from twice.recorder.redaction.redaction import Redaction
from twice.recorder.snapshots import Captured, store
from twice.recorder.streams import Streams
from twice.simulation.entropy import SeededEntropy

if TYPE_CHECKING:
    from twice.recorder.session import Session
    from twice.recorder.setup import Setup
    from twice.simulation.trace import Schedule


class Control:
    """May look at, pause or stop a session between ticks and at compare-points; this one lets it run."""

    def before_tick(self, session: Session, tick: int) -> None:
        """Act before the next tick begins; its snapshot has been captured."""

    def at_point(self, session: Session, taken: ComparePoint) -> None:
        """Act on a compare-point that was taken and passed on."""

    def at_value(self, value: object) -> None:
        """Act on a value that is about to be compared."""


class Sink:
    """Receives what a session observes; this one lets everything pass, and has no use for snapshots."""

    wants_snapshots = False

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

    def flush(self) -> None:
        """Make sure that everything given so far outlives this process."""

    def close(self, ending: Mapping[str, object]) -> None:
        """Close at the end of the run."""

    def disown(self) -> None:
        """Stop writing: this process is a forked child."""


class RecordingSink(Sink):
    """Writes everything into one record.

    The strategy ``full`` stores every snapshot whole, ``event-sourced`` stores none. The others store pages once and
    refer to them; each record has its event stream, so ``delta`` and ``hybrid`` are one.
    """

    def __init__(self, writer: RecordWriter, strategy: Strategy) -> None:
        self.writer, self._strategy = writer, strategy
        self.wants_snapshots = strategy != "event-sourced"
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

    def flush(self) -> None:
        """Seal the blocks that wait, full or not."""
        self.writer.flush()

    def close(self, ending: Mapping[str, object]) -> None:
        """Seal the record."""
        self.writer.close(ending)

    def disown(self) -> None:
        """Close the descriptor and write nothing."""
        self.writer.abandon()


@dataclass(frozen=True)
class Resume:
    """Where a session starts instead of at the top."""

    captured: Captured  # the snapshot to put back
    spans: Sequence[LoopSpan] = ()  # loops of the recorded run that ended before it
    output: tuple[bytes, bytes] = (b"", b"")  # on standard output and error before it
    kept: Sequence[Captured] = ()  # earlier snapshots, in order, for a run that rolls back to them


@dataclass(frozen=True, slots=True)
class InForce:
    """What of its work a session does: all of it, except where the cost of a part is measured."""

    generators: bool = True  # generators that everybody shares are seeded and are part of the state
    reads: bool = True  # reads of the world are governed and written down
    watch: bool = True  # operations that pass by the governed ones are noticed
    points: bool = True  # compare-points are taken

    def missing(self) -> list[str]:
        """Name the parts that are not in force."""
        return [each.name for each in fields(self) if not getattr(self, each.name)]


@dataclass
class Wiring:
    """The parts of one session."""

    source: Source  # answers reads of the world
    inputs: Inputs
    sink: Sink
    writes: bool  # whether reads and output go to the sink's journal too
    redaction: Redaction = field(default_factory=Redaction)
    # The folders of the program; None where printed text is no part of the run.
    folders: tuple[str, ...] | None = None
    actors: Mapping[str, int] | None = None  # those that the record holds already
    seed: Seed | None = None  # of its streams; None for that of the setup
    control: Control = field(default_factory=Control)
    resume: Resume | None = None  # where it starts; None for the top
    marks: Mapping[str, object] = field(default_factory=dict)  # for the envelope of each snapshot
    may_roll_back: bool = True  # whether snapshots are kept in memory for a rollback
    inventory: Inventory = field(default_factory=Inventory)
    # Called with each operation that a sealed execution refuses; None if it is not sealed.
    refuse: Refuse | None = None
    contents: Callable[[], Iterable[bytes]] = tuple  # of files that the record carries
    was_supervised: bool = False  # whether the record that is replayed was made so
    in_force: InForce = field(default_factory=InForce)
    schedule: Schedule | None = None  # of a simulated loop; None for the one that the setup makes

    def make_parts(self, setup: Setup, frame: Journal) -> None:
        """Make the parts that follow from the setup; ``frame`` takes what they write."""
        journal = frame if self.writes else None
        self.streams = Streams(self.seed or setup.seed, rule=setup.rule)
        self.layer = EffectLayer(
            self.source,
            journal if self.in_force.reads else None,
            opted_in=setup.strict_packages,
            algorithm=setup.algorithm,
            actors=self.actors,
            redaction=self.redaction,
        )
        self.layer.streams = self.streams
        if setup.order is not None:
            self.layer.entropy = SeededEntropy(setup.seed)
        self.output = Output()
        if self.folders is not None:
            self.output = OutputCapture(setup, journal, self.folders, self.redaction)
