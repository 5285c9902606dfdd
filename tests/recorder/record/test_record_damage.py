"""A changed byte is found, a torn record keeps what stands, and nothing else ever passes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from record_samples import ENDING, closed_record, write_everything

from twice.errors import RecordCorrupt, RecordForeign, RecordTorn, TwiceError
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record.layout import HEADER_BYTES, ROW_BYTES, TRAILER_BYTES, unpack_row


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return closed_record(tmp_path_factory.mktemp("sound") / "a.twice").read_bytes()


def open_and_check(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with RecordReader.open(path) as reader:
        reader.check()


def verdict_on(path: Path, data: bytes) -> type[TwiceError] | None:
    """Return the type of error that opening and checking raise, or None when the record passes."""
    try:
        open_and_check(path, data)
    except TwiceError as error:
        return type(error)
    return None


def read_everything(reader: RecordReader) -> None:
    list(reader.points.iterate())
    list(reader.frames())
    [reader.envelope(entry.number) for entry in reader.snapshots]
    [reader.blob(number) for number in range(len(reader.blobs))]


def boundaries(data: bytes, path: Path) -> list[int]:
    path.write_bytes(data)
    with RecordReader.open(path) as reader:
        rows = reader._file._rows
        return [unpack_row(rows, n)[0] for n in range(len(rows) // ROW_BYTES)]


def index_offset(data: bytes) -> int:
    return int.from_bytes(data[-TRAILER_BYTES + 8 : -TRAILER_BYTES + 16], "little")


def test_a_sound_record_passes(tmp_path: Path, sound: bytes) -> None:
    assert verdict_on(tmp_path / "a.twice", sound) is None


def test_every_one_of_a_thousand_flipped_bytes_is_found(tmp_path: Path, sound: bytes) -> None:
    draw = random.Random(1)
    passed = []
    for _ in range(1000):
        at, bit = draw.randrange(len(sound)), 1 << draw.randrange(8)
        changed = bytearray(sound)
        changed[at] ^= bit
        verdict = verdict_on(tmp_path / "a.twice", bytes(changed))
        if verdict in (None, RecordTorn):
            passed.append((at, bit, verdict))
    assert passed == []


def test_every_byte_of_header_index_and_trailer_is_covered(tmp_path: Path, sound: bytes) -> None:
    end = len(sound)
    passed = []
    for at in [*range(HEADER_BYTES + 48), *range(end - TRAILER_BYTES - 200, end)]:
        changed = bytearray(sound)
        changed[at] ^= 0x10
        if verdict_on(tmp_path / "a.twice", bytes(changed)) is None:
            passed.append(at)
    assert passed == []


def test_reading_a_damaged_block_is_refused_without_a_check(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    offsets = boundaries(sound, path)
    refused = 0
    for offset in offsets[1:-1]:
        changed = bytearray(sound)
        changed[offset + 60] ^= 1
        path.write_bytes(bytes(changed))
        with RecordReader.open(path) as reader:
            assert reader.complete
            with pytest.raises(RecordCorrupt) as caught:
                read_everything(reader)
            assert caught.value.fields["offset"] == offset
            refused += 1
    assert refused == len(offsets) - 2


def test_the_refusal_names_block_offset_kind_and_what_to_do(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    offset = boundaries(sound, path)[5]
    changed = bytearray(sound)
    changed[offset + 60] ^= 1
    with pytest.raises(RecordCorrupt) as caught:
        open_and_check(path, bytes(changed))
    fields = caught.value.fields
    assert (fields["block"], fields["offset"]) == (5, offset)
    assert fields["kind"] in str(caught.value)
    assert "Take another copy" in str(caught.value) or "take another copy" in str(caught.value)


def test_a_damaged_index_does_not_look_like_a_run_that_was_killed(
    tmp_path: Path, sound: bytes
) -> None:
    path = tmp_path / "a.twice"
    for at in (len(sound) - 1, len(sound) - TRAILER_BYTES + 20, len(sound) - TRAILER_BYTES - 5):
        changed = bytearray(sound)
        changed[at] ^= 1
        path.write_bytes(bytes(changed))
        with RecordReader.open(path) as reader:
            assert not reader.complete
            assert reader.ending == ENDING
            assert reader.tear is not None
            assert reader.tear.damaged
            with pytest.raises(RecordCorrupt):
                reader.check()


def test_a_record_cut_at_any_block_keeps_every_block_before(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    offsets = boundaries(sound, path)
    with RecordReader.open(path) as reader:
        points = list(reader.points.iterate())
    kept = -1
    for number, offset in enumerate(offsets[1:], 1):
        path.write_bytes(sound[:offset])
        with RecordReader.open(path) as reader:
            assert not reader.complete
            assert reader.ending is None
            assert reader.tear is not None
            assert (reader.tear.block, reader.tear.offset) == (number, offset)
            assert not reader.tear.damaged
            assert list(reader.points.iterate()) == points[: reader.tear.points]
            assert reader.tear.points >= kept
            kept = reader.tear.points
            with pytest.raises(RecordTorn):
                reader.check()
    assert kept == len(points)


def test_a_record_cut_anywhere_keeps_its_whole_blocks(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    offsets = [*boundaries(sound, path), index_offset(sound)]
    draw = random.Random(3)
    for end in [1, 7, 8, 50, 95, 96, 97, *(draw.randrange(len(sound)) for _ in range(200))]:
        path.write_bytes(sound[:end])
        try:
            with RecordReader.open(path) as reader:
                assert reader.tear is not None
                assert reader.tear.offset == max(at for at in offsets if at <= end)
                with pytest.raises(RecordTorn):
                    reader.check()
        except RecordTorn:
            assert end < offsets[1]


@pytest.mark.parametrize("tail", [b"\0", bytes(48), bytes(5000), b"\xff" * 300, b"twiceEND" * 8])
def test_a_tail_of_anything_is_never_taken_for_blocks(
    tmp_path: Path, sound: bytes, tail: bytes
) -> None:
    path = tmp_path / "a.twice"
    for offset in boundaries(sound, path)[1::3]:
        path.write_bytes(sound[:offset] + tail)
        with RecordReader.open(path) as reader:
            assert reader.tear is not None
            assert reader.tear.offset == offset
            with pytest.raises((RecordTorn, RecordCorrupt)):
                reader.check()
    with pytest.raises(RecordCorrupt):
        open_and_check(path, sound + tail)


def test_stale_blocks_of_another_run_are_never_accepted(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    offsets = boundaries(sound, path)
    other = RecordWriter.create(tmp_path / "b.twice", {"program": "other"})
    layout = other.layout([])
    for tick in range(3000):
        other.point(layout, tick, "tick", bytes(16), bytes(16), b"")
    other.close({})
    stale = (tmp_path / "b.twice").read_bytes()
    for offset in offsets[1:]:
        for tail in (stale[offset:], stale[boundaries(stale, path)[2] :]):
            path.write_bytes(sound[:offset] + tail)
            with RecordReader.open(path) as reader:
                assert not reader.complete
                assert reader.tear is not None
                assert reader.tear.offset == offset
                with pytest.raises((RecordTorn, RecordCorrupt)):
                    reader.check()


def test_blocks_in_another_order_are_found(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    offsets = boundaries(sound, path)
    a, b, c = offsets[4:7]
    with pytest.raises(TwiceError):
        open_and_check(path, sound[:a] + sound[b:c] + sound[a:b] + sound[c:])
    with pytest.raises(TwiceError):
        open_and_check(path, sound[:a] + sound[b:])
    with pytest.raises(TwiceError):
        open_and_check(path, sound[:b] + sound[a:])


def test_random_bytes_are_always_an_error_of_ours(tmp_path: Path, sound: bytes) -> None:
    draw = random.Random(5)
    refused = 0
    for size in (0, 1, 8, 95, 96, 97, 200, 5000):
        for start in (b"", sound[:8], sound[:96], sound[:200]):
            with pytest.raises(TwiceError):
                open_and_check(tmp_path / "a.twice", start + draw.randbytes(size))
            refused += 1
    assert refused == 32


def test_a_record_still_being_written_reads_up_to_its_last_block(tmp_path: Path) -> None:
    writer = write_everything(tmp_path / "a.twice", ticks=32, flush_every=16)
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert reader.points.last is not None
        assert reader.points.last.tick == 31
        assert reader.tear is not None
        assert reader.tear.reason == "the record has no ending"
    writer.abandon()


def test_an_ending_without_an_index_is_no_complete_record(tmp_path: Path, sound: bytes) -> None:
    path = tmp_path / "a.twice"
    with_index, index = len(sound) - TRAILER_BYTES, index_offset(sound)
    for end in (index, index + 30, with_index, with_index + 20):
        path.write_bytes(sound[:end])
        with RecordReader.open(path) as reader:
            assert (reader.complete, reader.ending) == (False, ENDING)
            with pytest.raises(RecordTorn):
                reader.check()


def test_nothing_of_zeros_is_a_record(tmp_path: Path) -> None:
    with pytest.raises(RecordForeign):
        open_and_check(tmp_path / "a.twice", bytes(10_000))
