"""Other tools get everything that a record holds."""

from __future__ import annotations

import base64
import importlib.util
import io
import json
from pathlib import Path

import pytest
from record_samples import ENDING, IDENTITY, closed_record, write_everything

from twice.errors import ExtraMissing
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record.export import to_json_lines, to_parquet

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None


def lines(path: Path, **options: bool) -> list[dict]:
    out = io.StringIO()
    with RecordReader.open(path) as reader:
        count = to_json_lines(reader, out, **options)
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(found) == count
    return found


def test_json_lines_hold_every_point_frame_snapshot_and_blob(tmp_path: Path) -> None:
    path = closed_record(tmp_path / "a.twice")
    found = lines(path, blobs=True)
    assert (found[0]["type"], found[0]["identity"]) == ("record", IDENTITY)
    assert found[-1] == {"type": "ending", "complete": True, "ending": ENDING, "tear": None}
    with RecordReader.open(path) as reader:
        for line, point in zip(
            [line for line in found if line["type"] == "point"],
            reader.points.iterate(),
            strict=True,
        ):
            assert line["root"] == "blake3:" + point.root.hex()
            assert line["digests"] == {k: "blake3:" + v.hex() for k, v in point.digests.items()}
            assert (line["index"], line["tick"], line["name"]) == (
                point.index,
                point.tick,
                point.name,
            )
        assert [
            (
                line["kind"],
                line["actor"],
                line["tick"],
                line["point"],
                base64.b64decode(line["payload"]),
            )
            for line in found
            if line["type"] == "frame"
        ] == [tuple(frame) for frame in reader.frames()]
        assert [
            base64.b64decode(line["envelope"]) for line in found if line["type"] == "snapshot"
        ] == [reader.envelope(entry.number) for entry in reader.snapshots]
        assert [
            b"".join(map(base64.b64decode, line["parts"]))
            for line in found
            if line["type"] == "blob"
        ] == [reader.blob(number) for number in range(len(reader.blobs))]


def test_what_led_to_a_point_stands_before_it(tmp_path: Path) -> None:
    seen = -1
    for line in lines(closed_record(tmp_path / "a.twice")):
        if line["type"] == "point":
            assert line["index"] == seen + 1
            seen = line["index"]
        elif line["type"] in ("frame", "snapshot"):
            assert line["point"] == seen + 1


def test_a_torn_record_keeps_the_order_of_frames_and_snapshots(tmp_path: Path) -> None:
    """Its last frames belong to compare-points that were never sealed."""
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    writer.frame("effects", 0, b"x", tick=0)
    writer.snapshot(0, b"{}")
    writer.flush()
    for tick in range(3):
        writer.point(writer.layout([]), tick, "tick", bytes(16), bytes(16), b"")
        writer.frame("effects", 0, bytes(40_000), tick=tick)
    writer.abandon()

    found = [(line["type"], line["point"]) for line in lines(tmp_path / "a.twice")[1:-1]]
    assert found == [("frame", 0), ("snapshot", 0), ("frame", 1), ("frame", 2)]


def test_a_torn_record_exports_what_stands_and_says_why_it_ends(tmp_path: Path) -> None:
    write_everything(tmp_path / "a.twice").abandon()
    last = lines(tmp_path / "a.twice")[-1]
    assert (last["complete"], last["ending"]) == (False, None)
    assert last["tear"] == "the record has no ending"


@pytest.mark.skipif(not HAS_PYARROW, reason="pyarrow is not installed")
def test_parquet_tables_hold_every_point_and_frame(tmp_path: Path) -> None:
    from pyarrow import parquet

    with RecordReader.open(closed_record(tmp_path / "a.twice")) as reader:
        points, frames = to_parquet(reader, tmp_path / "tables")
        rows = parquet.read_table(points).to_pylist()
        assert [(r["index"], r["tick"], r["name"], r["root"], r["chain"]) for r in rows] == [
            (p.index, p.tick, p.name, p.root, p.chain) for p in reader.points.iterate()
        ]
        assert [dict(r["digests"]) for r in rows] == [p.digests for p in reader.points.iterate()]
        assert [tuple(r.values()) for r in parquet.read_table(frames).to_pylist()] == [
            tuple(frame) for frame in reader.frames()
        ]
        metadata = parquet.read_schema(points).metadata
        assert json.loads(metadata[b"twice.identity"]) == IDENTITY


@pytest.mark.skipif(HAS_PYARROW, reason="pyarrow is installed")
def test_without_pyarrow_the_extra_is_named(tmp_path: Path) -> None:
    with (
        RecordReader.open(closed_record(tmp_path / "a.twice")) as reader,
        pytest.raises(ExtraMissing, match=r"twice\[parquet\]"),
    ):
        to_parquet(reader, tmp_path)
