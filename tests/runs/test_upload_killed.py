"""A command that is killed while it uploads: the run is in the store or in its file, and never a part of it in its place."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from object_stores import ask, serve_s3

from programs import environ
from twice.errors import RecordTorn, RecordUnreadable
from twice.foundation.record_url import RecordUrl
from twice.recorder.record import RecordReader

pytest.importorskip("obstore")
pytest.importorskip("moto")
pytestmark = pytest.mark.heavy

KILLS = 200
FRAMES = 190
_LOOK_EVERY_S = 0.005
UPLOAD = f"""
import os
from twice.foundation.record_url import to_path
from twice.recorder.record import RecordWriter
from twice.runs.upload import upload_record

with upload_record(to_path("s3://runs/a.twice")) as local:
    writer = RecordWriter.create(local, {{"program": "killed"}})
    for tick in range({FRAMES}):
        writer.frame("input", 0, os.urandom(1 << 16), tick=tick)
    writer.close({{"how": "returned"}})
"""


def is_whole(path: Path) -> bool:
    """Whether a record is complete; one that is torn before its first block has nothing of a run."""
    try:
        with RecordReader.open(path) as reader:
            held = sum(1 for _ in reader.frames())
            assert held == FRAMES or not reader.complete
            return reader.complete
    except RecordTorn:
        return False


def kill_at(number: int, folder: Path) -> None:
    """Kill the upload where its file has a share of its bytes, in the end all while the rest is sent."""
    # A process of its own: it is killed.
    process = subprocess.Popen([sys.executable, "-c", UPLOAD], cwd=folder, env=environ())
    local = folder / f"a.{process.pid}.twice"
    wanted = FRAMES * (1 << 16) * min(number * 10, KILLS * 9) // (KILLS * 9)
    while process.poll() is None and not (local.exists() and local.stat().st_size >= wanted):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LOOK_EVERY_S)
    process.kill()
    process.wait()


def test_two_hundred_kills_lose_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    url = RecordUrl("s3://runs/a.twice")
    with serve_s3(monkeypatch, "runs") as address:
        for number in range(KILLS):
            folder = tmp_path / str(number)
            folder.mkdir()
            kill_at(number, folder)
            files = list(folder.glob("*.twice"))
            try:
                in_store = is_whole(url)
            except RecordUnreadable:
                in_store = False
            assert in_store or len(files) == 1
            for file in files:
                is_whole(file)
                file.unlink()
            ask(f"{address}/moto-api/reset", "POST")
            ask(f"{address}/runs", "PUT")
