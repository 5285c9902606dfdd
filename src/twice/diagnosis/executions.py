"""Execute windows of runs in processes of their own, each in the surroundings it is asked for.

One execution gives a trace (under a plan), the digests at the closing point and the components'
states there. It is a fork of a loaded process, or a fresh one where each has to be another.

Invariant: an execution never changes a record and never runs in the caller's surroundings.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from twice.diagnosis.held_window import HeldWindow, may_be_held
from twice.diagnosis.kept_processes import CHILD, KeptProcesses
from twice.diagnosis.time_limit import TimeLimit
from twice.diagnosis.tracing.trace import Plan, Trace, plan_to_json
from twice.errors import ProgramFailed
from twice.foundation.dataclass import dataclass
from twice.recorder.environment.surroundings import Surroundings, environ_for_child
from twice.recorder.runrecord import RunRecord
from twice.replayer.preconditions import source_changes
from twice.replayer.replay_job import (
    folder_of,
    job_for,
    restorable_snapshot,
    stand_ins_of,
    start_child,
    surroundings_of,
)
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.worker.fork_server import ForkServer
from twice.worker.process import FreshWorker

FOLLOWER: Final = "twice.schedules.followed_run"
BEFORE_ALL: Final = -1
FIRST: Final = 0
SECOND: Final = 1
SHIFTED: Final = 2
"""What an execution is forked from: the first or the second of two kept processes, or the first one with the program's
objects at other addresses. Two forks of one process have its addresses: what differs between forks of the first and of
the second follows from addresses, as it would between fresh ones. Where code and objects of libraries lie is the same in
a shifted fork, so it stands for a second process only if both sides are forks of one."""


@dataclass(frozen=True)
class Window:
    """From after one compare-point to another.

    Attributes:
        first: index of the point after which it opens; -1 before the program is loaded.
        last: index of the point that closes it.
    """

    first: int
    last: int


@dataclass(frozen=True)
class Executed:
    """What one execution of a window gave.

    Attributes:
        reached: whether the closing point was reached.
        digests: column -> 16 bytes at the closing point.
        reproduces: whether every column that the class judges is there as the side recorded it.
        states: component -> canonical form there.
        streams: stream -> its public state there.
        restores: component -> file and first line of its ``restore``.
        trace: what was traced, or None without a plan.
    """

    reached: bool
    digests: Mapping[str, bytes]
    reproduces: bool
    states: Mapping[str, bytes]
    streams: Mapping[str, Any]
    restores: Mapping[str, Any]
    trace: Trace | None


class Side:
    """One of the two runs, ready to be executed again.

    Args:
        label: ``a`` or ``b``.
        record: its record.
        python: the interpreter that executes it; empty for this one.
        kept: the processes that executions are forked from; by default the side's own. The side closes them.

    Attributes:
        start: number of the snapshot that executions start from, or None for the top.
        repeats: of each execution in its own surroundings that came to the closing point, whether it was as recorded.
        limit: the time that executions may take, or None.
        may_fork: whether a fork computes what a fresh process does, as far as is known.
    """

    def __init__(
        self, label: str, record: RunRecord, python: str = "", kept: KeptProcesses | None = None
    ) -> None:
        self.label = label
        self.python = python
        self.record = record
        self.surroundings = surroundings_of(record)
        self.start: int | None = None
        self.limit: TimeLimit | None = None
        self.may_fork = True
        self.repeats: list[bool] = []
        self._kept = kept or KeptProcesses()
        self._held: dict[tuple[int, int], tuple[object, HeldWindow]] = {}
        self._may_be_held = may_be_held(record)
        self._running: list[FreshWorker] = []
        self._is_closed = False
        self._lock = threading.Lock()
        self._holding = threading.Lock()  # another: who closes does not wait for a window to open

    def fork_snapshot(self) -> int | None:
        """Return the snapshot that a branch was restored from, or None for other runs."""
        fork: Mapping[str, Any] = (self.record.parent or {}).get("fork", {})
        if not fork or "snapshot" in fork:
            return fork.get("snapshot")
        return restorable_snapshot(self.record, fork["tick"])  # of an earlier version

    @property
    def earliest(self) -> int:
        """Index of the point after which a window may open at the earliest; -1 before the program."""
        if self.start is None:
            return BEFORE_ALL
        return self.record.reader.snapshots[self.start].point - 1

    def execute(
        self,
        window: Window,
        plan: Plan | None,
        surroundings: Surroundings | None = None,
        *,
        fork_of: int | None = None,
        lent: tuple[str, Sequence[int]] | None = None,
    ) -> Executed:
        """Execute a window once.

        Args:
            window: which part of the run.
            plan: what to trace, or None for digests only.
            surroundings: instead of the side's own.
            fork_of: the kept process that it is forked from, ``FIRST``, ``SECOND`` or ``SHIFTED``: faster, and at
                the same addresses every time. By default in a process of its own.
            lent: path of another record, and numbers of the operations that are answered from it.

        Raises:
            ProgramFailed: E-PROGRAM-003, when the process died.
            TimeLimitReached: E-DIAGNOSE-001.
        """
        pinned = surroundings or self.surroundings
        job = job_for(
            self.record,
            "trace",
            changed=self._list_changed(pinned),
            first=window.first,
            last=window.last,
            snapshot=self.start,
            plan=None if plan is None else plan_to_json(plan),
            lent=None if lent is None else [lent[0], list(lent[1])],
            holds=False,
            shifts=fork_of == SHIFTED,
        )
        with self._limit_time():
            forked = fork_of is not None and self.may_fork
            message = self._ask_fork(job, pinned, fork_of or FIRST) if forked else None
            if message is None:
                self.check_time()
                message = self._fresh(job, pinned)
        executed = _executed(message)
        # One that ends at the last sample it was asked for has nothing to hold against the record.
        if surroundings is None and lent is None and executed.digests:
            self.repeats.append(executed.reproduces)
        return executed

    def trace_operations(
        self, window: Window, asked: Sequence[int], surroundings: Surroundings | None = None
    ) -> dict[str, Any]:
        """Execute a window once, in a process of its own, and return the operations of libraries that were traced.

        Args:
            window: which part of the run.
            asked: numbers of operations that are captured; from the first of them on inputs have digests.
            surroundings: instead of the side's own.

        Raises:
            ProgramFailed: E-PROGRAM-003, when the process died. TimeLimitReached: E-DIAGNOSE-001.
        """
        pinned = surroundings or self.surroundings
        job = job_for(
            self.record,
            "operations",
            changed=self._list_changed(pinned),
            first=window.first,
            last=window.last,
            snapshot=self.start,
            asked=list(asked),
        )
        with self._limit_time():
            message = self._fresh(job, pinned)
        if message["kind"] != "operations":
            raise ProgramFailed(
                f"The execution of a window ended with {message['kind']!r}.",
                "Expected its operations.",
                "Verify the record first: twice verify RECORD",
            )
        return message

    def _list_changed(self, pinned: Surroundings) -> list[str]:
        own, others = self.surroundings.variables, pinned.variables
        return [name for name in {**own, **others} if own.get(name) != others.get(name)]

    @contextmanager
    def _limit_time(self) -> Iterator[None]:
        self.check_time()
        try:
            yield
        except (OSError, ProgramFailed):
            self.check_time()  # what was ended by then died
            raise

    def check_time(self) -> None:
        """Raise E-DIAGNOSE-001 when no time is left."""
        if self.limit is not None:
            self.limit.check()

    def close(self) -> None:
        """End the processes that were kept, and those that an interrupt left running or starting."""
        with self._lock:
            self._is_closed = True
            for child in self._running:
                child.kill()
            for _, held in list(self._held.values()):
                held.close()
            self._held.clear()
        self._kept.close()

    def _fresh(
        self, job: Mapping[str, object], pinned: Surroundings, module: str = CHILD
    ) -> dict[str, Any]:
        environ, folder = self._find_place(pinned)
        with FreshWorker(module, environ, cwd=folder, python=self.python) as child:
            self._add_running(child)
            try:
                return child.ask(job)
            finally:
                with self._lock:
                    self._running.remove(child)

    def follow(self, **order: object) -> dict[str, Any]:
        """Execute the run from its start to its end in an order of its loop's steps, which ``followed_run`` describes.

        Raises:
            ProgramFailed: E-PROGRAM-003, when the process died. TimeLimitReached: E-DIAGNOSE-001.
        """
        job = job_for(self.record, "follow", **order)
        environ, folder = self._find_place(self.surroundings)
        with self._limit_time():
            kept = self._kept.get(
                environ, folder=folder, python=self.python, number=FIRST, module=FOLLOWER
            )
            message = kept.ask(job) if kept.fit else None
            return message or self._fresh(job, self.surroundings, FOLLOWER)

    def start_whole(self, record: RunRecord) -> FreshWorker:
        """Start a process for a whole execution, which the time limit ends."""
        child = start_child(record)
        self._add_running(child)
        return child

    def _add_running(self, child: FreshWorker) -> None:
        with self._lock:
            self._running.append(child)
            if self._is_closed:  # while it started
                child.kill()

    def _ask_fork(
        self, job: Mapping[str, Any], pinned: Surroundings, number: int
    ) -> dict[str, Any] | None:
        """Ask a fork for its answer; return None if a fresh process has to give it."""
        environ, folder = self._find_place(pinned)
        process = SECOND if number == SECOND else FIRST
        kept = self._kept.get(environ, folder=folder, python=self.python, number=process)
        if not kept.fit:
            return None
        if self._may_be_held and job["lent"] is None:
            message = self._hold(kept, job, number).ask(job["plan"])
            if message is not None:
                return message
        return kept.ask(job)

    def _find_place(self, pinned: Surroundings) -> tuple[Mapping[str, str], str | None]:
        """Environment and working folder of an execution."""
        environ = environ_for_child(os.environ, pinned, stand_ins=stand_ins_of(self.record))
        return environ, folder_of(self.record)

    def shares_process(self, other: Side) -> bool:
        """Whether executions of both sides, each in its own surroundings, are forks of one process."""
        places = [(*side._find_place(side.surroundings), side.python) for side in (self, other)]
        return self._kept is other._kept and places[0] == places[1]

    def _hold(self, kept: ForkServer, job: Mapping[str, Any], number: int) -> HeldWindow:
        """Return the process that waits where this window opens; end one that waits elsewhere."""
        what = {**job, "plan": None, "holds": True}
        with self._holding:
            asked = self._held.get((number, id(kept)))
            # One held process for each kept one: two would take the memory of two runs.
            if asked is None or asked[0] != what:
                if asked is not None:
                    asked[1].close()
                asked = self._held[number, id(kept)] = (what, HeldWindow(kept.fork(), what))
            return asked[1]

    def inspect(self, tick: int, snapshot: int | None) -> dict[str, bytes]:
        """Leaves under the tracked objects before a tick, from the top or from a snapshot."""
        job = job_for(self.record, "inspect", tick=tick, snapshot=snapshot)
        found: dict[str, bytes] = self._fresh(job, self.surroundings)["seen"]
        return found

    def execute_whole(self) -> Verification:
        """Execute the run from its start to its end; return how it agrees with its record.

        Raises:
            TimeLimitReached: E-DIAGNOSE-001.
        """
        self.check_time()
        statement = verify(self.record.path, start=self.start_whole)
        self.check_time()  # what was ended by then has no failure to tell
        self.repeats.append(statement.failure is None)
        return statement

    def unsteady(self, tick: int) -> dict[str, Any]:
        """Components whose state does not stay what it is when it is read, before a tick."""
        job = job_for(self.record, "reading", tick=tick, snapshot=self.start)
        found: dict[str, Any] = self._fresh(job, self.surroundings)["seen"]
        return found


def reproduced(side: Side, window: Window) -> tuple[Executed, bool]:
    """Execute a side until it reproduces its own point: from the top, else from where it was put back.

    A branch that reproduces itself only from its snapshot is a run that restoring changed.

    Returns:
        The execution that counts, and whether it reproduces the recorded digests. ``side.start`` is
        left at what worked, or at the top.
    """
    executed = side.execute(window, None, fork_of=FIRST)
    # A fork is cheap and may tell wrongly; a fresh process has the last word.
    if not executed.reproduces:
        executed = side.execute(window, None)
        # What it computes shows that it was forked.
        side.may_fork = side.may_fork and not executed.reproduces
    fork = side.fork_snapshot()
    if executed.reproduces or fork is None:
        return executed, executed.reproduces
    side.start = fork
    resumed = side.execute(window, None, fork_of=FIRST)
    if resumed.reproduces:
        return resumed, True
    side.start = None
    return executed, False


def _executed(message: Mapping[str, Any]) -> Executed:
    if message["kind"] != "window":
        raise ProgramFailed(
            f"The execution of a window ended with {message['kind']!r}.",
            "Expected its trace.",
            "Verify the record first: twice verify RECORD",
        )
    raw = message["trace"]
    return Executed(
        reached=message["reached"],
        digests=message["digests"],
        reproduces=message["reached"] and message["reproduces"],
        states=message["states"],
        streams=message["streams"],
        restores=message["restores"],
        trace=Trace.from_bytes(raw) if raw else None,
    )


def find_obstacle(*sides: Side) -> str:
    """Say why runs cannot be executed again; return an empty text when they can."""
    if not all(side.record.setup.program.rerunnable for side in sides):
        return "a program has no name to start it by"
    changed = [side.label for side in sides if source_changes(side.record)]
    if changed:
        return f"the code of run {' and '.join(changed)} is not here as it was recorded"
    return ""
