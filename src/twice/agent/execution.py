"""A command in a process of its own: its JSON, within a time, given up when the client gives up.

Invariant: when a call is over, no process of it runs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

import anyio

from twice.agent.errors import CallBroken, CallTooLong
from twice.foundation.dataclass import dataclass

_BEAT_S: Final = 5.0
"""Between two reports of progress."""
_GRACE_S: Final = 3.0
"""For a command to seal its record once it is told to end."""
_BYTES_MAX: Final = 64 << 20
"""Of a command's JSON."""
_SAID_MAX: Final = 2000
"""Characters of standard error in an error."""

Beat = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Ended:
    """A command that ended by itself.

    Attributes:
        code: its exit code.
        document: what it printed with ``--json``.
    """

    code: int
    document: dict[str, Any]


async def execute(command: Sequence[str], folder: Path, timeout_s: float, beat: Beat) -> Ended:
    """Execute ``twice`` with arguments and ``--json``.

    Args:
        command: the arguments of ``twice``; ``--json`` is added before a ``--``.
        folder: in which it runs.
        timeout_s: after which it is ended, in seconds.
        beat: called every few seconds with the seconds so far.

    Raises:
        CallTooLong: E-AGENT-004. CallBroken: E-AGENT-005, when it prints no JSON.
    """
    at = list(command).index("--") if "--" in command else len(command)
    whole = [*command[:at], "--json", *command[at:]]
    start = [sys.executable, "-P", "-m", "twice.cli.with_parent", str(os.getpid())]
    watching, theirs = map(os.fdopen, os.pipe(), "rw")
    with watching, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        with theirs:
            process = await anyio.open_process(
                [*start, str(theirs.fileno()), *whole],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                cwd=folder,
                start_new_session=True,
                pass_fds=[theirs.fileno()],
            )
        try:
            with anyio.move_on_after(timeout_s) as limit:
                async with anyio.create_task_group() as group:
                    group.start_soon(_beat_on, beat)
                    await process.wait()
                    group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
                await anyio.wait_readable(watching)  # until the process that watched it has ended
        if limit.cancelled_caught:
            raise CallTooLong(
                f"twice {command[0]} did not end within {timeout_s:g} seconds.",
                "Expected it to end; it was ended, and what it had recorded so far is kept.",
                "Give it more by timeout_s, or let the program do less.",
                timeout_s=timeout_s,
            )
        assert process.returncode is not None, "it was waited for"
        return Ended(process.returncode, _read(output, errors, command[0]))


async def _beat_on(beat: Beat) -> None:
    begun = anyio.current_time()
    while True:
        await anyio.sleep(_BEAT_S)
        await beat(anyio.current_time() - begun)


async def _end(process: anyio.abc.Process) -> None:
    """End a command and what it started; it may seal what it records first."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with anyio.move_on_after(_GRACE_S):
            await process.wait()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _read(output: IO[bytes], errors: IO[bytes], name: str) -> dict[str, Any]:
    """Read the one JSON document of a command."""
    output.seek(0)
    text = output.read(_BYTES_MAX)
    with suppress(ValueError):
        document = json.loads(text)
        if isinstance(document, dict):
            return document
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - _SAID_MAX))
    said = errors.read().decode("utf-8", "replace").strip() or "nothing"
    raise CallBroken(
        f"twice {name} ended without an answer; it said: {said}",
        "Expected one JSON document on its standard output.",
        "Run the command by hand to see more.",
    )
