"""Processes of their own: several that write one catalogue, and many that are killed while they do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from made_records import make_record

from twice.runs.catalogue import FOLDER, RecordCatalogue

SCRIPT = Path(__file__).with_name("catalogue_processes.py")


def start(*words: object) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), *map(str, words)],
        env=environ,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.integration
def test_many_writers_have_all_rows_at_every_moment(tmp_path: Path) -> None:
    for seed in range(20):
        make_record(tmp_path / f"{seed}.twice", seed=seed)

    writers = [start("update", tmp_path, 5) for _ in range(4)]

    assert [writer.communicate()[1] for writer in writers] == [""] * 4
    kept = RecordCatalogue(tmp_path)
    kept.update()
    assert kept.opened == 0
    assert [
        path.suffix for path in (tmp_path / FOLDER).iterdir() if path.suffix != ".parquet"
    ] == []


@pytest.mark.heavy
def test_two_hundred_kills_lose_no_row_and_change_no_record(tmp_path: Path) -> None:
    assert start("kill", tmp_path, 7, 200).communicate()[1] == ""
