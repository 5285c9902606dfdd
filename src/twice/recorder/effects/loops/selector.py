"""What a recorded loop waits with: the system's selector, whose answers are written down, or the record's answers.

In replay nothing is waited for that comes from the record. Only what the run itself has to do first is: a job of a
thread that ends in this round, a pipe to a process of the run.

Invariant: in replay, a round has what it had in the record, in that order, and nothing else.
"""

from __future__ import annotations

import select
import selectors
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from twice.recorder.effects.loops.pieces import WAIT_S, Patience
from twice.recorder.effects.loops.rounds import Round, RoundsWriter

if TYPE_CHECKING:
    from twice.recorder.effects.loops.recorded_loop import RecordedLoop

DEADLOCK = "deadlock"
"""The name under which the record has that nothing could go on."""
Ready = list[tuple[selectors.SelectorKey, int]]
_poll = select.poll


class RecordingSelector(selectors.DefaultSelector):
    """The system's selector; numbers descriptors, and writes down each of its answers."""

    loop: RecordedLoop

    def __init__(self, rounds: RoundsWriter, clock: Any) -> None:
        super().__init__()
        self._rounds, self._clock = rounds, clock
        self._numbers: dict[int, int] = {}
        self._registered = 0
        self.is_waiting = False
        self.flush = self.finish = rounds.flush

    def note_deadlock(self) -> None:
        """Note that nothing can go on."""
        self._rounds.add([DEADLOCK], [])

    def read_time(self) -> float:
        """Return the real time, and write it down."""
        now: float = self._clock()
        self._rounds.add_time(now)
        return now

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Register a descriptor under the next number."""
        key = super().register(fileobj, events, data)
        self._numbers[key.fd] = self._registered
        self._registered += 1
        return key

    def select(self, timeout: float | None = None) -> Ready:
        """Wait as the system does, and write down what is ready."""
        if timeout is None:
            self.loop.require_hope()
        self.is_waiting = True
        found = super().select(timeout)
        self.is_waiting = False
        wakes, numbers = self.loop.wakes, self._numbers
        answer, ready = found, []
        for pair in found:
            key, mask = pair
            if key.fd == wakes:
                self.loop.take_wakes()
                answer = [each for each in found if each is not pair]
            else:
                ready.append((numbers[key.fd], mask))
        self.loop.tape.begin_round()
        arrivals = self.loop.take_arrivals() if self.loop.arrivals else []
        self._rounds.add(arrivals, ready)
        return answer


class ReplayingSelector(selectors.SelectSelector):
    """Answers what the record holds; it never asks the system about all of its descriptors."""

    loop: RecordedLoop

    def __init__(self, rounds: Iterator[Round], owned: set[int]) -> None:
        super().__init__()
        self._rounds, self._owned = rounds, owned
        self._keys: dict[int, int] = {}
        self._registered = 0
        self.is_waiting = True  # nothing is held up
        self._round: Round = next(rounds)
        self._now = self._took_s = 0.0

    def flush(self) -> None:
        """Write nothing; compare what went out since the last blocks of the sockets began."""
        self.loop.tape.compare()

    def note_deadlock(self) -> None:
        """Do nothing: the record says where nothing can go on."""

    def finish(self) -> None:
        """Report a loop that was closed before its record ends."""
        self.flush()
        if self._round.times or next(self._rounds, None) is not None:
            raise self.loop.make_mismatch("more rounds", "its end")

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Register a descriptor under the next number."""
        key = super().register(fileobj, events, data)
        self._keys[self._registered] = key.fd
        self._registered += 1
        return key

    def read_time(self) -> float:
        """Return what the clock said."""
        if not self._round.times:
            raise self.loop.make_mismatch("the next round", "a read of the clock: a timer, say")
        self._now = self._round.times.popleft()
        return self._now

    def select(self, timeout: float | None = None) -> Ready:
        """Return what was ready, once the run itself has done its part."""
        del timeout
        if self._round.times:
            raise self.loop.make_mismatch("a read of the clock: a timer, say", "the next round")
        found = next(self._rounds, None)
        if found is None:
            raise self.loop.make_mismatch("no more rounds", "another one")
        self._round = found
        self._took_s = max(0.0, found.times[0] - self._now) if found.times else 0.0
        self.loop.tape.begin_round()
        for name in found.arrivals:
            self._wait_for_arrival(name)
        return [self._find_ready(number, mask) for number, mask in found.ready]

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """Register a descriptor otherwise, under its number."""
        self.unregister(fileobj)
        return super().register(fileobj, events, data)

    def _find_ready(self, number: int, mask: int) -> tuple[selectors.SelectorKey, int]:
        descriptor = self._keys.get(number, -1)
        key: selectors.SelectorKey | None = self.get_map().get(descriptor)
        if key is None or mask & ~key.events:
            what = f"the descriptor that was registered as number {number}"
            raise self.loop.make_mismatch(f"{what} ready", f"no wait for {what}")
        if key.fd not in self._owned:
            self._wait_for(key.fd, mask)
        return key, mask

    def _wait_for_arrival(self, name: str) -> None:
        patience = Patience(self._took_s)
        while not self.loop.take_arrival(name):
            if not patience.is_left():
                raise self.loop.make_mismatch(f"a callback by {name}", "none")
            self._poll(self.loop.wakes, select.POLLIN)
            self.loop.take_wakes()

    def _wait_for(self, descriptor: int, mask: int) -> None:
        wanted = (mask & selectors.EVENT_READ and select.POLLIN) | (
            mask & selectors.EVENT_WRITE and select.POLLOUT
        )
        patience = Patience(self._took_s)
        while not self._poll(descriptor, wanted):
            if not patience.is_left():
                raise self.loop.make_mismatch("a pipe or a socket of the run ready", "none")

    @staticmethod
    def _poll(descriptor: int, events: int) -> bool:
        poll = _poll()
        poll.register(descriptor, events)
        return bool(poll.poll(WAIT_S * 1000))
