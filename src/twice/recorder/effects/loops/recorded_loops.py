"""The loops of one recorded run: each one that ``asyncio`` makes is a recorded one, and no other loop runs.

Invariant: after the block every name of ``asyncio`` is what it was.
"""

from __future__ import annotations

import asyncio
import os
import time
from _thread import allocate_lock, get_ident, start_new_thread
from asyncio import base_events
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from sys import _current_frames
from types import FrameType
from typing import TYPE_CHECKING
from weakref import WeakSet

from twice.errors import SimulationRefused
from twice.foundation.source_files import is_user_file
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL, build_reading
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.loops.recorded_loop import RecordedLoop
from twice.recorder.effects.loops.rounds import RoundsWriter, read_rounds
from twice.recorder.effects.loops.selector import RecordingSelector, ReplayingSelector
from twice.recorder.effects.loops.tape import LoopTape
from twice.recorder.kernel.processes import count_threads
from twice.simulation.waits import noting_deeds

if TYPE_CHECKING:
    from twice.recorder.effects.clock import ClockPolicy, Tick

_monotonic, _getpid = time.monotonic, os.getpid  # the real ones: bound before anything is patched
STALL_S = 2.0
"""How long a callback holds up its loop before the run says so."""


class RecordedLoops:
    """Makes and knows the recorded loops of one run."""

    def __init__(self, layer: EffectLayer, clock: ClockPolicy | None, tick: Tick) -> None:
        self._layer = layer
        self._read_program_time = build_reading(ops.MONOTONIC, layer, clock, tick)
        self._running: dict[int, RecordedLoop] = {}
        self._made: WeakSet[RecordedLoop] = WeakSet()
        self._threads, self._process = count_threads(), _getpid()
        self._is_watched, self._over, self._ended = False, allocate_lock(), allocate_lock()

    def make_loop(self) -> RecordedLoop:
        """Make a loop, live or from the record."""
        layer = self._layer
        owner = layer.owners.find_owner(layer.actor() or layer.main)
        # By hand, since ``next_key`` would count it among what the program started.
        number = owner.children.get("loop", 0)
        owner.children["loop"] = number + 1
        tape = LoopTape(layer, f"{owner.key}/loop:{number}", self._read_program_time, self._threads)
        if layer.live:
            writer = RoundsWriter(tape.write_rounds)
            made = RecordedLoop(tape, RecordingSelector(writer, REAL[ops.MONOTONIC]))
        else:
            rounds = read_rounds(tape.read_line(tape.key, ops.LOOP_ROUNDS))
            made = RecordedLoop(tape, ReplayingSelector(rounds, layer.owned_descriptors))
        self._made.add(made)
        return made

    def find_tape(self) -> LoopTape | None:
        """Return the tape of the loop that runs on this thread."""
        loop = self._running.get(get_ident())
        return None if loop is None else loop.tape

    def listen_at(self, address: object) -> bool:
        """Return whether a socket of any loop listens at an address."""
        return any(loop.tape.listens(address) for loop in list(self._made))

    def flush(self) -> None:
        """Write down what the loops of this thread have gathered."""
        here = get_ident()
        for loop in list(self._made):
            if loop.tape.thread == here:
                loop.flush()

    @contextmanager
    def running(self, loop: base_events.BaseEventLoop) -> Iterator[None]:
        """Know which loop runs on this thread; refuse any other kind, and a second one beside it: E-SCHEDULE-001."""
        if not isinstance(loop, RecordedLoop):
            kind = type(loop)
            raise SimulationRefused(
                f"The program runs a loop of its own, {kind.__module__}.{kind.__qualname__}, in a run whose loop is "
                "recorded.",
                "Expected the loop that asyncio.run and asyncio.new_event_loop give.",
                "Leave out the loop's class and set_event_loop_policy(), or record with --loop own.",
                loop=f"{kind.__module__}.{kind.__qualname__}",
            )
        if self._running:
            refusal = SimulationRefused(
                "The program runs a second event loop in another thread, beside the first one.",
                "Expected one loop at a time: the order of the callbacks of two is not recorded.",
                "Run its tasks in the first loop, or record with --loop own.",
                loop=loop.tape.key,
            )
            for other in list(self._running.values()):
                other.refuse(refusal)
            raise refusal
        here = get_ident()
        loop.tape.thread = here
        self._running[here] = loop
        if self._layer.live and not self._is_watched:
            self._is_watched = self._over.acquire() and self._ended.acquire()
            start_new_thread(self._watch, ())
        try:
            yield
        finally:
            del self._running[here]

    def end(self) -> None:
        """Look out no more; the thread that did has ended behind this."""
        if self._is_watched and self._process == _getpid():  # a forked child has not that thread
            self._over.release()
            self._ended.acquire()

    def _watch(self) -> None:
        """Look out for callbacks that hold up their loop, as long as the run goes on."""
        seen, since_s = (0, 0), _monotonic()
        while not self._over.acquire(timeout=STALL_S / 8):
            for thread, loop in list(self._running.items()):
                now = (thread, loop.tape.round)
                if loop.is_waiting or now != seen:
                    seen, since_s = now, _monotonic()
                elif _monotonic() - since_s >= STALL_S:
                    self._note_stall(_current_frames().get(thread))
        self._ended.release()

    def _note_stall(self, frame: FrameType | None) -> None:
        while frame is not None and not is_user_file(frame.f_code.co_filename):
            frame = frame.f_back
        where = (
            "" if frame is None else f" at {Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        )
        text = (
            f"a callback held up the event loop for more than {STALL_S:.0f} s{where}: timers and replies came late "
            "because of it"
        )
        if text not in self._layer.remarks:
            self._layer.remarks.append(text)


@contextmanager
def record_loops(loops: RecordedLoops) -> Iterator[None]:
    """Make each new event loop of this process a recorded one, and refuse to run any other one."""
    real_policy, real_run = asyncio.get_event_loop_policy(), base_events.BaseEventLoop.run_forever

    class Policy(asyncio.DefaultEventLoopPolicy):
        def new_event_loop(self) -> asyncio.AbstractEventLoop:
            return loops.make_loop()

    def run_forever(self: base_events.BaseEventLoop) -> None:
        with loops.running(self):
            real_run(self)

    asyncio.set_event_loop_policy(Policy())
    base_events.BaseEventLoop.run_forever = run_forever  # type: ignore[method-assign]
    try:
        with noting_deeds():
            yield
    finally:
        loops.end()
        base_events.BaseEventLoop.run_forever = real_run  # type: ignore[method-assign]
        asyncio.set_event_loop_policy(real_policy)
