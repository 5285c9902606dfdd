"""The loop over ticks, and how often compare-points and snapshots are taken in it.

Points: after every tick (the default), at decisions only, at snapshots only, or at episode ends; ``start`` and ``end``
are always taken. Snapshots: before every Nth tick, before the tick that follows a decision or an episode's end, or
never. A snapshot always stands before the first tick unless there are none.

Invariant: where points and snapshots stand depends on the run alone, never on the clock. As many ticks are closed as
were entered.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, cast, get_args

from twice.errors import ClassRefused, SnapshotCadence
from twice.foundation.dataclass import dataclass

if TYPE_CHECKING:
    from twice.recorder.session import Session

Granularity = Literal["tick", "decision", "snapshot", "episode"]
Strategy = Literal["full", "delta", "event-sourced", "hybrid"]
Unit = Literal["tick", "decision", "episode", "none"]
DEFAULT_EVERY = 100
_MEASURED_AFTER = 8


@dataclass(frozen=True)
class Cadence:
    """When snapshots are taken: by ``unit``, and every so many ticks (at least 1) where that is the tick."""

    unit: Unit = "tick"
    every: int = DEFAULT_EVERY

    def __str__(self) -> str:
        if self.unit != "tick":
            return self.unit
        return "tick" if self.every == 1 else f"every={self.every}"

    def due(self, tick: int, *, first: bool, decided: bool, episode_ended: bool) -> bool:
        """Return whether a snapshot is due before this tick."""
        if first or self.unit == "none":
            return self.unit != "none"
        if self.unit == "tick":
            return tick % self.every == 0
        return decided if self.unit == "decision" else episode_ended


def default_cadence(granularity: Granularity) -> Cadence:
    """Return the default cadence of snapshots: no more often than compare-points."""
    if granularity in {"decision", "episode"}:
        return Cadence(cast("Unit", granularity))
    return Cadence()


def require_dense(granularity: Granularity, cadence: Cadence) -> None:
    """Refuse compare-points that are sparser than snapshots: a state that nobody compared would be put back.

    Raises:
        SnapshotCadence: E-SNAPSHOT-001.
    """
    # An episode ends with a decision or without one, so neither of the two may stand for the other.
    if granularity in {"tick", "snapshot"} or cadence.unit in {granularity, "none"}:
        return
    raise SnapshotCadence(
        f"Compare-points per {granularity} are sparser than snapshots per "
        f"{'tick' if cadence.every == 1 else cadence}.",
        "Expected a compare-point for every snapshot, so that what is put back was compared.",
        f"Compare ticks (--compare tick), or take fewer snapshots (--snapshots {granularity}, or none).",
    )


def parse_cadence(text: str) -> Cadence:
    """Read ``every=N``, ``tick``, ``decision``, ``episode`` or ``none``; anything else is E-CLASS-001."""
    if text in get_args(Unit):
        return Cadence(cast("Unit", text), 1 if text == "tick" else DEFAULT_EVERY)
    word, _, number = text.partition("=")
    # A tick has 62 bits, and Python reads no number of some thousand digits.
    if word == "every" and number.isdecimal() and len(number) < 19 and int(number) > 0:
        return Cadence("tick", int(number))
    raise ClassRefused(
        f"{text[:80]!r} is not a snapshot cadence.",
        "Expected every=N, tick, decision, episode or none.",
        "For example: --snapshots every=100",
    )


def parse_granularity(text: str) -> Granularity:
    """Read ``tick``, ``decision``, ``snapshot`` or ``episode``; anything else is E-CLASS-001."""
    return cast("Granularity", _parse_word(text, Granularity, "a granularity", "--compare"))


def parse_strategy(text: str) -> Strategy:
    """Read ``full``, ``delta``, ``event-sourced`` or ``hybrid``; anything else is E-CLASS-001."""
    return cast("Strategy", _parse_word(text, Strategy, "a snapshot strategy", "--strategy"))


def _parse_word(text: str, words: object, noun: str, option: str) -> str:
    offered: tuple[str, ...] = get_args(words)
    if text in offered:
        return text
    raise ClassRefused(
        f"{text!r} is not {noun}.",
        f"Expected {', '.join(offered[:-1])} or {offered[-1]}.",
        f"For example: {option} {offered[0]}",
    )


class RateGuard:
    """Holds a declared tick rate in hertz against the time that snapshots take; none is ever dropped silently."""

    def __init__(self, rate_hz: float, cadence: Cadence) -> None:
        self._rate_hz, self._cadence = rate_hz, cadence
        self._spent_s: list[float] = []

    def spent(self, seconds: float) -> None:
        """Account for one snapshot.

        Raises:
            SnapshotCadence: E-SNAPSHOT-001, when the median of the first eight snapshots, spread over the ticks between
                them, takes longer than a tick may.
        """
        # Decided by the first ones: a long run keeps no list of all.
        if len(self._spent_s) == _MEASURED_AFTER:
            return
        self._spent_s.append(seconds)
        if len(self._spent_s) < _MEASURED_AFTER:
            return
        budget_s = 1.0 / self._rate_hz
        median_s = sorted(self._spent_s)[_MEASURED_AFTER // 2]
        ticks = self._cadence.every if self._cadence.unit == "tick" else 1
        if median_s / ticks <= budget_s:
            return
        need = max(2, round(median_s / budget_s) + 1)
        raise SnapshotCadence(
            f"A snapshot takes {median_s * 1e3:.1f} ms; at {self._rate_hz:g} ticks a second and the "
            f"cadence {self._cadence}, a tick may take {budget_s * 1e3:.1f} ms.",
            "Expected snapshots that the declared tick rate can carry; none is dropped silently.",
            f"Take fewer (--snapshots every={need}), take them per decision (--snapshots decision), "
            "store only what changed (--strategy delta), or localise more coarsely "
            "(--snapshots episode, or none).",
            snapshot_s=median_s,
            rate_hz=self._rate_hz,
        )


class TickLoop(Iterator[int]):
    """One loop over ticks: so many, or None for no end; ``first`` is None before it begins.

    It is an object and no generator: leaving it by ``break``, ``return`` or an exception drops it, and dropping it
    closes the open tick, so that no compare-point is lost.
    """

    __slots__ = ("__weakref__", "_session", "closed", "count", "first")

    def __init__(self, session: Session, count: int | None) -> None:
        self._session, self.count = session, count
        self.first: int | None = None
        self.closed = False

    def __iter__(self) -> TickLoop:
        return self

    def __next__(self) -> int:
        tick = self._session.next_tick(self)
        if tick is None:
            raise StopIteration
        return tick

    def __del__(self) -> None:
        if self.first is not None and not self.closed:
            self._session.leave(self)


class Ticks:
    """What ``run.ticks(n)`` returns: iterate over it, once.

    Holding on to this object does not keep its loop open: a ``for`` statement owns the loop.
    """

    __slots__ = ("_count", "_loop", "_session")

    def __init__(self, session: Session, count: int | None) -> None:
        self._session, self._count = session, count
        self._loop: TickLoop | None = None

    def __iter__(self) -> TickLoop:
        return TickLoop(self._session, self._count)

    def __next__(self) -> int:
        self._loop = self._loop or iter(self)
        return next(self._loop)
