"""The first difference of two logs, however they were cut into blocks."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from record_samples import NO_CHAIN, short

from twice.recorder.record import RecordReader, RecordWriter, first_difference


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
@settings(max_examples=150, deadline=None)
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
