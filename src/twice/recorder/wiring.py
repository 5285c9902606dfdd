"""The exchangeable parts of a session: who may pause it, where it starts, where things go.

Invariant: a session made from other parts does the same to the program's state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Protocol

from twice.foundation.dataclass import dataclass
from twice.recorder.audit.hook import Refuse
from twice.recorder.audit.inventory import Inventory
from twice.recorder.comparepoints import Taken
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.inputs import Inputs
from twice.recorder.output import no_output, print_nothing
from twice.recorder.record_form import LoopSpan
from twice.recorder.sink import Sink
from twice.recorder.snapshots import Captured
from twice.recorder.streams import Streams

if TYPE_CHECKING:
    from twice.recorder.session import Session


class Control(Protocol):
    """May look at, pause or stop a session between ticks and at compare-points."""

    def before_tick(self, session: Session, tick: int) -> None:
        """Act before the next tick begins; its snapshot has been captured."""
        ...

    def at_point(self, session: Session, taken: Taken) -> None:
        """Act on a compare-point that was taken and passed on."""
        ...

    def compared(self, value: object) -> None:
        """Act on a value that is about to be compared."""
        ...


class NoControl:
    """Lets the session run."""

    def before_tick(self, session: Session, tick: int) -> None:
        """Go on."""

    def at_point(self, session: Session, taken: Taken) -> None:
        """Go on."""

    def compared(self, value: object) -> None:
        """Go on."""


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
    """The exchangeable parts of a session."""

    streams: Streams
    layer: EffectLayer
    inputs: Inputs
    sink: Sink
    output: Callable[[], bytes] = no_output
    printed: Callable[[], tuple[bytes, bytes]] = print_nothing
    leave_errors_out: Callable[[], None] = field(default=lambda: None)
    restart_output: Callable[[bytes, bytes], None] = field(default=lambda _out, _err: None)
    summarise_output: Callable[[], dict[str, object]] = field(default=dict)
    control: Control = field(default_factory=NoControl)
    resume: Resume | None = None
    marks: Mapping[str, object] = field(default_factory=dict)
    may_roll_back: bool = True
    inventory: Inventory = field(default_factory=Inventory)
    refuse: Refuse | None = None
    contents: Callable[[], Iterable[bytes]] = tuple
    was_supervised: bool = False
    in_force: InForce = field(default_factory=InForce)

    def count_printed(self) -> tuple[int, int] | None:
        """Return bytes of output and errors that are written down so far; None if they are not captured."""
        self.output()
        sizes: Any = self.summarise_output()
        return (sizes["output"]["bytes"], sizes["errors"]["bytes"]) if sizes else None
