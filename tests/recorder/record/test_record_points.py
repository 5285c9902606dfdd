"""Compare-points are found by number and tick, read in a row and as columns, and compared log with log."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_samples import NO_CHAIN, closed_record, short, write_points

from twice.recorder.record import RecordReader, RecordWriter, first_difference
from twice.recorder.record.writer import POINTS_PER_BLOCK


def log(path: Path, states: list[bytes], cuts: set[int]) -> RecordReader:
    writer = RecordWriter.create(path, {}, force=True)
    layout, chain = writer.layout([]), NO_CHAIN
    for tick, state in enumerate(states):
        chain = short(chain, state)
        writer.point(layout, tick, "tick", short(state), chain, b"")
        if tick in cuts:
            writer.flush()
    writer.close({})
    return RecordReader.open(path)


def expected(a: list[bytes], b: list[bytes]) -> int | None:
    for index, (left, right) in enumerate(zip(a, b, strict=False)):
        if left != right:
            return index
    return None if len(a) == len(b) else min(len(a), len(b))


STATES = st.lists(st.sampled_from([b"a", b"b"]), max_size=30)
CUTS = st.sets(st.integers(0, 30))


@given(STATES, STATES, st.lists(st.just(b"same"), max_size=20), CUTS, CUTS)
def test_it_is_the_first_point_that_a_walk_would_find(
    tmp_path_factory: pytest.TempPathFactory,
    a: list[bytes],
    b: list[bytes],
    start: list[bytes],
    cuts_a: set[int],
    cuts_b: set[int],
) -> None:
    folder = tmp_path_factory.getbasetemp()
    with (
        log(folder / "a.twice", start + a, cuts_a) as left,
        log(folder / "b.twice", start + b, cuts_b) as right,
    ):
        answer = expected(start + a, start + b)
        assert first_difference(left.points, right.points) == answer
        assert first_difference(right.points, left.points) == answer


def test_a_difference_that_heals_is_still_the_first_one(tmp_path: Path) -> None:
    states = [b"%d" % n for n in range(6000)]
    healed = [*states[:2500], b"other", *states[2501:]]
    with log(tmp_path / "a", states, {7}) as a, log(tmp_path / "b", healed, {900}) as b:
        assert first_difference(a.points, b.points) == 2500
        assert a.points.point(3000).root == b.points.point(3000).root


def test_every_position_across_block_borders_is_found(tmp_path: Path) -> None:
    states = [b"%d" % n for n in range(3000)]
    draw = random.Random(4)
    places = [0, 1, 1023, 1024, 1025, 2047, 2048, 2999, *(draw.randrange(3000) for _ in range(5))]
    with log(tmp_path / "a", states, set()) as a:
        for place in places:
            other = [*states[:place], b"x", *states[place + 1 :]]
            with log(tmp_path / "b", other, {100, 1500}) as b:
                assert first_difference(a.points, b.points) == place


def test_torn_logs_are_compared_like_closed_ones(tmp_path: Path) -> None:
    states = [b"%d" % n for n in range(3000)]
    with log(tmp_path / "a", states, set()) as a:
        data = (tmp_path / "a").read_bytes()
        (tmp_path / "b").write_bytes(data[: len(data) // 2])
        with RecordReader.open(tmp_path / "b") as b:
            assert 0 < len(b.points) < 3000
            assert first_difference(a.points, b.points) == len(b.points)


def test_a_tick_is_found_where_it_last_occurs(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    layout = writer.layout([])
    for tick, name in [(0, "tick"), (1, "tick"), (2, "moved"), (1, "tick"), (2, "tick"), (9, "x")]:
        writer.point(layout, tick, name, bytes(16), bytes(16), b"")
        writer.flush()
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        find = reader.points.index_of_tick
        assert [find(tick) for tick in (0, 1, 2, 3, 9, 2**70)] == [0, 3, 4, None, None, None]


def test_thousands_of_points_are_cut_into_blocks_and_read_at_random(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    chains = write_points(writer, [b"%d" % n for n in range(5000)])
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        for index in (0, 1023, 1024, 4999, 2500):
            point = reader.points.point(index)
            assert (point.index, point.tick, point.chain) == (index, index, chains[index])
        assert reader.points.last == reader.points.point(-1)
        assert [p.index for p in reader.points.iterate(1020, 1030)] == list(range(1020, 1031))


def test_columns_equal_the_points_one_by_one(tmp_path: Path) -> None:
    with RecordReader.open(closed_record(tmp_path / "a.twice")) as reader:
        for first, last in [(0, None), (5, 20), (11, 11), (9, 3)]:
            points = list(reader.points.iterate(first, last))
            assert reader.points.ticks(first, last).tolist() == [p.tick for p in points]
            chains = reader.points.chains(first, last)
            assert [row.tobytes() for row in chains] == [p.chain for p in points]
            numbers, names = reader.points.names(first, last)
            assert [names[number] for number in numbers] == [p.name for p in points]
            energy, has = reader.points.digests("energy", first, last)
            assert has.tolist() == ["energy" in p.digests for p in points]
            assert [row.tobytes() for row in energy[has]] == [
                p.digests["energy"] for p in points if "energy" in p.digests
            ]
            assert not np.any(energy[~has])
            states = [p for p in points if list(p.digests) != [p.name]]
            names = {name for p in states for name in p.digests}
            assert reader.points.components(first, last) == sorted(names)
            ticks, digests = reader.points.states("energy", first, last)
            own = [p for p in states if "energy" in p.digests]
            assert ticks.tolist() == [p.tick for p in own]
            assert [row.tobytes() for row in digests] == [p.digests["energy"] for p in own]


@pytest.mark.parametrize("first", [0, 1, POINTS_PER_BLOCK - 1, POINTS_PER_BLOCK, 3000, 3001])
def test_rows_are_the_points_from_anywhere_on(tmp_path: Path, first: int) -> None:
    count = 3000
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    layouts = [writer.layout(names) for names in ([], ["a"], ["a", "b"])]
    for tick in range(count):
        layout = layouts[tick % 7 % 3]
        digests = tick.to_bytes(16, "little") * (tick % 7 % 3)
        writer.point(layout, tick, "tick" if tick % 5 else "moved", bytes(16), bytes(16), digests)
    writer.close({})

    with RecordReader.open(tmp_path / "a.twice") as reader:
        rows = list(reader.points.rows(first))
        points = list(reader.points.iterate(first))

    assert len(rows) == max(0, count - first)
    for (tick, shape, digests), point in zip(rows, points, strict=True):
        assert (tick, shape.name, shape.components) == (
            point.tick,
            point.name,
            tuple(point.digests),
        )
        assert digests == b"".join(point.digests.values())
