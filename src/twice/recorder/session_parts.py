"""The exchangeable parts of a session: who may pause it, where it starts, where things go.

Invariant: a session made from other parts does the same to the program's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING

from twice.foundation.dataclass import dataclass
from twice.recorder.audit.hook import Refuse
from twice.recorder.audit.inventory import Inventory
from twice.recorder.compare_points import ComparePoint
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.inputs import Inputs
from twice.recorder.output import Output
from twice.recorder.record_form import LoopSpan
from twice.recorder.sinks import Sink
from twice.recorder.snapshots import Captured
from twice.recorder.streams import Streams

if TYPE_CHECKING:
    from twice.recorder.session import Session


class Control:
    """May look at, pause or stop a session between ticks and at compare-points; this one lets it run."""

    def before_tick(self, session: Session, tick: int) -> None:
        """Act before the next tick begins; its snapshot has been captured."""

    def at_point(self, session: Session, taken: ComparePoint) -> None:
        """Act on a compare-point that was taken and passed on."""

    def compared(self, value: object) -> None:
        """Act on a value that is about to be compared."""


@dataclass(frozen=True)
class Resume:
    """Where a session starts instead of at the top.

    Attributes:
        captured: the snapshot to put back.
        spans: loops of the recorded run that ended before it.
        output: bytes of standard output and error before it.
        kept: earlier snapshots, in order, for a run that rolls back to them.
    """

    captured: Captured
    spans: Sequence[LoopSpan] = ()
    output: tuple[bytes, bytes] = (b"", b"")
    kept: Sequence[Captured] = ()


@dataclass(frozen=True, slots=True)
class InForce:
    """What of its work a session does: all of it, except where the cost of a part is measured.

    Attributes:
        generators: the generators that everybody shares are seeded and are part of the state.
        reads: reads of the world are governed and written down.
        watch: operations that pass by the governed ones are noticed.
        points: compare-points are taken.
    """

    generators: bool = True
    reads: bool = True
    watch: bool = True
    points: bool = True

    def missing(self) -> list[str]:
        """Name the parts that are not in force."""
        return [each.name for each in fields(self) if not getattr(self, each.name)]


@dataclass
class Wiring:
    """The parts of one session.

    Attributes:
        streams: its named random streams, and the shared generators.
        layer: where reads of the world come from.
        inputs: what decides an input's value.
        sink: where observations go.
        output: what the program prints.
        control: who may pause it.
        resume: where it starts; None for the top.
        marks: facts about the run for the envelope of each snapshot.
        may_roll_back: whether snapshots are kept in memory for a rollback.
        inventory: operations that the record does not hold.
        refuse: called with each operation that a sealed execution refuses; None if it is not sealed.
        contents: opens the contents of files that the record carries.
        was_supervised: whether the record that is replayed was made under supervision.
        in_force: what of its work the session does.
    """

    streams: Streams
    layer: EffectLayer
    inputs: Inputs
    sink: Sink
    output: Output = field(default_factory=Output)
    control: Control = field(default_factory=Control)
    resume: Resume | None = None
    marks: Mapping[str, object] = field(default_factory=dict)
    may_roll_back: bool = True
    inventory: Inventory = field(default_factory=Inventory)
    refuse: Refuse | None = None
    contents: Callable[[], Iterable[bytes]] = tuple
    was_supervised: bool = False
    in_force: InForce = field(default_factory=InForce)
