"""The process around a session's process: it answers system calls, passes signals on, and ends as the program ended.

The process that the parent started becomes the keeper, and the program runs below it: a parent may read its
child's memory where others may not, and never shows up among the children that a program waits for. One keeper
serves every policy: it observes a recording, it keeps a replay in a copy of the files, or it refuses writes.

Invariant: the program's process never outlives the keeper, except where the keeper has handed its
listener to another process that answers in its place.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from twice.foundation.digests import Algorithm
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import Confinement
from twice.recorder.kernel.content_store import ContentStore
from twice.recorder.kernel.file_ledger import FileLedger
from twice.recorder.kernel.kept_program import (
    KeptProgram,
    close_all_but,
    pass_signals_on,
)
from twice.recorder.kernel.libc import end_with_parent
from twice.recorder.kernel.paths import PackagePaths
from twice.recorder.kernel.processes import LOOK_MS, StallGuard
from twice.recorder.kernel.supervisor import RecordingSupervisor, Supervisor
from twice.recorder.kernel.thread_marks import ThreadMarks
from twice.worker.channel import Channel
from twice.worker.exit_by_signal import KEEPER_PASSED_ON


def supervise_from_here(folder: str) -> None:
    """Fork: this process becomes the keeper, and the call returns in the program's process.

    ``folder`` is for copies of files. It need not be there yet, and is removed with the session's folder.
    """
    ours, theirs = socket.socketpair()
    marks, parent = ThreadMarks(), os.pidfd_open(os.getppid())
    ready, told = os.pipe()
    keeper = os.getpid()
    child = os.fork()
    if child:
        theirs.close()
        os.close(ready)
        _observe(child, told, Recording(ours, folder, marks))
    ours.close()
    os.close(told)
    os.read(ready, 1)  # a signal from the parent must find a keeper that passes it on
    os.close(ready)
    end_with_parent(keeper)
    confinement.enter(Confinement("supervisor", keeper=theirs, marks=marks, parent=parent))


def _observe(child: int, told: int, recording: Recording) -> NoReturn:
    """Supervise the program's process to its end, and end as it did."""
    try:
        pass_signals_on(child)
        close_all_but({2, recording.line.fileno(), told})
        with suppress(OSError):
            os.setsid()  # a keystroke is the program's; what the parent sends is passed on
        os.write(told, b"k")
        os.close(told)
        events = EventLoop()
        recording.serve(events)
        events.add(os.pidfd_open(child), lambda _: events.stop())
        events.run()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        recording.hand_over()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    end_like(code)


class EventLoop:
    """Waits for descriptors, and calls what belongs to each, until one action stops it or none is left."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._actions: dict[int, Callable[[int], bool]] = {}

    def add(
        self, descriptor: int, action: Callable[[int], bool], events: int = select.POLLIN
    ) -> None:
        """Wait for a descriptor, too; the action gets the event and returns whether to go on with it."""
        self._poll.register(descriptor, events)  # hanging up is always told
        self._actions[descriptor] = action

    def add_supervisor(self, supervisor: Supervisor) -> None:
        """Answer the calls that a listener receives, too."""
        self.add(supervisor.listener.descriptor, supervisor.answer_event)

    def stop(self) -> bool:
        """Call nothing any more."""
        self._actions.clear()
        return False

    def run(self, look: Callable[[], object] | None = None) -> None:
        """Call actions to the end; where nothing happens for a while, call ``look``."""
        while self._actions:
            found = self._poll.poll(None if look is None else LOOK_MS)
            if not found and look is not None:
                look()
            for descriptor, event in found:
                action = self._actions.get(descriptor)
                if action is None:
                    break  # another one stopped this
                if not action(event) and descriptor in self._actions:
                    del self._actions[descriptor]
                    self._poll.unregister(descriptor)


class Recording:
    """Supervises one program's processes as soon as it asks for that, and answers its questions about them."""

    def __init__(self, line: socket.socket, folder: str, marks: ThreadMarks) -> None:
        self.line, self._marks = line, marks
        self._store = ContentStore(folder)
        self._supervisor: RecordingSupervisor | None = None

    def serve(self, events: EventLoop) -> None:
        """Answer the line, and later the calls, among the events of a loop."""
        self._events = events
        events.add(self.line.fileno(), self._answer)

    def hand_over(self) -> None:
        """Leave the listener to another process, while children of the program live on."""
        supervisor = self._supervisor
        if supervisor is None:
            return
        # A program that was killed never asked for its files, and a fork has no thread that makes digests: a child
        # that lives on would wait for one for ever. Its copies would bring the session's folder back, too.
        supervisor.is_noting = False
        if not supervisor.answer_waiting() or os.fork():
            return
        for number in KEEPER_PASSED_ON:
            signal.signal(number, signal.SIG_IGN)
        close_all_but({supervisor.listener.descriptor})
        with suppress(BaseException):
            events = EventLoop()
            events.add_supervisor(supervisor)
            events.run()
        os._exit(0)

    def _answer(self, _event: int) -> bool:
        line = Channel(self.line)
        message = line.receive()
        if message is None:
            return False  # there is no listener, or another program took this one's place
        if message["do"] == "begin":
            return self._begin(message)
        supervisor = self._supervisor
        assert supervisor is not None, "the program asks once it is supervised"
        if message["do"] == "process":
            left = supervisor.ledger.take_branch(message["pid"], message["given"])
            line.send({"left": [each.to_plain() for each in left], "folder": self._store.folder})
            return True
        supervisor.is_noting = False
        served = message["served"]
        line.send(
            {
                "histories": [each.to_plain() for each in supervisor.list_histories(served)],
                "connections": supervisor.connections.list_noted(served),
                "problems": sorted(supervisor.problems.items()),
                "folder": self._store.folder,
            }
        )
        return True

    def _begin(self, asked: dict[str, Any]) -> bool:
        data, handed, _, _ = socket.recv_fds(self.line, 1, 1)
        if not data:
            return False
        algorithm = Algorithm(asked["algorithm"])
        ledger = FileLedger(algorithm, self._store, asked["copy_limit"], asked["own"])
        packages = PackagePaths(asked["roots"])
        self._supervisor = RecordingSupervisor(handed[0], ledger, packages, self._marks)
        self._events.add_supervisor(self._supervisor)
        self.line.send(b"k")
        return True


def wait_for_end(
    started: KeptProgram, parent: Channel, events: EventLoop, *, may_stall: bool
) -> str:
    """Serve until a replay's program, and everything that it started, has ended.

    It is ended when the parent is gone, so that nobody wants the answer, or when it waits for ever. A program that a
    person records may wait. Returns the FIFO that the program waited for in vain, or nothing.
    """
    guard = None if may_stall else StallGuard(started.init)
    stalled = ""

    def hear_program(_event: int) -> bool:
        nonlocal guard
        guard = None  # its children may wait as they like: they have a time of their own
        return started.is_running() or events.stop()

    def hear_parent(_event: int) -> bool:
        started.kill()
        return False

    def look() -> None:
        nonlocal stalled
        if guard is not None and not stalled and (stalled := guard.look()):
            started.kill()

    events.add(started.fileno(), hear_program)
    events.add(parent.fileno(), hear_parent, 0)
    events.run(look)
    return stalled


def end_like(code: int) -> NoReturn:
    """End this process as another one ended: with its exit code, or by the signal if that is minus its number."""
    if code < 0:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        code = 128 - code
    os._exit(code)
