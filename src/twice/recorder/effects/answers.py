"""What answers a program's reads, and what that needs of a record.

Not for: the answers themselves; ``sources`` has them.

Invariant: whoever asks does not know which source answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from twice.errors import EffectMismatch
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.turns import Turns
from twice.recorder.effects.ops import Op

Live = Callable[[], object]


class RecordedReads(Protocol):
    """What a source needs of a record."""

    def strict_reads(self, count: int = 0) -> Iterator[Event]:
        """Yield strict reads of the main program, after the first ``count``."""
        ...

    def lenient_lines(self) -> Iterator[tuple[str, Event]]:
        """Return the standard library's reads in order, each with the key of its thread's actor."""
        ...

    def actor_reads(self) -> Mapping[str, Sequence[Event]]:
        """Return strict reads of every other actor, by its key."""
        ...

    def connections(self) -> Mapping[str, Sequence[Event]]:
        """Return the events of every connection, in and out, by its key."""
        ...

    def connection_order(self) -> Sequence[str]:
        """Return the key of the connection of each such event, in the order of the record."""
        ...


class Answers(Protocol):
    """Answers the strict reads of one actor."""

    def of(self, actor: str) -> Answers:
        """Return the answers of another actor."""
        ...

    def strict(self, op: Op, arguments: object, live: Live) -> object:
        """Answer a read by user code. ``arguments`` is None for operations without any."""
        ...

    def unfit(self, error: EffectMismatch) -> None:
        """Note that the answer does not fit the world, which alone can complete it."""
        ...


class Source(Answers, Protocol):
    """Answers the main program, and the standard library for everyone.

    Attributes:
        leaves: whether the execution may do otherwise than the record.
    """

    leaves: bool

    def lenient(self, op: Op, live: Live, owner: str) -> object:
        """Answer a read by the standard library on a thread of that actor."""
        ...

    def fact(self, op: Op, arguments: object, live: Live, *, needed: bool) -> object:
        """Answer a question by its arguments; its order among others means nothing."""
        ...

    def connection(self, key: str, asked: object) -> Sequence[Event] | None:
        """Return the events that replay a connection; None when the world answers."""
        ...

    def connections(self) -> Sequence[str]:
        """Return the keys of the connections that this execution must make, in the order of the record."""
        ...

    def turns(self) -> Turns:
        """Return the order in which replies arrived."""
        ...

    def claim(self, op: Op, arguments: object, value: object) -> None:
        """Compare an action of the run with the recorded one."""
        ...

    def recorded(self, op: Op, arguments: object) -> tuple[bool, Any]:
        """Return whether a record answers this, and the first answer, without serving it."""
        ...

    def position(self) -> int:
        """Return how many strict reads were served from a record so far."""
        ...

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Continue after that many strict reads, and that many lenient ones of each operation."""
        ...

    def went_live(self) -> int | None:
        """Return the position of the first read that left the record, or None."""
        ...
