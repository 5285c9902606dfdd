"""What a person starts from the page: a diagnosis, a branch, a replay up to a tick, the lines of a tick's reads.

Each is a process of its own, as if it had been typed, so a record from elsewhere is refused as there, and nothing of a
program runs where requests are answered. A request names its execution, and the page stops it by that name. Several
requests of one press have one name, and a stop ends all of them, also those that are still to come.

Invariant: the processes end with the server.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import struct
import subprocess
import sys
import zlib
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from threading import Condition, Lock
from typing import Any, Final

from twice.diagnosis.text_layout import name_place
from twice.errors import TwiceError, UsageError
from twice.foundation.with_blocks import Closing
from twice.recorder.config import parse_value
from twice.recorder.runrecord import RunRecord
from twice.replayer.replay_session import ReplaySession
from twice.report.record_pages import excerpt
from twice.report.values import mapping
from twice.view.run_difference import tell_results
from twice.view.state_tree import describe_state
from twice.view.viewed_runs import ENTRIES_MAX
from twice.worker.channel import revive_error

_COMMAND_MAX: Final = 1000
_GRACE_S: Final = 3.0
"""For a command to remove what it has half written."""
_STOPPED: Final = "it was stopped on the page"
_CLOSED: Final = "the server ends"


@dataclass(eq=False, slots=True)
class _OpenRequest:
    """A request whose execution runs, or waits for another one.

    Attributes:
        words: the command that does the same.
        execution: the name by which the page stops it.
        ended: why it was ended; empty as long as nobody did.
        end: ends what runs, from any thread; None before it runs.
    """

    words: Sequence[str]
    execution: str
    ended: str = ""
    end: Callable[[], object] | None = None

    def start(self, end: Callable[[], object]) -> None:
        """Let what has begun be ended by a call from now on."""
        self.end = end
        if self.ended:  # there was nothing to end yet
            end()

    def require_running(self) -> None:
        """Raise the error of a request that was ended."""
        if self.ended:
            raise _explain_failure(self.words, self.ended)


class Executions(Closing):
    """The commands of one server.

    Args:
        trust: options by which each of them trusts the records.
    """

    def __init__(self, trust: Sequence[str] = ()) -> None:
        self._trust = trust
        self._running: list[_OpenRequest] = []
        self._taken = set[Path]()  # by branches, also by those that run
        self._replays: dict[Path, ReplaySession] = {}
        self._lock, self._turns = Lock(), Condition()
        self._stopped = set[str]()
        self._is_closed = self._is_replaying = False

    def diagnose(self, a: Path, b: Path, *, execution: str = "") -> dict[str, Any]:
        """Diagnose two records; return what the page shows of it.

        Args:
            a: path of a record.
            b: path of another one.
            execution: the name by which ``stop`` ends it; here and below.

        Raises:
            TwiceError: as the command says it.
        """
        told = self._run(
            ["diagnose", str(a.absolute()), str(b.absolute()), "--anyway", "--json"], execution
        )
        operation, lines = told.get("operation"), list[dict[str, Any]]()
        with RunRecord.open(a) as record:
            for each in [operation] if operation else told.get("candidates", ()):
                shown = show_line(record, each["file"], each["line"])
                lines.append({**each, "operation": each["code"], **shown})
        return {
            "result": told["result"],
            "inputs": told["input_differences"],
            "channels": [each["channel"] for each in told.get("attribution", ())],
            "lines": lines,
            "fields": [
                {name: each.get(name) for name in ("path", "a", "b")} for each in told["fields"]
            ],
            **tell_results(told),
            "caveats": told.get("caveats", []),
            "next": [each["command"] for each in told.get("next", ())],
        }

    def branch(
        self,
        record: Path,
        tick: int,
        inputs: Mapping[str, str],
        *,
        onwards: bool,
        execution: str = "",
    ) -> Path:
        """Leave a record at a tick with other inputs; return the branch's record, beside the first.

        A branch that is stopped leaves no file. One that had just ended is returned.

        Args:
            record: path of the record.
            tick: the first that may differ.
            inputs: TOML by name.
            onwards: whether they hold at every later tick too.
            execution: the name by which ``stop`` ends it.

        Raises:
            UsageError: E-USE-001, a value is no TOML. TwiceError: as the command says it.
        """
        _require_typed(inputs)
        names = (record.with_name(f"{record.stem}-branch-{n}.twice") for n in count(1))
        with self._lock:
            out = next(path for path in names if path not in self._taken and not path.exists())
            self._taken.add(out)
        given = [part for name, text in inputs.items() for part in ("--input", f"{name}={text}")]
        onward = ["--onwards"] if onwards else []
        words = ["branch", str(record.absolute()), "--at", str(tick), *given, *onward]
        try:
            self._run([*words, "-o", str(out.absolute()), "--json"], execution)
        except TwiceError:
            if execution not in self._stopped or not _is_branch(out, record, tick):
                raise
        return out

    def replay(self, record: Path, tick: int, *, execution: str = "") -> dict[str, Any]:
        """Execute a record's program up to a tick; return the state before its body, and pictures of it.

        Returns:
            ``tick``, ``state``, a tree, and ``frames``: ``name`` and ``png``, in base64.

        Raises:
            TwiceError: as ``twice.replay`` raises it.
        """
        with self._session(record, tick, execution) as session:
            session.seek(tick)
            values, frames = session.state(), session.frames()
        drawn = [
            {"name": name, "png": b64encode(encode_png(each["shape"], each["bytes"])).decode()}
            for name, each in sorted(frames.items())
        ]
        return {"tick": tick, "state": describe_state(values), "frames": drawn}

    def find_lines(self, record: Path, tick: int, *, execution: str = "") -> dict[str, Any]:
        """Execute a record's program through a tick; return the user's lines that made the reads of that tick.

        Returns:
            ``lines``: one member for each read, in the order of the record: ``file``, ``line``, ``function`` and
            ``excerpt``; no ``file`` where no code of the user's made it; None where the replay did not make it.

        Raises:
            TwiceError: as ``ReplaySession.effects`` raises it.
        """
        with self._session(record, tick, execution) as session:
            reads = session.effects(tick, most=ENTRIES_MAX)
            places = dict.fromkeys((each.file, each.line) for each in reads)
            shown = {place: show_line(session.record, *place) for place in places if place[0]}
        return {
            "lines": [
                {
                    "line": each.line,
                    "function": each.function,
                    **shown.get((each.file, each.line), {}),
                }
                if each.is_replayed
                else None
                for each in reads
            ]
        }

    @contextmanager
    def _session(self, record: Path, tick: int, execution: str) -> Iterator[ReplaySession]:
        """Let the block replay a record; a session that failed is not used again, as its process may be gone."""
        words = ["replay", str(record), "--at", str(tick)]
        with self._stoppable(words, execution) as request, self._take_turn(request):
            if record not in self._replays:
                self._replays[record] = ReplaySession(record)
            session = self._replays[record]
            try:
                request.start(session.kill)
                yield session
                request.require_running()  # there may have been nothing to kill
            except BaseException:
                self._replays.pop(record).close()
                raise

    @contextmanager
    def _take_turn(self, request: _OpenRequest) -> Iterator[None]:
        """Let the block run while no other one does; a request that is ended waits no longer."""
        with self._turns:
            self._turns.wait_for(lambda: request.ended or not self._is_replaying)
            request.require_running()
            self._is_replaying = True
        try:
            yield
        finally:
            with self._turns:
                self._is_replaying = False
                self._turns.notify_all()

    def stop(self, execution: str) -> None:
        """End all that runs, waits or is still to come under a name; its requests get the error that it was stopped."""
        with self._lock:
            self._stopped.add(execution)
        self._end(_STOPPED, execution)

    def close(self) -> None:
        """End what still runs."""
        with self._lock:
            self._is_closed = True
        self._end(_CLOSED)
        with self._turns:
            self._turns.wait_for(lambda: not self._is_replaying)
            for session in self._replays.values():
                session.close()

    def _end(self, why: str, execution: str | None = None) -> None:
        """End all executions, or those of a name."""
        with self._lock:
            found = [each for each in self._running if execution in (None, each.execution)]
        with self._turns:
            for each in found:
                each.ended = why
            self._turns.notify_all()
        for each in found:
            if each.end is not None:
                each.end()

    @contextmanager
    def _stoppable(self, words: Sequence[str], execution: str) -> Iterator[_OpenRequest]:
        """Let the block, which does what a command does, be ended from another thread."""
        request = _OpenRequest(words, execution)
        with self._lock:
            if self._is_closed or execution in self._stopped:
                request.ended = _CLOSED if self._is_closed else _STOPPED
            self._running.append(request)
        try:
            request.require_running()
            yield request
        except Exception:
            request.require_running()
            raise
        finally:
            with self._lock:
                self._running.remove(request)

    def _run(self, words: Sequence[str], execution: str) -> dict[str, Any]:
        """Run a command, and return the document that it prints."""
        # It ends with the server, however that ends. Nobody here waits for what watches over that.
        start = [sys.executable, "-P", "-m", "twice.cli.with_parent", str(os.getpid())]
        with self._stoppable(words, execution) as request:
            with open(os.devnull, "rb") as held:  # noqa: PTH123  (as the other descriptors)
                try:
                    process = subprocess.Popen(
                        [*start, str(held.fileno()), *words, *self._trust],
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        start_new_session=True,
                        pass_fds=[held.fileno()],
                    )
                except OSError as error:
                    why = f"it cannot be started: {error.strerror}"
                    raise _explain_failure(words, why) from error
            request.start(partial(_end_group, process))
            printed, errors = process.communicate()
            try:
                told: dict[str, Any] = json.loads(printed)
            except ValueError:
                said = errors.decode("utf-8", "backslashreplace").strip().splitlines()
                raise _explain_failure(words, said[-1] if said else "it printed nothing") from None
            if "error" in told:
                raise revive_error(told["error"])
            return told


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End a command, which first removes what it has half written, and then all that it started."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _require_typed(inputs: Mapping[str, str]) -> None:
    """Refuse what the command would take for a text, or for the value of another input."""
    for name, text in inputs.items():
        if name.strip().partition("=")[0] != name:
            raise UsageError(
                f"An input named {name!r} cannot be changed here: the command line has no form for that name.",
                "Expected a name without '=', and without spaces around it.",
                "Change it in Python: twice.branch(path, at=..., inputs={name: value}, out=...)",
            )
        # A text of TOML has quotes, which its value has not.
        if parse_value(text.strip()) == text.strip():
            raise UsageError(
                f"{name} cannot become {text}: that is no value of TOML.",
                'Expected for example true, 0.3, "a text", [1, 2] or {a = 1}.',
                "Write a text in quotes, and true and false in small letters.",
            )


def _is_branch(path: Path, record: Path, tick: int) -> bool:
    """Return whether a record is a branch of another one at a tick."""
    try:
        with RunRecord.open(path) as made, RunRecord.open(record) as parent:
            left = mapping(made.parent)
            fork = mapping(left.get("fork"))
            return (left.get("run_id"), fork.get("tick")) == (parent.run_id, tick)
    except TwiceError:
        return False


def show_line(record: RunRecord, file: str, line: int) -> dict[str, Any]:
    """Return ``file``, named as a command's text names it, and ``excerpt``, the lines around one."""
    name = name_place(file, 0).removesuffix(":0")
    return {"file": name, "excerpt": excerpt(record, file, line)}


def encode_png(shape: Sequence[int], content: bytes) -> bytes:
    """Encode a picture as PNG: Pillow is in an extra, and the page needs none.

    Args:
        shape: height, width and channels, 3 or 4 of 8 bits.
        content: in that order.
    """
    height, width, channels = shape
    row = width * channels
    rows = b"".join(b"\0" + content[at : at + row] for at in range(0, height * row, row))
    kind = {3: 2, 4: 6}[channels]  # true colour, without and with alpha
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows, 1)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def _explain_failure(words: Sequence[str], why: str) -> UsageError:
    return UsageError(
        f"twice {words[0]} gave no answer: {why}.",
        "Expected one document.",
        f"Run it by hand: twice {shlex.join(words)[:_COMMAND_MAX]}",
    )
