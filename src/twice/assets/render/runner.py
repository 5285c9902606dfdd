"""Run one rendering: a command in a clean folder, with pinned surroundings and limits.

A Python script, or a module with -m, runs under the recorder, so that chance, clocks and reads are governed the same
way each time. Any other program is a child, watched from outside alone: what it prints, how it ends, what it writes.
Recording and re-rendering both go through here. It is no sandbox: a command reads and writes what its user can, and
nothing here decides whether it may run.

Invariant: a command gets an argument list, never a shell, and copies of its inputs, never files of a store. When
``render`` enters its block, the command has ended, and so has the group of a plain program.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from twice.assets.errors import InputChanged, RenderFailed
from twice.assets.media.measure import digest_file
from twice.assets.render.command import (
    FOLDER_PREFIX,
    PATH,
    RenderJob,
    find_program,
    is_outside,
    is_recordable,
)
from twice.errors import TwiceError
from twice.foundation.seeds import Seed
from twice.recorder.effects.ops import FILE_READ
from twice.recorder.environment.surroundings import environ_for_child, for_recording
from twice.recorder.program_spec import AS_MAIN, parse_program
from twice.recorder.recorder import build_record_job
from twice.recorder.runrecord import RunRecord
from twice.recorder.session_job import RECORDING, hear
from twice.recorder.setup import Setup
from twice.worker.process import FreshWorker

OUTPUT_BYTES_MAX: Final = 4 * 2**30
"""Most bytes of one file that a rendering may write."""
RECORD: Final = "notes/render.twice"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """A command that ended well, in a private folder that is gone when the block of ``render`` ends.

    ``written`` are files that are new or others now, by their path in it. Of a Python program there are the run record,
    and the files that it ``read`` outside of the folder; what other programs and C code read is not known. ``printed`` is
    the end of what it printed.
    """

    folder: Path
    written: tuple[str, ...]
    record: Path | None
    printed: str
    took_s: float
    read: tuple[Path, ...] = ()


@contextmanager
def render(job: RenderJob) -> Iterator[Rendering]:
    """Render in a fresh folder, which is there until the block ends.

    Raises:
        RenderFailed: E-ASSET-RENDER-001, no such program, a failure, too slow, no output.
        InputChanged: E-ASSET-RENDER-002, an input cannot be read.
    """
    root = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
    try:
        folder = root / "work"
        for each in (folder, root / "home", root / "notes"):
            each.mkdir(mode=0o700)
        placed = {}
        for name, source in job.inputs.items():
            try:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                placed[name] = digest_file(Path(shutil.copy(source, folder / name)))
            except OSError as error:
                raise InputChanged(
                    f"The input {source} cannot be read: {error.strerror or error}.",
                    "Expected every file that the command reads.",
                    "Put it back, or name another one with --input.",
                    path=str(source),
                ) from error
        for name in job.outputs:
            with suppress(OSError):  # An input has the folder's name: nothing can be written there.
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
        env = {"PATH": PATH, "HOME": str(root / "home"), "TMPDIR": str(root / "home"), **job.env}
        is_recorded = is_recordable(job.argv)
        began = time.monotonic()
        why, printed = (_record if is_recorded else _run_child)(job, root, env)
        took_s = time.monotonic() - began
        written = tuple(_list_written(folder, placed))
        missing = [each for each in job.outputs if each not in written]
        if missing and not why:
            others = f"; it wrote {', '.join(written[:5])}" if written else ""
            why = f"did not write {missing[0]}{others}"
        if why:
            last = f" It said: {printed.splitlines()[-1][:200]}" if printed else ""
            raise RenderFailed(
                f"{job.argv[0]} {why}.{last}",
                f"Expected {' '.join(job.argv)[:200]} to write its output, in a clean folder.",
                "Name every file that it reads: --input FILE; or run it by hand to see why.",
                program=job.argv[0],
            )
        record, read = (root / RECORD if is_recorded else None), set()
        if record is not None:
            with RunRecord.open(record) as run:
                actors = chain(*run.actor_reads().values())
                events = [*run.strict_reads(), *run.lenient_reads(), *actors]
            read = {str(value[0]) for number, value in events if number == FILE_READ.number}  # type: ignore[index]
        yield Rendering(
            folder=folder, written=written, record=record, printed=printed, took_s=took_s,
            read=tuple(Path(each) for each in sorted(read) if is_outside(each)),
        )  # fmt: skip
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _list_written(folder: Path, placed: Mapping[str, str]) -> Iterator[str]:
    """List the files that are new, or others than were placed, in one order; links are none."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not path.is_file() or "__pycache__" in path.parts:
            continue
        if name not in placed or digest_file(path) != placed[name]:
            yield name


def _run_child(job: RenderJob, root: Path, env: Mapping[str, str]) -> tuple[str, str]:
    """Run a plain program; return how it failed, or "", and the end of what it printed."""
    program = find_program(job.argv[0], root / "work")
    if program is None:
        return "is not installed here", ""
    argv = [str(program.absolute()), *job.argv[1:]]
    try:
        code, text = run_program(argv, root / "work", env, root / "notes/printed", job.timeout_s)
    except (OSError, ValueError) as error:
        return f"cannot be started: {error}", ""
    if code is None:
        return f"did not end within {job.timeout_s:g} s", text
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
    return how if code else "", text


def run_program(
    argv: Sequence[str], folder: Path, env: Mapping[str, str], printed: Path, timeout_s: float,
    *, tail: int = 2000,
) -> tuple[int | None, str]:  # fmt: skip
    """Run a plain program to its end, or to the end of its time; no process of its group is left.

    Args:
        argv: the program's path and its arguments.
        folder: where it works.
        env: its whole environment.
        printed: a file for what it prints.
        timeout_s: when it is ended.
        tail: how many bytes of what it printed are returned.

    Returns:
        Its exit code, None when its time was up, and the end of what it printed.

    Raises:
        OSError: it cannot be started. ValueError: an argument or a variable holds a zero byte.
    """
    with printed.open("wb") as out:
        child = subprocess.Popen(
            list(argv), cwd=folder, env=dict(env), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            _limit_files(child.pid)
            code: int | None = child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    with printed.open("rb") as file:
        file.seek(max(0, printed.stat().st_size - tail))
        return code, file.read().decode("utf-8", "replace").strip()


def _limit_files(pid: int) -> None:
    """Let no file of a process grow beyond the limit, and no core be written; on Linux alone."""
    if hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))


def _record(job: RenderJob, root: Path, env: Mapping[str, str]) -> tuple[str, str]:
    """Run a Python program under the recorder; return how it failed, or "", and the end of its errors."""
    at = 2 if job.argv[1] == "-m" else 1
    name = f"{AS_MAIN}{job.argv[at]}" if at == 2 else job.argv[at]
    printed, ends = "", time.monotonic() + job.timeout_s
    try:
        program = parse_program(name, arguments=job.argv[at + 1 :], cwd=root / "work")
        surroundings = for_recording({}, explicit=dict(job.env))
        message = build_record_job(Setup(program, Seed(job.seed or 0)), surroundings, root / RECORD)
        # Where twice itself is found when it is not installed.
        found_by = {name: text for name, text in os.environ.items() if name == "PYTHONPATH"}
        environ = environ_for_child({**env, **found_by}, surroundings)
        with FreshWorker(RECORDING, environ, cwd=str(root / "work"), heard=hear) as child:
            _limit_files(child.pid)
            try:
                ended = child.ask(message, job.timeout_s)
                while ended["kind"] != "ended":
                    ended = child.answer(max(0.001, ends - time.monotonic()))
                child.wait()
            except TimeoutError:
                child.kill()
                raise
            finally:
                printed = child.errors_tail()
    except TimeoutError:
        return f"did not end within {job.timeout_s:g} s", printed
    except TwiceError as error:
        return f"could not be recorded: {error.happened}", printed
    is_well = ended["how"] in {"completed", "exit"} and ended["exit_code"] == 0
    return "" if is_well else f"ended with exit code {ended['exit_code']} ({ended['how']})", printed
