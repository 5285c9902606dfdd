"""When which reply came, kept in replay.

A loop takes what is readable in the order of its arrival, and hands it to tasks that go on in later rounds of the
loop; which idle connection a pool gives out next follows from both. So each reply is recorded with the busy rounds of
its loop and the timers that ended since the reply before it. It becomes readable in replay after as many, or when the
loop has nothing else to do: together with those that one round found together, and not before what arrived earlier was
taken. A reply that came after a deadline comes after it.

Threads that wait for a reply of their own are given them in the order of their arrival too, each once the others have
come to rest. Rounds are counted for asyncio's own loops, not for those written in C. A program that takes another path
than it did may never take what it is up to: a thread goes on after a time in which nothing was computed, and after
seconds of it there are no turns any more.

Invariant: a turn delays what is readable, and never changes it.
"""

from __future__ import annotations

import os
from _thread import get_ident, start_new_thread
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from threading import Condition, RLock
from time import process_time as _process_time  # the real ones: bound before anything is patched
from time import sleep as _sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from twice.recorder.effects import ops
from twice.recorder.effects.actors import OUTSIDE, TimedWaits, current
from twice.recorder.effects.events import Event
from twice.recorder.effects.network.exchanges import Exchanges
from twice.recorder.effects.network.sent_bytes import read_turn
from twice.recorder.effects.patches import Patch

if TYPE_CHECKING:
    from twice.recorder.effects.network.replayed_connection import ReplayedConnection

wait = Condition.wait
"""Without a session: what waits here is none of the run's threads."""
INCOMING = (ops.RECEIVED.number, ops.ENDED.number)
_PATIENCE_S = 3
_IDLE_S = 0.02
_REST_S = 0.001
"""How long threads must compute nothing before the next reply is given to one of them."""
_RESTS_MAX = 20
_WAIT_S = 0.01
_STILL_MAX = 20
"""How often a thread finds the others at rest before it goes on out of turn."""


class _Arrival(NamedTuple):
    """A reply: on which connection, as which of its events, and after what.

    Attributes:
        rounds: busy rounds of its loop before it; None where a thread waited for it.
        timers: that ended before it.
        is_waited_for: whether its loop had nothing else to do.
    """

    key: str
    number: int
    rounds: int | None
    timers: int
    is_waited_for: bool

    @property
    def begins_round(self) -> bool:
        """Return whether it came after those before it, not together with them."""
        return self.rounds != 0 or self.is_waited_for


class Turns:
    """Whose turn it is, by the connections' keys in the order of the record and the events of each.

    Attributes:
        lock: held by whoever takes, sends or shows something.
        exchanges: which requests the record answers, to whom.
        waits: timed waits of the run's threads.
    """

    def __init__(self, order: Sequence[str], events: Mapping[str, Sequence[Event]]) -> None:
        self.lock = RLock()
        self.exchanges, self.waits = Exchanges(order, events), TimedWaits()
        self._arrivals = _list_arrivals(order, events)
        self._ordered = {(one.key, one.number) for one in self._arrivals}
        self._at = 0
        self._forced_at = -1
        self._waiting: set[int] = set()
        self._rounds: defaultdict[int, int] = defaultdict(int)
        self._timers: defaultdict[int, int] = defaultdict(int)
        self._open: list[ReplayedConnection] = []
        self._done: set[tuple[str, int]] = set()
        self._guarded = -1
        self._ended = 0

    # -- rounds -------------------------------------------------------------------------------------

    def take_turn(self) -> tuple[int, int]:
        """Take the busy rounds and ended timers of this thread's loop since the last reply, for a mark."""
        thread = get_ident()
        waited, rounds = thread in self._waiting, self._rounds.pop(thread, 0)
        self._waiting.discard(thread)
        return ~rounds if waited else rounds, self._timers.pop(thread, 0)

    def peek_turn(self) -> tuple[int, int]:
        """Return the turn of an event that nobody read when its socket closes, without taking it."""
        thread = get_ident()
        # A loop closes a socket a round after it was told to, and whoever told it may have looked whether it is readable.
        rounds = max(0, self._rounds.get(thread, 0) - 1)
        return ~rounds if thread in self._waiting else rounds, self._timers.get(thread, 0)

    def take_thread_turn(self) -> int:
        """Return how many timed waits ended since the last reply that a thread waited for, and reset it."""
        ended, self._ended = self.waits.ended - self._ended, self.waits.ended
        return ended

    def begin_round(self, *, busy: bool, waits: bool) -> None:
        """Begin a round of a loop: one that is busy does not wait, and a timer may end its waiting."""
        if current() is OUTSIDE:
            return
        if busy:
            self._rounds[get_ident()] += 1
            self._waiting.discard(get_ident())
        else:
            self._waiting.add(get_ident())
        if not self._is_over:
            with self.lock:
                if not busy and not waits:
                    self._forced_at = self._at
                self.move()
        if not busy:
            for one in [one for one in self._open if one.thread == get_ident()]:
                one.idle()

    def end_timer(self) -> None:
        """Count the end of a timer of this thread's loop."""
        if current() is not OUTSIDE:
            self._timers[get_ident()] += 1

    # -- turns --------------------------------------------------------------------------------------

    def is_up(self, key: str, number: int) -> bool:
        """Return whether an event of a recorded connection may be taken."""
        one = (key, number)
        if self._is_over or one in self._done or one not in self._ordered:
            return True
        return any(each[:2] == one for each in self._due())

    def _due(self) -> Sequence[_Arrival]:
        """Return the events that one round found together, in order, once as much has happened as then."""
        due: list[_Arrival] = []
        for at in range(self._at, len(self._arrivals)):
            one = self._arrivals[at]
            if (one.key, one.number) in self._done:
                continue
            connection = self._playing(one)
            if (
                connection is None
                or (due and one.begins_round)
                or not connection.can_give(one.number)
            ):
                break
            if not due and not self._has_waited(one, connection.thread):
                break
            due.append(one)
        return due

    def _has_waited(self, one: _Arrival, thread: int) -> bool:
        if one.rounds is None:
            return self.waits.ended - self._ended >= one.timers
        if self._forced_at == self._at:
            return True
        if self._timers[thread] < one.timers:
            return False
        is_waiting, rounds = thread in self._waiting, self._rounds[thread]
        return rounds >= one.rounds if is_waiting == one.is_waited_for else is_waiting

    def _playing(self, one: _Arrival) -> ReplayedConnection | None:
        return next((each for each in self._open if each.plays(one.key, one.number)), None)

    def sort_ready(self, ready: list[Any]) -> None:
        """Sort a selector's pairs of readable events in place into the order of the record.

        A poll has an order of its own: a descriptor that was read in the round before stands first there, whatever
        arrived before it since.
        """
        with self.lock:
            due = [self._playing(one) for one in self._due()]
        ranks: dict[int, int] = {}
        for connection in due:
            if connection is not None:
                ranks.setdefault(connection.descriptor, len(ranks))
        places = [at for at, (key, _) in enumerate(ready) if key.fd in ranks]
        ordered = sorted((ready[at] for at in places), key=lambda pair: ranks[pair[0].fd])
        for at, pair in zip(places, ordered, strict=True):
            ready[at] = pair

    def join(self, connection: ReplayedConnection) -> None:
        """Join a new connection."""
        if self._arrivals:
            self._open.append(connection)
            self.move()
            if self._guarded != os.getpid():
                self._guarded = os.getpid()
                start_new_thread(self._guard, ())

    def leave(
        self, connection: ReplayedConnection | None, key: str, numbers: Iterable[int]
    ) -> None:
        """Drop events of a recorded connection that are over, taken or not, and the connection that is closed."""
        with self.lock:
            if connection in self._open:
                self._open.remove(connection)
            self._done.update(self._ordered.intersection((key, number) for number in numbers))
            self.move()

    def move(self) -> None:
        """Pass over events that are done, and show the ones that are due."""
        while not self._is_over:
            one = self._arrivals[self._at]
            if (one.key, one.number) not in self._done:
                break
            self._done.remove((one.key, one.number))
            self._ordered.remove((one.key, one.number))
            self._at += 1
        if not self._is_over:
            for one in self._due():
                connection = self._playing(one)
                if connection is not None:
                    connection.show()

    @property
    def _is_over(self) -> bool:
        return self._at >= len(self._arrivals)

    @property
    def _waits_for_threads(self) -> bool:
        """Return whether the next reply came after a timed wait that goes on now."""
        if self._is_over or not self.waits.going_on:
            return False
        one = self._arrivals[self._at]
        return one.rounds is None and self.waits.ended - self._ended < one.timers

    # -- patience -----------------------------------------------------------------------------------

    def rest(self, condition: Condition) -> None:
        """Let the other threads come to rest, before a due event is taken here; the condition's lock is held."""
        for _ in range(_RESTS_MAX):
            spent_s = _process_time()
            wait(condition, _REST_S)
            if _process_time() - spent_s < _REST_S / 4:
                return

    def wait(self, condition: Condition, key: str, number: int) -> None:
        """Wait for the turn of an event that a thread needs now; take it out of turn in the end."""
        still = 0
        while still < _STILL_MAX and not self.is_up(key, number):
            spent_s = _process_time()
            wait(condition, _WAIT_S)
            is_still = not self._waits_for_threads and _process_time() - spent_s < _WAIT_S / 2
            still = still + 1 if is_still else 0
        if still == _STILL_MAX:
            self._done.add((key, number))
            self.move()

    def _guard(self) -> None:
        """End the turns where they block everybody: no reply is taken, and nothing is computed."""
        before, spent_s, seconds = -1, _process_time(), 0
        while not self._is_over:
            _sleep(1)
            with self.lock:
                waiting = list(self._open)
                idle = self._at == before and _process_time() - spent_s < _IDLE_S
                idle = idle and not self._waits_for_threads
                held = idle and any(one.is_held_back() for one in waiting)
                before, spent_s, seconds = self._at, _process_time(), seconds + 1 if held else 0
                if seconds >= _PATIENCE_S:
                    self._at = len(self._arrivals)
                    for one in waiting:
                        one.show()


def loop_patches(turns: Turns, module: Any) -> list[Patch]:
    """Return the patches of a loop's round and of a timer's end, once ``asyncio`` is loaded."""
    real, timer = module.BaseEventLoop._run_once, module.events.TimerHandle
    run = timer._run

    def run_once(self: Any) -> None:
        turns.begin_round(busy=bool(self._ready), waits=bool(self._scheduled))
        real(self)

    def run_timer(self: Any) -> None:
        turns.end_timer()
        run(self)

    return [Patch(module.BaseEventLoop, "_run_once", run_once), Patch(timer, "_run", run_timer)]


def selector_patches(turns: Turns, module: Any) -> list[Patch]:
    """Return the patch of a loop's ready events, once ``asyncio.selector_events`` is loaded."""
    loop = module.BaseSelectorEventLoop
    real = loop._process_events

    def process_events(self: Any, event_list: list[Any]) -> None:
        turns.sort_ready(event_list)
        real(self, event_list)

    return [Patch(loop, "_process_events", process_events)]


def _list_arrivals(order: Sequence[str], events: Mapping[str, Sequence[Any]]) -> Sequence[_Arrival]:
    """Return the incoming events in order, where the record has their turns."""
    counts: defaultdict[str, int] = defaultdict(int)
    found = []
    for key in order:
        number, value = events[key][counts[key]]
        turn = read_turn(value[0]) if number in INCOMING else None
        if turn is not None:
            found.append(_Arrival(key, counts[key], *turn))
        counts[key] += 1
    return found
