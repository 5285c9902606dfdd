"""The process id of a recording, given to a program again.

In a process namespace of its own, process 1 sets the number that the kernel gives next and forks: nobody
else is there to take it. Process 1 adopts and reaps orphans, passes signals on from outside, and takes all
other processes of the namespace with it when it ends.

Not for: ``getppid``, which is 1, and ids of processes outside, which are not there.

Invariant: a program that did not get the number that was asked for runs under another one, and its
``NumberedProgram`` says why.
Source: pid_namespaces(7).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from twice.foundation.dataclass import dataclass
from twice.recorder.kernel import libc
from twice.recorder.kernel.namespaces import NamespaceRefused
from twice.worker.exit_by_signal import KEEPER_PASSED_ON

_WATCHED = frozenset({*KEEPER_PASSED_ON, signal.SIGCHLD})
_listdir = os.listdir
_LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"
_FROM_KERNEL = 0x80


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended.

    Attributes:
        exit_code: what it returned, or minus the number of the signal that ended it.
        number: the process id that it had.
        has_wanted_number: whether that is the one that was asked for.
        problem: why it is not; empty where it is.
    """

    exit_code: int
    number: int
    has_wanted_number: bool
    problem: str


class NumberedProgram:
    """A program that runs in a process namespace of its own.

    Attributes:
        init: process id of the namespace's process 1, as the caller sees it; signals go there.
        number: process id of the program, as the program sees it.
        problem: why that is not the wanted one; empty where it is.
    """

    def __init__(self, init: int, reading: int, wanted: int | None) -> None:
        self.init, self._reading, self._wanted = init, reading, wanted
        self._rest = b""
        kind, _, text = self._read_line().partition(" ")
        if kind != "started":
            self._reap()
            raise NamespaceRefused(text or "process 1 of the namespace ended early")
        number, _, self.problem = text.partition(" ")
        self.number = int(number)

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the program has ended."""
        return self._reading

    def send_signal(self, number: int) -> None:
        """Send the program a signal of ``KEEPER_PASSED_ON``; ``SIGKILL`` ends it with all its descendants."""
        with suppress(ProcessLookupError):
            os.kill(self.init, number)

    def wait(self) -> ProgramEnd:
        """Wait until every process of the namespace has ended, and return how the program did."""
        kind, _, text = self._read_line().partition(" ")
        status = self._reap()
        if kind == "ended":
            status = int(text)
        is_wanted = self._wanted in {None, self.number}
        return ProgramEnd(
            os.waitstatus_to_exitcode(status), self.number, is_wanted, self.problem
        )  # fmt: skip

    def _read_line(self) -> str:
        while b"\n" not in self._rest and (data := os.read(self._reading, 4096)):
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode(errors="replace")

    def _reap(self) -> int:
        while os.read(self._reading, 4096):
            pass
        os.close(self._reading)
        return os.waitpid(self.init, 0)[1]


def start_as(
    wanted: int | None, program: Callable[[], object], *, linger_s: float = 0.0
) -> NumberedProgram:
    """Start a program under a process id, in the process namespace that this process has prepared.

    Called after ``enter_namespaces(process_numbers=True)``, once, by a process with one thread.

    Args:
        wanted: process id; None for any.
        program: what runs in the new process. It does not return; if it does, the process ends with 0.
        linger_s: how long other processes may run on after the program has ended, in seconds.

    Raises:
        NamespaceRefused: process 1 could not set the namespace up; the program did not run.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        return _start(wanted, program, linger_s, mask)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def run_as(
    wanted: int | None, program: Callable[[], object], *, linger_s: float = 0.0
) -> ProgramEnd:
    """Run a program under a process id to its end, and pass signals to this process on to it.

    Arguments and errors are those of ``start_as``.
    """
    # Blocked from before the program is there: a signal that comes early waits until it can be passed on.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        started = _start(wanted, program, linger_s, mask)
        while not _has_ended(started.init):
            arrived = signal.sigwaitinfo(_WATCHED)
            # What a terminal sends goes to the program's process group, and has reached the program.
            if arrived.si_signo != signal.SIGCHLD and arrived.si_code != _FROM_KERNEL:
                started.send_signal(arrived.si_signo)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return started.wait()


def be_program(program: Callable[[], object]) -> NoReturn:
    """Run a program in this process, a fork made for it, and end the process as the program ends."""
    code = 1
    try:
        program()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else error.code is not None
    except BaseException:  # noqa: BLE001  (whatever ends a program's process is printed)
        traceback.print_exc()
    finally:
        with suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _start(
    wanted: int | None,
    program: Callable[[], object],
    linger_s: float,
    mask: set[int | signal.Signals],
) -> NumberedProgram:
    """Start process 1, with ``_WATCHED`` blocked; the program gets the mask from before."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()  # the program would write what is left in its copy
    reading, writing = os.pipe()
    init = os.fork()
    if not init:
        os.close(reading)
        _be_init(wanted, program, writing, mask, linger_s)
    os.close(writing)
    return NumberedProgram(init, reading, wanted)


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _be_init(
    wanted: int | None,
    program: Callable[[], object],
    writing: int,
    mask: set[int | signal.Signals],
    linger_s: float,
) -> NoReturn:
    """Run as process 1: start the program, reap, pass signals on, and end with everyone else."""
    code = 1
    try:
        # A kill of the caller must not leave a program behind that nobody waits for. From here its number is 0,
        # alive or not; what it holds of the pipe says whether it had ended before.
        libc.end_with_parent(0)
        caller = select.poll()
        caller.register(writing, 0)
        if caller.poll(0):
            os._exit(code)
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        problem = _show_own_processes()
        if wanted is not None:
            problem = _set_next_number(wanted) or problem
        child = os.fork()
        if not child:
            os.close(writing)
            if before is not None:
                signal.signal(signal.SIGCHLD, before)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            be_program(program)
        if wanted is not None and child != wanted and not problem:
            problem = f"the kernel gave {child}, and {wanted} was asked for"
        os.write(writing, f"started {child} {problem}\n".encode())
        _close_all_but(writing)
        os.write(writing, f"ended {_serve(child)}\n".encode())
        _linger(linger_s)
        code = 0
    except OSError as error:
        with suppress(OSError):
            os.write(writing, f"refused process 1 of the namespace: {error}\n".encode())
    finally:
        os._exit(code)


def _show_own_processes() -> str:
    """Mount ``/proc`` anew, for this namespace's processes alone; return why that failed, or nothing.

    The mount is for process 1 and what comes from it: the caller keeps its own ``/proc``.
    """
    try:
        libc.unshare(libc.CLONE_NEWNS)
        libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
        libc.mount("proc", "/proc", "proc", libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC)
    except OSError as error:
        return f"/proc: {error.strerror}"
    return ""


def _set_next_number(wanted: int) -> str:
    """Let the next child have a number; return why that failed, or nothing."""
    if wanted < 2:
        return f"{wanted} is process 1 of the namespace, or nobody"
    try:
        descriptor = os.open(_LAST_NUMBER, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, str(wanted - 1).encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"{_LAST_NUMBER}: {error.strerror}"
    return ""


def _close_all_but(kept: int) -> None:
    """Close inherited descriptors: an open end of a pipe would keep its reader waiting."""
    for name in _listdir("/proc/self/fd"):
        if int(name) != kept:
            with suppress(OSError):
                os.close(int(name))


def _serve(program: int) -> int:
    """Reap and pass signals on until the program has ended; return its wait status."""
    while True:
        arrived = signal.sigwaitinfo(_WATCHED)
        if arrived.si_signo == signal.SIGCHLD:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == program:
                    return found[1]
        # Senders outside have no number here. What a process of the namespace sends to its parent is
        # not meant for the program, and what a terminal sends has reached it.
        elif arrived.si_pid == 0 and arrived.si_code != _FROM_KERNEL:
            os.kill(program, arrived.si_signo)


def _linger(seconds: float) -> None:
    """Wait for orphans to end, so long and no longer."""
    if seconds <= 0:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with suppress(ChildProcessError):
        while True:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            if signal.sigwaitinfo({signal.SIGCHLD, signal.SIGALRM}).si_signo == signal.SIGALRM:
                return
