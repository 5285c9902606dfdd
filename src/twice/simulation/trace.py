"""The steps of a schedule by keys that survive edits, and orders between them.

An actor is a task; its key is its parent's key, the name of its coroutine and a number if the parent has started
several of the name (``main/deposit``, ``main/deposit:1``). A step's key is its actor's and a count: ``main/deposit#3``
is the third part of that task, ``main/deposit!deliver#0`` a callback that it has scheduled. No key depends on another
actor, so that tasks, lines and waits that are added elsewhere change none. A step of a task has a second key, by the
expression that it waits for and how often it has: ``main/deposit@deposit: asyncio sleep 1#0``. It survives waits that
are added to the task itself. Constraints may have either one.

A constraint says that one step runs after another one. Constraints make a schedule without saying where in a row of
picks they apply.

Invariant: two executions with equal digests made the same steps, at the same times, out of the same ready ones.
"""

from __future__ import annotations

from asyncio import events
from bisect import insort
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from operator import attrgetter
from typing import Any, NamedTuple
from zlib import crc32

from twice.foundation.digests import Algorithm, new_hasher
from twice.foundation.seeds import Seed
from twice.simulation.faults import (
    FaultChoice,
    FollowedFaults,
    StruckFault,
    follow,
    make_event_happen,
)
from twice.simulation.hosts import find_tasks, is_gone
from twice.simulation.identity import SimulatedTask
from twice.simulation.loop import SimulatedLoop
from twice.simulation.order import Order
from twice.simulation.strategies import Fifo, Strategy, make_strategy
from twice.simulation.waits import (
    SourceLine,
    find_asking_line,
    find_place,
    list_places,
    name_wait,
    noting_deeds,
)

_DIGEST_BYTES = 16
_HELD_STEPS_MAX = 100_000
"""After so many steps, a step that never came is waited for no more: a heartbeat would go on for ever."""


class TracedActor:
    """What takes steps: the program, or a task, by its lineage."""

    __slots__ = ("counts", "key")

    def __init__(self, key: str) -> None:
        self.key = key
        self.counts: dict[str, int] = {}

    def count(self, what: str) -> int:
        """Return how often this was counted before."""
        number = self.counts.get(what, 0)
        self.counts[what] = number + 1
        return number

    def start(self, name: str) -> TracedActor:
        """Make the actor of a task that this one starts."""
        number = self.count("/" + name)
        key = f"{self.key}/{name}" if self.key else name
        return TracedActor(f"{key}:{number}" if number else key)


class TracedStep(NamedTuple):
    """A step that was made.

    Attributes:
        key: its own.
        place_key: the one by its place in the source, if it has one; else its key.
        arrival: which number of all steps it was in becoming ready.
        time_ns: the virtual time.
        place: where it begins in the program's source; None where none of that runs.
    """

    key: str
    place_key: str
    arrival: int
    time_ns: int
    place: SourceLine | None


class _TracedHandle(events.Handle):
    __slots__ = ("actor", "arrival", "key", "name", "place_key")
    key: str
    name: str  # by which constraints name it: one of the two keys
    place_key: str
    actor: TracedActor
    arrival: int


class _TracedTimer(events.TimerHandle):
    __slots__ = ("actor", "arrival", "key", "name", "place_key")
    key: str
    name: str  # by which constraints name it: one of the two keys
    place_key: str
    actor: TracedActor
    arrival: int


class Schedule:
    """What one execution does with its order: the strategy or the constraints, and the steps so far.

    Shared by all loops that the program makes, one after the other.

    Args:
        strategy: picks among the ready steps that no constraint holds back.
        after: of each step's key, the key of the step that must have run before.
        keeps_steps: whether each step is kept, with its place in the source.
        faults: says which faults happen; None for none.
    """

    def __init__(
        self,
        strategy: Strategy | None = None,
        after: Mapping[str, str] | None = None,
        *,
        keeps_steps: bool = False,
        faults: FaultChoice | None = None,
    ) -> None:
        self.strategy = Fifo() if strategy is None else strategy
        self.faults = faults
        self.struck: list[StruckFault] = []
        self.after = dict(after or {})
        self.keeps_steps = keeps_steps
        self.steps: list[TracedStep] = []
        self.made: set[str] = set()
        self.unmet: list[str] = []
        self.unheard: list[Exception] = []
        self.reached: dict[str, bool] = {}
        self.tasks: dict[str, int] = {}
        """By lineages as a record names them (``main/task/task``), how many tasks were started."""
        self.root = TracedActor("")
        self.now_ns = 0
        self.count = 0
        self._hasher = new_hasher(Algorithm.BLAKE3)
        self.named = frozenset([*self.after, *self.after.values()])
        self.actors_by_place = frozenset(key.partition("@")[0] for key in self.named if "@" in key)

    @classmethod
    def make(cls, order: Order, seed: Seed, *, keeps_steps: bool = False) -> Schedule:
        """Make the schedule that an order has under the seed of its run."""
        return cls(
            make_strategy(order.strategy, seed, order.number, order.steps),
            order.after,
            keeps_steps=keeps_steps,
            faults=follow(order.faults),
        )

    def digest(self) -> bytes:
        """Return the digest of all steps so far: keys, times, and what else was ready; 16 bytes."""
        return self._hasher.digest()[:_DIGEST_BYTES]

    def note(self, handle: _TracedHandle | _TracedTimer, time_ns: int, ready: int) -> None:
        """Note a step that is about to be made, out of ready ones with a sum of digests."""
        self._hasher.update(f"{handle.key}@{time_ns}|{ready:x};".encode())
        self.count += 1
        if handle.name in self.named:
            self.made.add(handle.name)
        if self.keeps_steps:
            place = find_place(handle)
            self.steps.append(
                TracedStep(handle.key, handle.place_key, handle.arrival, time_ns, place)
            )

    def note_fault(self, fault: StruckFault) -> None:
        """Note a fault that happens now."""
        self._hasher.update(f"{fault.key}!;".encode())
        self.struck.append(fault)

    def list_unmet(self) -> list[str]:
        """Return the constraints whose steps were not both made, one before the other, as ``a before b``, and faults without a place."""
        struck = {each.key for each in self.struck}
        return [
            f"{earlier} before {later}"
            for later, earlier in self.after.items()
            if later in self.unmet or earlier not in self.made or later not in self.made
        ] + [
            f"the fault {key}"
            for key in (self.faults.keys if isinstance(self.faults, FollowedFaults) else ())
            if key not in struck
        ]

    def is_held_back(self, key: str) -> bool:
        """Return whether a step must wait for one that was not made yet."""
        earlier = self.after.get(key)
        return earlier is not None and earlier not in self.made


class TracingLoop(SimulatedLoop):
    """A simulated loop whose steps have keys; it follows a schedule and notes it down."""

    def __init__(self, schedule: Schedule) -> None:
        self._actor = schedule.root
        super().__init__(schedule.strategy, schedule.faults)
        self.schedule = schedule
        self.now_ns, self.reached = schedule.now_ns, schedule.reached
        self._arrivals = self._ready_sum = 0
        # Steps that are due, by the step that must run before.
        self._held: dict[str, list[Any]] = {}
        self._held_since = 0

    def run_forever(self) -> None:
        """Run until ``stop()``; locks know their holders meanwhile, and queues who used them."""
        with noting_deeds():
            super().run_forever()

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Report an error that nobody waits for, and note it."""
        error = context.get("exception")
        if self._exception_handler is None and isinstance(error, Exception):
            self.schedule.unheard.append(error)
        super().call_exception_handler(context)

    def call_soon(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> events.Handle:
        """Make a step ready, with its key."""
        if self._closed:
            self._check_closed()
        handle = _TracedHandle(callback, args, self, context)
        self._give_key(handle, callback)
        self._arrive(handle)
        return handle

    def _make_timer(
        self,
        when: float,
        callback: Callable[..., object],
        args: tuple[Any, ...],
        context: Context | None,
    ) -> _TracedTimer:
        timer = _TracedTimer(when, callback, args, self, context)
        self._give_key(timer, callback)
        return timer

    def _give_key(
        self, handle: _TracedHandle | _TracedTimer, callback: Callable[..., object]
    ) -> None:
        task = getattr(callback, "__self__", None)
        if type(task) is SimulatedTask:
            actor: TracedActor = task.actor
            handle.key = handle.name = handle.place_key = f"{actor.key}#{actor.count('#')}"
            is_named = actor.key in self.schedule.actors_by_place
            if is_named or self.schedule.keeps_steps:
                place = name_wait(task)
                if place is not None:
                    handle.place_key = f"{actor.key}@{place}#{actor.count(place)}"
                if is_named:
                    handle.name = handle.place_key
        else:
            actor = self._actor
            name = getattr(callback, "__qualname__", type(callback).__qualname__)
            name = name.rpartition("<locals>.")[2]
            handle.key = handle.name = handle.place_key = f"{actor.key}!{name}#{actor.count(name)}"
        handle.actor = actor

    def _arrive(self, handle: _TracedHandle | _TracedTimer) -> None:
        if self.has_crashed and is_gone(handle):
            handle.cancel()
            return
        self._arrivals += 1
        handle.arrival = self._arrivals
        self._ready_sum += crc32(handle.key.encode())
        if self.schedule.is_held_back(handle.name):
            if not self._held:
                self._held_since = self.steps
            self._held.setdefault(self.schedule.after[handle.name], []).append(handle)
        else:
            self._ready.append(handle)

    def _begin_task(self, task: SimulatedTask, coro: object) -> None:
        name = getattr(coro, "__qualname__", type(coro).__qualname__)
        task.actor = self._actor.start(name.rpartition("<locals>.")[2])
        lineage = "main/task" + "/task" * task.actor.key.count("/")
        self.schedule.tasks[lineage] = self.schedule.tasks.get(lineage, 0) + 1

    def _advance(self) -> None:
        super()._advance()
        self.schedule.now_ns = self.now_ns

    def _run_once(self) -> None:
        schedule, ready = self.schedule, self._ready
        while True:
            handle: Any = self._take(schedule, ready)
            self._ready_sum -= crc32(handle.key.encode())
            if not handle._cancelled:
                self.steps += 1
                schedule.note(handle, self.now_ns, self._ready_sum)
                if handle.name in self._held:
                    self._let_go(handle.name)
                self._actor = handle.actor
                try:
                    handle._run()
                finally:
                    self._actor = schedule.root
                if self.faults is not None:
                    self._let_faults_happen(handle.key)
                if self.checks:
                    self.check()
                if self.steps - self._instant_began > self.steps_at_one_time_max:
                    self._refuse_livelock(handle)
            if self._stopping:
                return

    def drop_gone(self) -> list[Any]:
        """Take the steps of hosts that have crashed out of the loop; return those that were due."""
        gone = super().drop_gone()
        for key, held in list(self._held.items()):
            gone += filter(is_gone, held)
            self._held[key] = [handle for handle in held if not is_gone(handle)]
            if not self._held[key]:
                del self._held[key]
        self._ready_sum -= sum(crc32(handle.key.encode()) for handle in gone)
        for handle in gone:  # who waits for one of them waits no longer
            if handle.name in self.schedule.named:
                self.schedule.made.add(handle.name)
                if handle.name in self._held:
                    self._let_go(handle.name)
        if self.schedule.keeps_steps:
            # They come behind the crash: constraints must not let one run before.
            self.schedule.steps += [
                TracedStep(each.key, each.place_key, each.arrival, self.now_ns, None)
                for each in gone
            ]
        return gone

    def strike(self, name: str) -> bool:
        """Return whether a point of the program strikes now, and note it."""
        if self.faults is None:
            return False
        key = f"{name}@{self._actor.key}?{self._actor.count('?' + name)}"
        found = self.faults.strikes(name, key)
        if found:
            self.schedule.note_fault(StruckFault(key, find_asking_line()))
        return found

    def _let_faults_happen(self, step: str) -> None:
        assert self.faults is not None, "asked only where faults may happen"
        schedule = self.schedule
        for event in self.faults.list_events(self, step):
            place = schedule.steps[-1].place if schedule.steps else None
            lines = list_places(find_tasks(self, event)) if schedule.keeps_steps else ()
            schedule.note_fault(StruckFault(f"{event}@{step}", place, lines))
            make_event_happen(self, event)

    def _take(self, schedule: Schedule, ready: list[Any]) -> Any:
        while not ready or (self._held and self.steps - self._held_since > _HELD_STEPS_MAX):
            if self._held and (ready or not self._has_timer()):
                # What these must wait for cannot come any more.
                earlier = min(self._held, key=lambda key: self._held[key][0].arrival)
                schedule.unmet += [each.name for each in self._held[earlier]]
                self._let_go(earlier)
            else:
                self._advance()
        return ready.pop(schedule.strategy.pick(ready) if len(ready) > 1 else 0)

    def _let_go(self, key: str) -> None:
        """Put the steps that waited for one among the ready, by their arrival."""
        self._held_since = self.steps
        for handle in self._held.pop(key):
            insort(self._ready, handle, key=attrgetter("arrival"))


def find_constraints(steps: Sequence[TracedStep]) -> dict[str, str]:
    """Return constraints under which FIFO order makes these steps again: of each step's key, the one before it.

    A step that a later arrival overtook must run after the last one that did.
    """
    found = {}
    # Steps that may have overtaken one to come, the last arrival first.
    later: list[TracedStep] = []
    for step in steps:
        while later and later[-1].arrival < step.arrival:
            later.pop()
        if later:
            found[step.key] = later[-1].key
        later.append(step)
    return found
