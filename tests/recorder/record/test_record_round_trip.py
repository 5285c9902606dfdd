"""What was written is what is read, whatever the order and wherever the blocks were cut."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_samples import ENDING, IDENTITY, NO_CHAIN, RUN_ID, closed_record, short

from twice.errors import (
    DigestRefused,
    EncodingRefused,
    EncodingTextRefused,
    RecordOutOfRange,
    SessionMisuse,
)
from twice.recorder.record import RecordReader, RecordWriter

TICKS = st.integers(-(2**62) + 1, 2**62 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
POINT = st.tuples(
    st.just("point"), st.integers(0, 2), TICKS, TEXT, st.binary(min_size=16, max_size=16)
)
FRAME = st.tuples(st.just("frame"), TEXT, st.integers(0, 2**32 - 1), st.binary(max_size=40), TICKS)
BLOB = st.tuples(
    st.just("blob"),
    st.sampled_from("ab"),
    st.lists(st.sampled_from([b"", b"x", b"y" * 4096, b"z" * 4097, b"y" * 9000]), max_size=3),
    st.booleans(),
)
SNAPSHOT = st.tuples(st.just("snapshot"), TICKS, st.binary(max_size=20))
FLUSH = st.tuples(st.just("flush"))
LAYOUTS = [[], ["a"], ["b", "a", "größe"]]


@given(st.lists(POINT | FRAME | BLOB | SNAPSHOT | FLUSH, max_size=60))
def test_everything_written_is_read_back_in_order(steps: list[tuple]) -> None:
    points, frames, blobs, snapshots = [], [], {}, []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.twice"
        writer = RecordWriter.create(path, IDENTITY)
        layouts = [writer.layout(names) for names in LAYOUTS]
        for what, *arguments in steps:
            if what == "point":
                which, tick, name, root = arguments
                chain = short(points[-1].chain if points else NO_CHAIN, root)
                digests = root * len(LAYOUTS[which])
                index = writer.point(layouts[which], tick, name, root, chain, digests)
                assert index == len(points)
                points.append(_expected(index, tick, name, root, chain, LAYOUTS[which]))
            elif what == "frame":
                kind, actor, payload, tick = arguments
                writer.frame(kind, actor, payload, tick=tick)
                frames.append((kind, actor, tick, len(points), payload))
            elif what == "blob":
                key, parts, dedupe = arguments
                blobs[writer.page_blob(key, parts, dedupe=dedupe)] = parts
            elif what == "snapshot":
                tick, envelope = arguments
                assert writer.snapshot(tick, envelope) == len(snapshots)
                snapshots.append((tick, len(points), envelope))
            else:
                writer.flush()
        writer.close(ENDING)
        with RecordReader.open(path) as reader:
            reader.check()
            assert list(reader.points.iterate()) == points
            assert [tuple(frame) for frame in reader.frames()] == frames
            found = [(s.tick, s.point, reader.envelope(s.number)) for s in reader.snapshots]
            assert found == snapshots
            assert {number: reader.blobs.parts(number) for number in blobs} == blobs
            assert len(reader.blobs) == len(blobs)


def _expected(index, tick, name, root, chain, components):
    from twice.recorder.record import Point

    return Point(index, tick, name, root, chain, dict.fromkeys(components, root))


def test_a_closed_record_says_what_it_is(tmp_path: Path) -> None:
    with RecordReader.open(closed_record(tmp_path / "a.twice")) as reader:
        assert (reader.identity, reader.ending) == (IDENTITY, ENDING)
        assert (reader.run_id, reader.algorithm, reader.format) == (RUN_ID, "blake3", 1)
        assert reader.complete
        assert reader.tear is None


def test_the_same_calls_make_the_same_bytes(tmp_path: Path) -> None:
    first = closed_record(tmp_path / "a.twice").read_bytes()
    assert closed_record(tmp_path / "b.twice").read_bytes() == first


@pytest.mark.parametrize("algorithm", ["blake3", "sha256", "xxh3_128"])
def test_every_digest_algorithm_is_kept_and_checked(tmp_path: Path, algorithm: str) -> None:
    with RecordReader.open(closed_record(tmp_path / "a.twice", algorithm=algorithm)) as reader:
        reader.check()
        assert reader.algorithm == algorithm


def test_frames_are_filtered_by_kind_point_and_actor(tmp_path: Path) -> None:
    with RecordReader.open(closed_record(tmp_path / "a.twice")) as reader:
        everything = list(reader.frames())
        for kinds, first, last, actor in [
            (["input"], 0, None, None),
            (["effects"], 10, 20, 1),
            (["nobody"], 0, None, None),
            (["input", "effects"], 7, 7, 0),
            (None, 50, 40, None),
            ([], 0, None, None),
        ]:
            assert list(reader.frames(kinds, first, last, actor)) == [
                frame
                for frame in everything
                if (kinds is None or frame.kind in kinds)
                and first <= frame.point
                and (last is None or frame.point <= last)
                and (actor is None or frame.actor == actor)
            ]


def test_more_kinds_than_an_index_has_bits_are_still_found(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    for number in range(200):
        writer.frame(f"kind {number}", 0, b"%d" % number, tick=0)
        writer.flush()
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert [f.payload for f in reader.frames(["kind 3"])] == [b"3"]
        assert [f.payload for f in reader.frames(["kind 163", "kind 70"])] == [b"70", b"163"]


def test_a_frame_larger_than_a_block_is_kept_whole(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    large = bytes(range(256)) * 1000 + bytes(30_000_000)
    writer.frame("effects", 0, large, tick=0)
    writer.frame("effects", 0, b"small", tick=0)
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        reader.check()
        assert [f.payload for f in reader.frames()] == [large, b"small"]


def test_an_empty_run_is_a_record(tmp_path: Path) -> None:
    RecordWriter.create(tmp_path / "a.twice", {}).close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        reader.check()
        assert (len(reader.points), reader.points.last, list(reader.frames())) == (0, None, [])
        assert (reader.snapshots, len(reader.blobs)) == ([], 0)


def test_what_is_not_there_is_out_of_range(tmp_path: Path) -> None:
    with RecordReader.open(closed_record(tmp_path / "a.twice")) as reader:
        count = len(reader.points)
        for ask in (
            lambda: reader.points.point(count),
            lambda: reader.points.point(-count - 1),
            lambda: reader.envelope(99),
            lambda: reader.envelope(-1),
            lambda: reader.blob(99),
            lambda: reader.blob(-1),
        ):
            with pytest.raises(RecordOutOfRange):
                ask()


def test_a_closed_reader_says_so(tmp_path: Path) -> None:
    reader = RecordReader.open(closed_record(tmp_path / "a.twice"))
    point = reader.points.point(0)
    reader.close()
    with pytest.raises(SessionMisuse):
        reader.check()
    assert point.tick == 0


def test_what_has_no_form_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a.twice"
    for identity in ({"seed": 2**60}, {"x": float("nan")}, {"x": "\ud800"}, {"x": {1}}):
        with pytest.raises(EncodingRefused):
            RecordWriter.create(path, identity)
    with pytest.raises(DigestRefused):
        RecordWriter.create(path, {}, algorithm="md5")
    assert not path.exists()
    writer = RecordWriter.create(path, {})
    with pytest.raises(EncodingTextRefused):
        writer.layout(["\ud800"])
    with pytest.raises(EncodingTextRefused):
        writer.frame("\udfff", 0, b"", tick=0)
    writer.close({})


def test_the_summary_adds_up(tmp_path: Path) -> None:
    with RecordReader.open(closed_record(tmp_path / "a.twice")) as reader:
        summary = reader.summary()
        blocks = summary["blocks"]
        index = 48 + 40 + 64 * sum(kind["count"] for kind in blocks.values())
        stored = sum(kind["stored_bytes"] for kind in blocks.values())
        assert 96 + stored + index + 64 == summary["file_bytes"] == reader.path.stat().st_size
        assert summary["points"] == len(reader.points)
        assert summary["frames"] == len(list(reader.frames()))
        assert summary["snapshots"] == len(reader.snapshots)
        assert summary["blobs"] == len(reader.blobs)
