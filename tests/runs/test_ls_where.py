from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from made_records import RAISED, make_record, write_statement
from object_stores import use_folder

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from programs import call
from twice.runs.catalogue import FOLDER


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three records, of which one was verified and one raised, and a file that is none."""
    make_record(tmp_path / "a.twice", seed=1)
    write_statement(make_record(tmp_path / "b.twice", seed=2), 1, "FAIL")
    make_record(tmp_path / "c.twice", seed=3, exception=RAISED)
    (tmp_path / "notes.txt").write_text("notes")
    return tmp_path


def test_the_records_that_fit_are_listed_and_the_next_question_keeps_their_rows(
    folder: Path,
) -> None:
    done = call("ls", "--where", "seed < 100 and result = 'FAIL'", cwd=folder)

    head, row = done.stdout.splitlines()
    assert (done.returncode, head.split()[-2:]) == (0, ["RESULT", "PARENT"])
    assert (row.split()[0], row.split()[-1]) == ("b.twice", "FAIL")
    assert (folder / FOLDER).is_dir()


def test_json_is_the_same_with_and_without_a_condition(folder: Path) -> None:
    plain, asked = (
        json.loads(call("ls", *words, "--json", cwd=folder).stdout)
        for words in ((), ("--where", "true"))
    )

    assert asked == plain
    assert [row["error"] for row in plain["records"]] == [None, None, "ValueError"]
    assert plain["skipped"] == ["notes.txt"]


def test_a_list_without_a_condition_leaves_nothing_and_needs_no_extra(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("duckdb", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)

    done = call("ls", cwd=folder)
    asked = call("ls", "--where", "true", cwd=folder)

    assert (done.returncode, len(done.stdout.splitlines())) == (0, 4)
    assert (asked.returncode, asked.stderr.partition(" ")[0]) == (2, "E-EXTRA-001")
    assert not (folder / FOLDER).exists()


def test_nothing_found_and_nothing_kept_are_said(folder: Path) -> None:
    (folder / FOLDER).write_text("taken")

    done = call("ls", "--where", "seed > 100", cwd=folder)

    assert (done.returncode, done.stdout) == (0, "")
    kept, found = done.stderr.splitlines()
    assert kept.startswith("nothing is kept for the next question: ")
    assert found == "no run record of which that is true in ."


def test_the_catalogue_of_an_object_store_is_kept_in_the_cache_of_the_account(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("obstore")
    use_folder(monkeypatch, folder.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"s3://{folder.name}"

    first, second = (
        call("ls", url, "--where", "result = 'FAIL'", "--json", cwd=tmp_path) for _ in range(2)
    )

    assert [row["record"] for row in json.loads(first.stdout)["records"]] == [f"{url}/b.twice"]
    (place,) = (tmp_path / "cache" / "twice" / "catalogues").iterdir()
    assert first.stderr == f"the catalogue of {url} is kept in {place}\n"
    assert (second.stdout, second.stderr) == (first.stdout, "")
    assert not (folder / FOLDER).exists()


def test_a_limit_says_what_it_leaves_out(folder: Path) -> None:
    done = call("ls", "--where", "true", "--limit", 1, "--json", cwd=folder)

    assert json.loads(done.stdout)["omitted"] == 2
    assert os.listdir(folder).count(FOLDER) == 1
