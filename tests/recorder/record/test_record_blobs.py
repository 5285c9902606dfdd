"""Blobs come back as they were, and what did not change costs almost nothing."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record.blobs import FULL_TABLE_EVERY, PageStore
from twice.recorder.record.payloads import DeltaTable, FullTable

PAGE = 4096


def test_blobs_that_grow_shrink_and_move_come_back(tmp_path: Path) -> None:
    draw = random.Random(2)
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    parts = [
        bytearray(draw.randbytes(draw.choice([0, 1, 4095, 4096, 4097, 70_000]))) for _ in "abc"
    ]
    stored = {}
    for _ in range(120):
        what = draw.randrange(6)
        part = draw.choice(parts) if parts else bytearray()
        if what == 0 and part:
            part[draw.randrange(len(part))] ^= 1
        elif what == 1:
            part.extend(draw.randbytes(draw.randrange(9000)))
        elif what == 2:
            del part[draw.randrange(len(part) + 1) :]
        elif what == 3:
            parts.insert(draw.randrange(len(parts) + 1), bytearray(draw.randbytes(5000)))
        elif what == 4 and parts:
            parts.pop(draw.randrange(len(parts)))
        key, dedupe = draw.choice("kl"), draw.random() < 0.8
        number = writer.page_blob(key, parts, dedupe=dedupe)
        stored[number] = [bytes(part) for part in parts]
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        reader.check()
        for number, expected in stored.items():
            assert reader.blobs.parts(number) == expected
            assert reader.blob(number) == b"".join(expected)


def test_an_unchanged_blob_is_the_same_blob_and_costs_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.twice"
    writer = RecordWriter.create(path, {})
    state = random.Random(1).randbytes(300_000)
    first = writer.page_blob("swarm", [b"head", state])
    writer.flush()
    size = path.stat().st_size
    for _ in range(100):
        assert writer.page_blob("swarm", [b"head", state]) == first
    writer.flush()
    assert path.stat().st_size == size
    writer.close({})


def test_one_percent_of_changed_pages_costs_at_most_four_percent(tmp_path: Path) -> None:
    path = tmp_path / "a.twice"
    draw = np.random.default_rng(3)
    pages = 1600
    state = draw.integers(0, 256, pages * PAGE, np.uint8)
    writer = RecordWriter.create(path, {})
    writer.page_blob("swarm", [state.data])
    writer.flush()
    full = path.stat().st_size
    copies = {}
    for _ in range(3):
        size = path.stat().st_size
        for page in draw.choice(pages, pages // 100, replace=False):
            state[page * PAGE : (page + 1) * PAGE] = draw.integers(0, 256, PAGE, np.uint8)
        copies[writer.page_blob("swarm", [state.data])] = state.tobytes()
        writer.flush()
        assert path.stat().st_size - size <= 0.04 * full
    writer.close({})
    with RecordReader.open(path) as reader:
        for number, expected in copies.items():
            assert reader.blob(number) == expected


def test_pages_are_shared_across_keys_and_times(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    a, b = (random.Random(n).randbytes(10 * PAGE) for n in (1, 2))
    numbers = [
        writer.page_blob("k", [a]),
        writer.page_blob("k", [b]),
        writer.page_blob("k", [a]),
        writer.page_blob("other", [b, a]),
        writer.page_blob("zeros", [bytes(1000 * PAGE)]),
    ]
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert reader.summary()["pages"] == 21
        assert [reader.blob(n) for n in numbers] == [a, b, a, b + a, bytes(1000 * PAGE)]
        assert reader.blobs.read_table(numbers[0]) == reader.blobs.read_table(numbers[2])


def test_full_strategy_writes_every_page_anew(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    state = random.Random(1).randbytes(10 * PAGE)
    numbers = [writer.page_blob("k", [state], dedupe=False) for _ in range(3)]
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert numbers == [0, 1, 2]
        assert reader.summary()["pages"] == 30
        assert all(reader.blob(number) == state for number in numbers)


def test_tables_are_full_again_before_the_way_back_gets_long(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    state = bytearray(random.Random(1).randbytes(50 * PAGE))
    copies = []
    for n in range(3 * FULL_TABLE_EVERY):
        state[n % len(state)] ^= 0xFF
        assert writer.page_blob("k", [state]) == n
        copies.append(bytes(state))
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert [reader.blob(n) for n in range(len(copies))] == copies


@pytest.mark.parametrize(("changed", "kind"), [(2, DeltaTable), (3, FullTable)])
def test_a_table_is_full_where_many_pages_changed(
    changed: int, kind: type[DeltaTable | FullTable]
) -> None:
    store = PageStore(bytes, lambda: None)
    store.store("k", [bytes(40 * PAGE)], dedupe=True)

    _, table = store.store(
        "k", [b"\1" * PAGE * changed + bytes((40 - changed) * PAGE)], dedupe=True
    )

    assert isinstance(table, kind)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3000, dtype="<f8").reshape(50, 60),
        np.asfortranarray(np.arange(3000, dtype="<f4").reshape(50, 60)),
        np.arange(3000, dtype="<i2")[::3],
        np.zeros((0, 4)),
        np.array(3.5),
        np.zeros(5, [("a", "<i4"), ("b", "u1")]),
        np.array([True, False]),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_memory_of_any_shape_is_stored_in_c_order(tmp_path: Path, array: np.ndarray) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    number = writer.page_blob(
        "k", [array.data if array.dtype.fields is None else memoryview(array)]
    )
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert reader.blob(number) == array.tobytes()


def test_what_is_stored_does_not_change_with_the_callers_memory(tmp_path: Path) -> None:
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    state = bytearray(b"before" * 1000)
    number = writer.page_blob("k", [state])
    state[:] = b"behind" * 1000
    writer.close({})
    with RecordReader.open(tmp_path / "a.twice") as reader:
        assert reader.blob(number) == b"before" * 1000


@given(st.lists(st.tuples(st.integers(-1, 8), st.booleans()), max_size=12), st.integers(-2, 9))
def test_the_latest_snapshot_is_the_one_that_a_walk_would_find(
    taken: list[tuple[int, bool]], tick: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.twice")
        writer = RecordWriter.create(path, {})
        for number, (at, flushes) in enumerate(taken):
            assert writer.snapshot(at, b"%d" % number) == number
            if flushes:
                writer.flush()
        writer.close({})
        with RecordReader.open(path) as reader:
            fitting = [entry for entry in reader.snapshots if entry.tick <= tick]
            walked = max(fitting, key=lambda entry: (entry.tick, entry.number), default=None)

            assert reader.latest_snapshot(tick) == walked
            for number in range(len(taken)):
                assert reader.snapshot(number) == (reader.snapshots[number], b"%d" % number)
