"""A process that executes jobs, as its parent has it: a line to it, its output, its answers, its death.

``FreshWorker`` is an interpreter of its own. ``ForkedWorker`` is a fork of a process that has everything
loaded (``fork_server``), and has that process's addresses.

A worker's standard output and error are files that only these two processes know; the parent shows them
as they grow, when asked to, and the worker reads them back as compared columns.

Invariant: when a ``FreshWorker`` is closed, no process is left running.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Protocol

from twice.errors import ProgramFailed, UsageError
from twice.foundation.with_blocks import Closing
from twice.worker.channel import KEPT, Channel, pair, revive_error
from twice.worker.exit_by_signal import PASSED_ON, would_end
from twice.worker.exit_status import count_memory_kills, describe_exit

NESTED = "TWICE_SESSION"
"""Variable of a worker with its own folder, which it makes when needed and which is removed with it."""
_SHOW_EVERY_S = 0.05
_ENDING_S = 10.0
_LONGEST_MS = 2**31 - 1  # that ``poll`` takes: 24 days


class Process(Protocol):
    """What a worker asks of its process; ``subprocess.Popen`` has it."""

    @property
    def pid(self) -> int:
        """The id that signals are sent to."""
        ...

    def poll(self) -> int | None:
        """Return the exit code, or None as long as it runs."""
        ...

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end and return the exit code; raises ``subprocess.TimeoutExpired``."""
        ...

    def kill(self) -> None:
        """Kill it, unless it has ended."""
        ...


def start_interpreter(
    module: str,
    line: int,
    environ: Mapping[str, str],
    *,
    stdin: int | None,
    files: tuple[int, int],
    cwd: str | None,
    python: str,
) -> Process:
    """Start a fresh interpreter for a worker.

    Args:
        module: the module to run with ``python -m``.
        line: descriptor of its end of the line to this process, passed as its argument.
        environ: its whole environment.
        stdin: as ``subprocess.Popen`` takes it.
        files: descriptors of its standard output and standard error.
        cwd: its working folder; None for this process's.
        python: the interpreter; empty for this one.
    """
    return subprocess.Popen(
        # -P: a file of the user in the current folder must not replace a module of twice
        # or of the standard library; the program's folders are searched once it is loaded.
        [python or sys.executable, "-P", "-m", module, str(line)],
        env=environ,
        stdin=stdin,
        stdout=files[0],
        stderr=files[1],
        pass_fds=[line],
        cwd=cwd,
    )


starter = start_interpreter
"""How the process of a fresh worker is started; tests put forks of a loaded process in its place."""

Heard = Callable[[Mapping[str, Any]], object]


class Worker(Closing):
    """A line to a process that executes jobs, and the files of its output; a context manager.

    Args:
        heard: called with every message that is no error.
    """

    def __init__(self, heard: Heard) -> None:
        self._heard = heard
        self.channel, self._theirs = pair()
        self._kept: Mapping[str, Any] | None = None
        self._files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]  # noqa: SIM115
        for file in self._files:  # writes of all its descendants go to the end
            flags = fcntl.fcntl(file, fcntl.F_GETFL)
            fcntl.fcntl(file, fcntl.F_SETFL, flags | os.O_APPEND)

    def ask(self, message: Mapping[str, object], timeout_s: float | None = None) -> dict[str, Any]:
        """Send a message and wait for the answer; raises as ``answer`` does."""
        self.channel.send(message)
        return self.answer(timeout_s)

    def answer(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Wait for the next message of the worker.

        Raises:
            TwiceError: the error that the worker reports, as it was raised there.
            ProgramFailed: E-PROGRAM-003, when it died without an answer.
            TimeoutError: when nothing came within ``timeout_s`` seconds.
        """
        message = self.receive(timeout_s)
        if message is None:
            raise self._death()
        return message

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Return the next message, or None when there is no more; raises the error that it reports."""
        message = self.channel.receive(timeout_s)
        if message is not None and message.get("kind") == KEPT:
            self._kept = message  # the program ended without an answer
            return None
        if message is not None and message.get("kind") == "error":
            raise revive_error(message)
        if message is not None:
            self._heard(message)
        return message

    def read_keeper_report(self) -> Mapping[str, Any]:
        """Return the keeper's findings after the program's end; nothing without a keeper."""
        while self._kept is None and (message := self.channel.receive()) is not None:
            if message.get("kind") == KEPT:
                self._kept = message
        return self._kept or {}

    def count_printed(self) -> list[int]:
        """Return how many bytes there are of the worker's standard output and standard error."""
        return [os.fstat(file.fileno()).st_size for file in self._files]

    def errors_tail(self, size: int = 2000) -> str:
        """Return the end of the worker's standard error."""
        return self.read_printed()[1][-size:].decode("utf-8", "replace").strip()

    def read_printed(self) -> tuple[bytes, bytes]:
        """Return the worker's standard output and standard error."""
        output, errors = (
            os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in self._files
        )
        return output, errors

    def close(self) -> None:
        """Close the line and the files."""
        self.channel.close()
        for file in self._files:
            file.close()

    def kill(self) -> None:
        """End the process at once, from any thread; a fork, whose id is not known, goes on."""

    def find_exit(self) -> tuple[str, int | None]:
        """Return how the process ended, in words, and its exit code; of a fork neither is known."""
        return "", None

    def _death(self) -> ProgramFailed:
        """Return how the worker died, as the error of whoever waited for its answer."""
        how, code = self.find_exit()
        tail = self.errors_tail()
        return ProgramFailed(
            f"The process that executed the program died{how}.",
            f"Its last words: {tail}" if tail else "It printed nothing to standard error.",
            "Run the program by itself, without twice, to see what ends it; what was recorded before "
            "stands in the record: twice show RECORD",
            **({} if code is None else {"exit_code": code}),
        )


class ForkedWorker(Worker):
    """A fork of a process that has everything loaded.

    After a close, a fork that still runs ends at its next message, or with its server.

    Args:
        control: the line for requests of forks.
        heard: called with each message that is not an error.

    Raises:
        OSError: the process is gone.
    """

    def __init__(self, control: Channel, heard: Heard = lambda _: None) -> None:
        super().__init__(heard)
        handed = [self._theirs.fileno(), *(file.fileno() for file in self._files)]
        try:
            control.send_descriptors(handed)
        except OSError:
            self.close()
            raise
        finally:
            self._theirs.close()


class FreshWorker(Worker):
    """An interpreter of its own.

    Args:
        module: the module to run with ``python -m``.
        environ: its whole environment.
        show: whether its output is passed on to this process's output.
        stdin: True to read this process's standard input, a descriptor to read instead, or False for no input.
        cwd: its working folder.
        passes_interrupts: whether the worker handles an interrupt of this process, as in a recording. Otherwise
            it is raised here, and the worker ends.
        python: the interpreter that executes it; empty for this one.
        heard: called with each message that is not an error.

    Attributes:
        scratch: its own folder.
        program_pid: id of the process that executes the program, once it has said so.
    """

    def __init__(
        self,
        module: str,
        environ: Mapping[str, str],
        *,
        show: bool = False,
        stdin: bool | int = False,
        cwd: str | None = None,
        passes_interrupts: bool = False,
        python: str = "",
        heard: Heard = lambda _: None,
    ) -> None:
        super().__init__(heard)
        self._passes_interrupts, self._memory_kills = passes_interrupts, count_memory_kills()
        parent = os.path.realpath(tempfile.gettempdir())
        self.scratch = f"{parent}/twice-session-{os.getpid()}-{os.urandom(8).hex()}"
        given = (None if stdin else subprocess.DEVNULL) if isinstance(stdin, bool) else stdin
        self._process = starter(
            module,
            self._theirs.fileno(),
            {**environ, NESTED: self.scratch},
            stdin=given,
            files=(self._files[0].fileno(), self._files[1].fileno()),
            cwd=cwd,
            python=python,
        )
        self._theirs.close()
        self._end = os.pidfd_open(self._process.pid) if hasattr(os, "pidfd_open") else None
        self.program_pid = self._process.pid
        self._passing: dict[signal.Signals, Any] = {}
        if passes_interrupts and threading.current_thread() is threading.main_thread():
            # An interrupt too: raised where a message is taken in, it would lose it.
            for number in (*PASSED_ON, signal.SIGINT):
                if would_end(number):  # then the program handles it
                    self._passing[number] = signal.signal(number, self._interrupt)
        self._shown, self._done = [0, 0], threading.Event()
        self._shower = threading.Thread(target=self._show_forever, daemon=True) if show else None
        if self._shower is not None:
            self._shower.start()

    @property
    def pid(self) -> int:
        """The id of the started process, which passes signals on to the program."""
        return self._process.pid

    def receive(self, timeout_s: float | None = None) -> dict[str, Any] | None:
        """Return the next message, or None when there is no more; raises the error that it reports."""
        while True:
            try:
                message = None if self._is_gone(timeout_s) else super().receive(timeout_s)
            except KeyboardInterrupt:
                if not self._passes_interrupts:
                    raise
                self._interrupt()  # by a handler of the caller's own
                continue
            if message is not None and message.get("kind") == "started":
                self.program_pid = int(message["pid"])
            return message

    def wait(self) -> int:
        """Wait for the process to end; its exit code."""
        try:
            return self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def kill(self) -> None:
        """End the worker at once, from any thread; a waiting caller gets the error of its death."""
        self._process.kill()

    def close(self) -> None:
        """Stop the worker if it still runs, show the rest of its output, release everything."""
        while self._passing:
            signal.signal(*self._passing.popitem())
        self.channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._done.set()
        if self._shower is not None:
            self._shower.join()
        super().close()
        if self._end is not None:
            os.close(self._end)
            self._end = None
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _interrupt(self, number: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def _is_gone(self, timeout_s: float | None) -> bool:
        """Wait for a message or the end; return whether only the end came: a fork may keep the line open."""
        if self._end is None:
            return False
        poll = select.poll()
        poll.register(self.channel.fileno(), select.POLLIN)
        poll.register(self._end, select.POLLIN)
        found = poll.poll(None if timeout_s is None else min(timeout_s * 1000, _LONGEST_MS))
        if not found:
            raise TimeoutError("nothing came in time")
        return [descriptor for descriptor, _ in found] == [self._end]

    def find_exit(self) -> tuple[str, int | None]:
        """Return how the process ended, in words, and its exit code."""
        code = self.wait()
        if code < 0:
            self._end_leftovers()
        return f": {describe_exit(code, self._memory_kills)}", code

    def _end_leftovers(self) -> None:
        """End the processes that a killed worker left."""
        mark = f"{NESTED}={self.scratch}".encode()
        for folder in Path("/proc").glob("[0-9]*"):  # empty without one
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)

    def _show_forever(self) -> None:
        while not self._done.wait(_SHOW_EVERY_S):
            self._show()
        self._show()

    def _show(self) -> None:
        for at, target in enumerate((sys.stdout, sys.stderr)):
            descriptor = self._files[at].fileno()
            while new := os.pread(descriptor, 1 << 20, self._shown[at]):
                self._shown[at] += len(new)
                with contextlib.suppress(BrokenPipeError, ValueError):
                    if hasattr(target, "buffer"):
                        target.buffer.write(new)
                    else:
                        target.write(new.decode("utf-8", "replace"))
                    target.flush()


def refuse_nesting() -> None:
    """Refuse to start a worker inside a worker.

    Raises:
        UsageError: E-USE-001, inside a worker.
    """
    if NESTED in os.environ:
        raise UsageError(
            "A session was started by a program that is itself being executed by a session.",
            "Expected the program to be a function, started from outside.",
            "Guard the call: if __name__ == '__main__': ...",
        )
