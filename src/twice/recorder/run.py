"""What a program sees of its run, and the session that governs this process for code without a ``run`` at hand.

A program is a function of a ``Run``: everything it needs from outside (configuration, random streams, inputs, the
clock) and everything it declares (components, ticks, compare-points) goes through this one object. It is the same
object in every mode: nothing here tells the program whether it is being recorded or replayed.

Invariant: a ``Run`` holds no state of its own; the session does. At most one session governs a process.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from numbers import Real
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from twice.errors import SessionMisuse, TickMisuse, UsageError
from twice.foundation.comparison import Tolerance
from twice.foundation.encoding import encode
from twice.foundation.seeds import Seed
from twice.recorder.cadence import RateGuard, Ticks
from twice.recorder.components import component_of
from twice.recorder.config import Config
from twice.recorder.effects.clock import Clock
from twice.recorder.effects.effects_api import (
    Files,
    Net,
    Processes,
    Stdin,
    Variables,
    governed_call,
)
from twice.recorder.effects.entropy import Entropy
from twice.recorder.record_form import INPUT, ROLLBACK, SUMMARY
from twice.recorder.session import Session
from twice.recorder.streams import Streams

if TYPE_CHECKING:
    import numpy as np

P = ParamSpec("P")
T = TypeVar("T")
_governing: list[Session] = []


class Effects:
    """``run.effects``: what is read from the world, asked for by name.

    ``clock`` is the governed clock, ``entropy`` gives recorded bytes of the system, ``env`` environment variables,
    ``fs`` whole files, ``net`` whole requests, ``process`` whole processes, and ``stdin`` what is typed or piped in.
    """

    def __init__(self, session: Session) -> None:
        layer, policy = session.wiring.layer, session.clock
        self._layer = layer
        self.clock = Clock(layer, policy, lambda: session.tick)
        self.entropy = Entropy(layer)
        self.env, self.fs, self.net = Variables(layer), Files(layer), Net(layer)
        self.process, self.stdin = Processes(layer), Stdin(layer)

    def call(self, name: str, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """Call a function as an effect: recorded now, served from the record in replay.

        Args:
            name: what reports call it.
            function: any callable; not called in replay.
            *args: arguments with a canonical form; compared in replay.
            **kwargs: the same, by name.

        Raises:
            EffectRefused: E-EFFECT-002, when an argument or the result has no canonical form.
            EffectMismatch: E-EFFECT-001, in replay, for another call.
        """
        result: T = governed_call(self._layer, name, function, *args, **kwargs)
        return result


class Run:
    """One run, as its program sees it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.effects = Effects(session)

    @property
    def config(self) -> Config:
        """Configuration, read-only. An absent key is E-CONFIG-002."""
        return self._session.config

    @property
    def seed(self) -> Seed:
        """The master seed: a value without arithmetic; derive by name with streams."""
        return self._session.setup.seed

    @property
    def streams(self) -> Streams:
        """Named random streams: ``.numpy``, ``.python``, ``.torch``, ``.jax``, ``.adopt``."""
        return self._session.wiring.streams

    def rng(self, name: str) -> np.random.Generator:
        """Return a numpy ``Generator`` of its own for one named component.

        Its numbers depend on the master seed and the name alone. Its position is in every snapshot.

        Args:
            name: a path such as ``env/3/reset``; segments of 1 to 255 bytes in UTF-8.

        Raises:
            StreamTaken: E-RNG-001, when the name is taken already.
            SeedNameRefused: E-SEED-002, when the name is empty or malformed.
        """
        return self.streams.numpy(name)

    def python(self, name: str) -> random.Random:
        """Return a ``random.Random`` of its own for one named component; otherwise like ``rng``."""
        return self.streams.python(name)

    def track(
        self,
        name: str,
        target: T,
        *,
        fields: Sequence[str] | None = None,
        equivalence: Tolerance | None = None,
        incremental: bool = False,
    ) -> T:
        """Track an object as a component, and return it: its state is compared at every compare-point from here on.

        Args:
            name: unique within the run.
            target: an object with ``state()`` and ``restore(state)``, a dataclass instance, a mutable value, or
                anything together with ``fields``.
            fields: attributes that are its state.
            equivalence: a tolerance (``Abs``, ``Rel``, ``Ulp``, ``Quantum``) instead of equality byte for byte; its
                values are then kept at every point.
            incremental: the object's ``changed()`` names the top-level keys that changed.

        Raises:
            ComponentRefused: E-TRACK-001, when its state cannot be read.
            ComponentTaken: E-TRACK-002, when the name is in use.
        """
        session = self._session
        component = component_of(name, target, fields=fields, incremental=incremental)
        session.raise_pending()
        if equivalence is not None:
            session.tolerances[name] = equivalence
        session.points.add(component)
        return target

    def ticks(self, count: int | None = None, *, rate_hz: float | None = None) -> Ticks:
        """Start a loop over ticks: where the run can be paused, snapshotted, restored and branched.

        Args:
            count: how many ticks; None goes on until the loop is left.
            rate_hz: ticks per second that snapshots must leave room for (E-SNAPSHOT-001).

        Raises:
            TickMisuse: E-TICK-001, when started inside an open tick, or when ``count`` is no count.
            StreamShared: E-RNG-002, when two components hold one stream; see ``streams.share``.
        """
        if not isinstance(count, Real | None):
            raise TickMisuse(
                f"run.ticks({count!r:.60}) was given a {type(count).__name__}.",
                "Expected how many ticks, a number, or None for no end.",
                "For example: run.ticks(500); a configured one as --set ticks=500.",
            )
        session = self._session
        components = session.points.components
        self.streams.require_one_owner({name: each.target for name, each in components.items()})
        session.raise_pending()
        if rate_hz is not None:
            session.rate = RateGuard(rate_hz, session.setup.cadence)
        return Ticks(session, count)

    def phase(self, name: str) -> None:
        """Take a finer compare-point inside the open tick."""
        self._session.require_open_tick(f"run.phase({name!r})")
        self._session.take(name)

    def input(self, name: str, thunk: Callable[[], T]) -> T:
        """Take a decision from outside the simulation: recorded, and open to substitution by a branch.

        The thunk runs in every mode. Its value must have a canonical form.
        """
        if not callable(thunk):
            raise UsageError(
                f"run.input({name!r}, ...) was given a {type(thunk).__name__}, not a function.",
                "Expected a function without arguments, which is asked for the value.",
                f'Write: run.input("{name}", lambda: {thunk!r:.60})',
            )
        session = self._session
        session.raise_pending()
        inputs = session.wiring.inputs
        # In a loop that is passed over on the way to a snapshot, state is as it was constructed.
        is_passed_over = session.muted and session.loop_number >= 0
        decide = inputs.serve if is_passed_over else inputs.settle
        event = decide(session.tick, name, thunk())
        payload = event.payload()
        chained = session.inputs_position + encode((name, event.value))
        session.inputs_position = session.points.short(chained)
        session.inputs_last[name] = event.value
        session.inputs_count += 1
        session.decided = True
        session.frame(INPUT, payload)
        if session.setup.granularity == "decision":
            session.take(f"input:{name}")
        value: T = event.value
        return value

    def compare(self, name: str, value: object, *, within: Tolerance | None = None) -> None:
        """Take an explicit compare-point over a value: a decision, as the logical class sees it.

        Args:
            name: what reports call it.
            value: plain values or arrays.
            within: a tolerance against the record; the value is then kept.
        """
        session = self._session
        session.raise_pending()
        session.decided = True
        if session.muted or not session.wiring.in_force.points:
            return
        session.wiring.control.at_value(value)
        within = within or session.setup.predicate.tolerance_of(name)
        if within is not None:
            session.compared_within[name] = within
            payload = encode((name, within.to_json(), value))
            session.wiring.sink.value(name, payload, session.tick)
        # A value with a tolerance is compared as a value: its digest is evidence alone.
        point = session.points.take_value(session.tick, name, value, judged=within is None)
        session.hand_on(point)

    def summary(self, name: str, value: float) -> None:
        """Report a named number that the statistical class compares over many runs.

        Called more than once, the last value counts; a run that ends by an exception has none.

        Args:
            name: as ``--summary`` names it.
            value: a real number, of Python or numpy, or an array of one number without dimensions; a bool is 0 or 1.

        Raises:
            UsageError: E-USE-001, when it is anything else: text, an array, or an int that no float holds.
        """
        session = self._session
        session.raise_pending()
        number = _read_number(name, value)
        session.results.summaries.append((name, number))
        session.frame(SUMMARY, encode((name, number)))

    def episode(self, name: str = "episode") -> None:
        """Mark the end of an episode, for granularity and cadence by episode."""
        session = self._session
        session.raise_pending()
        session.episode_ended = True
        if session.setup.granularity == "episode":
            session.take(f"episode:{name}")

    def fault(self, name: str) -> bool:
        """Return whether a fault is to happen here: in a search, as ``twice.schedules.fault``; never in any other run."""
        if self._session.schedule is None:
            return False
        from twice.simulation.properties import fault  # loads asyncio

        return fault(name)

    def caveat(self, text: str) -> None:
        """Add a caveat for readers of this run's verdict to the record's ending."""
        if text not in self._session.caveats:
            self._session.caveats.append(text)

    def flush(self) -> None:
        """Make everything recorded so far outlive this process, whatever ends it.

        A record is written in blocks; a killed process loses the one in flight. A service calls this before it answers.
        It costs a write, and in replay nothing.

        Raises:
            OutputUnwritable: E-OUTPUT-002, when the disk is full or fails.
        """
        self._session.wiring.layer.flush()
        self._session.wiring.sink.flush()

    def rollback(self, to: int) -> None:
        """Revert to the state before a kept tick; the next tick is that tick again.

        State and streams return. What was read from the world and printed meanwhile stays read and printed; the
        abandoned span stays in the record and says so.

        Raises:
            TickMisuse: E-TICK-001, outside of a tick.
            RollbackRefused: E-TICK-002, when that tick is not kept.
        """
        session = self._session
        session.require_open_tick(f"run.rollback({to})")
        session.put_back(session.kept.rewind(to, session.tick))
        session.frame(ROLLBACK, encode((session.tick, to)))
        session.rolled_back_to = to
        session.take("rollback")


def _read_number(name: str, value: object) -> float:
    read: Any = value
    if getattr(value, "shape", None) == ():
        read = read.item()  # of numpy, torch or JAX
    if isinstance(read, Real):
        with suppress(OverflowError):
            return float(read)
    raise UsageError(
        f"run.summary({name!r}, ...) was given {value!r:.60}, of type {type(value).__name__}.",
        "Expected one real number, because samples are compared by their numbers.",
        f'For example: run.summary("{name}", float(value)), or the mean of an array.',
    )


def require_no_session() -> None:
    """Refuse to begin a run where another one is under way: E-REPLAY-002."""
    if _governing:
        raise SessionMisuse(
            "A run is being recorded in this process already.",
            "Expected one run at a time in one process.",
            "End the first: leave its with-block.",
        )


def enter_session(session: Session) -> None:
    """Let a session govern this process; E-REPLAY-002 when another one does."""
    require_no_session()
    _governing.append(session)


def leave_session(session: Session) -> None:
    """End a session's government."""
    if session in _governing:
        _governing.remove(session)


def current_session() -> Session | None:
    """Return the session that governs this process, or None."""
    return _governing[0] if _governing else None


def effect(function: Callable[P, T]) -> Callable[P, T]:
    """Declare a function to be an effect: a model call, a C library, a device.

    Inside a run its result is recorded and, in replay, served without calling it. Outside of a run it is the plain
    function. Its arguments and its result must have a canonical form.

    Raises:
        EffectRefused: E-EFFECT-002, from the call, when they have none.
        EffectMismatch: E-EFFECT-001, from the call, in replay, when it differs from the record.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @functools.wraps(function)
    def call_governed(*args: P.args, **kwargs: P.kwargs) -> T:
        # Asked at each call: the decorator runs while modules are imported, before any session.
        current = current_session()
        if current is None:
            return function(*args, **kwargs)
        result: Any = governed_call(current.wiring.layer, name, function, *args, **kwargs)
        return result  # type: ignore[no-any-return]

    return call_governed
