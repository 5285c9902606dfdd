"""Faults of a simulated loop: which happen, and when, as a search chooses them or as an order keeps them.

A point is a place at which the program asks whether something fails (``twice.schedules.fault``). All other faults come
from outside, after a step: a host crashes and begins again, connections break, an address is cut off for a while, the
network becomes slow. Each point is in force in half of the schedules, and strikes there each fourth time, so that some
schedules have few faults and others many (the swarm of FoundationDB's simulation).

A fault that happened has a key that survives edits elsewhere: what it was, and the step after which it came, or the actor
that asked and how often it had: ``crash db 1@main/db/serve#3``, ``disk-full@main/db/serve?2``.

Invariant: which faults happen follows from the choice and from the loop's steps alone.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, Self

from twice.errors import ScheduleRefused
from twice.foundation.seeds import Seed, derive
from twice.simulation.hosts import crash_host
from twice.simulation.waits import SourceLine

if TYPE_CHECKING:
    from twice.simulation.loop import SimulatedLoop

POINTS: Final = "points"
KINDS: Final = (POINTS, "crash", "drop", "partition", "latency")
DECLARED: Final = (POINTS, "crash")
"""What needs a word of the program: a search lets these happen unless it is told otherwise."""
_EVENTS_MAX = 3
_LINES_MAX = 3
_LASTS_S = (0.1, 1, 10, 60)
"""For how long a host is down, an address cut off, a chunk under way."""
_IN_FORCE, _STRIKES = 0.5, 0.25


class StruckFault(NamedTuple):
    """A fault that happened.

    Attributes:
        key: what it was and when, as an order keeps it.
        place: the program's line that asked, or at which the step before it began; None for none.
        under_way: lines at which the tasks of a host that crashed waited.
    """

    key: str
    place: SourceLine | None
    under_way: Sequence[SourceLine] = ()

    @property
    def what(self) -> str:
        """The name of the point, or the event: ``disk-full``, ``crash db 1``."""
        return self.key.rpartition("@")[0]

    @property
    def actor(self) -> str:
        """Who asked, or made the step before it."""
        return self.key.rpartition("@")[2].partition("?")[0].partition("#")[0].partition("!")[0]

    def __str__(self) -> str:
        who = self.actor.rpartition("/")[2].partition(":")[0] or "the program"
        where = f"{who}() {self.place}" if self.place else f"{who}()"
        if "?" in self.key.rpartition("@")[2]:
            if self.place:  # of the function that asked, which the actor may have called
                where = f"{self.place.function.rpartition('.')[2]}() {self.place}"
            return f"the fault {self.what!r} struck in {where}"
        kind, _, rest = self.what.partition(" ")
        target, _, amount = rest.rpartition(" ")
        lines = list(
            dict.fromkeys(f"{each.function.rpartition('.')[2]}() {each}" for each in self.under_way)
        )
        waiting = f", while {' and '.join(lines[:_LINES_MAX])} waited" if lines else ""
        return {
            "crash": f"the host {target!r} crashed after a step of {where}, for {amount} s{waiting}",
            "partition": f"{target} was cut off after a step of {where}, for {amount} s",
            "drop": f"the connections of {rest} broke after a step of {where}",
            "latency": f"chunks took up to {amount} s after a step of {where}",
        }[kind]

    def to_json(self) -> dict[str, object]:
        """Return it as a report shows it."""
        place = self.place
        return {
            "fault": self.what,
            "actor": self.actor,
            "file": None if place is None else place.file,
            "line": None if place is None else place.line,
            "under_way": [each._asdict() for each in self.under_way],
        }

    def pack(self) -> tuple[object, ...]:
        """Return plain values, for another process."""
        return self.key, self.place and tuple(self.place), [tuple(each) for each in self.under_way]

    @classmethod
    def unpack(cls, packed: Any) -> Self:
        """Build it from the values of ``pack``."""
        key, place, under_way = packed
        lines = tuple(SourceLine(*each) for each in under_way)
        return cls(key, place and SourceLine(*place), lines)


class FaultChoice(Protocol):
    """Says which faults happen."""

    def strikes(self, name: str, key: str) -> bool:
        """Return whether a point of the program strikes now; ``key`` is its own where steps have keys."""

    def list_events(self, loop: SimulatedLoop, step: str) -> Sequence[str]:
        """Return what happens after a step that was made just now; ``step`` is its key where steps have keys."""


class RandomFaults:
    """Chooses by chance.

    Args:
        seed: of the run.
        number: of the schedule.
        steps: how many steps the program has, about.
        kinds: those of ``KINDS`` that may happen.
    """

    def __init__(self, seed: Seed, number: int, steps: int, kinds: Collection[str]) -> None:
        base = derive(seed, "faults")
        self._points = random.Random(derive(base, f"points/{number}").value)  # noqa: S311
        self._random = random.Random(derive(base, f"events/{number}").value)  # noqa: S311
        self._has_points = POINTS in kinds
        self._in_force: dict[str, bool] = {}
        self._kinds = [kind for kind in KINDS if kind in kinds and kind != POINTS]
        count = self._random.randint(0, _EVENTS_MAX) if self._kinds else 0
        self._at = sorted(
            (self._random.randint(1, max(steps, 1)) for _ in range(count)), reverse=True
        )

    def strikes(self, name: str, key: str) -> bool:
        """Return whether a point of the program strikes now."""
        del key
        if not self._has_points:
            return False
        if name not in self._in_force:
            self._in_force[name] = self._points.random() < _IN_FORCE
        return self._in_force[name] and self._points.random() < _STRIKES

    def list_events(self, loop: SimulatedLoop, step: str) -> list[str]:
        """Return the events that are due, if there is anything that they can happen to."""
        del step
        found = []
        while self._at and self._at[-1] <= loop.steps:
            self._at.pop()
            event = self._make_event(loop)
            found += [event] if event else []
        return found

    def _make_event(self, loop: SimulatedLoop) -> str:
        kind, lasts_s = self._random.choice(self._kinds), self._random.choice(_LASTS_S)
        if kind == "latency":
            return f"{kind} {lasts_s}"
        if kind == "crash":
            targets = [name for name, life in loop.hosts.items() if not life.is_over]
        else:
            targets = loop.network.list_addresses()
        if not targets:
            return ""
        target = self._random.choice(targets)
        return f"{kind} {target}" if kind == "drop" else f"{kind} {target} {lasts_s}"


class FollowedFaults:
    """Chooses those of an order, by their keys."""

    def __init__(self, keys: Collection[str]) -> None:
        self.keys = sorted(keys)
        self._events: dict[str, list[str]] = {}
        for key in self.keys:
            event, _, step = key.rpartition("@")
            self._events.setdefault(step, []).append(event)

    def strikes(self, name: str, key: str) -> bool:
        """Return whether the order has this key."""
        del name
        return key in self.keys

    def list_events(self, loop: SimulatedLoop, step: str) -> Sequence[str]:
        """Return the events that the order has after this step."""
        del loop
        return self._events.get(step, ())


def follow(keys: Collection[str]) -> FollowedFaults | None:
    """Return the choice of an order's faults; None for none."""
    return FollowedFaults(keys) if keys else None


def make_event_happen(loop: SimulatedLoop, event: str) -> None:
    """Let a fault from outside happen now; what is not there any more is left alone."""
    kind, _, rest = event.partition(" ")
    target, _, amount = rest.rpartition(" ")
    match kind:
        case "crash":
            crash_host(loop, target, float(amount))
        case "partition":
            loop.network.cut_for(target, float(amount))
        case "drop":
            loop.network.drop_address(rest)
        case _:
            loop.network.latency_s = (0.0, float(rest))


def parse_kinds(text: str) -> tuple[str, ...]:
    """Read kinds of faults, ``all`` or ``none``; E-SCHEDULE-004 for anything else."""
    names = {"all": list(KINDS), "none": []}.get(text, text.split(","))
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        raise ScheduleRefused(
            f"{unknown[0]!r} is no kind of fault.",
            f"Expected some of {', '.join(KINDS)} with commas between them, or all, or none.",
            f"For example: --faults {','.join(DECLARED)}",
        )
    return tuple(kind for kind in KINDS if kind in names)
