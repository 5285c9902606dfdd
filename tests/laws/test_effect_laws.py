"""Laws of governed reads: the unrolled fast path, the layer's own, and what comes back are one."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.errors import DecodingRefused
from twice.foundation.encoding import decode, encode
from twice.recorder.effects import ops
from twice.recorder.effects.actors import enter, leave
from twice.recorder.effects.clock import REAL, Clock, governed_read
from twice.recorder.effects.events import (
    RUN_READS_MAX,
    RUNS_MAX,
    Event,
    Waiting,
    join_runs,
    pack,
    unpack,
)
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource

CLOCKS = [ops.TIME, ops.TIME_NS, ops.MONOTONIC, ops.PERF_COUNTER]
READS = st.lists(st.sampled_from(CLOCKS), max_size=60)
_ENTROPY = st.binary(max_size=4).map(lambda data: (len(data), data))
_AGAIN = st.sampled_from(
    [("a", ("value", "b")), ("c", ("absent", None)), (4, b"four"), (True, b"1")]
)
VALUES = st.floats(allow_nan=False) | st.integers() | st.binary(max_size=4) | _ENTROPY | _AGAIN


class Scripted:
    """A world whose every clock counts; two of them give the same answers in the same order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        for op in CLOCKS:
            whole = op.name.endswith("_ns")
            monkeypatch.setitem(REAL, op, self._whole if whole else self._broken)

    def _whole(self) -> int:
        self.asked += 1
        return self.asked

    def _broken(self) -> float:
        self.asked += 1
        return float(self.asked)


def layer_with_journal() -> tuple[EffectLayer, list[tuple[str, bytes]]]:
    journal: list[tuple[str, bytes]] = []
    return EffectLayer(
        LiveSource(), lambda kind, payload, _: journal.append((kind, payload))
    ), journal


def journal_of(reads: list[ops.Op], flush_at: list[int], way: str) -> tuple[object, ...]:
    with pytest.MonkeyPatch.context() as patch:
        Scripted(patch)
        layer, journal = layer_with_journal()
        answers: list[object] = []
        readers = {op: _reader(way, layer, op) for op in CLOCKS}
        token = enter(layer.main)
        for at, op in enumerate(reads):
            answers.append(readers[op]())
            if at in flush_at:
                layer.flush()
        leave(token)
        position = layer.position()
        return answers, journal, position, layer.manifest(), layer.snapshot()


def _reader(way: str, layer: EffectLayer, op: ops.Op) -> Callable[[], object]:
    if way == "intercepted":
        return governed_read(op, layer, None, lambda: 0)
    if way == "asked":
        asked: Callable[[], object] = getattr(
            Clock(layer, None, lambda: 0), op.name.removeprefix("clock.")
        )
        return asked
    return lambda: layer.read(layer.main, op, REAL[op])


@given(READS, st.lists(st.integers(0, 60), max_size=4), st.sampled_from(["intercepted", "asked"]))
def test_the_fast_path_writes_what_the_layer_writes(
    reads: list[ops.Op], flush_at: list[int], way: str
) -> None:
    assert journal_of(reads, flush_at, way) == journal_of(reads, flush_at, "read")


@given(READS, st.lists(st.integers(0, 60), max_size=4))
def test_when_reads_are_written_down_does_not_show_in_the_position(
    reads: list[ops.Op], flush_at: list[int]
) -> None:
    assert journal_of(reads, flush_at, "read")[2] == journal_of(reads, [], "read")[2]


@settings(max_examples=3, deadline=None)
@given(st.sampled_from(["intercepted", "asked", "read"]))
def test_a_long_run_of_reads_is_written_in_order_and_whole(way: str) -> None:
    count = 2 * RUN_READS_MAX + 3

    _, journal, at_once, *_ = journal_of([ops.TIME] * count, [], way)

    _, _, position, *_ = journal_of([ops.TIME] * count, [7, 4000], way)
    assert position == at_once
    assert isinstance(journal, list)
    assert len(journal) == 3
    read = [event for _, payload in journal for event in unpack(payload)]
    assert read == [(ops.TIME.number, float(at + 1)) for at in range(count)]


def test_alternating_reads_are_bounded_as_well() -> None:
    waiting = Waiting()
    is_full = [waiting.add(1 + at % 2, float(at)) for at in range(RUNS_MAX)]

    assert is_full == [False] * (RUNS_MAX - 1) + [True]
    numbers, values = join_runs(waiting.take())
    assert values == [float(at) for at in range(RUNS_MAX)]
    assert numbers[:3].tolist() == [1, 2, 1]
    assert not waiting.add(1, 0.0)
    assert waiting.take() == [(1, [0.0])]
    assert waiting.take() == []


@given(st.lists(st.tuples(st.integers(1, 65535), VALUES), max_size=30))
def test_what_is_packed_comes_back(reads: list[Event]) -> None:
    assert unpack(pack(reads)) == reads


@given(st.lists(st.tuples(st.sampled_from([1, 2, 40]), VALUES), max_size=30))
def test_reads_that_wait_come_out_in_order(reads: list[Event]) -> None:
    waiting = Waiting()
    for number, value in reads:
        waiting.add(number, value)

    assert list(zip(*join_runs(waiting.take()), strict=True)) == reads


def test_whether_code_is_strict_is_asked_once_and_kept() -> None:
    layer, _ = layer_with_journal()
    library = json.loads.__code__

    assert [layer.is_strict(library) for _ in range(2)] == [False, False]
    assert [layer.is_strict(journal_of.__code__) for _ in range(2)] == [True, True]


@given(st.lists(_ENTROPY, min_size=1, max_size=30), st.lists(_AGAIN, min_size=1, max_size=300))
def test_columns_of_one_kind_come_back_too(entropy: list[object], again: list[object]) -> None:
    for values in (entropy, again):
        reads: list[Event] = [(40, value) for value in values]
        assert unpack(pack(reads)) == reads
        assert [type(value[0]) for _, value in unpack(pack(reads))] == [type(v[0]) for v in values]  # type: ignore[index]


@pytest.mark.parametrize("spoilt", ["sizes", "blob", "again", "mask"])
def test_columns_that_do_not_fit_are_refused(spoilt: str) -> None:
    one = ("a", ("value", "b"))
    whole = dict(
        zip(
            ("numbers", "floats", "mask", "others", "sizes", "blob", "again"),
            decode(pack([(80, one), (80, one), (40, (2, b"ab"))])),  # type: ignore[arg-type]
            strict=True,
        )
    )
    other = {"sizes": b"\x03\0\0\0", "blob": b"abc", "again": b"\x09\0\0\0", "mask": b"\0\x03\x03"}
    with pytest.raises(DecodingRefused):
        unpack(encode(tuple({**whole, spoilt: other[spoilt]}.values())))
