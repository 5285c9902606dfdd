"""Reads through the compiled twin are noted, answered and refused as the functions of Python do it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

import pytest

from programs import cli
from twice.foundation.compiled import load_twin
from twice.recorder.effects import actors, entropy, ops
from twice.recorder.effects.actors import enter, leave, outside
from twice.recorder.effects.clock import REAL, governed_read
from twice.recorder.effects.entropy import governed_urandom
from twice.recorder.effects.events import RUN_READS_MAX, unpack
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.effects.sources import LiveSource

TWIN, WHY_NOT = load_twin()
pytestmark = [
    pytest.mark.integration,  # CI builds the twin after the default tier, which runs without
    pytest.mark.skipif(TWIN is None, reason=f"the compiled twin is not in force: {WHY_NOT}"),
]
Told = list[tuple[str, list[tuple[int, object]]]]


def run_both(
    monkeypatch: pytest.MonkeyPatch, program: Callable[[Any, Any, EffectLayer], object]
) -> list[tuple[object, Told, dict[int, int]]]:
    """Run a program of reads with the twin, and with Python alone; what it returns, what was noted, what nobody owned."""
    found = []
    for is_compiled in (True, False):
        asked = iter(range(100_000))
        monkeypatch.setitem(REAL, ops.TIME, lambda asked=asked: float(next(asked)))
        monkeypatch.setattr(entropy, "_REAL_URANDOM", lambda size: bytes(os_size(size)))
        if not is_compiled:
            monkeypatch.setattr(actors, "load_twin", lambda: (None, ""))
        told: Told = []
        layer = EffectLayer(
            LiveSource(), lambda kind, payload, _, told=told: told.append((kind, unpack(payload)))
        )
        clock, urandom = governed_read(ops.TIME, layer, None, lambda: 0), governed_urandom(layer)
        assert isinstance(clock, TWIN.Read) == is_compiled
        assert isinstance(urandom, TWIN.Read) == is_compiled
        token = enter(layer.main)
        try:
            answer = program(clock, urandom, layer)
        finally:
            leave(token)
        layer.flush_all()
        found.append((answer, told, layer.ungoverned))
    return found


def os_size(size: object) -> int:
    """Refuse what ``os.urandom`` refuses."""
    if not isinstance(size, int):
        raise TypeError(f"'{type(size).__name__}' object cannot be interpreted as an integer")
    if size < 0:
        raise ValueError("negative argument not allowed")
    return size


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


PROGRAM = """
import enum, os, random, time, uuid
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
