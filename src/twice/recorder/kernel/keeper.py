"""The process around a session's process: it supervises a recording, and outlives the program by its last call.

The process that the parent started becomes the keeper, and the program runs in a fork of it: a parent may
read its child's memory where others may not, and never shows up among the children that a program waits
for. It passes signals on and ends as the program ended.

Invariant: the program's process never outlives the keeper, except where the keeper has handed its
listener to another process that answers in its place.
"""

from __future__ import annotations

import os
import resource
import select
import signal
import socket
from contextlib import suppress
from typing import NoReturn

from twice.foundation.digests import Algorithm
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import Confinement
from twice.recorder.kernel.file_ledger import FileLedger
from twice.recorder.kernel.libc import end_with_parent
from twice.recorder.kernel.package_paths import PackagePaths
from twice.recorder.kernel.preimages import PreimageStore
from twice.recorder.kernel.supervisor import StopServing, Supervisor, serve_until
from twice.recorder.kernel.thread_marks import ThreadMarks
from twice.worker.channel import Channel
from twice.worker.exit_by_signal import KEEPER_PASSED_ON


def supervise_from_here(folder: str) -> None:
    """Fork: this process becomes the keeper, and the call returns in the program's process.

    Args:
        folder: for copies of files; it need not be there yet, and is removed with the session's folder.
    """
    ours, theirs = socket.socketpair()
    marks, parent = ThreadMarks(), os.pidfd_open(os.getppid())
    ready, told = os.pipe()
    keeper = os.getpid()
    child = os.fork()
    if child:
        theirs.close()
        os.close(ready)
        _keep(child, ours, told, Keeper(ours, folder, marks))
    ours.close()
    os.close(told)
    os.read(ready, 1)  # a signal from the parent must find a keeper that passes it on
    os.close(ready)
    end_with_parent(keeper)
    confinement.enter(Confinement("supervisor", keeper=theirs, marks=marks, parent=parent))


def _keep(child: int, line: socket.socket, told: int, keeper: Keeper) -> NoReturn:
    """Supervise the program's process to its end, and end as it did."""
    try:
        pass_signals_on(child)
        _let_go_of_all_but({2, line.fileno(), told})
        with suppress(OSError):
            os.setsid()  # a keystroke is the program's; what the parent sends is passed on
        os.write(told, b"k")
        os.close(told)
        keeper.serve_until_end(os.pidfd_open(child))
        status = os.waitpid(child, 0)[1]
        keeper.hand_over()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    end_like(status)


class Keeper:
    """Supervises one program's processes, and answers what it asks about them.

    Args:
        line: to the program's process.
        folder: for copies of files.
        marks: what threads of the program are about to do.
    """

    def __init__(self, line: socket.socket, folder: str, marks: ThreadMarks) -> None:
        self._line, self._folder, self._marks = line, folder, marks
        self._supervisor: Supervisor | None = None

    def serve_until_end(self, end: int) -> None:
        """Answer the program's process, and the calls of all its descendants.

        Args:
            end: descriptor that becomes readable when the program has ended.
        """
        poll = select.poll()
        poll.register(self._line, select.POLLIN)
        poll.register(end, select.POLLIN)
        while self._supervisor is None:
            for descriptor, _ in poll.poll():
                if descriptor == end or not self._take_listener():
                    return
        serve_until(self._supervisor, {self._line.fileno(): self._answer, end: self._stop})
        self._supervisor.answer_waiting()

    def hand_over(self) -> None:
        """Leave the listener to another process, while children of the program live on."""
        supervisor = self._supervisor
        if supervisor is None or not supervisor.answer_waiting():
            return
        if os.fork():
            return
        for number in KEEPER_PASSED_ON:
            signal.signal(number, signal.SIG_IGN)
        _let_go_of_all_but({supervisor.descriptor})
        with suppress(BaseException):
            serve_until(supervisor, {})
        os._exit(0)

    def _take_listener(self) -> bool:
        asked = Channel(self._line).receive()
        if asked is None:
            return False
        data, handed, _, _ = socket.recv_fds(self._line, 1, 1)
        if not data:
            return False
        ledger = FileLedger(
            Algorithm(asked["algorithm"]),
            PreimageStore(self._folder),
            asked["copy_limit"],
            asked["own"],
        )
        self._supervisor = Supervisor(handed[0], ledger, PackagePaths(asked["roots"]), self._marks)
        self._line.send(b"k")
        return True

    def _answer(self) -> bool:
        line = Channel(self._line)
        message = line.receive()
        if message is None:
            return False  # another program took this one's place
        assert self._supervisor is not None, "the program asks once it is supervised"
        if message["do"] == "process":
            left = self._supervisor.take_branch(message["pid"])
            line.send({"left": [each.to_plain() for each in left], "folder": self._folder})
            return True
        histories = self._supervisor.stop_noting(message["served"])
        line.send(
            {
                "histories": [history.to_plain() for history in histories],
                "connections": self._supervisor.list_connections(message["served"]),
                "problems": sorted(self._supervisor.problems.items()),
                "folder": self._folder,
            }
        )
        return True

    def _stop(self) -> bool:
        raise StopServing


def pass_signals_on(child: int) -> None:
    """Send a process the signals that this one gets from here on."""

    def pass_on(number: int, _frame: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in KEEPER_PASSED_ON:
        signal.signal(number, pass_on)


def _let_go_of_all_but(kept: set[int]) -> None:
    """Close inherited descriptors: an open end of a pipe keeps its reader waiting."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):
                os.close(int(name))


def end_like(status: int) -> NoReturn:
    """End this process as another one ended."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core file is enough
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        code = 128 - code
    os._exit(code)
