# Laid down by twice scaffold from sheet 04; owned by it: change the sheet, or eject the file.
"""Snapshots: every component of 04 is held, and a run goes on from each as it did."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import twice

from wiring.components import COMPONENTS
from wiring.specified import RECORD

ROOT = Path(__file__).parents[1]


def _twice(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twice", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(name="record", scope="module")
def _record(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[twice.RunRecord]:
    out = tmp_path_factory.getbasetemp() / "run-of-the-specification.twice"
    if not out.exists():
        new = tmp_path_factory.mktemp("run") / "run.twice"
        done = _twice(*RECORD, "--quiet", "-o", str(new))
        assert done.returncode == 0, done.stderr
        new.replace(out)
    with twice.open(out) as opened:
        yield opened


def test_the_components_are_those_of_the_specification(
    record: twice.RunRecord,
) -> None:
    assert record.ending is not None, "the run did not end"
    held: dict[str, str] = record.ending["components"]
    assert sorted(held) == sorted(COMPONENTS)
    assert [name for name, form in held.items() if form == "state only"] == []


def test_a_run_goes_on_from_every_snapshot_as_it_did(
    record: twice.RunRecord,
) -> None:
    done = _twice("verify", str(record.path), "--restores", "--json")
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert "error" not in told, told["error"]
    assert told["restores"]["failed"] == []
    assert told["restores"]["tested"] > 0
    assert told["result"] == "PASS"
