"""Laws of served reads: what is known to be asked for next shows in no answer, no refusal and no line of the journal."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import twice
from twice.errors import EffectMismatch
from twice.foundation.compiled import load_twin
from twice.recorder.effects import compiled_reads, ops
from twice.recorder.effects.actors import enter, leave
from twice.recorder.effects.clock import governed_read
from twice.recorder.effects.entropy import governed_urandom
from twice.recorder.effects.events import unpack
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.runrecord import RunRecord
from twice.replayer.bounded_reads import CheckpointBoundedReads

# What is served is what a recording of its own process wrote.
pytestmark = pytest.mark.integration

PROGRAM = """
import os, time

def main(run):
    for tick in run.ticks(6):
        for _ in range(tick):
            time.time()
        for size in (3, 3, tick):
            os.urandom(size)
        for _ in range(4):
            time.perf_counter_ns()
        time.time()
"""
READS: tuple[tuple[str, int], ...] = tuple(
    read
    for tick in range(6)
    for read in [("time", 0)] * tick
    + [("urandom", 3), ("urandom", 3), ("urandom", tick)]
    + [("count", 0)] * 4
    + [("time", 0)]
)
ENDS = [sum(tick + 8 for tick in range(last + 1)) for last in range(6)]
"""How many reads were made by the end of each tick."""
CHANGES = st.lists(
    st.tuples(
        st.integers(0, len(READS)),
        st.sampled_from(["add", "drop"]),
        st.sampled_from([("time", 0), ("count", 0), ("urandom", 3), ("urandom", 4)]),
    ),
    max_size=2,
)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunRecord]:
    folder = tmp_path_factory.mktemp("served")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    twice.record(f"{program}:main", seed=1, out=folder / "a.twice").close()
    with RunRecord.open(folder / "a.twice") as opened:
        yield opened


class OneByOne(CheckpointBoundedReads):
    """The reads of a record, none of them known before it is asked for."""

    def _next(self) -> Any:
        return super()._next()


def serve(
    record: RunRecord, source_class: type[CheckpointBoundedReads], reads: list[tuple[str, int]]
) -> list[object]:
    """Return answers, reads that were not made by the end of a tick, and how it ended."""
    told: list[object] = []
    source = source_class(record, lambda error: told.append(error.happened))
    session = SimpleNamespace(muted=False, point_count=1)
    source.session = session  # type: ignore[assignment]
    layer = EffectLayer(source, lambda kind, payload, _: told.append((kind, unpack(payload))))
    urandom = governed_urandom(layer)
    clocks = {
        "time": governed_read(ops.TIME, layer, None, lambda: 0),
        "count": governed_read(ops.PERF_COUNTER_NS, layer, None, lambda: 0),
    }
    token = enter(layer.main)
    try:
        for at, (name, size) in enumerate(reads):
            told.append((urandom(size) if name == "urandom" else clocks[name](), source.position()))
            if at + 1 in ENDS:
                told.append(source.find_unmade(session.point_count))
                session.point_count += 1
                layer.flush()
    except EffectMismatch as error:
        told += [str(error), source.is_extra, source.position()]
    finally:
        leave(token)
    layer.flush_all()
    return told


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(changes=CHANGES)
@pytest.mark.parametrize("way", ["Python", "compiled"])
def test_reads_that_are_known_before_they_are_asked_for_are_served_alike(
    record: RunRecord, way: str, changes: list[tuple[int, str, tuple[str, int]]]
) -> None:
    if way == "compiled" and load_twin()[0] is None:
        pytest.skip("the compiled twin is not in force")
    reads = list(READS)
    for at, what, read in changes:
        reads[at : at + (what == "drop")] = [read] if what == "add" else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_reads, "load_twin", lambda: (None, ""))
        expected = serve(record, OneByOne, reads)
    found = with_twin(way, lambda: serve(record, CheckpointBoundedReads, reads))

    assert found == expected


def with_twin(way: str, run: Callable[[], list[object]]) -> list[object]:
    with pytest.MonkeyPatch.context() as patch:
        if way == "Python":
            patch.setattr(compiled_reads, "load_twin", lambda: (None, ""))
        return run()


def test_the_recorded_reads_are_served_whole(record: RunRecord) -> None:
    told = serve(record, CheckpointBoundedReads, list(READS))
    answers = [each[0] for each in told if isinstance(each, tuple) and isinstance(each[1], int)]
    recorded = [
        value[1] if number == ops.URANDOM.number else value  # type: ignore[index]
        for number, value in record.strict_reads()
    ]

    assert answers == recorded
    assert len(answers) == len(READS)
    assert [each for each in told if isinstance(each, str)] == [""] * 6
    assert os.urandom(2) != answers[0]
