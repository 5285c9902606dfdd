"""Reads through the compiled twin are noted, answered and refused as the functions of Python do it."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import time
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from subprocess import DEVNULL
from types import BuiltinFunctionType
from typing import Any
from weakref import ref

import pytest

from programs import cli
from twice.foundation.compiled import load_twin
from twice.recorder.effects import compiled_reads, entropy, ops
from twice.recorder.effects.actors import CURRENT, enter, leave, outside
from twice.recorder.effects.clock import REAL, governed_read
from twice.recorder.effects.entropy import governed_urandom
from twice.recorder.effects.events import RUN_READS_MAX, Waiting, unpack
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource, RecordedSource

TWIN, WHY_NOT = load_twin()
pytestmark = [
    pytest.mark.integration,  # CI builds the twin after the default tier, which runs without
    pytest.mark.skipif(TWIN is None, reason=f"the compiled twin is not in force: {WHY_NOT}"),
]
REAL_URANDOM = os.urandom
Told = list[tuple[str, list[tuple[int, object]]]]


def run_both(
    monkeypatch: pytest.MonkeyPatch, program: Callable[[Any, Any, EffectLayer], object]
) -> list[tuple[object, Told, dict[int, int]]]:
    """Run a program of reads with the twin, and with Python alone; what it returns, what was noted, what nobody owned."""
    found = []
    for is_compiled in (True, False):
        asked = iter(range(100_000))

        @wraps(time.time)
        def read_clock(asked: Iterator[int] = asked) -> float:
            return float(next(asked))

        monkeypatch.setitem(REAL, ops.TIME, read_clock)
        monkeypatch.setattr(entropy, "_REAL_URANDOM", draw)
        if not is_compiled:
            monkeypatch.setattr(compiled_reads, "load_twin", lambda: (None, ""))
        told: Told = []
        layer = EffectLayer(
            LiveSource(), lambda kind, payload, _, told=told: told.append((kind, unpack(payload)))
        )
        clock, urandom = governed_read(ops.TIME, layer, None, lambda: 0), governed_urandom(layer)
        assert (type(clock) is BuiltinFunctionType) == is_compiled
        assert (type(urandom) is BuiltinFunctionType) == is_compiled
        token = enter(layer.main)
        try:
            answer = program(clock, urandom, layer)
        finally:
            leave(token)
        layer.flush_all()
        found.append((answer, told, layer.ungoverned))
    return found


def draw(size: Any, /) -> bytes:
    """Refuse what ``os.urandom`` refuses."""
    return bytes(len(REAL_URANDOM(size)))


def read_library(read: Callable[..., object], *arguments: object) -> object:
    """Call from code of the standard library."""
    space = {"__name__": "json", "__file__": os.__file__, "read": read, "arguments": arguments}
    exec(compile("found = read(*arguments)", os.__file__, "exec"), space)
    return space["found"]


def alternate(clock: Any, urandom: Any, layer: EffectLayer) -> object:
    return [
        [clock(), clock(), urandom(4), urandom(4), clock()],
        [read_library(clock), clock(), read_library(urandom, 2), urandom(3)],
        [outside(clock), clock(), outside(urandom, 5), urandom(1)],
        [urandom(True), urandom(0)],
    ]


def fill_a_run(clock: Any, urandom: Any, layer: EffectLayer) -> object:
    return [[clock() for _ in range(RUN_READS_MAX * 2 + 3)], [urandom(1) for _ in range(3000)]]


def ask_wrongly(clock: Any, urandom: Any, layer: EffectLayer) -> object:
    errors = []
    for ask in (
        lambda: clock(1), lambda: clock(x=1), lambda: urandom(), lambda: urandom(-1), lambda: urandom("a"),
        lambda: urandom(1, 2), lambda: urandom(size=1),
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError)) as caught:
            ask()
        errors.append(caught.type)
        clock()
        urandom(2)
    return errors


def end(clock: Any, urandom: Any, layer: EffectLayer) -> object:
    first = [clock(), urandom(1)]
    layer.active = False
    clock(), urandom(1)
    layer.active = True
    return first


@pytest.mark.parametrize("program", [alternate, fill_a_run, ask_wrongly, end])
def test_both_answer_and_note_the_same(
    monkeypatch: pytest.MonkeyPatch, program: Callable[[Any, Any, EffectLayer], object]
) -> None:
    compiled, python = run_both(monkeypatch, program)

    assert compiled == python


def test_a_read_is_a_function_as_the_real_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    for source in (LiveSource(), RecordedSource.__new__(RecordedSource)):
        layer = EffectLayer(source, None)
        for real, made in (
            (time.time, governed_read(ops.TIME, layer, None, lambda: 0)),
            (os.urandom, governed_urandom(layer)),
        ):
            assert type(made) is type(real)
            for name in ("__name__", "__qualname__", "__doc__", "__text_signature__"):
                assert getattr(made, name) == getattr(real, name)
            assert repr(made) == repr(real)
            assert made != real
            module = time if real is time.time else os
            with monkeypatch.context() as patch:
                patch.setattr(module, real.__name__, made)
                assert pickle.loads(pickle.dumps(made)) is made
            assert copy.deepcopy(made) is made


def test_a_read_goes_with_its_layer() -> None:
    layer = EffectLayer(LiveSource(), None)
    made = [governed_read(ops.TIME, layer, None, lambda: 0), governed_urandom(layer)]
    token = enter(layer.main)
    for _ in range(3):
        made[0](), made[1](3)
    leave(token)
    gone = [*map(ref, made)]
    gc.collect()
    assert all(each() is not None for each in gone)
    del made
    gc.collect()
    assert [each() for each in gone] == [None, None]


@pytest.mark.parametrize(
    "wrong", [(), ("t",), ("t", "m", "", 1, 2, 3), (1,) * 16, ("t", "m", "") + (None,) * 13]
)
def test_what_is_no_read_is_refused(wrong: tuple[object, ...]) -> None:
    with pytest.raises(TypeError):
        TWIN.make_read(*wrong)
    with pytest.raises(TypeError):
        TWIN.make_read("t", "m", "", len, 1, CURRENT, int, 1, 2, 3, len, False, int, None, 1, 2)
    slots = vars(Waiting)["number"], vars(Waiting)["values"]
    with pytest.raises(TypeError):
        TWIN.make_read("t", "m", "", len, 1, CURRENT, int, *slots, 3, len, False, int, 1, 2, 3)


PROGRAM = """
import copy, enum, os, random, time, uuid
from dataclasses import dataclass
import numpy as np

class Kind(enum.Enum):
    A = 1

@dataclass
class Body:
    at: float
    kind: Kind

def main(run):
    state = run.track("state", {"bodies": [], "rows": {}, "array": np.zeros(5000), "wide": 2**70})
    body = Body(0.0, Kind.A)
    body.clock = os.urandom
    print(type(copy.deepcopy(body).clock) is type(os.urandom), copy.deepcopy(time.time)() > 0)
    for tick in run.ticks(30):
        state["bodies"].append(Body(time.time(), Kind.A))
        state["rows"][tick, "x"] = {os.urandom(3), float("nan")}
        state["array"] += random.random()
        state["ids"] = [uuid.uuid4().hex, time.perf_counter_ns(), "\\u00fc" * tick]
"""


def test_records_of_either_are_verified_by_the_other(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    for made_by, judged_by in (("", "1"), ("1", "")):
        # Interpreters of their own, no forks: whether the twin is in force is decided when one starts.
        out = f"made{made_by}.twice"
        made = cli(
            "record", "program.py:main", "--seed", "1", "--out", out,
            cwd=tmp_path, env={"TWICE_PURE": made_by or None}, stdin=DEVNULL,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        judged = cli(
            "verify", out, cwd=tmp_path, env={"TWICE_PURE": judged_by or None}, stdin=DEVNULL
        )
        assert judged.returncode == 0, judged.stdout
        assert "PASS" in judged.stdout


def test_the_real_functions_are_back_after_a_session() -> None:
    assert time.time is REAL[ops.TIME]
