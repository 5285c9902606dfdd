"""The event loop of ``asyncio`` whose order of callbacks is recorded, or follows a record.

Everything of it is the standard library's own, but for three things. Its selector writes down each answer or gives the
recorded one (``selector``). A callback from another thread is made ready at the beginning of a round, where the record
says in which one and in which order. The clock that libraries ask is the selector's; what the program asks of it is a
read of its own.

Not covered: interrupts (Ctrl-C); callbacks that the
garbage collector makes ready.

Invariant: a program that does the same in each callback has the same callbacks in the same order.
"""

from __future__ import annotations

import signal
from _thread import get_ident
from asyncio import Runner, events
from collections import deque
from collections.abc import Callable
from contextvars import Context
from sys import _getframe
from typing import TYPE_CHECKING, Any

from twice.errors import EffectMismatch
from twice.recorder.effects.actors import LIBRARY_THREAD, Actor, current
from twice.recorder.effects.lineage import JOB
from twice.recorder.effects.loops.pieces import RecordedPipe
from twice.recorder.effects.loops.selector import DEADLOCK, RecordingSelector, ReplayingSelector
from twice.recorder.effects.ops import find_lineage
from twice.recorder.interrupts import Orderly
from twice.recorder.kernel.processes import count_threads
from twice.simulation.waits import make_deadlock

if TYPE_CHECKING:
    _SelectorEventLoop = Any  # half of what is used of it has no types
    from twice.recorder.effects.loops.tape import LoopTape

else:
    from asyncio import SelectorEventLoop as _SelectorEventLoop


class RecordedLoop(_SelectorEventLoop):  # type: ignore[misc]
    """An event loop that belongs to a tape.

    Raises:
        Deadlock: E-SCHEDULE-002, when nothing is ready, and nothing in this process can make it so.
        EffectMismatch: E-EFFECT-001, in a replay whose program does otherwise than it did.
    """

    def __init__(self, tape: LoopTape, selector: RecordingSelector | ReplayingSelector) -> None:
        self.tape = tape
        self.arrivals: deque[tuple[str, events.Handle]] = deque()
        self.jobs = self._pipes = 0
        self._refusal: BaseException | None = None
        self._is_strict = tape.layer.is_strict
        self._waits = selector
        self._read_time = selector.read_time
        selector.loop, tape.refuse = self, self.refuse
        super().__init__(selector)
        self.wakes: int = self._ssock.fileno()

    def time(self) -> float:
        """Return what the loop's clock says, in seconds: a read of the program's own, where it asks."""
        code = _getframe(1).f_code
        if self._is_strict(code):
            return float(self.tape.read_program_time(code))
        return self._read_time()

    def close(self) -> None:
        """Close the loop, and write down its last rounds; in replay, fewer rounds than recorded are E-EFFECT-001."""
        super().close()
        self._waits.finish()

    @property
    def is_waiting(self) -> bool:
        """Whether the loop waits for the world, and not for a callback."""
        return self._waits.is_waiting

    def flush(self) -> None:
        """Write down what is gathered."""
        self._waits.flush()

    # -- what comes from other threads ----------------------------------------------------------

    def call_soon_threadsafe(
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> events.Handle:
        """Make a callback ready: at the next round, where it comes from another thread or from a job."""
        name = getattr(args[1], JOB, None) if len(args) == 2 else None
        if name is None:
            if get_ident() == self.tape.thread:
                soon: events.Handle = self.call_soon(callback, *args, context=context)
                return soon
            name = _name_thread(callback)
        self._check_closed()
        handle = events.Handle(callback, args, self, context)
        self.arrivals.append((name, handle))
        self._write_to_self()
        return handle

    def refuse(self, error: BaseException) -> None:
        """Raise an error out of the loop at its next round, from another thread."""
        self._refusal = error
        self.arrivals.append(("refused", events.Handle(repr, (None,), self, None)))
        self._write_to_self()

    def take_wakes(self) -> None:
        """Take the bytes by which other threads and signals wake the loop."""
        self._read_from_self()

    def take_arrivals(self) -> list[str]:
        """Make the callbacks from other threads ready, in the order in which they came, and return their names."""
        if self._refusal is not None:
            raise self._refusal
        names = []
        while self.arrivals:
            name, handle = self.arrivals.popleft()
            names.append(name)
            self._ready.append(handle)
        return names

    def take_arrival(self, name: str) -> bool:
        """Make the first callback of that name ready, or the handler of a signal; return whether there was one."""
        if name == DEADLOCK:
            raise make_deadlock(self)
        kind, _, number = name.partition(":")
        if kind == "signal":
            handler = self._signal_handlers.get(int(number))
            if handler is not None:
                self._ready.append(handler)
            return handler is not None
        found = next((each for each in list(self.arrivals) if each[0] == name), None)
        if found is None:
            return False
        self.arrivals.remove(found)
        self._ready.append(found[1])
        return True

    def add_signal_handler(self, sig: int, callback: Callable[..., object], *args: Any) -> None:
        """Add a handler of a signal, which strikes at the beginning of a round."""
        super().add_signal_handler(sig, callback, *args)
        signal.signal(sig, Orderly(lambda: None))
        signal.siginterrupt(sig, False)

    def _handle_signal(self, sig: int) -> None:
        handle = self._signal_handlers.get(sig)
        if handle is not None and not handle._cancelled:
            self.arrivals.append((f"signal:{int(sig)}", handle))

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """Run a job on another thread, and count it for as long as it runs."""
        future = super().run_in_executor(executor, func, *args)
        self.jobs += 1
        future.add_done_callback(self._end_job)
        return future

    def _end_job(self, _future: object) -> None:
        self.jobs -= 1

    def _make_read_pipe_transport(
        self, pipe: Any, protocol: Any, waiter: Any = None, extra: Any = None
    ) -> RecordedPipe:
        self._pipes += 1
        line = self.tape.open_socket(f"{self.tape.key}/pipe:{self._pipes - 1}")
        return RecordedPipe(line, self, pipe, protocol, waiter, extra)

    # -- rounds ---------------------------------------------------------------------------------

    def require_hope(self) -> None:
        """Note that nothing in this process can end the wait that begins, and raise E-SCHEDULE-002."""
        if len(self._waits.get_map()) > 1 or self.jobs or self.arrivals or _awaits_signal():
            return
        # In this order: a thread may end in between, and may have called before it did.
        count, watches = count_threads(), 1
        workers = sum(each.is_alive() for each in getattr(self._default_executor, "_threads", ()))
        if count <= self.tape.threads_before + watches + workers and not self.arrivals:
            self._waits.note_deadlock()
            raise make_deadlock(self)

    def make_mismatch(self, recorded: str, asked: str) -> EffectMismatch:
        """Build the error for a program that does otherwise than it did, and report it."""
        return self.tape.make_mismatch(recorded, asked)


def _awaits_signal() -> bool:
    """Return whether a signal has a handler of the program's, whoever set it."""
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        runner = getattr(getattr(handler, "func", None), "__self__", None)
        if callable(handler) and not (
            handler is signal.default_int_handler or isinstance(runner, Runner)
        ):
            return True
    return False


def _name_thread(callback: object) -> str:
    """Name who calls: a thread by its key; one of a library by what it calls, since their number depends on timing."""
    actor = current()
    key = actor.key if isinstance(actor, Actor) else "thread"
    if LIBRARY_THREAD in key or key == "thread":
        return f"{find_lineage(key)} {getattr(callback, '__qualname__', '')}"
    return key
