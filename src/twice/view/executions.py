"""What a person starts from the page: a diagnosis, a branch, a replay up to a tick, the lines of a tick's reads.

Each is a process of its own, as if it had been typed, so a record from elsewhere is refused as there, and nothing of a
program runs where requests are answered.

Invariant: the processes end with the server.
"""

from __future__ import annotations

import json
import shlex
import struct
import subprocess
import sys
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any

from twice.diagnosis.text_layout import name_place
from twice.errors import UsageError
from twice.foundation.with_blocks import Closing
from twice.recorder.runrecord import RunRecord
from twice.replayer.replay_session import ReplaySession
from twice.report.record_pages import excerpt
from twice.view.state_tree import describe_state
from twice.view.viewed_runs import ENTRIES_MAX
from twice.worker.channel import revive_error


class Executions(Closing):
    """The commands of one server.

    Args:
        trust: options by which each of them trusts the records.
    """

    def __init__(self, trust: Sequence[str] = ()) -> None:
        self._trust = trust
        self._running = set[subprocess.Popen[bytes]]()
        self._replays: dict[Path, ReplaySession] = {}
        self._lock, self._replaying = Lock(), Lock()
        self._is_closed = False

    def diagnose(self, a: Path, b: Path) -> dict[str, Any]:
        """Diagnose two records; return what the page shows of it.

        Raises:
            TwiceError: as the command says it.
        """
        told = self._run(["diagnose", str(a), str(b), "--anyway", "--json"])
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
            "caveats": told.get("caveats", []),
            "next": [each["command"] for each in told.get("next", ())],
        }

    def branch(self, record: Path, tick: int, inputs: Mapping[str, str], *, onwards: bool) -> Path:
        """Leave a record at a tick with other inputs; return the branch's record, beside the first.

        Raises:
            TwiceError: as the command says it.
        """
        names = (record.with_name(f"{record.stem}-branch-{n}.twice") for n in count(1))
        out = next(path for path in names if not path.exists())
        given = [part for name, text in inputs.items() for part in ("--input", f"{name}={text}")]
        onward = ["--onwards"] if onwards else []
        self._run(
            ["branch", str(record), "--at", str(tick), *given, *onward, "-o", str(out), "--json"]
        )
        return out

    def replay(self, record: Path, tick: int) -> dict[str, Any]:
        """Execute a record's program up to a tick; return the state before its body, and pictures of it.

        Returns:
            ``tick``, ``state``, a tree, and ``frames``: ``name`` and ``png``, in base64.

        Raises:
            TwiceError: as ``twice.replay`` raises it.
        """
        with self._replaying:
            session = self._open_session(record)
            session.seek(tick)
            values, frames = session.state(), session.frames()
        drawn = [
            {"name": name, "png": b64encode(encode_png(each["shape"], each["bytes"])).decode()}
            for name, each in sorted(frames.items())
        ]
        return {"tick": tick, "state": describe_state(values), "frames": drawn}

    def find_lines(self, record: Path, tick: int) -> dict[str, Any]:
        """Execute a record's program through a tick; return the user's lines that made the reads of that tick.

        Returns:
            ``lines``: one member for each read, in the order of the record: ``file``, ``line``, ``function`` and
            ``excerpt``, or None where no code of the user's made it.

        Raises:
            TwiceError: as ``ReplaySession.effects`` raises it.
        """
        with self._replaying:
            session = self._open_session(record)
            reads = session.effects(tick, most=ENTRIES_MAX)
            places = dict.fromkeys((each.file, each.line) for each in reads)
            shown = {place: show_line(session.record, *place) for place in places if place[0]}
        return {
            "lines": [
                {"line": each.line, "function": each.function, **shown[each.file, each.line]}
                if each.file
                else None
                for each in reads
            ]
        }

    def _open_session(self, record: Path) -> ReplaySession:
        if record not in self._replays:
            self._replays[record] = ReplaySession(record)
        return self._replays[record]

    def close(self) -> None:
        """Kill what still runs."""
        with self._lock:
            self._is_closed = True
            for process in self._running:
                process.kill()
        for session in self._replays.values():
            session.close()

    def _run(self, words: Sequence[str]) -> dict[str, Any]:
        """Run a command, and return the document that it prints."""
        with self._lock:
            if self._is_closed:
                raise _explain_failure(words, "the server ends")
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "twice", *words, *self._trust],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            self._running.add(process)
        try:
            printed, errors = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        try:
            told: dict[str, Any] = json.loads(printed)
        except ValueError:
            said = errors.decode("utf-8", "backslashreplace").strip().splitlines()
            raise _explain_failure(words, said[-1] if said else "it printed nothing") from None
        if "error" in told:
            raise revive_error(told["error"])
        return told


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
        f"Run it by hand: twice {shlex.join(words)}",
    )
