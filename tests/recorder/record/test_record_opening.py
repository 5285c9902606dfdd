"""Whatever a path turns out to be, the answer says what it is and what to do."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import pytest
from record_samples import closed_record

from twice.errors import (
    ExtraMissing,
    RecordCorrupt,
    RecordForeign,
    RecordTorn,
    RecordUnreadable,
    RecordVersion,
    TwiceError,
)
from twice.recorder.record import RecordReader


def refused(path: Path, error: type[TwiceError]) -> str:
    with pytest.raises(error) as caught:
        RecordReader.open(path)
    return str(caught.value)


def with_header(data: bytes, **fields: bytes | int) -> bytes:
    """Replace the record's header by another one with a right checksum."""
    header = bytearray(data[:64])
    if "format" in fields:
        header[8:12] = fields["format"].to_bytes(4, "little")  # type: ignore[union-attr]
    if "label" in fields:
        header[32:48] = fields["label"].ljust(16, b"\0")  # type: ignore[union-attr]
    if "version" in fields:
        header[48:64] = fields["version"].ljust(16, b"\0")  # type: ignore[union-attr]
    return bytes(header) + hashlib.sha256(header).digest() + data[96:]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return closed_record(tmp_path / "a.twice")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert "no.twice cannot be opened: No such file" in refused(
        tmp_path / "no.twice", RecordUnreadable
    )


def test_an_object_without_the_extra_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("obstore", "obstore.exceptions", "obstore.store"):
        monkeypatch.setitem(sys.modules, name, None)

    with pytest.raises(ExtraMissing, match="needs obstore"):
        RecordReader.open("s3://bucket/a.twice")


def test_a_folder_is_not_a_record(tmp_path: Path) -> None:
    assert "it is a folder" in refused(tmp_path, RecordUnreadable)


def test_a_pipe_does_not_make_anyone_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refused(tmp_path / "pipe", RecordUnreadable)


def test_a_path_with_a_null_byte_is_refused(tmp_path: Path) -> None:
    assert "cannot be opened" in refused(tmp_path / "a\0b", RecordUnreadable)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named(record: Path) -> None:
    record.chmod(0)
    assert "Permission denied" in refused(record, RecordUnreadable)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is empty"),
        (bytes(4096), "it starts with zeros"),
        (b"SQLite format 3\0" * 50, "it starts with b'SQLite f'"),
        (b"\x89PNG\r\n\x1a\n", "it starts with"),
    ],
)
def test_another_kind_of_file_is_foreign(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "x").write_bytes(data)
    assert words in refused(tmp_path / "x", RecordForeign)


def test_a_record_cut_inside_its_header_holds_nothing(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:50])
    assert "inside its header" in refused(record, RecordTorn)


def test_a_record_cut_before_its_identity_holds_nothing(record: Path) -> None:
    record.write_bytes(record.read_bytes()[:120])
    assert "Nothing of the run can be read" in refused(record, RecordTorn)


def test_a_changed_header_is_not_a_newer_format(record: Path) -> None:
    data = bytearray(record.read_bytes())
    data[8] = 9
    record.write_bytes(data)
    assert "the file header" in refused(record, RecordCorrupt)


def test_a_newer_format_names_the_version_to_install(record: Path) -> None:
    record.write_bytes(with_header(record.read_bytes(), format=9, version=b"1.4.0"))
    text = refused(record, RecordVersion)
    assert "record format 9; this version reads record format 1." in text
    assert "It was written by twice 1.4.0." in text
    assert "pip install 'twice>=1.4.0'" in text


def test_a_newer_format_without_a_version_still_says_what_to_do(record: Path) -> None:
    record.write_bytes(with_header(record.read_bytes(), format=2, version=b""))
    assert "pip install --upgrade twice" in refused(record, RecordVersion)


@pytest.mark.parametrize("label", [b"sha3", b"", b"\xff\xfe"])
def test_an_unknown_digest_is_a_version_we_do_not_read(record: Path, label: bytes) -> None:
    record.write_bytes(with_header(record.read_bytes(), label=label))
    assert "digested with" in refused(record, RecordVersion)
