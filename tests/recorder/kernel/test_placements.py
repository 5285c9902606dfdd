"""What a replay must show otherwise than it is, and what it cannot, follows from histories and files alone."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from recorded import state_of

from twice.recorder.kernel import placements
from twice.recorder.kernel.file_state import ABSENT, FileHistory, FileState, FileUnsettled
from twice.recorder.kernel.layers import StartLayer
from twice.recorder.kernel.placements import ChangedInput, Placement, find_placements


def find(
    *histories: FileHistory, kept: dict[str, str] | None = None
) -> tuple[list[Placement], list[ChangedInput]]:
    return find_placements(histories, (kept or {}).get, lambda _path: False)


def read(path: Path, before: FileState) -> FileHistory:
    return FileHistory(str(path), before, before, was_read=True)


def changed(path: Path, before: FileState, **values: object) -> FileHistory:
    return FileHistory(str(path), before, state_of(path), was_changed=True, **values)


def test_what_is_as_it_was_needs_no_placement(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    paths = [tmp_path / name for name in ("file", "folder", "link", "fifo", "nothing")]

    assert find(*(read(path, state_of(path)) for path in paths)) == ([], [])


def test_each_kind_of_file_can_be_placed(tmp_path: Path) -> None:
    file, folder, link, new = (tmp_path / name for name in ("file", "folder", "link", "new"))
    new.write_text("made by the run")
    content = FileState("file", "blake3:" + "0" * 64, 3, 0o600, 5)
    states = {
        file: content,
        folder: FileState("folder", mode=0o700),
        link: FileState("link", target="x"),
        new: ABSENT,
    }

    placed, missing = find(
        *(read(path, state) for path, state in states.items()), kept={content.digest: "/kept"}
    )

    assert missing == []
    assert {Path(one.path): one.state for one in placed} == states
    assert [one.source for one in placed if one.state == content] == ["/kept"]
    assert [one.path for one in placed] == sorted(map(str, states))


def test_a_device_that_is_gone_cannot_be_placed(tmp_path: Path) -> None:
    history = read(tmp_path / "fifo", FileState("other"))

    assert find(history) == ([], [ChangedInput(history.path, history.before, ABSENT)])


def test_an_input_of_another_size_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    before = replace(state_of(file), size=2)
    observed = placements.observe_state

    def observe(path: str, algorithm: object, *, with_content: bool, **options: object) -> object:
        assert not with_content
        return observed(path, algorithm, with_content=False, **options)

    monkeypatch.setattr(placements, "observe_state", observe)

    assert [one.path for one in find(read(file, before))[1]] == [str(file)]


def test_an_input_that_does_not_settle_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    before = state_of(file)
    observed = placements.observe_state

    def observe(path: str, algorithm: object, *, with_content: bool, **options: object) -> object:
        if with_content:
            raise FileUnsettled(path)
        return observed(path, algorithm, with_content=False, **options)

    monkeypatch.setattr(placements, "observe_state", observe)

    ((one,), now) = find(read(file, before))[1], state_of(file, with_content=False)
    assert (one.recorded, one.now) == (before, now)


def test_times_alone_are_worth_a_copy_of_a_small_file(tmp_path: Path) -> None:
    for name, size in (("small", 1000), ("large", 2_000_000)):
        file = tmp_path / name
        file.write_bytes(bytes(size))
        before = replace(state_of(file), mtime_ns=10**18)
        placed, missing = find(read(file, before))
        assert [one.source for one in placed] == ([str(file)] if name == "small" else [])
        assert missing == []


def test_what_nobody_read_is_placed_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("short")
    before = FileState("file", size=1 << 40, mode=0o644, mtime_ns=7)

    (placed,), missing = find(changed(file, before))

    assert (placed.source, placed.state, placed.size_bytes, missing) == (None, before, 0, [])


def test_of_a_small_file_that_was_added_to_the_beginning_is_placed(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("before and added")
    before = FileState("file", size=6, mode=0o644, mtime_ns=7)

    (placed,), _ = find(changed(file, before, appended_from=6))
    (without,), _ = find(changed(file, replace(before, size=2_000_000), appended_from=2_000_000))

    assert (placed.source, without.source) == (str(file), None)


def test_a_layer_hides_a_folder_once_and_not_what_is_in_it(tmp_path: Path) -> None:
    real, layer = tmp_path / "real", tmp_path / "layer"
    (real / "new/deep").mkdir(parents=True)
    layer.mkdir()
    paths = [real / "new", real / "new/deep", real / "new/deep/file", real / "other/file"]

    StartLayer(str(layer), str(real), str(real)).make(
        [Placement(str(path), ABSENT) for path in paths]
    )

    assert sorted(path.relative_to(layer).as_posix() for path in layer.rglob("*")) == [
        "new", "other", "other/file",
    ]  # fmt: skip


def test_a_source_that_became_shorter_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("abc")
    (tmp_path / "layer").mkdir()
    state = FileState("file", "blake3:" + "0" * 64, 4, 0o600, 5)
    layer = StartLayer(str(tmp_path / "layer"), str(tmp_path), str(tmp_path))

    with pytest.raises(OSError, match="became shorter"):
        layer.make([Placement(str(tmp_path / "file"), state, str(tmp_path / "kept"))])
