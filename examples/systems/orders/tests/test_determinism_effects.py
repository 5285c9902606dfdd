# Laid down by twice scaffold from sheet 10; owned by it: change the sheet, or eject the file.
"""Effects: nothing asks the world but through the layer, and only what 10 lists."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
import twice

from determinism.effects import INVENTORY
from determinism.specified import RECORD

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


AUDITED: Final = ("orders.py",)
ACCEPTED: Final[tuple[str, ...]] = ("orders.py:answer",)
# How records name what sheet 10 calls a source.
NAMED = {
    "clock": "clock",
    "entropy": "entropy",
    "environment": "environment",
    "files": "filesystem",
    "network": "network",
    "process": "process",
    "stdin": "stdin",
}


def test_no_question_to_the_world_goes_past_the_layer() -> None:
    done = _twice("audit", "effects", *AUDITED, "--json")
    assert done.stdout, done.stderr
    audit = json.loads(done.stdout)
    assert "error" not in audit, audit["error"]
    gaps = [
        f"{each['path']}:{each['function']}" for each in audit["places"] if each["gap"]
    ]
    assert [each for each in gaps if each not in ACCEPTED] == []
    assert audit["unread"] == []


def test_a_run_touches_nothing_but_what_is_listed(record: twice.RunRecord) -> None:
    assert record.ending is not None, "the run did not end"
    listed = {source for source, _, _ in INVENTORY}
    touched = {name.partition(".")[0] for name in record.ending["effects"]["strict"]}
    assert {NAMED.get(each, each) for each in touched - {"call"}} <= listed
    beside = [
        each["source"]
        for each in record.ending["inventory"]
        if each["class"] == "unsupported" and not each["allowed"]
    ]
    assert beside == []


def test_a_replay_touches_what_the_run_touched(record: twice.RunRecord) -> None:
    done = _twice("verify", str(record.path), "--json")
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert "error" not in told, told["error"]
    assert told["effects"]["manifest_matches"], told["first_failure"]
