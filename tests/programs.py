"""Programs for tests: written to a folder, recorded and verified in processes of their own."""

from __future__ import annotations

import io
import os
import select
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any

import twice
from forks import Forks
from twice.recorder.record import RecordWriter
from twice.recorder.record_form import ERRORS, OUTPUT
from twice.recorder.runrecord import RunRecord
from twice.recorder.trust import digest_identity, remember_record
from twice.replayer.verification import Verification
from twice.replayer.verify import verify

HANGS_AFTER_S = 600
"""What takes longer hangs: the gate of a system takes minutes where others hold the cores."""
FORKS: Forks | None = None
"""Where processes are forked from; the root conftest says so."""

WALK = """
class Walk:
    def __init__(self, rng):
        self.rng, self.x, self.trail = rng, 0.0, []

    def step(self, push):
        self.x += push + self.rng.normal()
        self.trail = [*self.trail[-3:], self.x]

    def state(self):
        return {"x": self.x, "trail": self.trail}

    def restore(self, state):
        self.x, self.trail = state["x"], state["trail"]
"""
"""A component that draws; programs append their ``main`` to it."""


def write(folder: Path, source: str, *, name: str = "program.py", walk: bool = False) -> str:
    """Write a program and name its ``main``."""
    path = folder / name
    path.write_text((WALK if walk else "") + textwrap.dedent(source), encoding="utf-8")
    return f"{path}:main"


def recorded(folder: Path, source: str, *, walk: bool = False, **options: Any) -> RunRecord:
    """Write a program and record it; the record, open."""
    options = {"seed": 1, "out": folder / "a.twice", **options}
    return twice.record(write(folder, source, walk=walk), **options)


def verified(folder: Path, source: str, *, walk: bool = False, **options: Any) -> Verification:
    """Write a program, record it, and verify the record in a fresh process."""
    with recorded(folder, source, walk=walk, **options) as record:
        return verify(record.path)


def names(record: RunRecord) -> list[tuple[int, str]]:
    """Tick and name of every compare-point."""
    points = record.reader.points
    return [(points.point(at).tick, points.point(at).name) for at in range(len(points))]


def chains(record: RunRecord) -> list[bytes]:
    """Return the chain digest of every compare-point."""
    points = record.reader.points
    return [points.point(at).chain for at in range(len(points))]


def call(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of twice in this process: what it prints, and its exit code."""
    from twice.cli import main

    words, out, errors = [*map(str, arguments)], io.StringIO(), io.StringIO()
    with chdir(cwd), redirect_stdout(out), redirect_stderr(errors):
        try:
            main(words)
        except SystemExit as end:
            code = end.code
    assert isinstance(code, int), "main exits with a number"
    return subprocess.CompletedProcess(words, code, out.getvalue(), errors.getvalue())


def cli(
    *arguments: object,
    cwd: Path | None = None,
    env: Mapping[str, str | None] | None = None,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, a fork where that does not matter; its exit code and output.

    Beside every verb that executes a record, the files around it are watched: none may change
    but the one that ``--force`` was given for.
    """
    watched = [cwd, *(Path(str(each)).parent for each in arguments if str(each).endswith(".twice"))]
    is_replay = bool(arguments) and str(arguments[0]) in _LEAVES_FILES
    before = seen_files(watched) if is_replay else {}
    told = list(map(str, arguments))
    done = None
    if FORKS is not None and options.keys() <= {"input"}:
        done = FORKS.run_cli(
            told,
            environ(env),
            cwd=None if cwd is None else str(cwd),
            given=options.get("input"),
            timeout_s=HANGS_AFTER_S,
        )
    if done is None:
        done = subprocess.run(
            [sys.executable, "-m", "twice", *told],
            capture_output=True,
            text=True,
            cwd=cwd,
            env=environ(env),
            timeout=HANGS_AFTER_S,
            check=False,
            **options,
        )
    after = seen_files(watched) if is_replay else {}
    asked_for = {str(each) for each in arguments} if "--force" in arguments else set()
    changed = [
        path
        for path in before
        if after.get(path) != before[path] and not {path.name, str(path)} & asked_for
    ]
    assert not changed, f"twice {arguments[0]} changed files of the user's: {changed}"
    return done


_LEAVES_FILES = frozenset({"verify", "replay", "branch", "diagnose", "vary"})
"""Verbs that execute a program again, and change no file that was there."""
_WATCHED_MAX = 2_000


def seen_files(folders: Iterable[Path | None]) -> dict[Path, tuple[int, int, int]]:
    """Return number, size and time of each file below some folders of a test, without twice's own."""
    temporary = Path(tempfile.gettempdir()).resolve()
    found: dict[Path, tuple[int, int, int]] = {}
    for folder in filter(None, folders):
        if temporary not in folder.resolve().parents:
            continue
        inside = list(islice(folder.resolve().rglob("*"), _WATCHED_MAX + 1))
        if len(inside) > _WATCHED_MAX:
            continue  # some tests make many thousands
        for path in inside:
            is_own = any(".twice" in part or part == "__pycache__" for part in path.parts)
            if not is_own and path.is_file():
                status = path.stat()
                found[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found


def environ(changes: Mapping[str, str | None] | None = None) -> dict[str, str]:
    """Return this process's environment with some variables changed; None removes one."""
    changed = {**os.environ, **(changes or {})}
    return {name: value for name, value in changed.items() if value is not None}


def wait_until(happened: Callable[[], object], process: subprocess.Popen[Any]) -> None:
    """Wait until something happened; fail where the process that it is expected of ends first, or hangs."""
    ended, hangs_at = os.pidfd_open(process.pid), time.monotonic() + HANGS_AFTER_S
    try:
        poll = select.poll()
        poll.register(ended, select.POLLIN)
        while not happened():
            assert not poll.poll(_LOOK_EVERY_MS), "the process ended first"
            assert time.monotonic() < hangs_at, "the process hangs"
    finally:
        os.close(ended)


_LOOK_EVERY_MS = 5


@contextmanager
def reserve_port() -> Iterator[int]:
    """Give a port of loopback that a server of the block may listen on, and that the system gives to nobody else."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def rewritten(path: Path, out: Path, **changes: Any) -> Path:
    """Points, printed text and ending of a record under another identity, sealed as its writer would."""
    with RunRecord.open(path) as record:
        reader = record.reader
        writer = RecordWriter.create(
            out, {**record.identity, **changes}, algorithm=reader.algorithm, force=True
        )
        printed = deque(reader.frames(kinds=[OUTPUT, ERRORS]))
        for point in reader.points.iterate():
            while printed and printed[0].point <= point.index:
                frame = printed.popleft()
                writer.frame(frame.kind, frame.actor, bytes(frame.payload), tick=frame.tick)
            layout = writer.layout(tuple(point.digests))
            digests = b"".join(point.digests.values())
            writer.point(layout, point.tick, point.name, point.root, point.chain, digests)
        writer.close(record.ending or {})
        remember_record(digest_identity({**record.identity, **changes}))
    return out
