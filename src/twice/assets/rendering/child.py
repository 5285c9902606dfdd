"""A plain program as a child process: an argument list, an environment of its own, and limits.

It is watched from outside alone: what it prints, how it ends, how long it takes.

Invariant: when ``run_child`` returns, no process is left in the child's group.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended: its exit code, None when its time was up, and the end of what it printed."""

    code: int | None
    said: str


def run_child(
    argv: Sequence[str], folder: Path, env: Mapping[str, str], printed: Path, *,
    timeout_s: float, bytes_max: int, tail: int = 2000,
) -> Ended:  # fmt: skip
    """Run a program to its end, or to the end of its time.

    Args:
        argv: the program's path and its arguments.
        folder: where it works.
        env: its whole environment.
        printed: a file for what it prints.
        timeout_s: when it is ended, in seconds.
        bytes_max: most bytes of one file that it may write.
        tail: how many bytes of what it printed are given back.

    Raises:
        OSError: it cannot be started.
        ValueError: an argument or a variable holds a zero byte.
    """
    with printed.open("wb") as out:
        child = subprocess.Popen(
            list(argv), cwd=folder, env=dict(env), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            limit(child.pid, bytes_max)
            code: int | None = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    with printed.open("rb") as file:
        file.seek(max(0, printed.stat().st_size - tail))
        return Ended(code, file.read().decode("utf-8", "replace").strip())


def limit(pid: int, bytes_max: int) -> None:
    """Let no file of a process grow beyond the limit, and no core be written; on Linux alone."""
    if hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (bytes_max, bytes_max))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def now_s() -> float:
    """Seconds of a clock that only goes on, for limits and durations."""
    return time.monotonic()
