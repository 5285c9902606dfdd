"""A journal gives back what was written, whatever ended the command that wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import UsageError
from twice.runs.journal import Journal, stamp_record

HEAD = {"command": "verify", "repeat": 1}


def keep(journal: Journal, path: Path, **entry: object) -> None:
    """Keep an entry with a statement."""
    journal.write(path, {"statement": {"result": "PASS"}, **entry}, stamp_record(str(path)))


@pytest.fixture
def records(tmp_path: Path) -> list[Path]:
    """Three files that stand for records."""
    made = [tmp_path / f"{name}.twice" for name in "abc"]
    for path in made:
        path.write_bytes(path.name.encode())
    return made


@given(cut=st.integers(0, 400))
def test_a_file_that_was_cut_off_anywhere_loses_lines_from_its_end_alone(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    records = [folder / f"{name}.twice" for name in "abc"]
    for path in records:
        path.write_bytes(b"x")
    file = folder / "journal"
    with Journal(file, HEAD) as journal:
        for path in records:
            keep(journal, path, of=path.name)
    whole = file.read_bytes()
    file.write_bytes(whole[: max(0, len(whole) - cut)])

    with Journal(file, HEAD) as journal:
        has = [journal.has(path) for path in records]
        assert has == sorted(has, reverse=True)
        for path, there in zip(records, has, strict=True):
            if not there:
                keep(journal, path, of=path.name)
        assert [journal.read(path)["of"] for path in records] == [path.name for path in records]
    assert file.read_bytes() == whole


def test_what_could_not_be_done_is_done_again(tmp_path: Path, records: list[Path]) -> None:
    with Journal(tmp_path / "journal", HEAD) as journal:
        journal.write(records[0], {"statement": None}, stamp_record(str(records[0])))

    with Journal(tmp_path / "journal", HEAD) as journal:
        assert not journal.has(records[0])


def test_a_record_that_was_replaced_while_it_was_verified_is_done_again(
    tmp_path: Path, records: list[Path]
) -> None:
    before = stamp_record(str(records[0]))
    records[0].write_bytes(b"another run")
    with Journal(tmp_path / "journal", HEAD) as journal:
        journal.write(records[0], {"statement": {"result": "PASS"}}, before)

    with Journal(tmp_path / "journal", HEAD) as journal:
        assert not journal.has(records[0])


def test_what_has_no_size_and_time_is_done_again(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal", HEAD) as journal:
        keep(journal, Path("s3:/bucket/a.twice"))

    with Journal(tmp_path / "journal", HEAD) as journal:
        assert not journal.has(Path("s3:/bucket/a.twice"))


def test_a_device_is_no_journal() -> None:
    with pytest.raises(UsageError, match="is not a journal"):
        Journal(Path("/dev/null"), HEAD)


def test_the_entry_of_a_record_that_changed_is_made_again(
    tmp_path: Path, records: list[Path]
) -> None:
    with Journal(tmp_path / "journal", HEAD) as journal:
        for path in records:
            keep(journal, path)
    records[1].write_bytes(b"another run")

    with Journal(tmp_path / "journal", HEAD) as journal:
        assert [journal.has(path) for path in records] == [True, False, True]


@pytest.mark.parametrize("content", [b"a table\n1,2\n", b"{}\n", b"[1]\n", b"no line", b"\0" * 40])
def test_a_file_of_the_user_is_refused_and_left_as_it_was(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "journal"
    file.write_bytes(content)

    with pytest.raises(UsageError, match="is not a journal"):
        Journal(file, HEAD)

    assert file.read_bytes() == content


def test_a_broken_line_in_the_middle_is_refused(tmp_path: Path, records: list[Path]) -> None:
    file = tmp_path / "journal"
    with Journal(file, HEAD) as journal:
        keep(journal, records[0])
    file.write_bytes(file.read_bytes() + b"not JSON\n")

    with pytest.raises(UsageError, match="is not a journal"):
        Journal(file, HEAD)


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    Journal(tmp_path / "journal", HEAD).close()

    with pytest.raises(UsageError, match="repeat was 1 and is 5"):
        Journal(tmp_path / "journal", {**HEAD, "repeat": 5})


def test_a_second_command_is_refused(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "journal", HEAD),
        pytest.raises(UsageError, match="in use by another command"),
    ):
        Journal(tmp_path / "journal", HEAD)
