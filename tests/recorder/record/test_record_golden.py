"""Records that released versions wrote are read for ever, to the last byte of what they say."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from record_samples import closed_record

from twice.recorder.record import RecordReader, migrate
from twice.recorder.record.export import to_json_lines

GOLDEN = Path(__file__).parents[2] / "golden"
# File -> SHA-256 of its export to JSON lines with blobs. Never change a line; add one per format.
SAYS = {
    "run-record-1.twice": "f0c653fedce200aa098538186d517af2a8ef1ea7986f19c168cbd9891d7defe0",
}


def says(path: Path) -> str:
    out = io.StringIO()
    with RecordReader.open(path) as reader:
        reader.check()
        to_json_lines(reader, out, blobs=True)
    return hashlib.sha256(out.getvalue().encode()).hexdigest()


@pytest.mark.parametrize("name", sorted(SAYS))
def test_a_record_of_every_format_still_says_what_it_said(name: str) -> None:
    assert says(GOLDEN / name) == SAYS[name]


@pytest.mark.parametrize("name", sorted(SAYS))
def test_a_record_of_every_format_migrates_to_the_newest(name: str, tmp_path: Path) -> None:
    migrate(GOLDEN / name, tmp_path / "new.twice")
    assert says(tmp_path / "new.twice") == SAYS[name]


def test_the_newest_golden_record_is_what_this_version_writes(tmp_path: Path) -> None:
    assert says(closed_record(tmp_path / "a.twice", ticks=12)) == SAYS["run-record-1.twice"]
