"""The factors of numerics: what each tries, reads back and advises."""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.diagnosis.vary import numeric_factors
from twice.diagnosis.vary.factor import Factor, VaryContext
from twice.diagnosis.vary.numeric_factors import NUMERIC_FACTORS, limit_threads
from twice.recorder.environment.process_start import CHILD_DENORMALS, CHILD_MATMUL
from twice.recorder.environment.surroundings import for_recording

BY_NAME = {each.name: each for each in NUMERIC_FACTORS}


def context(**given: str) -> VaryContext:
    return VaryContext(for_recording({}, explicit=given), Path("/unused"))


@pytest.mark.parametrize("factor", NUMERIC_FACTORS, ids=lambda each: each.name)
def test_each_names_a_reading_and_the_setting_that_removes_it(factor: Factor) -> None:
    assert factor.seen
    assert any(word in factor.remedy for word in ("--float-profile", "--env", "torch.set_"))


@pytest.mark.parametrize("factor", NUMERIC_FACTORS, ids=lambda each: each.name)
def test_a_knob_that_moves_no_reading_says_that_it_had_no_effect(factor: Factor) -> None:
    settings = {factor.seen[0]: "as it was"}

    assert not factor.took_effect(settings, settings)
    assert factor.explain_no_effect(settings) == (
        f"it was set and had no effect: {factor.seen[0]} is still as it was"
    )
    assert "nothing that it acts on was used" in factor.explain_no_effect({})


def test_flags_of_xla_that_the_user_gave_stay() -> None:
    choose = BY_NAME["xla"].choose

    added = choose(context(XLA_FLAGS="--xla_dump_to=x")).variables
    chosen = choose(context(XLA_FLAGS="--xla_cpu_max_isa=AVX2")).skipped

    if added:  # else another kind of processor
        assert added == {"XLA_FLAGS": "--xla_dump_to=x --xla_cpu_max_isa=SSE4_2"}
        assert chosen == "XLA_FLAGS has --xla_cpu_max_isa already"
    else:
        assert choose(context()).skipped == chosen


def test_a_mode_that_every_run_has_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numeric_factors, "can_flush_denormals", lambda: True)
    modes = {
        "denormals": (CHILD_DENORMALS, "flushed"),
        "matmul precision": (CHILD_MATMUL, "medium"),
    }

    for name, (variable, value) in modes.items():
        choose = BY_NAME[name].choose
        assert choose(context()).variables == {variable: value}
        assert choose(context(**{variable: value})).skipped.endswith("already")


def test_where_denormals_cannot_be_flushed_the_factor_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(numeric_factors, "can_flush_denormals", lambda: False)

    assert "x86-64" in BY_NAME["denormals"].choose(context()).skipped


def test_threads_are_limited_in_every_library_that_reads_a_variable() -> None:
    assert {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"} <= limit_threads(
        2
    ).keys()
    assert {*limit_threads(2).values()} == {"2"}


def test_a_loaded_library_has_its_own_advice_first() -> None:
    threads = BY_NAME["threads"]

    own, whole = threads.list_remedies(["lightgbm", "numpy"])

    assert "force_row_wise" in own
    assert threads.list_remedies(["numpy"]) == [whole]
