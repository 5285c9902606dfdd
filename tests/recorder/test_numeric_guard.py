"""A run under a floating-point profile is stopped where a knob moves, and ends well where none does."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from types import SimpleNamespace

import pytest

import twice
from programs import cli, recorded
from twice.errors import NumericPolicyBroken
from twice.recorder.environment import knob_readers, knobs
from twice.recorder.environment.knobs import KnobReading
from twice.recorder.numeric_guard import NumericGuard
from twice.replayer.verify import verify

STEADY = """
    import numpy as np
    def main(run):
        weights = run.track("weights", np.linspace(0.0, 1.0, 64).reshape(8, 8))
        for tick in run.ticks(3):
            weights[:] = weights @ weights / 8
    """
MOVES = """
    import threadpoolctl
    import numpy as np
    def main(run):
        weights = run.track("weights", np.linspace(0.0, 1.0, 64).reshape(8, 8))
        for tick in run.ticks(5):
            weights[:] = weights @ weights / 8
            if tick == 2:
                threadpoolctl.threadpool_limits(2)
                import colorsys
    """
LATE = """
    import os
    os.environ["OPENBLAS_NUM_THREADS"] = "7"
    import numpy as np
    print(np.ones(3).sum())
    """
_FLUSH = 0x8040
"""MXCSR: flush to zero, and denormals are zero."""


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[KnobReading]:
    """The judgement of a process in place of this one's, which has any libraries."""
    judged: list[KnobReading] = []
    monkeypatch.setattr(knobs, "judge_knobs", lambda *_: list(judged))
    monkeypatch.setattr(knobs, "has_variables_of", lambda *_: True)
    return judged


@pytest.fixture
def modes(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What readers of modes say."""
    said = {"denormals": "kept", "rounding": "to nearest"}
    read = {"torch:get_float32_matmul_precision()": "highest"}
    monkeypatch.setattr(
        knob_readers,
        "read",
        lambda name: {"here": found} if (found := {**read, **said}.get(name)) else {},
    )
    return said


def begun(profile: str = "native") -> NumericGuard:
    guard = NumericGuard(profile)
    guard.begin(is_recording=True)
    return guard


@pytest.mark.usefixtures("rows", "modes")
def test_a_run_whose_knobs_hold_goes_on() -> None:
    guard = begun()

    for tick in range(130):
        guard.at_point(tick, "tick")
    guard.at_thread_end()
    guard.at_point(130, "end")

    assert guard.describe() == {"profile": "native", "knobs": []}


@pytest.mark.usefixtures("rows")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("denormals", "flushed"),
        ("rounding", "directed"),
        ("torch:get_float32_matmul_precision()", "medium"),
        ("torch:backends.mkldnn.enabled", "false"),
    ],
)
def test_a_mode_that_moves_stops_the_run_at_the_next_point(
    modes: dict[str, str], name: str, value: str
) -> None:
    guard = begun()
    guard.at_point(0, "tick")
    modes[name] = value

    with pytest.raises(NumericPolicyBroken, match=f"{value} .* at tick 1") as stopped:
        guard.at_point(1, "tick")
    modes.clear()
    with pytest.raises(NumericPolicyBroken):  # a program that swallowed it does not go on
        guard.at_point(2, "tick")
    assert stopped.value.fields["knob"] in {
        "denormals",
        "rounding",
        name,
        "torch.float32_matmul_precision",
        "torch.backends.mkldnn.enabled",
    }


@pytest.mark.usefixtures("rows")
def test_a_mode_of_a_thread_that_ended_stops_the_run(modes: dict[str, str]) -> None:
    guard = begun()
    modes["denormals"] = "flushed"
    guard.at_thread_end()
    modes["denormals"] = "kept"

    with pytest.raises(NumericPolicyBroken, match="in a thread that ended"):
        guard.at_point(0, "tick")


@pytest.mark.usefixtures("modes")
def test_a_knob_that_does_not_hold_refuses_the_begin(rows: list[KnobReading]) -> None:
    rows.append(KnobReading("OPENBLAS_CORETYPE", "Haswell", "Zen", False, "numpy has Zen"))

    with pytest.raises(
        NumericPolicyBroken, match=r"OPENBLAS_CORETYPE is Zen .* when the run begins"
    ):
        begun("x86-64-v3")


@pytest.mark.usefixtures("modes")
def test_a_library_that_is_loaded_later_is_asked_at_the_next_cadence(
    rows: list[KnobReading],
) -> None:
    guard = begun("x86-64-v3")
    guard.at_point(0, "tick")
    rows.append(KnobReading("ATEN_CPU_CAPABILITY", "avx2", "AVX512", False, "torch has AVX512"))

    for tick in range(1, 63):
        guard.at_point(tick, "tick")

    with pytest.raises(NumericPolicyBroken, match="ATEN_CPU_CAPABILITY is AVX512"):
        guard.at_point(63, "tick")


@pytest.mark.usefixtures("modes")
def test_another_number_of_torchs_threads_is_seen_at_the_next_point(
    rows: list[KnobReading], monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = [1]
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(get_num_threads=lambda: threads[0]))
    guard = begun("x86-64-v3")
    guard.at_point(0, "tick")
    rows.append(KnobReading("OMP_NUM_THREADS", "1", "2", False, "torch has 2"))

    guard.at_point(1, "tick")
    threads[0] = 2

    with pytest.raises(NumericPolicyBroken, match="OMP_NUM_THREADS is 2"):
        guard.at_point(2, "tick")


@pytest.mark.usefixtures("modes")
def test_an_experiment_of_a_replay_with_other_variables_is_not_held(
    rows: list[KnobReading], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows.append(KnobReading("OPENBLAS_CORETYPE", "Haswell", "Zen", False, "numpy has Zen"))
    monkeypatch.setattr(knobs, "has_variables_of", lambda *_: False)
    guard = NumericGuard("x86-64-v3")

    guard.begin(is_recording=False)
    guard.at_point(0, "end")

    assert guard.describe() == {}


@pytest.mark.usefixtures("modes")
def test_without_a_profile_nothing_is_read(rows: list[KnobReading]) -> None:
    rows.append(KnobReading("OPENBLAS_CORETYPE", "Haswell", "Zen", False, "numpy has Zen"))

    guard = begun("")
    guard.at_point(0, "end")

    assert guard.describe() == {}


def test_flushed_denormals_of_this_thread_are_read_back() -> None:
    with flushed_denormals():
        found = knob_readers.read("denormals")

    assert found == {"this thread": "flushed"}
    assert knob_readers.read("denormals") == {"this thread": "kept"}


@contextmanager
def flushed_denormals() -> Iterator[None]:
    """Set the flag as a library built with fast math does, for this thread."""
    library = ctypes.CDLL("libm.so.6")
    kept = ctypes.create_string_buffer(32)
    library.fegetenv(kept)
    changed = ctypes.create_string_buffer(kept.raw, 32)
    mxcsr = int.from_bytes(kept.raw[28:32], "little") | _FLUSH
    changed[28:32] = mxcsr.to_bytes(4, "little")
    library.fesetenv(changed)
    try:
        yield
    finally:
        library.fesetenv(kept)


@pytest.mark.integration  # a profile is set before a process begins
def test_a_record_under_native_keeps_its_knobs_and_verifies(tmp_path: Path) -> None:
    with recorded(tmp_path, STEADY, float_profile="native") as record:
        path, ending = record.path, record.ending or {}

    assert "held to native" in cli("show", path.name, cwd=tmp_path).stdout
    assert ending["numerics"]["profile"] == "native"
    assert {row["name"] for row in ending["numerics"]["knobs"] if row["holds"] is False} == set()
    assert verify(path).result == "PASS"


@pytest.mark.integration  # threads of BLAS belong to a process
def test_a_thread_count_that_moves_in_mid_run_stops_it_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        NumericPolicyBroken, match=r"OPENBLAS_NUM_THREADS is 2 .* at tick 2"
    ) as stopped:
        recorded(tmp_path, MOVES, float_profile="native", env={"OPENBLAS_NUM_THREADS": "1"})

    assert stopped.value.fields["knob"] == "OPENBLAS_NUM_THREADS"


@pytest.mark.integration  # twice loads numpy before the program
def test_a_variable_that_a_program_sets_too_late_is_a_caveat(tmp_path: Path) -> None:
    script = tmp_path / "late.py"
    script.write_text(dedent(LATE), encoding="utf-8")

    with twice.record(
        script, seed=1, out=tmp_path / "a.twice", env={"OPENBLAS_NUM_THREADS": "1"}
    ) as record:
        caveats = " ".join((record.ending or {})["caveats"])

    assert "the program set OPENBLAS_NUM_THREADS=7, without effect" in caveats
    assert "--env OPENBLAS_NUM_THREADS=7" in caveats
    assert os.environ.get("OPENBLAS_NUM_THREADS") != "7"
