"""The parent's side of a session: start the process, pass its output on, wait, stop it.

The child's standard output and error are files that only these two processes know; the parent
shows them as they grow, when asked to, and the child reads them back as compared columns.

Invariant: when the ``ChildProcess`` is closed, no child is left running.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import IO, Any, Protocol

from twice.errors import ProgramFailed, TwiceError, UsageError
from twice.foundation.closing import Closing
from twice.foundation.exit_by_signal import would_end
from twice.recording.kernel.tiers import KEPT
from twice.recording.trust import remember_record
from twice.recording.wire import pair

NESTED = "TWICE_SESSION"
"""Set for a session's process: the folder that is its own, made when it is needed, removed with it."""
SUPERVISED = "supervised"
"""Set in a job whose process is supervised: a recording, which learns of every file that is touched."""
WORLD = "world"
"""Set in a job whose process runs in a copy of the files: what else the keeper is told, by name."""
GO_ON = "go-on"
"""What a recording does when its record cannot be written any more; the other way is ``stop``."""
_SHOW_EVERY_S = 0.05
_ENDING_S = 10.0
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def run_apart(module: str, arguments: Sequence[str], timeout_s: float) -> bytes | None:
    """Run a module of ours that may crash or never return; return what it printed, or None where it did.

    Args:
        module: run with ``python -m``.
        arguments: its command line.
        timeout_s: after so many seconds it is ended.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


class SessionProcess(Protocol):
    """What a session asks of its process; ``subprocess.Popen`` has it."""

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
) -> SessionProcess:
    """Start a fresh interpreter for a session.

    Args:
        module: the module to run with ``python -m``.
        line: descriptor of its end of the line to this process, which it is told as its argument.
        environ: its whole environment.
        stdin: as ``subprocess.Popen`` takes it.
        files: descriptors of its standard output and standard error.
        cwd: its working folder; None for this process's.
        python: the interpreter; empty for this one.
    """
    return subprocess.Popen(
        # -P: a file of the user's in the current folder must not stand in for a module of ours
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
"""How the process of a session is started; tests put forks of a loaded process in its place."""


class ChildProcess(Closing):
    """A process that executes one session.

    Args:
        module: the module to run with ``python -m``; it speaks ``wire``.
        environ: its whole environment.
        show: whether what it prints is passed on to this process's output.
        stdin: whether it reads this process's standard input, or a descriptor that it reads in its place;
            otherwise it reads nothing.
        cwd: its working folder.
        passes_interrupts: whether an interrupt of this process is the child's to handle, as it is
            while recording; otherwise it is raised here, and the child goes.
        python: the interpreter that executes it; empty for this one.
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
    ) -> None:
        self._passes_interrupts = passes_interrupts
        self.channel, theirs = pair()
        self._files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]  # noqa: SIM115
        for file in self._files:
            append_only(file)
        parent = os.path.realpath(tempfile.gettempdir())
        self.scratch = f"{parent}/twice-session-{os.getpid()}-{os.urandom(8).hex()}"
        self._process = starter(
            module,
            theirs.fileno(),
            {**environ, NESTED: self.scratch},
            stdin=_standard_input(stdin),
            files=(self._files[0].fileno(), self._files[1].fileno()),
            cwd=cwd,
            python=python,
        )
        theirs.close()
        self._end = os.pidfd_open(self._process.pid) if hasattr(os, "pidfd_open") else None
        self.program_pid = self._process.pid
        """Id of the process that executes the program, once it has said so."""
        self._kept: Mapping[str, Any] | None = None
        self._passing: dict[signal.Signals, Any] = {}
        if passes_interrupts and threading.current_thread() is threading.main_thread():
            self._pass_signals_on()
        self._shown = [0, 0]
        self._done = threading.Event()
        self._shower = threading.Thread(target=self._show_forever, daemon=True) if show else None
        if self._shower is not None:
            self._shower.start()

    @property
    def pid(self) -> int:
        """Process id of what was started: it passes signals on to the program."""
        return self._process.pid

    def ask(self, message: Mapping[str, object], timeout_s: float | None = None) -> dict[str, Any]:
        """Send a message and wait for the answer.

        Raises:
            TwiceError: the error that the child reports, as it was raised there.
            ProgramFailed: E-PROGRAM-003, when the child died without an answer.
        """
        self.channel.send(message)
        return self.answer(timeout_s)

    def answer(self, timeout_s: float | None = None) -> dict[str, Any]:
        """Wait for the next message of the child; raises as ``ask`` does."""
        while True:
            try:
                message = None if self._is_gone(timeout_s) else self.channel.receive(timeout_s)
            except KeyboardInterrupt:
                if not self._passes_interrupts:
                    raise
                # The child got the same signal: let it close its record, then go on.
                self._interrupt()
                continue
            if message is None or message.get("kind") == KEPT:
                self._kept = message
                raise self._death()
            if message.get("kind") == "error":
                raise revived(message)
            if message.get("kind") == "started":
                self.program_pid = int(message["pid"])
            if (
                made := message.get("record")
            ) is not None:  # a record is begun, or a branch is finished
                remember_record(made, is_passing=bool(message.get("is_passing")))
            return message

    def read_keeper_report(self) -> Mapping[str, Any]:
        """Return what the keeper found once the program had ended; empty without a keeper."""
        while self._kept is None and (message := self.channel.receive()) is not None:
            if message.get("kind") == KEPT:
                self._kept = message
        return self._kept or {}

    def wait(self) -> int:
        """Wait for the process to end; its exit code."""
        try:
            return self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def errors_tail(self, size: int = 2000) -> str:
        """The end of what the child wrote to standard error."""
        descriptor = self._files[1].fileno()
        end = os.fstat(descriptor).st_size
        return os.pread(descriptor, size, max(0, end - size)).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End the child at once, from any thread; whoever waits for its answer is told it died."""
        self._process.kill()

    def close(self) -> None:
        """Stop the child if it still runs, show the rest of its output, release everything."""
        while self._passing:
            signal.signal(*self._passing.popitem())
        self.channel.close()
        if self._process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(0.2)
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait()
        self._done.set()
        if self._shower is not None:
            self._shower.join()
        for file in self._files:
            file.close()
        if self._end is not None:
            os.close(self._end)
            self._end = None
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _interrupt(self, number: int = signal.SIGINT, frame: FrameType | None = None) -> None:
        del frame
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def _pass_signals_on(self) -> None:
        """Signals that would end this process are the program's to handle."""
        for number in _PASSED_ON:
            if would_end(number):
                self._passing[number] = signal.signal(number, self._interrupt)

    def _is_gone(self, timeout_s: float | None) -> bool:
        """Wait for a message or the end; return whether only the end came: a fork may hold the line open."""
        if self._end is None:
            return False
        poll = select.poll()
        poll.register(self.channel.fileno(), select.POLLIN)
        poll.register(self._end, select.POLLIN)
        found = poll.poll(None if timeout_s is None else timeout_s * 1000)
        return [descriptor for descriptor, _ in found] == [self._end]

    def _end_leftovers(self) -> None:
        """End what the child started and left, where it was killed and nobody answers these any more."""
        mark = f"{NESTED}={self.scratch}".encode()
        for folder in Path("/proc").glob("[0-9]*"):  # nothing where there is none
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)

    def _death(self) -> ProgramFailed:
        code = self.wait()
        if code < 0:
            self._end_leftovers()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        tail = self.errors_tail()
        return ProgramFailed(
            f"The process that executed the program died: {how}.",
            f"Its last words: {tail}" if tail else "It printed nothing to standard error.",
            "What was recorded before stands in the record: twice show RECORD",
            exit_code=code,
        )

    def _show_forever(self) -> None:
        while not self._done.wait(_SHOW_EVERY_S):
            self._show()
        self._show()

    def _show(self) -> None:
        for at, target in enumerate((sys.stdout, sys.stderr)):
            descriptor = self._files[at].fileno()
            new = os.pread(descriptor, 1 << 20, self._shown[at])
            while new:
                self._shown[at] += len(new)
                _pass_on(new, target)
                new = os.pread(descriptor, 1 << 20, self._shown[at])


def _standard_input(stdin: bool | int) -> int | None:
    if isinstance(stdin, bool):
        return None if stdin else subprocess.DEVNULL
    return stdin


def _pass_on(data: bytes, target: Any) -> None:
    binary = getattr(target, "buffer", None)
    with contextlib.suppress(BrokenPipeError, ValueError):
        if binary is not None:
            binary.write(data)
        else:
            target.write(data.decode("utf-8", "replace"))
        target.flush()


def append_only(file: IO[bytes]) -> None:
    """Let every write go to the end, whoever of the child's descendants makes it."""
    import fcntl

    flags = fcntl.fcntl(file.fileno(), fcntl.F_GETFL)
    fcntl.fcntl(file.fileno(), fcntl.F_SETFL, flags | os.O_APPEND)


def error_message(error: TwiceError) -> dict[str, object]:
    """An error as a message."""
    return {
        "kind": "error",
        "type": type(error).__name__,
        "happened": error.happened,
        "expected": error.expected,
        "remedy": error.remedy,
        "fields": {key: _plain(value) for key, value in error.fields.items()},
    }


def revived(message: Mapping[str, Any]) -> TwiceError:
    """An error from a message: a leaf of the tree, or its root when the leaf is not known here."""
    from twice import errors

    leaf = getattr(errors, str(message["type"]), TwiceError)
    if not (isinstance(leaf, type) and issubclass(leaf, TwiceError)):
        leaf = TwiceError
    return leaf(message["happened"], message["expected"], message["remedy"], **message["fields"])


def _plain(value: object) -> object:
    return value if isinstance(value, str | int | float | bool | None) else repr(value)


def refuse_nesting() -> None:
    """A session's process starts no session of its own.

    Raises:
        UsageError: E-USE-001, inside a session's process.
    """
    if NESTED in os.environ:
        raise UsageError(
            "A session was started by a program that is itself being executed by a session.",
            "Expected the program to be a function, started from outside.",
            "Guard the call: if __name__ == '__main__': ...",
        )
