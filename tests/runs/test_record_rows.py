from __future__ import annotations

import os
from pathlib import Path

import pytest
from made_records import RAISED, make_record, write_statement

from twice.errors import RecordForeign, UsageError
from twice.runs.record_row import COLUMNS, list_files, read_row


def test_a_row_says_what_matters_of_a_run(tmp_path: Path) -> None:
    make_record(tmp_path / "a.twice", seed=2**256 - 1, config={"lr": 1e-3}, exception=RAISED)

    (file,) = list_files(tmp_path)
    row = read_row(tmp_path, file)

    assert [*row] == [*COLUMNS]
    assert {name: row[name] for name in ("record", "program", "seed", "ticks", "points", "ending", "error")} == {
        "record": str(tmp_path / "a.twice"), "program": "train.py:main", "seed": str(2**256 - 1), "ticks": 2,
        "points": 2, "ending": "exception: builtins.ValueError", "error": "ValueError",
    }  # fmt: skip
    assert {name: row[name] for name in ("place", "config", "twice", "python", "result", "damage")} == {
        "place": "train.py:7", "config": {"lr": 1e-3}, "twice": "0.1.0", "python": "3.11.7", "result": None,
        "damage": None,
    }  # fmt: skip


def test_the_digest_depends_on_every_byte(tmp_path: Path) -> None:
    for name, ticks in (("a", 2), ("b", 2), ("c", 3)):
        make_record(tmp_path / name, ticks=ticks)

    a, b, c = (read_row(tmp_path, file)["digest"] for file in list_files(tmp_path))

    assert a == b != c


def test_the_newest_statement_of_the_same_run_counts(tmp_path: Path) -> None:
    record = make_record(tmp_path / "a.twice")
    write_statement(record, 2, "PASS")
    newest = write_statement(record, 10, "FAIL")

    (file,) = list_files(tmp_path)

    assert file.statement == newest.name
    assert read_row(tmp_path, file)["result"] == "FAIL"
    assert read_row(tmp_path, file)["verified_at"] == "2026-11-10"


@pytest.mark.parametrize("content", ["of another run", "{", '"PASS"', "[1]", '{"run_id": 1}'])
def test_a_statement_that_is_not_of_this_run_says_nothing(tmp_path: Path, content: str) -> None:
    record = make_record(tmp_path / "a.twice")
    path = write_statement(record, 1, "PASS", run_id="0" * 32)
    if content != "of another run":
        path.write_text(content, encoding="utf-8")

    (file,) = list_files(tmp_path)

    assert read_row(tmp_path, file)["result"] is None


def test_a_record_that_cannot_be_read_is_a_row_with_its_damage(tmp_path: Path) -> None:
    whole = make_record(tmp_path / "whole").read_bytes()
    (tmp_path / "damaged").write_bytes(whole[:20] + bytes([whole[20] ^ 1]) + whole[21:])
    (tmp_path / "header").write_bytes(whole[:10])
    make_record(tmp_path / "killed", close=False)

    rows = {file.name: read_row(tmp_path, file) for file in list_files(tmp_path)}

    assert (rows["damaged"]["ending"], rows["damaged"]["bytes"]) == ("damaged", len(whole))
    assert rows["damaged"]["damage"].startswith("E-RECORD-004 ")
    assert rows["header"]["damage"].startswith("E-RECORD-003 ")
    assert (rows["killed"]["ending"], rows["killed"]["complete"], rows["killed"]["ticks"]) == (
        "torn",
        False,
        2,
    )


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("notes")

    (file,) = list_files(tmp_path)

    with pytest.raises(RecordForeign):
        read_row(tmp_path, file)


def test_folders_pipes_and_links_to_nowhere_are_not_listed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    make_record(tmp_path / "b")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b.verification-1.json").symlink_to(tmp_path / "nowhere")

    assert [(file.name, file.statement) for file in list_files(tmp_path)] == [("a", ""), ("b", "")]


def test_a_folder_that_is_not_there_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere cannot be listed"):
        list_files(tmp_path / "nowhere")
