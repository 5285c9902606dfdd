"""A process for each set of surroundings that has everything loaded and forks for each execution.

Starting an interpreter and loading twice and numpy takes four fifths of a short execution. A fork server does
it once, before the user's program is loaded. Each execution is a fork with its own standard output, standard
error and line to the parent. Forks happen before filters and namespaces.

A fork has the addresses of its server, so a result that depends on addresses is the same in each fork. Two
forks of one server are not evidence that a run reproduces itself. To look for noise, or to check a side
against its record, use a fresh process.

Not for: processes with more than one thread, and systems other than Linux, where each execution is a fresh
process. The forks load libraries that start threads when they are loaded.

Invariant: a server loads the user's program only if its job asks for that. It ends with its parent, and its
forks end before it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

from twice.errors import ProgramFailed, TwiceError
from twice.foundation.with_blocks import Closing
from twice.worker.channel import Channel, pair, revive_error, tell_error
from twice.worker.process import ForkedWorker, FreshWorker, Heard

ACTION: Final = "fork"
"""The action of a job that makes its process a server."""
HANDED_OVER: Final = 3  # the line to the parent, standard output, standard error


class ForkServer(Closing):
    """The parent's side; a context manager.

    Args:
        module: the module for ``python -m`` that executes jobs. It answers ``ACTION`` with ``serve_forks``.
        environ: its whole environment.
        cwd: its working folder.
        python: the interpreter that executes it; empty for this one.
        job: further members of its first message.
        heard: called with each message of a fork that is not an error.

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
        heard: Heard = lambda _: None,
    ) -> None:
        self.fit, self._heard = False, heard
        self._process: FreshWorker | None = None
        self._lock = threading.Lock()
        if not sys.platform.startswith("linux"):
            return
        self._process = FreshWorker(module, environ, cwd=cwd, python=python)
        self._control = self._process.channel.copy()
        try:
            self.fit = bool(self._process.ask({**(job or {}), "action": ACTION})["fit"])
        except ProgramFailed:
            pass  # It died. A fresh process will report the reason.
        except BaseException:
            self.close()
            raise

    def fork(self) -> ForkedWorker:
        """Fork the server for one job.

        Raises:
            BrokenPipeError, ConnectionResetError: when the server is gone.
        """
        with self._lock:
            return ForkedWorker(self._control, self._heard)

    def ask(self, job: Mapping[str, object]) -> dict[str, Any] | None:
        """Ask a fork; return None when it gave no answer and a fresh process is needed.

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
        """End the server and its forks."""
        self.fit = False
        if self._process is not None:
            self._control.close()
            self._process.close()
            self._process = None


def serve_forks(channel: Channel, load: Callable[[], None], run: Callable[[], NoReturn]) -> None:
    """Load what every execution loads, then fork whenever the parent asks; run in the server.

    Args:
        channel: to the parent.
        load: loads it.
        run: receives the job of a fork, does it, and ends its process.
    """
    load()
    fit = count_threads() == 1
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
                run()
            for descriptor in handed:
                os.close(descriptor)
            forks = [*_reap(forks), fork]
    finally:
        for fork in _reap(forks):
            os.kill(fork, signal.SIGKILL)
            os.waitpid(fork, 0)


def call_in_fork(function: Callable[[], object], limit_s: float | None = None) -> object:
    """Call a function in a fork of this process and return its value.

    Args:
        function: returns a value that has a canonical form.
        limit_s: the wall time after which the fork is killed; None for ever.

    Returns:
        None if the fork died or was killed.

    Raises:
        TwiceError: the error that the function raised.
    """
    channel, theirs = pair()
    fork = os.fork()
    if fork == 0:
        try:
            channel.replace(theirs.detach())
            try:
                message = {"kind": "value", "value": function()}
            except TwiceError as error:
                message = tell_error(error)
            channel.send(message)
        finally:
            os._exit(0)
    theirs.close()
    try:
        answer = channel.receive(limit_s)
    except TimeoutError:
        answer = None
    finally:
        channel.close()
        os.kill(fork, signal.SIGKILL)
        os.waitpid(fork, 0)
    if answer is not None and answer["kind"] == "error":
        raise revive_error(answer)
    return answer and answer["value"]


def _become(handed: list[int]) -> None:
    """Connect a fork to its own line, as if it had been started with it, and to its output."""
    line, *outputs = handed
    sys.argv[1] = str(line)
    for descriptor, number in zip(outputs, (1, 2), strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)


def _reap(forks: list[int]) -> list[int]:
    """Return the forks that have not ended; those that have are reaped."""
    return [fork for fork in forks if os.waitpid(fork, os.WNOHANG) == (0, 0)]


def count_threads() -> int:
    """Return how many threads this process has, with those of libraries; 0 if the system does not say."""
    with suppress(OSError):
        return len(list(Path("/proc/self/task").iterdir()))
    return 0
