"""A program below a process that reaps for it, passes signals on to it, and ends everything that it started.

In a process namespace that process is process 1: it sets the number that the kernel gives next and forks, and
nobody else is there to take it. Without such a namespace it adopts orphans all the same, and the program gets
whatever number comes.

Not for: ``getppid``, which is 1 in a namespace, and ids of processes outside, which are not there.

Invariant: when ``KeptProgram.wait`` has returned, nothing runs any more that the program started.
Source: pid_namespaces(7), PR_SET_CHILD_SUBREAPER in prctl(2).
"""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, NoReturn

from twice.recorder.kernel import libc
from twice.recorder.kernel.namespaces import NamespaceRefused, write_at_once
from twice.recorder.kernel.processes import list_processes
from twice.worker.exit_by_signal import KEEPER_PASSED_ON

_WATCHED = frozenset({*KEEPER_PASSED_ON, signal.SIGCHLD})
_listdir = os.listdir
_LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"
_FROM_KERNEL = 0x80
NO_NAMESPACE = "no process namespace"


class ProgramEnd(NamedTuple):
    """How a program ended: with an exit code, or minus the number of the signal that ended it.

    Its process id, and why that is not the one that was asked for; empty where it is.
    """

    exit_code: int
    number: int
    problem: str


class KeptProgram:
    """A program that was started below a process that ends with everything that the program started.

    Attributes:
        init: id of that process, as the caller sees it; signals go there.
        number: process id of the program, as the program sees it.
        problem: why that is not the wanted one; empty where it is.
    """

    def __init__(self, init: int, reading: int) -> None:
        self.init, self._reading = init, reading
        self._said = b""
        while b"\n" not in self._said and self.is_running():
            pass
        kind, _, text = self._said.split(b"\n")[0].decode(errors="replace").partition(" ")
        if kind != "started":
            self._reap()
            raise NamespaceRefused(text or "process 1 of the namespace ended early")
        number, _, self.problem = text.partition(" ")
        self.number = int(number)

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the program, or all that it started, has ended."""
        return self._reading

    def is_running(self) -> bool:
        """Return whether anything runs, after waiting for news; the end of the program is one."""
        data = os.read(self._reading, 4096)
        self._said += data
        return bool(data)

    def kill(self) -> None:
        """End the program, and soon all that it started."""
        # Without a namespace the process above has to live: it is the one that ends the others.
        target = self.number if self.problem == NO_NAMESPACE else self.init
        with suppress(ProcessLookupError):
            os.kill(target, signal.SIGKILL)

    def wait(self) -> ProgramEnd:
        """Wait until everything has ended, and return how the program did."""
        status = self._reap()
        kind, _, text = self._said.split(b"\n")[1].partition(b" ")
        if kind == b"ended":
            status = int(text)
        return ProgramEnd(os.waitstatus_to_exitcode(status), self.number, self.problem)

    def _reap(self) -> int:
        while self.is_running():
            pass
        os.close(self._reading)
        return os.waitpid(self.init, 0)[1]


def start_program(
    wanted: int | None,
    program: Callable[[], object],
    *,
    has_namespace: bool = True,
    linger_s: float = 0.0,
) -> KeptProgram:
    """Start a program, once, from a process with one thread, which passes signals on to it from here on.

    ``wanted`` is the process id that it should get. A program that returns ends with 0. Other processes may run on for
    ``linger_s`` seconds after it. After ``NamespaceRefused``, for a namespace that could not be set up, nothing ran.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()  # the program would write what is left in its copy
    # Blocked from before the process is there: a signal that comes early waits until it can be passed on.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    try:
        reading, writing = os.pipe()
        keeper = 0 if has_namespace else os.getpid()  # as the new process will see it
        init = os.fork()
        if not init:
            os.close(reading)
            _be_init(wanted, program, writing, mask, keeper, linger_s)
        os.close(writing)
        started = KeptProgram(init, reading)
        pass_signals_on(init)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return started


def pass_signals_on(child: int) -> None:
    """Send a process the signals that this one gets from here on."""

    def pass_on(number: int, _frame: object) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in KEEPER_PASSED_ON:
        signal.signal(number, pass_on)


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


def _be_init(
    wanted: int | None,
    program: Callable[[], object],
    writing: int,
    mask: set[int | signal.Signals],
    keeper: int,
    linger_s: float,
) -> NoReturn:
    """Start the program, reap, pass signals on, and end with everyone else."""
    code = 1
    try:
        # A kill of the caller must not leave a program behind that nobody waits for. In a namespace the caller's
        # number is 0, alive or not; what it holds of the pipe says whether it had ended before.
        libc.end_with_parent(keeper)
        caller = select.poll()
        caller.register(writing, 0)
        if caller.poll(0):
            os._exit(code)
        before = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if keeper:
            libc.adopt_orphans()
            problem = NO_NAMESPACE
        else:
            problem = _show_own_processes()
            if wanted is not None:
                problem = _set_next_number(wanted) or problem
        own = os.getpid()
        child = os.fork()
        if not child:
            os.close(writing)
            if keeper:
                libc.end_with_parent(own)
            if before is not None:
                signal.signal(signal.SIGCHLD, before)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            be_program(program)
        if wanted is not None and child != wanted and not problem:
            problem = f"the kernel gave {child}, and {wanted} was asked for"
        os.write(writing, f"started {child} {problem}\n".encode())
        close_all_but({writing})
        os.write(writing, f"ended {_serve(child, keeper)}\n".encode())
        _linger(linger_s)
        if keeper:
            _end_descendants()
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
        write_at_once(_LAST_NUMBER, str(wanted - 1))
    except OSError as error:
        return f"{_LAST_NUMBER}: {error.strerror}"
    return ""


def close_all_but(kept: set[int]) -> None:
    """Close inherited descriptors: an open end of a pipe would keep its reader waiting."""
    for name in _listdir("/proc/self/fd"):
        if int(name) not in kept:
            with suppress(OSError):
                os.close(int(name))


def _serve(program: int, keeper: int) -> int:
    """Reap and pass signals on until the program has ended; return its wait status."""
    while True:
        arrived = signal.sigwaitinfo(_WATCHED)
        if arrived.si_signo == signal.SIGCHLD:
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                if found[0] == program:
                    return found[1]
        # What a process of the run sends to its parent is not meant for the program, and what a terminal
        # sends has reached it. In a namespace all senders outside have the number 0.
        elif arrived.si_pid == keeper and arrived.si_code != _FROM_KERNEL:
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


def _end_descendants() -> None:
    """Kill what is left: no namespace ends with this process and takes it along."""
    own = os.getpid()
    with suppress(ChildProcessError):
        while True:
            left = [process for process in list_processes(own) if process != own]
            for process in left:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            if not left:
                return  # this system does not tell who is whose child
            os.waitpid(-1, 0)  # its own children come here, and are killed on the next turn
