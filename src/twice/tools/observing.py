"""What a session tells whoever writes it down: calls, their parts, and how each ended.

The observer sees what the host does not: the stack trace of a failure, the draws of a step.

Invariant: every ``began`` is followed by one ``ended``, parts inside of their wholes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from twice.tools.seeding import Seeded

PHASES = ("validate", "capability", "plan", "execute", "verify", "return")


@dataclass
class Note:
    """One call, or one part of one.

    Attributes:
        number: of the call in the session, from 0; parts have that of the whole.
        path: steps from the whole to this part; empty for the whole.
        tool: name, as it was asked for.
        arguments: as they were given.
        fingerprint: of the tool, once it is found.
        seeded: its seed, once it is known.
        phases: those that were begun, in order.
        draws: the steps for which it took a generator or a seed, in order.
        envelope: the outcome, once it is over.
        trace: the whole of an error, for the record alone; empty when there was none.
    """

    number: int
    path: tuple[str, ...]
    tool: str
    arguments: Mapping[str, Any]
    fingerprint: str = ""
    seeded: Seeded | None = None
    phases: list[str] = field(default_factory=list)
    draws: list[str] = field(default_factory=list)
    envelope: dict[str, Any] | None = None
    trace: str = ""


class Observer(Protocol):
    """Told of every call, on the thread that makes it."""

    def began(self, note: Note) -> None:
        """Observe the beginning of a call or a part of one, before any check."""

    def ended(self, note: Note) -> None:
        """Observe its end, with the state that it left."""


class Unobserved:
    """Nobody writes the session down."""

    def began(self, note: Note) -> None:
        """Do nothing."""

    def ended(self, note: Note) -> None:
        """Do nothing."""
