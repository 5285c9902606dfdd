"""What a process sees of the files below its folder: the kernel's events, counted."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

import pytest

from twice.diagnosis.resume.file_log import FileLog, Write, read_files
from twice.diagnosis.resume.loops import Loop
from twice.recorder.kernel.file_events import FileEvent, FileEvents

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux reports closed files"
)


def test_events_tell_what_was_written_moved_and_read(tmp_path: Path) -> None:
    with FileEvents(tmp_path) as events:
        (tmp_path / "new.tmp").write_text("x", "utf-8")
        (tmp_path / "new.tmp").replace(tmp_path / "new")
        (tmp_path / "new").read_text("utf-8")
        found = events.wait(5)

    assert FileEvent("closed", "new.tmp") in found
    assert found.index(FileEvent("moved", "new")) < found.index(FileEvent("read", "new"))


def test_folders_that_are_made_later_are_watched(tmp_path: Path) -> None:
    with FileEvents(tmp_path) as events:
        (tmp_path / "c-1" / "deep").mkdir(parents=True)
        events.wait(5)
        (tmp_path / "c-1" / "deep" / "a.pt").write_bytes(b"1")
        found = events.wait(5)

    assert FileEvent("closed", "c-1/deep/a.pt") in found


def test_nothing_comes_where_nothing_happens(tmp_path: Path) -> None:
    with FileEvents(tmp_path) as events:
        assert events.wait(0) == []


def test_the_log_counts_writes_with_the_steps_that_were_done(tmp_path: Path) -> None:
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    begun: list[FrameType] = []
    loop = Loop("train.py", "main", 5)

    def begin(frame: FrameType) -> Loop | None:
        begun.append(frame)
        return loop if len(begun) == 2 else None

    steps = [3]
    log = FileLog(folder, state, None, lambda: steps[0], lambda: True, begin)
    try:
        (folder / "a.json").write_text("1", "utf-8")
        log.look()
        steps[0] = 7
        (folder / "a.json").write_text("2", "utf-8")
        (folder / "a.json").read_text("utf-8")
        (tmp_path / "outside.json").write_text("3", "utf-8")
    finally:
        log.end()

    seen = read_files(state, None)
    assert seen.writes == (Write("a.json", 1, 3), Write("a.json", 2, 7))
    assert seen.reads == {"a.json"}
    assert len(begun) == 2
    assert seen.loops == (None, loop)


def test_what_happened_behind_the_write_that_was_aimed_at_is_told(tmp_path: Path) -> None:
    rows = [
        '{"kind": "written", "path": "a.pt", "nth": 1, "steps": 2}',
        '{"kind": "changed", "path": "b.pt"}',
        '{"kind": "read", "path": "c"}',
    ]
    (tmp_path / "files.jsonl").write_text("\n".join(rows), "utf-8")

    seen = read_files(tmp_path, Write("a.pt", 1, 9))

    assert seen.changed == {"b.pt"}
    assert read_files(tmp_path, None).changed == frozenset()
    assert read_files(Path(os.devnull).parent / "nowhere", None).writes == ()


def test_a_file_that_stays_open_was_read_and_one_that_is_only_written_was_not(
    tmp_path: Path,
) -> None:
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    (folder / "kept.npz").write_bytes(b"1")
    log = FileLog(folder, state, None, lambda: 0, lambda: True, lambda _: None)

    with (folder / "kept.npz").open("rb") as kept, (folder / "a.log").open("wb"):
        kept.read()
        log.end()

    assert read_files(state, None).reads == {"kept.npz"}


def test_a_file_that_is_moved_while_it_is_open_is_written_once(tmp_path: Path) -> None:
    folder, state = tmp_path / "folder", tmp_path / "state"
    folder.mkdir()
    state.mkdir()
    log = FileLog(folder, state, None, lambda: 0, lambda: True, lambda _frame: None)
    try:
        for _ in range(2):
            with (folder / "a.new").open("w", encoding="utf-8") as file:
                file.write("1")
                file.flush()
                (folder / "a.new").replace(folder / "a")
    finally:
        log.end()

    assert [each for each in read_files(state, None).writes if each.path == "a"] == [
        Write("a", 1),
        Write("a", 2),
    ]
