"""One process per surroundings that has everything loaded, and forks for every execution.

Starting an interpreter and loading twice and numpy takes four fifths of a short execution. A zygote does
it once, before the user's program is loaded; each execution is a fork of it, with standard output,
error and line to the parent of its own.

A fork has the addresses of its zygote. So what depends on addresses repeats itself from fork to fork,
and two forks of one zygote are no evidence that a run reproduces itself: whoever looks for noise, or
asks whether a side reproduces its record, executes in a fresh process.

Not for: processes with more than one thread (a library that starts threads when loaded is left for
the forks to load), and not for other systems than Linux: there every execution is a fresh process.

Invariant: a zygote that is not asked to never loads the user's program, and it ends with its parent, its
forks before it.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from twice.diagnosing.holding import HANDED_OVER
from twice.errors import ProgramFailed
from twice.foundation.closing import Closing
from twice.recording.effects.files.opening import look_through_modules
from twice.recording.kernel.tiers import KEPT
from twice.recording.launch import ChildProcess, append_only, revived
from twice.recording.serving import Handler, serve
from twice.recording.surroundings.thread_counts import load_numpy_without_threads
from twice.recording.wire import Channel, pair

ACTION = "zygote"
_LOADED = (
    "encodings.utf_16_be",
    "twice.recording.effects.network.listening",
    "twice.recording.effects.network.resolving",
    "twice.recording.effects.network.sockets",
    "xxhash",
    "zstandard",
)
"""What every session loads when it begins or writes."""
_WITH_NUMPY = "twice.recording.streams.numpy_governed"


class Fork(Closing):
    """One fork of a zygote: a line to it, and its output; a context manager.

    Args:
        control: the line on which forks are asked for.
    """

    def __init__(self, control: Channel) -> None:
        self.channel, theirs = pair()
        self._kept: Mapping[str, Any] | None = None
        self._files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]  # noqa: SIM115
        for file in self._files:
            append_only(file)
        handed = [theirs.fileno(), *(file.fileno() for file in self._files)]
        try:
            control.send_descriptors(handed)
        except OSError:
            self.close()
            raise
        finally:
            theirs.close()

    def ask(self, message: Mapping[str, object]) -> dict[str, Any]:
        """Send a message and wait for the answer; raises as ``answer`` does."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.channel.send(message)
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Wait for the next message.

        Raises:
            TwiceError: the error that the fork reports.
            ProgramFailed: E-PROGRAM-003, when it died without an answer.
        """
        message = None
        with suppress(BrokenPipeError, ConnectionResetError):
            message = self.receive()
        if message is None:
            tail = self.errors_tail()
            raise ProgramFailed(
                "The process that executed the program died.",
                f"Its last words: {tail}" if tail else "It printed nothing to standard error.",
                "Run the program by itself, without twice, to see what ends it.",
            )
        return message

    def read_keeper_report(self) -> Mapping[str, Any]:
        """Return what the keeper found once the program had ended; empty without a keeper."""
        with suppress(BrokenPipeError, ConnectionResetError):
            while self._kept is None and (message := self.channel.receive()) is not None:
                if message.get("kind") == KEPT:
                    self._kept = message
        return self._kept or {}

    def receive(self) -> dict[str, Any] | None:
        """The next message, or None when there is no more; raises the error that it reports."""
        message = self.channel.receive()
        if message is not None and message.get("kind") == "error":
            raise revived(message)
        if message is not None and message.get("kind") == KEPT:
            self._kept = message  # the program ended without an answer
            return None
        return message

    def errors_tail(self, size: int = 2000) -> str:
        """The end of what it wrote to standard error."""
        descriptor = self._files[1].fileno()
        end = os.fstat(descriptor).st_size
        return os.pread(descriptor, size, max(0, end - size)).decode("utf-8", "replace").strip()

    def close(self) -> None:
        """Hang up; a fork that still runs ends when it next speaks, or with its zygote."""
        self.channel.close()
        for file in self._files:
            file.close()


class Zygote:
    """The parent's side.

    Args:
        module: what executes jobs, with ``python -m``; it answers ``ACTION`` with ``serve_forks``.
        environ: its whole environment.
        cwd: its working folder.
        python: the interpreter that executes it; empty for this one.
        job: what it is told besides, before it may fork.

    Attributes:
        fit: whether it may fork; if not, every execution needs a fresh process.
    """

    def __init__(
        self,
        module: str,
        environ: Mapping[str, str],
        *,
        cwd: str | None,
        python: str = "",
        job: Mapping[str, object] | None = None,
    ) -> None:
        self.fit = False
        self._process: ChildProcess | None = None
        self._lock = threading.Lock()
        if not sys.platform.startswith("linux"):
            return
        self._process = ChildProcess(module, environ, cwd=cwd, python=python)
        self._control = self._process.channel.copy()
        try:
            self.fit = bool(self._process.ask({**(job or {}), "action": ACTION})["fit"])
        except ProgramFailed:
            pass  # It died; a fresh process will say of what.
        except BaseException:
            self.close()
            raise

    def fork(self) -> Fork:
        """A fork of its own for one job.

        Raises:
            BrokenPipeError, ConnectionResetError: when the zygote is gone.
        """
        with self._lock:
            return Fork(self._control)

    def ask(self, job: Mapping[str, object]) -> dict[str, Any] | None:
        """The answer of a fork, or None when it gave none and a fresh process should be asked.

        Raises:
            TwiceError: the error that the fork reports.
        """
        try:
            with self.fork() as fork:
                fork.channel.send(job)
                return fork.receive()
        except (BrokenPipeError, ConnectionResetError):
            return None

    def close(self) -> None:
        """End it and what it forked."""
        self.fit = False
        if self._process is not None:
            self._control.close()
            self._process.close()
            self._process = None


def serve_forks(channel: Channel, handle: Handler) -> None:
    """The zygote's side: load what every execution loads, then fork whenever asked.

    Args:
        channel: to the parent.
        handle: what a fork does with the job that it receives.
    """
    _load()
    fit = _threads() == 1
    channel.send({"kind": ACTION, "fit": fit})
    if not fit:
        return
    control = channel.copy()
    forks: list[int] = []
    try:
        while True:
            handed = control.receive_descriptors(HANDED_OVER)
            if not handed:
                return
            fork = os.fork()
            if fork == 0:
                forks.clear()
                control.close()
                _become(handed)
                serve(handle)
            for descriptor in handed:
                os.close(descriptor)
            forks = [*_running(forks), fork]
    finally:
        for fork in _running(forks):
            os.kill(fork, signal.SIGKILL)
            os.waitpid(fork, 0)


def _become(handed: list[int]) -> None:
    """Give a fork its own line, as if it had been started with it, and output."""
    line, *outputs = handed
    sys.argv[1] = str(line)
    for descriptor, number in zip(outputs, (1, 2), strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def _running(forks: list[int]) -> list[int]:
    """The forks that have not ended; those that have are reaped."""
    return [fork for fork in forks if os.waitpid(fork, os.WNOHANG) == (0, 0)]


def _load() -> None:
    """Load what every session does, numpy's generators too unless that starts threads here."""
    trial = os.fork()
    if trial == 0:
        code = 1
        try:
            load_numpy_without_threads()
            code = int(_threads() != 1)
        finally:
            os._exit(code)
    loaded = list(_LOADED)
    if os.waitstatus_to_exitcode(os.waitpid(trial, 0)[1]) == 0:
        load_numpy_without_threads()
        loaded.append(_WITH_NUMPY)
    for name in loaded:
        importlib.import_module(name)
    look_through_modules()


def _threads() -> int:
    """Threads of this process, those of libraries too; 0 when that cannot be told."""
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        return 0
