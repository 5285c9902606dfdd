"""What a training writes and reads in its folder, by its own process; and the kill behind one of the writes.

The process looks whenever a step is done and before Python opens or moves a file. So it is dead before the program does
anything to the next checkpoint, whatever wrote the last one.

Not seen in time: several checkpoints that C code writes without a step in between.

Invariant: what was seen stands in the log before the process is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from fcntl import F_GETFL, fcntl
from pathlib import Path
from types import FrameType
from typing import Any, Final

from twice.diagnosis.resume.loops import Loop
from twice.foundation.dataclass import dataclass
from twice.recorder.effects.actors import outside
from twice.recorder.kernel.file_events import FileEvents

_LOG: Final = "files.jsonl"
_BEGINS, _WRITTEN = "begins", "written"
_BEFORE: Final = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.truncate"})
"""Audit events that come before files change."""
_kill, _getpid = os.kill, os.getpid  # the real ones


@dataclass(frozen=True)
class Write:
    """The ``nth`` time, from 1, that a file was written and closed, or moved into its place; and the steps done by then."""

    path: str
    nth: int
    steps: int = 0


@dataclass(frozen=True)
class SeenFiles:
    """What a process did to the files of its folder.

    Attributes:
        writes: in their order.
        reads: paths that it read.
        changed: paths that it changed behind the kill's write.
        loops: for each write, the loop in which Python began the last one before it.
    """

    writes: tuple[Write, ...] = ()
    reads: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    loops: tuple[Loop | None, ...] = ()


class FileLog:
    """Follows the files below the program's folder.

    Args:
        folder: the program's.
        state: where the log is written.
        aim: path and number of the write behind which the process is killed; None for none.
        count_steps: returns the steps that are done.
        is_here: whether the caller is the training.
        begins: called before Python begins to write a file of the folder, with the frame that does; returns its loop.
    """

    def __init__(
        self,
        folder: Path,
        state: Path,
        aim: tuple[str, int] | None,
        count_steps: Callable[[], int],
        is_here: Callable[[], bool],
        begins: Callable[[FrameType], Loop | None],
    ) -> None:
        self._folder, self._begins = f"{folder}/", begins
        self._events = FileEvents(folder)
        self._log = (state / _LOG).open("a", encoding="utf-8")
        self._aim, self._count_steps, self._is_here = aim, count_steps, is_here
        self._counts: Counter[str] = Counter()
        self._changed: set[str] = set()
        self._is_done = False
        sys.addaudithook(self._before)

    def look(self) -> None:
        """Write down what happened since the last look, and die if the time has come."""
        events = self._events.wait(0)
        if not events:
            return
        is_due = False
        for event in events:
            row: dict[str, Any] = {"kind": event.kind, "path": event.path}
            if event.kind == "moved" or (event.kind == "closed" and event.path in self._changed):
                self._changed.discard(event.path)
                self._counts[event.path] += 1
                row |= {"kind": _WRITTEN, "nth": self._counts[event.path]}
                row["steps"] = self._count_steps()
                is_due |= (event.path, row["nth"]) == self._aim
            elif event.kind == "changed":
                self._changed.add(event.path)
            elif event.kind == "closed":
                continue  # of a file that was moved while it was open, and counted then
            if event.kind != "changed" or is_due:
                self._log.write(json.dumps(row) + "\n")
        if is_due:
            self._log.flush()
            _kill(_getpid(), signal.SIGKILL)

    def end(self) -> None:
        """Look for the last time."""
        self._is_done = True
        self.look()
        # Archives of numpy and databases are often closed by nobody, so that the kernel never tells that they were read.
        for path in self._list_open():
            self._log.write(json.dumps({"kind": "read", "path": path}) + "\n")
        self._log.close()
        self._events.close()

    def _list_open(self) -> Iterator[str]:
        """Yield the paths of files in the folder that this process still has open, and not only to write."""
        folder = os.path.realpath(self._folder) + os.sep
        for number in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with suppress(OSError):  # the descriptor of the listing itself
                path = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115
                flags = fcntl(int(number), F_GETFL)
                if path.startswith(folder) and flags & os.O_ACCMODE != os.O_WRONLY:
                    yield path.removeprefix(folder)

    def _before(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in _BEFORE or self._is_done or not self._is_here():
            return
        outside(self.look)
        if event == "open" and _is_write(*arguments[1:3]):
            path = arguments[0]
            if isinstance(path, str | bytes) and outside(self._is_own, os.fsdecode(path)):
                loop = self._begins(sys._getframe(1))
                if loop is not None:
                    self._log.write(json.dumps({"kind": _BEGINS, "loop": asdict(loop)}) + "\n")

    def _is_own(self, path: str) -> bool:
        return os.path.abspath(path).startswith(self._folder)  # noqa: PTH100  (links stay)


def _is_write(mode: object, flags: object) -> bool:
    if isinstance(mode, str):
        return bool({*mode} & {*"wax+"})
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))


def read_files(state: Path, aim: Write | None) -> SeenFiles:
    """Return what the process of a trial wrote down; ``aim`` is the write behind which it was killed."""
    path = state / _LOG
    rows = (
        [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    )
    writes = [row for row in rows if row["kind"] == _WRITTEN]
    behind = [
        at
        for at, row in enumerate(rows)
        if aim and (row.get("path"), row.get("nth")) == (aim.path, aim.nth)
    ]
    late = rows[behind[0] + 1 :] if behind else []
    loops: list[Loop | None] = []
    loop: Loop | None = None
    for row in rows:
        if row["kind"] == _BEGINS:
            loop = Loop(**row["loop"])
        elif row["kind"] == _WRITTEN:
            loops.append(loop)
    return SeenFiles(
        tuple(Write(row["path"], row["nth"], row["steps"]) for row in writes),
        frozenset(row["path"] for row in rows if row["kind"] == "read"),
        frozenset(row["path"] for row in late if row["kind"] in {_WRITTEN, "changed"}),
        tuple(loops),
    )
