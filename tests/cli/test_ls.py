from __future__ import annotations

import json
from pathlib import Path

import pytest

from programs import cli

pytestmark = pytest.mark.integration


def test_records_are_listed_by_name_with_what_matters(recorded_swarm: Path) -> None:
    done = cli("ls", cwd=recorded_swarm)
    head, a, b = done.stdout.splitlines()

    assert head.split() == [
        "RECORD",
        "PROGRAM",
        "SEED",
        "TICKS",
        "ENDING",
        "BYTES",
        "RESULT",
        "PARENT",
    ]
    assert a.split()[:5] == ["a.twice", "examples/swarm.py:main", "42", "210", "completed"]
    assert b.endswith("branch of a.twice at tick 120")


def test_json_has_every_record_and_what_was_skipped(swarm: Path) -> None:
    (swarm / "notes.txt").write_text("not a record")
    (swarm / "empty").touch()

    told = json.loads(cli("ls", swarm, "--json").stdout)

    assert told["format"] == "twice.records/1"
    assert [Path(entry["record"]).name for entry in told["records"]] == ["a.twice", "b.twice"]
    assert [Path(name).name for name in told["skipped"]] == ["empty", "notes.txt"]


def test_other_files_are_named_only_when_asked(swarm: Path) -> None:
    (swarm / "notes.txt").write_text("not a record")

    assert "notes.txt" not in cli("ls", swarm).stderr
    assert "notes.txt" in cli("ls", swarm, "-v").stderr


def test_damaged_and_torn_records_are_listed_as_such(swarm: Path) -> None:
    whole = (swarm / "a.twice").read_bytes()
    (swarm / "torn.twice").write_bytes(whole[: len(whole) * 3 // 4])
    (swarm / "damaged.twice").write_bytes(whole[:20] + bytes([whole[20] ^ 0xFF]) + whole[21:])

    told = {
        Path(entry["record"]).name: entry
        for entry in json.loads(cli("ls", swarm, "--json").stdout)["records"]
    }

    assert told["torn.twice"]["ending"] == "torn"
    assert told["damaged.twice"]["ending"] == "damaged"
    assert told["damaged.twice"]["damage"].startswith("E-RECORD-004")


def test_an_empty_folder_says_so_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    empty = cli("ls", tmp_path)
    missing = cli("ls", tmp_path / "nowhere")

    assert (empty.returncode, empty.stdout) == (0, "")
    assert "no run record in" in empty.stderr
    assert missing.returncode == 2
    assert missing.stderr.startswith("E-USE-001")
