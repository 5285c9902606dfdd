"""Counts for a timeline: exact where all was read, near the truth where a sample was."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.digests import Algorithm
from twice.foundation.encoding import encode
from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record_form import INPUT, OUTPUT
from twice.recorder.snapshots import STREAMS, Captured, Cursors, store
from twice.view import levels
from twice.view.levels import count_events

Entry = tuple[str, int, int]
"""What happened, in which tick, and the digest that a component had then."""


def write_log(path: Path, entries: list[Entry], cuts: set[int]) -> RecordReader:
    """Write compare-points and frames; a cut ends a block."""
    writer = RecordWriter.create(path, {}, force=True)
    layout = writer.layout(["part"])
    for at, (what, tick, digest) in enumerate(entries):
        if what in (INPUT, OUTPUT):
            writer.frame(what, 0, b"", tick=tick)
        else:
            writer.point(layout, tick, what, bytes(16), at.to_bytes(16), bytes([digest]) * 16)
        if at in cuts:
            writer.flush()
    writer.close({})
    return RecordReader.open(path)


def count_by_hand(entries: list[Entry], first: int, width: int, bins: int) -> dict[Any, list[int]]:
    """Count one entry after the other."""
    found: dict[Any, list[int]] = {}
    before = None
    for what, tick, digest in entries:
        keys = [("journal", "inputs" if what == INPUT else "printed")]
        if what not in (INPUT, OUTPUT):
            keys = [("points", what)]
            if before is not None and before != digest:
                keys += [("component", "part")]
            before = digest
        for key in keys if 0 <= (tick - first) // width < bins else ():
            found.setdefault(key, [0] * bins)[(tick - first) // width] += 1
    return found


STEPS = st.lists(
    st.tuples(
        st.sampled_from([INPUT, OUTPUT, "tick", "decision"]), st.integers(0, 3), st.integers(0, 1)
    ),
    max_size=40,
)


@given(
    STEPS, st.sets(st.integers(0, 40)), st.integers(0, 20), st.integers(0, 60), st.integers(1, 9)
)
def test_a_narrow_range_is_counted_exactly(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int, int]],
    cuts: set[int],
    first: int,
    length: int,
    bins: int,
) -> None:
    entries, tick = list[Entry](), 0
    for what, step, digest in steps:
        tick += step
        entries.append((what, tick, digest))
    path = tmp_path_factory.getbasetemp() / "a.twice"
    with write_log(path, [("tick", 0, 0), *entries], cuts) as reader:
        told = count_events(reader, first, first + length, bins)

    assert told["exact"]
    counted = {
        (each["group"], each["name"]): each["counts"]
        for each in told["tracks"]
        if any(each["counts"])
    }
    by_hand = count_by_hand([("tick", 0, 0), *entries], first, told["width"], told["bins"])
    assert counted == by_hand
    for each in told["tracks"]:
        assert all(n <= most for n, most in zip(each["counts"], each["most"], strict=True))


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_wide_range_is_sampled_and_near_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int
) -> None:
    monkeypatch.setattr(levels, "_MERGED_BLOCKS", blocks)
    entries = list[Entry]()
    for tick in range(10_000):
        # In the second half the component changes at every tick, and before at every fourth.
        entries.append(("tick", tick, tick % 2 if tick >= 5_000 else tick // 4 % 2))
        if tick % 2:
            entries.append((INPUT, tick, 0))
    cuts = set(range(0, len(entries), 80))
    with write_log(tmp_path / "a.twice", entries, cuts) as reader:
        told = count_events(reader, 0, 9_999, 40)
        narrow = count_events(reader, 5_000, 5_099, 10)

    assert (told["exact"], narrow["exact"]) == (False, True)
    counted = {each["name"]: np.array(each["counts"]) for each in told["tracks"]}
    assert abs(counted["tick"] - 250).max() < 10
    assert abs(counted["inputs"] - 125).max() < 10
    assert abs(counted["part"][:19] - 62.5).max() < 10
    assert abs(counted["part"][21:] - 250).max() < 10


CURSORS = Cursors({"reads": 0, "asked": b""}, 0, b"", 0, 0, 0, bytes(16))


def write_streams(path: Path, positions: Mapping[int, Mapping[str, int]]) -> RecordReader:
    """Write snapshots by their ticks; each has the positions of its streams."""
    writer = RecordWriter.create(path, {}, force=True)
    for tick, streams in positions.items():
        held = {name: {"kind": "python", "index": at} for name, at in streams.items()}
        parts = {STREAMS: [encode(held)]}
        store(writer, Captured(tick, parts, CURSORS, {}, Algorithm.SHA256), dedupe=True)
    writer.close({})
    return RecordReader.open(path)


def test_a_stream_has_the_ticks_between_snapshots_that_differ_in_it(tmp_path: Path) -> None:
    positions = {
        0: {"gusts": 5, "steps": 1, "global/random": 3},
        10: {"gusts": 5, "steps": 2, "global/random": 3},
        14: {"gusts": 6, "steps": 2, "global/random": 3},
    }
    with write_streams(tmp_path / "a.twice", positions) as reader:
        told = count_events(reader, 0, 19, 5)
        narrow = count_events(reader, 11, 12, 5)

    counts = {each["name"]: (each["counts"], each["most"]) for each in told["tracks"]}
    # After the last snapshot nothing is known, and a generator that nobody uses has no track.
    assert counts == {
        "gusts": ([0, 0, 2, 2, 0], [4, 4, 4, 2, 0]),
        "steps": ([4, 4, 2, 0, 0], [4, 4, 4, 2, 0]),
    }
    assert [(each["name"], each["counts"]) for each in narrow["tracks"]] == [
        ("gusts", [1, 1]), ("steps", [0, 0]),
    ]  # fmt: skip
    assert told["exact"]


def test_nothing_is_known_of_a_stream_before_it_is_made(tmp_path: Path) -> None:
    positions = {0: {}, 10: {"late": 3}, 20: {"late": 4}, 30: {}}
    with write_streams(tmp_path / "a.twice", positions) as reader:
        (track,) = count_events(reader, 0, 39, 4)["tracks"]

    assert (track["counts"], track["most"]) == ([0, 10, 0, 0], [0, 10, 0, 0])


def test_streams_of_an_abandoned_pass_are_not_compared(tmp_path: Path) -> None:
    positions = {0: {"steps": 1}, 8: {"steps": 2}, 6: {"steps": 1}, 12: {"steps": 1}}
    with write_streams(tmp_path / "a.twice", positions) as reader:
        (track,) = count_events(reader, 0, 11, 3, snapshots=[0, 2, 3])["tracks"]

    assert (track["counts"], track["most"]) == ([0, 0, 0], [4, 4, 4])


def test_of_many_snapshots_some_are_compared(tmp_path: Path) -> None:
    with write_streams(tmp_path / "a.twice", {n: {"steps": n} for n in range(300)}) as reader:
        whole, half = count_events(reader, 0, 298, 1), count_events(reader, 0, 148, 1)

    assert [each["tracks"][0]["counts"] for each in (whole, half)] == [[299], [149]]
    assert (whole["exact"], half["exact"]) == (False, True)


def test_the_short_blocks_of_a_slow_run_are_counted_exactly(tmp_path: Path) -> None:
    entries = [
        each for tick in range(200) for each in [(INPUT, tick, 0), ("tick", tick, tick // 50 % 2)]
    ]
    with write_log(tmp_path / "a.twice", entries, set(range(400))) as reader:
        told = count_events(reader, 0, 199, 200)

    counted = {each["name"]: each["counts"] for each in told["tracks"]}
    assert told["exact"]
    assert (sum(counted["inputs"]), sum(counted["tick"])) == (200, 200)
    assert [tick for tick, count in enumerate(counted["part"]) if count] == [50, 100, 150]
