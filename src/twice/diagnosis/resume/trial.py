"""One execution of a training in a private copy of its folder: to its end, or until it is killed behind a write.

Where the system gives a world, the copy stands in the place of the folder, so that paths are what they are, and everything
else that the program changes is a copy that goes with the process. Elsewhere the program runs in the copy, and may change
nothing else.

Invariant: no file of the user's is changed; a killed process is dead, with all that it started, when a trial returns.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field, replace
from pathlib import Path
from typing import Any, Final

from twice.diagnosis.resume.file_log import SeenFiles, Write, read_files
from twice.diagnosis.resume.loops import Loop
from twice.diagnosis.resume.moments import read_moments
from twice.errors import ProgramFailed, UsageError
from twice.foundation.dataclass import dataclass
from twice.recorder.environment.surroundings import Surroundings, environ_for_child
from twice.recorder.session_job import WORLD, describe_copy
from twice.recorder.setup import Setup
from twice.worker.process import FreshWorker

MODULE: Final = "twice.diagnosis.resume"
COPY_LIMIT_BYTES: Final = 2 << 30
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git", "__pycache__", ".venv", "venv", "node_modules", "*.twice"
)


@dataclass(frozen=True)
class Trial:
    """What one execution did.

    Attributes:
        folder: the private copy of the program's folder, with what it left there.
        state: folder of our own files.
        exit_code: None where it was killed.
        exception: of a program that raised.
        printed: standard output and standard error.
        files: what it did to them.
        counts: of moments, by kind.
    """

    folder: Path
    state: Path
    exit_code: int | None
    exception: Mapping[str, Any] | None
    printed: tuple[bytes, bytes]
    files: SeenFiles
    counts: Mapping[str, int] = field(default_factory=dict)

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
        self.program, self.ignored_output = setup.program, setup.ignored_output
        self._workers: list[FreshWorker] = []
        self._has_ended = False
        self.source = Path(setup.program.root or os.curdir).resolve()
        _require_small(self.source)

    def copy(self, name: str, *, of: Path | None = None) -> Path:
        """Make a private copy of the program's folder, or ``of`` another trial's."""
        self._require_open()
        folder = self._place / name / "folder"
        shutil.copytree(of or self.source, folder, symlinks=True, ignore=None if of else _LEFT_OUT)
        return folder

    def make_folder(self, name: str) -> Path:
        """Make an empty folder beside those of the trials."""
        folder = self._place / name
        folder.mkdir()
        return folder

    def end(self) -> None:
        """Kill what still runs, so that no thread waits for a training that nobody wants any more."""
        self._has_ended = True
        for worker in [*self._workers]:
            worker.kill()

    def _require_open(self) -> None:
        if self._has_ended:
            raise UsageError(
                "The check has ended.", "Expected no further trial.", "Start the check again."
            )

    def run(
        self,
        folder: Path,
        *,
        arguments: tuple[str, ...] | None = None,
        kill_behind: Write | None = None,
        wanted: Mapping[str, Iterable[int]] | None = None,
        loop: Loop | None = None,
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
            loop: whose rounds are moments from the beginning.
            puts: parts whose state in ``states`` is put back at the first moment.
            states: a folder with states.
            keeps: whether states are written there instead.
        """
        state = folder.with_name(f"state-{len(list(folder.parent.iterdir()))}")
        state.mkdir()
        program = replace(
            self._setup.program,
            root=str(self.source),
            arguments=self.program.arguments if arguments is None else arguments,
        )
        shared = [str(state), *([str(states)] if states is not None else [])]
        job = {
            WORLD: describe_copy(program, shared=shared, placed={str(self.source): str(folder)}),
            "action": "train",
            "setup": replace(self._setup, program=program, auto_points=False).to_json(),
            "copy": str(folder),
            "folder": str(state),
            "wanted": None
            if wanted is None
            else {kind: sorted(some) for kind, some in wanted.items()},
            "puts": [*puts],
            "states": "" if states is None else str(states),
            "keeps": keeps,
            "loop": None if loop is None else asdict(loop),
            "aim": None if kill_behind is None else [kill_behind.path, kill_behind.nth],
        }
        # Where there is no world, nothing else is writable, and processes meet in this folder.
        temporary = state / "tmp"
        temporary.mkdir()
        environ = {**environ_for_child(os.environ, self._surroundings), "TMPDIR": str(temporary)}
        message: Mapping[str, Any] | None = None
        self._require_open()
        with FreshWorker(MODULE, environ, cwd=str(self.source)) as worker:
            self._workers.append(worker)
            try:
                message = worker.ask(job)
                worker.wait()
            except ProgramFailed as error:
                if kill_behind is None or error.fields.get("exit_code") != -signal.SIGKILL:
                    raise
            finally:
                self._workers.remove(worker)
            printed = worker.read_printed()
        files = read_files(state, kill_behind)
        if message is None:
            return Trial(folder, state, None, None, printed, files)
        return Trial(
            folder,
            state,
            message["exit_code"],
            message["exception"],
            printed,
            files,
            message["counts"],
        )


def _require_small(folder: Path) -> None:
    """Refuse a folder that is too large to be copied for each trial: E-USE-001."""
    size = 0
    for place, folders, files in os.walk(folder):
        ignored = _LEFT_OUT(place, [*folders, *files])
        folders[:] = [each for each in folders if each not in ignored]
        for name in files:
            if name not in ignored:
                size += os.lstat(os.path.join(place, name)).st_size  # noqa: PTH118
        if size > COPY_LIMIT_BYTES:
            raise UsageError(
                f"{folder} holds more than {COPY_LIMIT_BYTES >> 30} GiB, and every trial has a copy of it.",
                "Expected a folder with the program and what it needs to begin.",
                "Run the command in a smaller folder, and name large data by absolute paths.",
                path=str(folder),
            )
