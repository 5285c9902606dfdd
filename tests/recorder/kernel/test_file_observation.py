"""A file's state is what stood there at one moment, and looking at it disturbs nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.digests import Algorithm, digest_bytes
from twice.recorder.kernel import file_state
from twice.recorder.kernel.file_state import (
    ABSENT,
    CHUNKS_MAX,
    FileState,
    FileUnsettled,
    chunk_size,
    locate_difference,
    observe_state,
)

BLAKE3 = Algorithm.BLAKE3


def observe(path: Path, **options: object) -> FileState:
    return observe_state(str(path), BLAKE3, **{"with_content": True, **options})


def test_a_file_is_its_content_size_permissions_and_time(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    file.chmod(0o640)
    os.utime(file, ns=(1, 10**18))

    state = observe(file)

    assert (state.kind, state.size, state.mode, state.mtime_ns) == ("file", 7, 0o640, 10**18)
    assert state.digest == str(digest_bytes(b"content", BLAKE3))
    assert state.chunks == digest_bytes(b"content", BLAKE3).raw[:8]


@pytest.mark.parametrize("algorithm", list(Algorithm))
def test_the_digest_is_of_the_algorithm_that_is_asked_for(
    tmp_path: Path, algorithm: Algorithm
) -> None:
    (tmp_path / "file").write_bytes(bytes(100_000))

    state = observe_state(str(tmp_path / "file"), algorithm, with_content=True)

    assert state.digest == str(digest_bytes(bytes(100_000), algorithm))
    assert len(state.chunks) == 16


def test_what_is_no_regular_file_is_told_without_opening_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "folder").mkdir(mode=0o700)

    assert observe(tmp_path / "fifo").kind == "other"
    assert observe(tmp_path / "link").target == "fifo"
    assert (observe(tmp_path / "loop").kind, observe(tmp_path / "loop").digest) == ("link", "")
    assert observe(tmp_path / "folder").mode == 0o700
    assert observe(Path("/dev/null")).kind == "other"
    assert observe(tmp_path / "nothing") == ABSENT
    assert observe(tmp_path / "fifo/below") == ABSENT


def test_a_folder_is_listed_when_asked(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff")
    for name in ("b", "a", odd):
        (tmp_path / name).touch()

    assert observe(tmp_path).names is None
    assert observe(tmp_path, with_names=True).names == tuple(sorted(("a", "b", odd)))


def test_content_is_left_alone_when_not_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    file.chmod(0)

    state = observe(file, with_content=False)

    assert (state.size, state.digest, state.chunks) == (7, "", b"")


def test_of_a_file_that_was_added_to_the_addition_is_read(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_bytes(b"before" + b"added")

    state = observe(file, appended_from=6)

    assert (state.digest, state.size) == (str(digest_bytes(b"added", BLAKE3)), 11)
    empty = observe(file, appended_from=11)
    assert (empty.digest, empty.chunks) == (str(digest_bytes(b"", BLAKE3)), b"")


def test_a_file_that_became_shorter_than_the_addition_has_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x")

    assert observe(tmp_path / "log", appended_from=5).digest == str(digest_bytes(b"", BLAKE3))


def test_the_time_of_access_stays(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    os.utime(file, ns=(5, 10**18))

    observe(file)

    assert file.stat().st_atime_ns == 5


def test_a_file_that_changes_once_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"first")
    opened = file_state.open_for_reading
    seen: list[str] = []

    def change_then_open(path: str) -> int:
        if not seen:
            file.write_bytes(b"second and longer")
        seen.append(path)
        return opened(path)

    monkeypatch.setattr(file_state, "open_for_reading", change_then_open)

    assert observe(file).digest == str(digest_bytes(b"second and longer", BLAKE3))
    assert len(seen) == 2


def test_a_file_that_never_settles_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    opened = file_state.open_for_reading

    def open_then_change(path: str) -> int:
        descriptor = opened(path)
        with open(file, "ab") as other:
            other.write(b"more")
        return descriptor

    monkeypatch.setattr(file_state, "open_for_reading", open_then_change)

    with pytest.raises(FileUnsettled, match="changes while it is read"):
        observe(file)


def test_a_link_that_takes_a_files_place_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"content")
    (tmp_path / "secret").write_bytes(b"secret")
    opened = file_state.open_for_reading

    def replace_then_open(path: str) -> int:
        file.unlink(missing_ok=True)
        file.symlink_to("secret")
        return opened(path)

    monkeypatch.setattr(file_state, "open_for_reading", replace_then_open)

    assert observe(file).target == "secret"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    (tmp_path / "file").chmod(0)

    with pytest.raises(PermissionError):
        observe(tmp_path / "file")


@given(st.integers(0, 1 << 50))
def test_chunks_are_few_and_powers_of_two(size: int) -> None:
    length = chunk_size(size)

    assert length & (length - 1) == 0
    assert length >= 65_536
    assert -(-size // length) <= CHUNKS_MAX
    assert length == 65_536 or -(-size // (length // 2)) > CHUNKS_MAX


@given(
    size=st.integers(1, 400_000),
    at=st.floats(0, 1, exclude_max=True),
    start=st.integers(0, 100_000),
)
def test_the_first_difference_lies_where_it_is_said_to_lie(
    tmp_path_factory: pytest.TempPathFactory, size: int, at: float, start: int
) -> None:
    folder = tmp_path_factory.mktemp("pair")
    position = start + int(size * at)
    data = bytearray(start + size)
    (folder / "one").write_bytes(data)
    data[position] = 1
    (folder / "two").write_bytes(data)
    states = [observe(folder / name, appended_from=start) for name in ("one", "two")]

    words = locate_difference(states[0], states[1], start).replace(",", "").split()

    assert (words[0], words[2]) == ("bytes", "to")
    assert start <= int(words[1]) <= position <= int(words[3]) < start + size
    assert int(words[3]) - int(words[1]) < 65_536


def test_differences_of_other_kinds_have_names() -> None:
    file = FileState("file", digest="d", size=10, chunks=b"12345678")

    assert locate_difference(file, ABSENT) == "kind of file"
    assert locate_difference(FileState("link", target="a"), FileState("link", target="b")) == (
        "target of the link"
    )
    assert locate_difference(file, FileState("file", digest="e", size=1 << 40)) == "size"
    longer = FileState("file", digest="e", size=70_000, chunks=b"12345678abcdefgh")
    shorter = FileState("file", digest="f", size=65_536, chunks=b"12345678")
    assert locate_difference(shorter, longer) == "bytes 65,536 to 69,999"
