"""Faults to plant in one's own system, so that a suite is seen to fail.

Each is planted in the second of two executions only, at a named tick, in a named component or stream,
and is a context manager: what is tested inside it runs with the fault.

    with faults.one_ulp("swarm", "position", tick=3):
        properties.replay_equivalence("examples/swarm.py:main", config=...)  # must fail

Invariant: a fault is plain data; the system's own code is never changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, Self, get_args

from twice.errors import FaultMisplaced, UsageError

Kind = Literal[
    "set order",
    "extra draw",
    "one ulp",
    "permuted rows",
    "dropped field",
    "stale value",
    "wall clock",
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_planted: list[Fault] = []


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault and where it stands; a context manager.

    Attributes:
        kind: what goes wrong.
        component: name of a tracked object; empty for an extra draw.
        field: place in its state, keys joined by ``/``; empty for the whole of it.
        stream: name of a stream, for an extra draw.
        tick: the first tick at which it goes wrong, from 0.
    """

    kind: Kind
    component: str = ""
    field: str = ""
    stream: str = ""
    tick: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.tick < 0:
            raise FaultMisplaced(
                f"There is no fault {self.kind!r} at tick {self.tick}.",
                f"Expected one of {', '.join(KINDS)}, at tick 0 or later.",
                'For example: faults.one_ulp("swarm", "position", tick=3)',
            )

    def __str__(self) -> str:
        place = f"stream {self.stream}" if self.stream else f"{self.component}.{self.field}"
        return f"{self.kind} in {place.rstrip('.')} from tick {self.tick}"

    def __enter__(self) -> Self:
        if _planted:
            raise UsageError(
                f"A fault is planted already: {_planted[-1]}.",
                "Expected one at a time, so that it is clear which was seen.",
                "Leave the other with-block first.",
            )
        _planted.append(self)
        return self

    def __exit__(self, *raised: object) -> None:
        _planted.clear()


def active() -> Fault | None:
    """Return the fault that is planted now, or None."""
    return _planted[-1] if _planted else None


def set_order(component: str, field: str = "", *, tick: int = 0) -> Fault:
    """Reorder a field's rows by the order of a set of strings, as code that iterates one does."""
    return Fault("set order", component, field, tick=tick)


def extra_draw(stream: str, *, tick: int = 0) -> Fault:
    """Draw once more from a stream, as code behind a hidden flag does."""
    return Fault("extra draw", stream=stream, tick=tick)


def one_ulp(component: str, field: str = "", *, tick: int = 0) -> Fault:
    """Move one floating-point number to its neighbour, as another order of a sum does."""
    return Fault("one ulp", component, field, tick=tick)


def permuted_rows(component: str, field: str = "", *, tick: int = 0) -> Fault:
    """Swap two rows that differ, as workers that finish in another order do."""
    return Fault("permuted rows", component, field, tick=tick)


def dropped_field(component: str, field: str = "", *, tick: int = 0) -> Fault:
    """Let snapshots from a tick on forget a field: restoring leaves it as the run began."""
    return Fault("dropped field", component, field, tick=tick)


def stale_value(component: str, field: str = "", *, tick: int = 0) -> Fault:
    """Keep a field at the value that it had before the tick, as a cache that is not refreshed does."""
    return Fault("stale value", component, field, tick=tick)


def wall_clock(component: str, field: str = "", *, tick: int = 0) -> Fault:
    """Let the wall clock into a field, past everything that records it."""
    return Fault("wall clock", component, field, tick=tick)
