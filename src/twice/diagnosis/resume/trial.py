"""One execution of a training in a private copy of its folder: to its end, or until it is killed behind a write.

Everything else that the program changes is a copy that goes with the process, where the system gives one.

Invariant: no file of the user's is changed; a killed process is dead, with all that it started, when a trial returns.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from twice.diagnosis.resume.moments import read_moments, read_steps
from twice.errors import ProgramFailed, UsageError
from twice.foundation.dataclass import dataclass
from twice.recorder.environment.surroundings import Surroundings, environ_for_child
from twice.recorder.kernel.file_events import FileEvent, FileEvents
from twice.recorder.session_job import WORLD, describe_copy
from twice.recorder.setup import Setup
from twice.worker.process import FreshWorker

MODULE: Final = "twice.diagnosis.resume"
COPY_LIMIT_BYTES: Final = 2 << 30
_LEFT_OUT: Final = shutil.ignore_patterns(".git", "__pycache__", ".venv", "venv", "node_modules", "*.twice")
_LOOK_EVERY_S: Final = 0.05


@dataclass(frozen=True)
class Write:
    """The ``nth`` time, from 1, that a file was written and closed, or moved into its place; and the steps done by then."""

    path: str
    nth: int
    steps: int = 0


@dataclass(frozen=True)
class Trial:
    """What one execution did.

    Attributes:
        folder: the private copy of the program's folder, with what it left there.
        state: folder of our own files.
        exit_code: None where it was killed.
        exception: of a program that raised.
        printed: standard output and standard error.
        counts: of moments, by kind.
        writes: in their order.
        reads: files that it read, by path.
        put_back: parts whose state was put back.
    """

    folder: Path
    state: Path
    exit_code: int | None
    exception: Mapping[str, Any] | None
    printed: tuple[bytes, bytes]
    counts: Mapping[str, int] = field(default_factory=dict)
    writes: tuple[Write, ...] = ()
    reads: frozenset[str] = frozenset()
    put_back: tuple[str, ...] = ()

    @property
    def was_killed(self) -> bool:
        """Whether the process was killed."""
        return self.exit_code is None

    def moments(self) -> list[dict[str, Any]]:
        """Return the moments whose state was written down."""
        return read_moments(self.state)


class Trials:
    """Makes the trials of one program, each in a folder of its own below ``place``."""

    def __init__(self, setup: Setup, surroundings: Surroundings, place: Path) -> None:
        self._setup, self._surroundings, self._place = setup, surroundings, place
        self.program = setup.program
        self.source = Path(setup.program.root or os.curdir).resolve()
        _require_small(self.source)

    def copy(self, name: str, *, of: Path | None = None) -> Path:
        """Make a private copy of the program's folder, or ``of`` another trial's."""
        folder = self._place / name / "folder"
        shutil.copytree(of or self.source, folder, symlinks=True, ignore=None if of else _LEFT_OUT)
        return folder

    def make_folder(self, name: str) -> Path:
        """Make an empty folder beside those of the trials."""
        folder = self._place / name
        folder.mkdir()
        return folder

    def run(
        self,
        folder: Path,
        *,
        arguments: tuple[str, ...] | None = None,
        kill_behind: Write | None = None,
        wanted: Mapping[str, Iterable[int]] | None = None,
        puts: Iterable[str] = (),
        states: Path | None = None,
        keeps: bool = False,
    ) -> Trial:
        """Execute the program in a private folder.

        Args:
            folder: of ``copy``; another execution may have been there.
            arguments: of the command line, in place of the program's own.
            kill_behind: the write behind which the process is killed.
            wanted: moments whose state is written down; None for the first of each kind.
            puts: parts whose state in ``states`` is put back at the first moment.
            states: a folder with states.
            keeps: whether states are written there instead.
        """
        state = folder.with_name(f"state-{len(list(folder.parent.iterdir()))}")
        state.mkdir()
        program = self._setup.program
        target = os.path.relpath(self.source / program.target, self.source) if program.is_file else program.target
        program = replace(
            program,
            root=str(folder),
            target=target if not target.startswith("..") else str(program.path()),
            arguments=program.arguments if arguments is None else arguments,
        )
        shared = [str(folder), str(state), *([str(states)] if states is not None else [])]
        job = {
            WORLD: describe_copy(program, shared=shared),
            "action": "train",
            "setup": replace(self._setup, program=program, auto_points=False).to_json(),
            "folder": str(state),
            "wanted": None if wanted is None else {kind: sorted(some) for kind, some in wanted.items()},
            "puts": [*puts],
            "states": "" if states is None else str(states),
            "keeps": keeps,
        }
        with FileEvents(folder) as events:
            environ = environ_for_child(os.environ, self._surroundings)
            with FreshWorker(MODULE, environ, cwd=str(folder)) as worker:
                watch = _Watch(events, state, worker, kill_behind)
                message: Mapping[str, Any] | None = None
                try:
                    worker.ask(job)  # that it has started
                    message = worker.answer()
                    worker.wait()
                except ProgramFailed:
                    if not watch.has_killed:
                        raise
                finally:
                    watch.finish()
                printed = worker.read_printed()
        return Trial(
            folder,
            state,
            None if message is None else message["exit_code"],
            None if message is None else message["exception"],
            printed,
            {} if message is None else message["counts"],
            tuple(watch.writes),
            frozenset(watch.reads),
            () if message is None else tuple(message["put_back"]),
        )


class _Watch:
    """Follows the files of a trial on a thread of its own, and kills the worker behind a write."""

    def __init__(
        self, events: FileEvents, state: Path, worker: FreshWorker, kill_behind: Write | None
    ) -> None:
        self._events, self._state, self._worker = events, state, worker
        self._kill_behind = kill_behind
        self.writes: list[Write] = []
        self.reads: set[str] = set()
        self.has_killed = False
        self._counts: Counter[str] = Counter()
        self._done = Event()
        self._thread = Thread(target=self._follow, name="trial", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Take what is left, and stop."""
        self._done.set()
        self._thread.join()
        self._take(self._events.wait(0))

    def _follow(self) -> None:
        while not self._done.is_set():
            self._take(self._events.wait(_LOOK_EVERY_S))

    def _take(self, events: list[FileEvent]) -> None:
        steps = read_steps(self._state) if events else 0
        for event in events:
            if event.kind == "read":
                self.reads.add(event.path)
            elif event.kind == "written":
                self._counts[event.path] += 1
                write = Write(event.path, self._counts[event.path], steps)
                self.writes.append(write)
                aim = self._kill_behind
                if aim is not None and (write.path, write.nth) == (aim.path, aim.nth):
                    self.has_killed = True
                    self._worker.kill()


def _require_small(folder: Path) -> None:
    """Refuse a folder that is too large to be copied for each trial: E-USE-001."""
    size = 0
    for place, folders, files in os.walk(folder):
        ignored = _LEFT_OUT(place, [*folders, *files])
        folders[:] = [each for each in folders if each not in ignored]
        for name in files:
            if name not in ignored:
                size += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH116, PTH118
        if size > COPY_LIMIT_BYTES:
            raise UsageError(
                f"{folder} holds more than {COPY_LIMIT_BYTES >> 30} GiB, and every trial has a copy of it.",
                "Expected a folder with the program and what it needs to begin.",
                "Run the command in a smaller folder, and name large data by absolute paths.",
                path=str(folder),
            )
