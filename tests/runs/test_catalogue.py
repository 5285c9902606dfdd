from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from made_records import make_record, write_statement

from twice.errors import ExtraMissing
from twice.foundation.digests import Algorithm
from twice.recorder.record.layout import Header
from twice.runs import catalogue
from twice.runs.catalogue import FOLDER, RecordCatalogue
from twice.runs.record_query import select_rows
from twice.runs.record_row import ListedFile, list_files, read_row


def update(folder: Path) -> tuple[int, dict[str, object]]:
    """Update the catalogue of a folder; how many records it opened, and the result of each."""
    kept = RecordCatalogue(folder)
    rows, _ = kept.update()
    assert select_rows([(folder, rows)], "true") == [
        read_row(folder, file) for file in list_files(folder) if file.name.endswith(".twice")
    ]
    return kept.opened, {row["name"]: row["result"] for row in rows.to_pylist()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three records, and a file that is none."""
    for seed in range(3):
        make_record(tmp_path / f"{seed}.twice", seed=seed, config={"lr": seed / 10})
    (tmp_path / "notes.txt").write_text("notes")
    return tmp_path


def test_only_what_is_new_or_changed_is_opened(folder: Path) -> None:
    assert update(folder)[0] == 4
    assert update(folder)[0] == 0

    make_record(folder / "1.twice", seed=1, ticks=5)
    make_record(folder / "9.twice", seed=9, close=False)
    (folder / "0.twice").unlink()
    write_statement(folder / "2.twice", 1, "PASS")

    assert update(folder) == (3, {"1.twice": None, "2.twice": "PASS", "9.twice": None})

    write_statement(folder / "2.twice", 2, "FAIL")

    assert update(folder) == (1, {"1.twice": None, "2.twice": "FAIL", "9.twice": None})


def test_files_that_are_no_records_are_named_and_not_opened_again(folder: Path) -> None:
    kept = RecordCatalogue(folder)

    for opened in (4, 0):
        rows, others = kept.update()
        assert (len(rows), others, kept.opened) == (3, [str(folder / "notes.txt")], opened)


def test_a_copy_of_the_folder_has_the_catalogue_too(folder: Path, tmp_path: Path) -> None:
    update(folder)

    moved = folder.rename(tmp_path.parent / f"{tmp_path.name}-moved")

    assert update(moved)[0] == 0


def test_many_files_become_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_BATCH", 1)
    monkeypatch.setattr(catalogue, "_PARTS_MAX", 2)
    abandoned, fresh = (folder / FOLDER / f".rows-1-{name}.parquet.1.new" for name in "ab")
    abandoned.parent.mkdir()
    for half in (abandoned, fresh):
        half.touch()
    os.utime(abandoned, (0, 0))
    other = folder / FOLDER / "rows-2-a.parquet"
    other.write_text("of another version")

    assert update(folder)[0] == 4

    (part,) = (folder / FOLDER).glob("rows-1-*.parquet")
    assert sorted((folder / FOLDER).iterdir()) == sorted([part, fresh, other])
    assert update(folder)[0] == 0


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.7, 0.95])
def test_a_damaged_file_costs_time_and_no_answer(folder: Path, share: float) -> None:
    update(folder)
    (part,) = (folder / FOLDER).iterdir()
    data = bytearray(part.read_bytes())
    data[int(share * len(data))] ^= 0xFF
    part.write_bytes(data)

    update(folder)


def test_a_named_pipe_among_the_files_is_passed_over(folder: Path) -> None:
    update(folder)
    os.mkfifo(folder / FOLDER / "rows-1-pipe.parquet")

    assert update(folder)[0] == 0


def test_a_file_that_could_not_be_opened_here_and_now_is_tried_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "later.twice").write_bytes(Header(99, bytes(16), Algorithm.BLAKE3, "9.9").pack())
    listed = [*list_files(folder), ListedFile("gone.twice", 1, "", b"1 1 0 /gone.twice")]
    monkeypatch.setattr(catalogue, "list_files", lambda _: listed)
    kept = RecordCatalogue(folder)

    for opened in (6, 2):
        rows, _ = kept.update()
        gone, later = select_rows([(folder, rows)], "damage is not null")
        assert gone["damage"].startswith("E-RECORD-005 gone.twice cannot be opened: ")
        assert later["damage"].startswith("E-RECORD-001 later.twice is record format 99; ")
        assert kept.opened == opened


def test_the_files_are_the_owners_alone(folder: Path) -> None:
    update(folder)

    assert (folder / FOLDER).stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("obstacle", ["a file", "a link"])
def test_where_nothing_can_be_kept_the_answer_is_the_same(folder: Path, obstacle: str) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    if obstacle == "a file":
        (folder / FOLDER).write_text("taken")
    else:
        (folder / FOLDER).symlink_to(elsewhere)

    kept = RecordCatalogue(folder)

    for _ in range(2):
        rows, _ = kept.update()
        assert len(rows) == 3
        assert kept.failure is not None
        assert kept.failure.id == "E-OUTPUT-002"
    assert [*elsewhere.iterdir()] == []


def test_the_rows_of_a_folder_that_takes_no_files_are_read_and_left_alone(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    update(folder)
    (part,) = (folder / FOLDER).iterdir()
    make_record(folder / "9.twice", seed=9)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere

    assert [update(folder)[0], update(folder)[0]] == [1, 0]

    assert [*(folder / FOLDER).iterdir()] == [part]
    assert len([*RecordCatalogue(folder).place.iterdir()]) == 1


def test_names_that_are_no_text_come_back_as_they_are(tmp_path: Path) -> None:
    path = make_record(tmp_path / os.fsdecode(b"\xff.twice"))

    (row,) = select_rows(
        [(tmp_path, RecordCatalogue(tmp_path).update()[0])], "record like '%udcff.twice'"
    )

    assert row["record"] == str(path)


@pytest.mark.parametrize(
    ("installed", "why"),
    [
        (None, "import of duckdb halted"),
        (SimpleNamespace(__version__="1.4.5"), "duckdb 1.4.5 is installed"),
    ],
    ids=["none", "old"],
)
def test_without_the_extra_it_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, installed: object, why: str
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", installed)

    with pytest.raises(ExtraMissing, match=why) as refused:
        RecordCatalogue(tmp_path).update()

    assert refused.value.remedy == "pip install 'twice[catalogue]'"
