"""Executing one command: a Python program under the recorder, anything else as a child.

A Python script, or a module with -m, is recorded as ``twice record`` would do it, so that chance,
clocks and reads are governed the same way each time. Any other program gets an environment of its own
and is watched from outside alone.

Invariant: when the block is entered, the command has ended, and so has the group of a plain program.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from twice.assets.errors import RenderFailed
from twice.assets.rendering.child import limit, now_s, run_child
from twice.assets.rendering.job import Job, Rendered
from twice.assets.rendering.reading import files_read
from twice.assets.rendering.workplace import Workplace, workplace
from twice.errors import TwiceError
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import environ_for_child, for_recording
from twice.recorder.program_spec import AS_MAIN, parse_program
from twice.recorder.recorder import build_record_job
from twice.recorder.session_job import RECORDING, hear
from twice.recorder.setup import Setup
from twice.worker.process import FreshWorker

PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
"""Where a child looks for programs, whatever its caller's environment says."""

_PYTHON: Final = re.compile(r"python(3(\.[0-9]+)?)?")


def is_python(argv: tuple[str, ...]) -> bool:
    """Whether a command is a Python program that the recorder can run: a script, or -m."""
    if len(argv) < 2 or _PYTHON.fullmatch(argv[0]) is None:
        return False
    return argv[1].endswith(".py") or (argv[1] == "-m" and len(argv) > 2)


def found_program(name: str, folder: Path | None = None) -> Path | None:
    """Find a program by its name on the fixed path, or by its path in the folder; None if it is not there."""
    if "/" in name:
        path = (folder or Path()) / name
        return path if path.is_file() else None
    found = shutil.which(name, path=PATH)
    return None if found is None else Path(found)


@contextmanager
def rendered(job: Job, outputs: tuple[str, ...]) -> Iterator[Rendered]:
    """Render in a fresh folder, which is there until the block ends.

    Args:
        job: what to execute.
        outputs: files that it has to write, by their path in the folder.

    Raises:
        RenderFailed: E-ASSET-RENDER-001: no such program, a failure, too slow, no output.
        InputChanged: E-ASSET-RENDER-002: an input cannot be read.
    """
    folders = tuple(sorted({str(Path(each).parent) for each in outputs}))
    with workplace(job.inputs, folders) as place:
        began = now_s()
        record, said = (_recorded if is_python(job.argv) else _executed)(job, place)
        took_s = now_s() - began
        written = place.written()
        for name in outputs:
            if name not in written:
                others = f"; it wrote {', '.join(written[:5])}" if written else ""
                raise _failed(job, f"did not write {name}{others}", said)
        yield Rendered(
            folder=place.folder, written=written, record=record, said=said, took_s=took_s,
            read=files_read(record, place.folder.parent) if record is not None else (),
        )  # fmt: skip


def _environ(job: Job, place: Workplace) -> dict[str, str]:
    own = {"PATH": PATH, "HOME": str(place.home), "TMPDIR": str(place.home)}
    return {**own, **job.env}


def _executed(job: Job, place: Workplace) -> tuple[None, str]:
    """Run a program as a child in a group of its own."""
    program = found_program(job.argv[0], place.folder)
    if program is None:
        raise _failed(job, "is not installed here", "")
    try:
        ended = run_child(
            [str(program.absolute()), *job.argv[1:]], place.folder, _environ(job, place),
            place.notes / "printed", timeout_s=job.timeout_s, bytes_max=job.bytes_max,
        )  # fmt: skip
    except (OSError, ValueError) as error:
        raise _failed(job, f"cannot be started: {error}", "") from error
    code, said = ended.code, ended.said
    if code is None:
        raise _failed(job, f"did not end within {job.timeout_s:g} s", said)
    if code != 0:
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise _failed(job, how, said)
    return None, said


def _recorded(job: Job, place: Workplace) -> tuple[Path, str]:
    """Run a Python program under the recorder."""
    module = job.argv[1] == "-m"
    target, rest = (job.argv[2], job.argv[3:]) if module else (job.argv[1], job.argv[2:])
    out = place.notes / "render.twice"
    said = ""
    try:
        name = AS_MAIN + target if module else target
        program = parse_program(name, arguments=rest, cwd=place.folder)
        surroundings = for_recording({}, explicit=dict(job.env))
        message = build_record_job(Setup(program, Seed(job.seed)), surroundings, out)
        base = _environ(job, place)
        if "PYTHONPATH" in os.environ:  # Where twice itself is found when it is not installed.
            base["PYTHONPATH"] = os.environ["PYTHONPATH"]
        environ = environ_for_child(base, surroundings)
        with FreshWorker(RECORDING, environ, cwd=str(place.folder), heard=hear) as child:
            limit(child.pid, job.bytes_max)
            try:
                ended = _answered(child, message, job.timeout_s)
            finally:
                said = child.errors_tail()
    except TimeoutError:
        raise _failed(job, f"did not end within {job.timeout_s:g} s", said) from None
    except TwiceError as error:
        raise _failed(job, f"could not be recorded: {error.happened}", said) from error
    if ended["how"] not in {"completed", "exit"} or ended["exit_code"] != 0:
        raise _failed(job, f"ended with exit code {ended['exit_code']} ({ended['how']})", said)
    return out, said


def _answered(
    child: FreshWorker, message: Mapping[str, object], timeout_s: float
) -> dict[str, object]:
    """Wait for the end of a session, no longer than it has."""
    ends = now_s() + timeout_s
    try:
        child.ask(message, timeout_s)
        while (ended := child.answer(max(0.001, ends - now_s())))["kind"] == "noticed":
            continue
        child.wait()
    except TimeoutError:
        child.kill()
        raise
    return ended


def _failed(job: Job, how: str, said: str) -> RenderFailed:
    last = said.splitlines()[-1][:200] if said else ""
    return RenderFailed(
        f"{job.argv[0]} {how}.{f' It said: {last}' if last else ''}",
        f"Expected {' '.join(job.argv)[:200]} to write its output, in a clean folder.",
        "Name every file that it reads: --input FILE; or run it by hand to see why.",
        program=job.argv[0],
    )
