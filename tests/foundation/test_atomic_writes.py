"""A file is written whole or not at all, beside whatever else is in its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from twice.errors import OutputUnwritable
from twice.writing import write


def test_a_file_that_an_ended_process_left_behind_is_no_obstacle(tmp_path: Path) -> None:
    left = tmp_path / f".a.json.{os.getpid()}.new"
    left.write_bytes(b"half")

    write(tmp_path / "a.json", b"whole")

    assert (tmp_path / "a.json").read_bytes() == b"whole"
    assert left.read_bytes() == b"half"


def test_a_temporary_file_of_another_writer_is_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    theirs = tmp_path / f".a.json.{bytes(8).hex()}.new"
    theirs.write_bytes(b"theirs")

    with pytest.raises(OutputUnwritable, match="E-OUTPUT-002"):
        write(tmp_path / "a.json", b"ours")

    assert [each.name for each in tmp_path.iterdir()] == [theirs.name]
    assert theirs.read_bytes() == b"theirs"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputUnwritable, match="No space left"):
        write(path, b"new")

    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("a.json", b"old")]
