"""The host's end: open a recorded session in a worker, send it calls, replace it when it dies.

A worker that dies in a call, or does not come back from one in time, is replaced: a new one is
recorded from the top, the calls that were answered are executed again, and each answer is held
against what the client was told. Then the lost call is answered as an error that had no effect. The
record of the dead worker stays beside, as far as it goes.

Not covered: calls at the same time (a state is one; a second caller waits), and a worker's death
while it executes earlier calls again, which ends the session.

Invariant: every call gets exactly one envelope, and what it says is in a record.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from twice.errors import EncodingRefused, ProgramFailed, SessionMisuse, TwiceError, UsageError
from twice.foundation.seeds import Seed
from twice.foundation.with_blocks import Closing
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.recorder import record_program, refuse_existing
from twice.recorder.setup import Setup
from twice.tools import envelope
from twice.tools.errors import CallRefused, RegistryRefused, ToolSessionLost
from twice.tools.seeding import read_seed
from twice.tools.worker.program import PROGRAM
from twice.worker.channel import pair

_START_S: Final = 120.0

Progress = Callable[[float, str], bool]
"""Told how far a call is; whether the client has given it up."""


class HostedSession(Closing):
    """A session in a worker; a context manager.

    Args:
        registry: its name: built in, ``module:name`` or ``file.py:name``.
        out: path of the record.
        offer: what the host offers for a contract; its ``session_seed`` is the run's seed.
        levels: how far declarations were tried, by the tool's fingerprint.
        force: replace an existing record.
        python: the interpreter that executes the worker; empty for this one.

    Attributes:
        contract: as it was agreed, a JSON document.
        tools: descriptors of the tools, with their fingerprints.
        replaced: how many workers died.
    """

    def __init__(
        self,
        registry: str,
        out: str | os.PathLike[str],
        *,
        offer: Mapping[str, Any] | None = None,
        levels: Mapping[str, str] | None = None,
        force: bool = False,
        python: str = "",
    ) -> None:
        self.out = Path(out)
        self.replaced = 0
        self.contract: dict[str, Any] = {}
        self.tools: list[dict[str, Any]] = []
        refuse_existing(self.out, force=force, is_record=True)
        _require_interpreter(python)
        self._setup = Setup(
            parse_program(PROGRAM),
            _run_seed(offer),
            {"registry": registry, "offer": dict(offer or {}), "levels": dict(levels or {})},
        )
        self._python = python
        self._answered: list[_Answered] = []
        self._busy = threading.Lock()
        self._worker: _Worker | None = None
        self._open()

    def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        require: str | None = None,
        time: str | None = None,
        progress: Progress | None = None,
    ) -> envelope.Envelope:
        """Call a tool and wait for its envelope; one call at a time, later ones wait.

        Args:
            tool: its name.
            arguments: by name, as JSON.
            require: the weakest class that will do.
            time: what the time is from here on, under a contract with one.
            progress: told how far the call is; gives whether it is given up. What it raises gives the
                call up, and is raised once the call has been undone.

        Raises:
            SessionMisuse: E-REPLAY-002, after ``close``.
            ToolSessionLost: E-TOOL-004, when the session cannot go on.
        """
        message = {"tool": tool, "arguments": arguments, "require": require, "time": time}
        with self._busy:
            worker = self._alive()
            listener = _Listener(progress)
            try:
                found = worker.ask(message, self._limit_s(tool), listener)
            except EncodingRefused as error:
                return envelope.failure(_unwritable(error))
            if isinstance(found, str):
                message = {**message, "lost": found}
                found = self._replace(message)
            self._answered.append(_Answered(message, listener.replies, found))
            if listener.failure is not None:
                raise listener.failure
            return found

    def close(self) -> Path:
        """Hang up, let the worker finish its record, and give its path."""
        with self._busy:
            if self._worker is not None:
                worker, self._worker = self._worker, None
                worker.end()
        return self.out

    def _open(self) -> None:
        self._worker = worker = _Worker(self._setup, self.out, self._python)
        hello = worker.receive(_START_S)
        if hello is None or "refused" in hello:
            self._worker = None
            raise self._not_begun(worker)
        self.contract, self.tools = hello["contract"], hello["tools"]

    def _not_begun(self, worker: _Worker) -> TwiceError:
        """Why a worker said nothing, or refused the offer; what it recorded is removed."""
        registry = self._setup.config["registry"]
        try:
            worker.end()
        except ProgramFailed as error:
            why = error.happened
        except TwiceError as error:
            return error
        else:
            why = "it ended by itself"
        self.out.unlink(missing_ok=True)
        return RegistryRefused(
            f"The process that loads the registry {registry} ended before it was ready: {why}",
            "Expected a module that is imported, and a backend that is made, without an end.",
            f"See what it says: twice tools list {registry}",
        )

    def _replace(self, lost: Mapping[str, Any]) -> envelope.Envelope:
        """Start a new worker in the old one's state, and return its answer to the lost call."""
        assert self._worker is not None, "only a worker that was there can be replaced"
        with contextlib.suppress(TwiceError):
            self._worker.end()
        self._worker = None
        self.replaced += 1
        with contextlib.suppress(FileNotFoundError):
            self.out.rename(self._beside())
        self._open()
        worker = self._alive()
        for each in self._answered:
            found = worker.ask(each.message, None, _Listener(_again(each.replies)))
            if found != each.told:
                raise self._parted(worker, lost, each.message, found)
        found = worker.ask(lost, None, _Listener(None))
        if isinstance(found, str):
            raise self._parted(worker, lost, lost, found)
        return found

    def _parted(
        self,
        worker: _Worker,
        lost: Mapping[str, Any],
        message: Mapping[str, Any],
        found: envelope.Envelope | str,
    ) -> ToolSessionLost:
        """Close the session: its earlier answers cannot be reproduced."""
        worker.kill()
        self._worker = None
        how = "died too" if isinstance(found, str) else "answered differently"
        return ToolSessionLost(
            f"A worker died in {lost['tool']}, and its successor {how} at {message['tool']}.",
            "Expected the calls before it to give again what they gave.",
            f"See what parted: twice verify {self._beside(self.replaced)}",
            tool=str(message["tool"]),
        )

    def _beside(self, number: int | None = None) -> Path:
        """Where the record of a worker that died is kept."""
        number = self.replaced if number is None else number
        return self.out.with_name(f"{self.out.stem}.died-{number}{self.out.suffix}")

    def _alive(self) -> _Worker:
        if self._worker is None:
            raise SessionMisuse(
                "This session is over.",
                "Expected calls before close.",
                f"Open its record: twice show {self.out}",
            )
        return self._worker

    def _limit_s(self, tool: str) -> float | None:
        limits = [self.contract["limits"]["seconds"]]
        limits += [each["seconds"] for each in self.tools if each["name"] == tool]
        return min((each for each in limits if each is not None), default=None)


class _Answered(NamedTuple):
    """A call that was answered: what was sent, what its progress was answered, what came of it."""

    message: Mapping[str, Any]
    replies: Sequence[bool]
    told: envelope.Envelope


class _Listener:
    """Hears how far a call is, and remembers every reply: a successor has to be given the same.

    Args:
        progress: who is told; None when nobody is.
    """

    def __init__(self, progress: Callable[..., bool] | None) -> None:
        self.replies: list[bool] = []
        self.failure: Exception | None = None
        self._progress = progress

    def reply(self, fraction: float, text: str) -> bool:
        """Whether the call is given up; it is when whoever is told fails."""
        given_up = self.failure is not None
        if self._progress is not None and not given_up:
            try:
                given_up = bool(self._progress(fraction, text))
            except Exception as error:  # noqa: BLE001  (raised again when the line is free)
                self.failure, given_up = error, True
        self.replies.append(given_up)
        return given_up


def _again(replies: Sequence[bool]) -> Progress:
    """Repeat the replies of an earlier execution; let one that reports more often continue."""
    left = iter(replies)
    return lambda *_: next(left, False)


class _Worker:
    """One worker's process, recorded by a thread of this one."""

    def __init__(self, setup: Setup, out: Path, python: str) -> None:
        self._line, theirs = pair()
        self._failure: BaseException | None = None
        self._pid: int | None = None

        def recorded() -> None:
            try:
                record_program(
                    setup,
                    for_recording(os.environ),
                    out,
                    force=True,
                    stdin=theirs.fileno(),
                    python=python,
                    began=self._began,
                )
            except BaseException as error:  # noqa: BLE001  (told to whoever waits)
                self._failure = error
            finally:
                theirs.close()  # So that whoever listens hears that nobody is there.

        self._thread = threading.Thread(target=recorded, name="tool session", daemon=True)
        self._thread.start()

    def ask(
        self, message: Mapping[str, Any], limit_s: float | None, listener: _Listener
    ) -> envelope.Envelope | str:
        """Send a call; its envelope, or how the worker was lost: ``died`` or ``timeout``."""
        self._line.send(message)
        while True:
            try:
                found = self._line.receive(limit_s)
            except TimeoutError:
                self.kill()
                return "timeout"
            if found is None:
                return "died"
            if "progress" in found:
                self._line.send({"cancelled": listener.reply(*found["progress"])})
                continue
            answer: envelope.Envelope = found["envelope"]
            return answer

    def receive(self, timeout_s: float) -> dict[str, Any] | None:
        """Receive the worker's first message."""
        return self._line.receive(timeout_s)

    def kill(self) -> None:
        """Stop it at once."""
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def end(self) -> None:
        """Hang up and wait until the record is finished.

        Raises:
            TwiceError: what the worker was refused for, or died of.
        """
        self._line.close()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _began(self, pid: int) -> None:
        self._pid = pid


def _require_interpreter(python: str) -> None:
    if python and not os.access(python, os.X_OK):
        raise UsageError(
            f"There is no interpreter {python}.",
            "Expected a Python that has twice and what the tools need.",
            "Give its path: --python path/to/venv/bin/python",
        )


def _run_seed(offer: Mapping[str, Any] | None) -> Seed:
    """Return the run's master seed: the session's, or 0 if nothing will be derived from it."""
    try:
        seed = read_seed((offer or {}).get("session_seed"))
    except ValueError:
        seed = None  # The worker refuses it as a part of the offer.
    return Seed(0) if seed is None else seed


def _unwritable(error: EncodingRefused) -> CallRefused:
    return CallRefused(
        "invalid_arguments",
        f"The arguments are no plain data: {error.happened}",
        "Expected JSON: objects, arrays, text, numbers, true, false and null.",
        "Correct them and call again.",
    )
