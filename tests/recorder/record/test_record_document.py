"""`docs/format/run-record.md` says enough for another language to read a record."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import reader_from_document
from record_samples import ENDING, IDENTITY, RUN_ID, closed_record, write_everything

from twice.recorder.record import RecordReader
from twice.recorder.record.layout import TRAILER_BYTES


@pytest.mark.parametrize("algorithm", ["blake3", "sha256", "xxh3_128"])
def test_a_reader_made_from_the_document_reads_everything(tmp_path: Path, algorithm: str) -> None:
    path = closed_record(tmp_path / "a.twice", algorithm=algorithm, ticks=2000, flush_every=700)
    found = reader_from_document.read(path.read_bytes())
    assert (found.run_id, found.label, found.written_by) == (RUN_ID, algorithm, "0.1.0")
    assert (found.identity, found.ending, found.closed) == (IDENTITY, ENDING, True)
    with RecordReader.open(path) as reader:
        assert found.points == [
            (p.index, p.tick, p.name, p.root, p.chain, p.digests) for p in reader.points.iterate()
        ]
        assert found.frames == [tuple(frame) for frame in reader.frames()]
        assert found.snapshots == [
            (s.tick, s.point, reader.envelope(s.number)) for s in reader.snapshots
        ]
        assert len(found.tables) == len(reader.blobs) > 64
        for number in range(len(reader.blobs)):
            assert found.blob(number) == reader.blobs.parts(number)


def test_both_readers_stop_at_the_same_tear(tmp_path: Path) -> None:
    write_everything(tmp_path / "a.twice").abandon()
    data = (tmp_path / "a.twice").read_bytes()
    for end in range(len(data) // 2, len(data), 977):
        (tmp_path / "b.twice").write_bytes(data[:end])
        found = reader_from_document.read(data[:end])
        with RecordReader.open(tmp_path / "b.twice") as reader:
            assert not found.closed
            assert len(found.points) == len(reader.points)
            assert found.frames == [tuple(frame) for frame in reader.frames()]


def test_a_changed_trailer_is_not_closed_for_either(tmp_path: Path) -> None:
    data = bytearray(closed_record(tmp_path / "a.twice").read_bytes())
    data[-TRAILER_BYTES + 9] ^= 1
    assert not reader_from_document.read(bytes(data)).closed


def test_the_other_reader_knows_nothing_of_this_one() -> None:
    tree = ast.parse(Path(reader_from_document.__file__).read_text())
    imported = {
        name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
    } | {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "twice" not in {name.split(".")[0] for name in imported if name}
