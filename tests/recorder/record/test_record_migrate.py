"""A torn record becomes a closed one without losing or inventing anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from record_samples import ENDING, IDENTITY, RUN_ID, closed_record, write_everything

from twice.errors import OutputExists, RecordForeign, UsageError
from twice.recorder.record import RecordReader, migrate
from twice.recorder.record.layout import TRAILER_BYTES


def test_a_closed_record_stays_the_same_bytes(tmp_path: Path) -> None:
    path = closed_record(tmp_path / "a.twice")
    migrate(path, tmp_path / "b.twice")
    assert (tmp_path / "b.twice").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("algorithm", ["blake3", "sha256", "xxh3_128"])
def test_a_torn_record_is_closed_at_its_tear_and_says_so(tmp_path: Path, algorithm: str) -> None:
    path, out = tmp_path / "a.twice", tmp_path / "b.twice"
    write_everything(path, algorithm=algorithm).abandon()
    path.write_bytes(path.read_bytes() + bytes(100))
    migrate(path, out)
    with RecordReader.open(path) as old, RecordReader.open(out) as new:
        new.check()
        assert new.complete
        assert (new.identity, new.run_id) == (IDENTITY, RUN_ID)
        assert list(new.points.iterate()) == list(old.points.iterate())
        assert list(new.frames()) == list(old.frames())
        assert [new.blob(n) for n in range(len(new.blobs))] == [
            old.blob(n) for n in range(len(old.blobs))
        ]
        assert old.tear is not None
        assert new.ending == {
            "how": "torn",
            "reason": old.tear.reason,
            "offset": old.tear.offset,
            "points": len(old.points),
            "damaged": False,
        }


def test_a_damaged_record_keeps_what_stands_before_and_is_marked(tmp_path: Path) -> None:
    path, out = closed_record(tmp_path / "a.twice"), tmp_path / "b.twice"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    migrate(path, out)
    with RecordReader.open(out) as new:
        new.check()
        assert new.ending is not None
        assert (new.ending["how"], new.ending["damaged"]) == ("torn", True)
        assert len(new.points) == new.ending["points"]


def test_a_lost_index_is_made_again_and_the_ending_stays(tmp_path: Path) -> None:
    path, out = closed_record(tmp_path / "a.twice"), tmp_path / "b.twice"
    whole = path.read_bytes()
    path.write_bytes(whole[: -TRAILER_BYTES - 20])
    migrate(path, out)
    assert out.read_bytes() == whole
    with RecordReader.open(out) as new:
        assert new.ending == ENDING


def test_the_old_record_and_other_files_are_left_alone(tmp_path: Path) -> None:
    path, out = closed_record(tmp_path / "a.twice"), tmp_path / "b.twice"
    before = path.read_bytes()
    with pytest.raises(UsageError):
        migrate(path, path, force=True)
    out.write_bytes(b"mine")
    with pytest.raises(OutputExists):
        migrate(path, out)
    with pytest.raises(RecordForeign):
        migrate(out, tmp_path / "c.twice")
    assert (path.read_bytes(), out.read_bytes()) == (before, b"mine")
    assert not (tmp_path / "c.twice").exists()
    migrate(path, out, force=True)
    assert out.read_bytes() == before
