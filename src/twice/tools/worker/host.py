"""The host's end: open a recorded session in a worker, send it calls, replace it when it dies.

A worker that dies in a call, or does not come back from one in time, is replaced: a new one is
recorded from the top, and the calls that were answered are executed again. Each of them must give
the envelope that the client was told and leave the state that it left, by its fingerprint, and not
take much longer. Then the lost call is answered as an error that says what is known of the state.
The record of the dead worker stays beside, as far as it goes.

Not covered: calls at the same time (a state is one; a second caller waits), a worker's death while
it executes earlier calls again, which ends the session; what tools do outside of the backend: the
successor does that again, and nothing undoes what the lost call did; and a change of the state by a
tool that is declared to read only, after which no fingerprint is taken.

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
from twice.foundation.digests import Digest, digest_bytes
from twice.foundation.encoding import encode
from twice.foundation.seeds import Seed
from twice.foundation.with_blocks import Closing
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.recorder import record_program, refuse_existing
from twice.recorder.setup import Setup
from twice.tools import envelope
from twice.tools.deadlines import Deadline, now_s
from twice.tools.errors import CallRefused, RegistryRefused, ToolSessionLost
from twice.tools.seeds import read_seed
from twice.tools.worker.program import PROGRAM
from twice.worker.channel import Channel, pair

_START_S: Final = 300.0
_REPLAY_S: Final = 60.0
"""A successor may take this much, and ten times what the call took, for a call that was answered."""

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
        refuse_existing(self.out, force=force, is_record=True)
        if python and not os.access(python, os.X_OK):
            raise UsageError(
                f"There is no interpreter {python}.",
                "Expected a Python that has twice and what the tools need.",
                "Give its path: --python path/to/venv/bin/python",
            )
        try:
            seed = read_seed((offer or {}).get("session_seed"))
        except ValueError:
            seed = None  # The worker refuses it as a part of the offer.
        self._setup = Setup(
            parse_program(PROGRAM),
            seed or Seed(0),
            {"registry": registry, "offer": dict(offer or {}), "levels": dict(levels or {})},
            compare_errors=False,
        )
        self._python = python
        self._answered: list[_AnsweredCall] = []
        self._busy = threading.Lock()
        self._worker: _Worker | None
        self._worker, hello = self._start()
        self.contract: dict[str, Any] = hello["contract"]
        self.tools: list[dict[str, Any]] = hello["tools"]
        self._hello = _digest(hello)
        self._state: str | None = hello["state"]

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
            ToolSessionLost: E-TOOL-005, when the session cannot go on.
        """
        message = {"tool": tool, "arguments": arguments, "require": require, "time": time}
        replies: list[bool] = []
        failures: list[Exception] = []

        def reply(fraction: float, text: str) -> bool:
            is_given_up = bool(failures)
            if progress is not None and not failures:
                try:
                    is_given_up = bool(progress(fraction, text))
                except Exception as error:  # noqa: BLE001  (raised again when the line is free)
                    failures.append(error)
                    is_given_up = True
            replies.append(is_given_up)  # A successor has to be given the same.
            return is_given_up

        with self._busy:
            if self._worker is None:
                raise SessionMisuse(
                    "This session is over.",
                    "Expected calls before close.",
                    f"Open its record: twice show {self.out}",
                )
            limits = [self.contract["limits"]["seconds"]]
            limits += [each["seconds"] for each in self.tools if each["name"] == tool]
            limit_s = min((each for each in limits if each is not None), default=None)
            began_s = now_s()
            try:
                answer = self._worker.ask(message, limit_s, reply)
            except EncodingRefused as error:
                refusal = CallRefused(
                    "invalid_arguments",
                    f"The arguments are no plain data: {error.happened}",
                    "Expected JSON: objects, arrays, text, numbers, true, false and null.",
                    "Correct them and call again.",
                )
                return envelope.failure(refusal)
            except _WorkerLost as lost:
                message |= {"lost": lost.how, "state": self._state}
                answer = self._replace(self._worker, message)
            took_s, self._state = now_s() - began_s, answer["state"]
            self._answered.append(
                _AnsweredCall(message, replies, took_s, self._state, _digest(answer))
            )
            if failures:
                raise failures[0]
            found: envelope.Envelope = answer["envelope"]
            return found

    def close(self) -> Path:
        """Hang up, let the worker finish its record, and give its path."""
        with self._busy:
            if self._worker is not None:
                worker, self._worker = self._worker, None
                worker.end()
        return self.out

    def _start(self) -> tuple[_Worker, dict[str, Any]]:
        """Start a worker, and wait until it has loaded the registry and agreed on the contract."""
        worker = _Worker(self._setup, self.out, self._python)
        try:
            hello = worker.line.receive(_START_S)
            why = "it ended by itself"
        except TimeoutError:
            worker.kill()
            hello, why = None, f"it was stopped after {_START_S:.0f} seconds"
        if hello is not None and "refused" not in hello:
            return worker, hello
        try:
            worker.end()
        except ProgramFailed as error:
            why = error.happened if why.startswith("it ended") else why
        self.out.unlink(missing_ok=True)  # nothing was recorded that anybody was told
        registry = self._setup.config["registry"]
        raise RegistryRefused(
            f"The process that loads the registry {registry} ended before it was ready: {why}",
            "Expected a module that is imported, and a backend that is made, without an end.",
            f"See what it says: twice tools list {registry}",
        )

    def _replace(self, worker: _Worker, lost: Mapping[str, Any]) -> dict[str, Any]:
        """Bring a new worker to where the lost one stood; return its answer to the lost call."""
        self._worker = None
        with contextlib.suppress(TwiceError):
            worker.end()
        self.replaced += 1
        number = 1
        while (kept := self.out.with_stem(f"{self.out.stem}.died-{number}")).exists():
            number += 1
        with contextlib.suppress(FileNotFoundError):
            self.out.rename(kept)
        where, successor = "the beginning", None
        try:
            successor, hello = self._start()
            _expect(_digest(hello) == self._hello, "agreed on another contract")
            for each in self._answered:
                where = str(each.message["tool"])
                answer = successor.ask(
                    each.message, _REPLAY_S + 10 * each.took_s, each.repeat_reply()
                )
                _expect(answer["state"] == each.state, "came to another state")
                _expect(_digest(answer) == each.answer, "answered differently")
            where = str(lost["tool"])
            answer = successor.ask(lost, _REPLAY_S, lambda *_: False)
        except (TwiceError, _WorkerLost) as error:
            if successor is not None:
                successor.kill()
                with contextlib.suppress(TwiceError):
                    successor.end()
            how = getattr(error, "how", "could not begin")
            how = {"died": "died too", "timeout": "did not come back"}.get(how, how)
            raise ToolSessionLost(
                f"A worker was lost in {lost['tool']}, and its successor {how} at {where}.",
                "Expected the calls before it to give again what they gave, and the state that they left.",
                f"The session is over. See what parted: twice verify {kept}",
                tool=where,
            ) from error
        self._worker = successor
        return answer


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _WorkerLost(otherwise)


class _AnsweredCall(NamedTuple):
    """A call that was answered, as far as a successor needs it: the envelope is the client's and the record's."""

    message: Mapping[str, Any]
    replies: Sequence[bool]
    took_s: float
    state: str | None
    answer: Digest

    def repeat_reply(self) -> Progress:
        """Reply as it was replied then; a call that reports more often than then is continued."""
        left = iter(self.replies)
        return lambda *_: next(left, False)


class _WorkerLost(Exception):
    """A worker gives no answer: it ``died``, or was stopped at a ``timeout``; or it is not where it should be."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


class _Worker:
    """One worker's process, recorded by a thread of this one."""

    def __init__(self, setup: Setup, out: Path, python: str) -> None:
        self.line, theirs = pair()
        self._theirs = Channel(theirs)
        self._failure: BaseException | None = None
        self._pid: int | None = None
        self._is_killed = False
        self._thread = threading.Thread(
            target=self._record, args=(setup, out, python), name="tool session", daemon=True
        )
        self._thread.start()

    def ask(
        self, message: Mapping[str, Any], limit_s: float | None, reply: Progress
    ) -> dict[str, Any]:
        """Send a call and wait for its answer, replying however often it tells its progress.

        Raises:
            _WorkerLost: the worker died, or did not answer in time and was stopped.
        """
        deadline = Deadline(limit_s)
        try:
            self.line.send(message, limit_s)
            while True:
                found = self.line.receive(deadline.left_s())
                if found is None:
                    raise _WorkerLost("died")
                if "progress" not in found:
                    return found
                self.line.send({"cancelled": reply(*found["progress"])}, deadline.left_s())
        except TimeoutError:
            self.kill()
            raise _WorkerLost("timeout") from None

    def kill(self) -> None:
        """Stop it at once, or as soon as it is there."""
        self._is_killed = True
        if self._pid is not None and self._thread.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)

    def end(self) -> None:
        """Hang up and wait until the record is finished.

        Raises:
            TwiceError: what the worker was refused for, or died of.
        """
        self.line.close()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _record(self, setup: Setup, out: Path, python: str) -> None:
        def began(pid: int) -> None:
            self._pid = pid
            if self._is_killed:
                self.kill()

        try:
            record_program(
                setup,
                for_recording(os.environ),
                out,
                force=True,
                stdin=self._theirs.fileno(),
                python=python,
                began=began,
            )
        except BaseException as error:  # noqa: BLE001  (told to whoever waits)
            self._failure = error
        finally:
            self._theirs.hang_up()  # Whoever listens hears it, even if a tool left a process behind.


def _digest(message: Mapping[str, Any]) -> Digest:
    return digest_bytes(encode(dict(message)))
