"""Claims about the properties: sound systems hold them, and every broken one is told by its property."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

import twice
from twice.errors import (
    ConfigKeyUnknown,
    NothingJudged,
    ProgramNotFound,
    PropertyBroken,
    UsageError,
)
from twice.testing import properties, strategies
from twice.testing.executor import subject_of
from twice.testing.property_search import PropertySearch

SYSTEMS = "tests/testing/tested_systems.py"
SWARM = "examples/swarm.py:main"
SMALL = strategies.config(n=st.integers(1, 5), ticks=st.integers(1, 4))
FEW: dict[str, Any] = {"examples": 3, "examples_in": None}


def holds(name: str, program: str, **options: Any) -> None:
    answer = PropertySearch(name, program, **{**FEW, **options}).run()

    assert answer.found is None, answer.found
    assert answer.judged


def broken(name: str, program: str, **options: Any) -> PropertyBroken:
    # One seed: what is smaller than it is nobody's question here, and every example is executed many times.
    given = {**FEW, "examples": 10, "seeds": 0, **options}
    with pytest.raises(PropertyBroken) as caught:
        getattr(properties, name)(f"{SYSTEMS}:{program}", **given)
    return caught.value


@pytest.mark.integration
@pytest.mark.parametrize("name", properties.NAMES)
@pytest.mark.sample(3)
def test_a_sound_program_holds_every_property(name: str) -> None:
    holds(name, SWARM, config=SMALL, examples=2)


@pytest.mark.integration
@pytest.mark.parametrize("name", properties.NAMES)
@pytest.mark.sample(2)
def test_a_service_with_effects_holds_every_property(name: str) -> None:
    config = strategies.config(requests=st.integers(2, 3))

    holds(name, f"{SYSTEMS}:shop", config=config, examples=1)


@pytest.mark.heavy
@pytest.mark.parametrize("name", properties.NAMES)
def test_a_gymnasium_environment_holds_every_property(name: str) -> None:
    pytest.importorskip("gymnasium")
    config = strategies.config(env="CartPole-v1", steps=st.integers(1, 4))
    program = "tests/integrations/gymnasium_programs.py:act"

    holds(name, program, config=config, examples=2)


@pytest.mark.integration
def test_a_branch_is_given_inputs_that_are_generated() -> None:
    inputs = {"push": st.floats(2, 3)}

    holds("fork_and_converge", f"{SYSTEMS}:walker", config={"ticks": 2}, inputs=inputs, examples=1)


@pytest.mark.heavy
def test_what_the_state_does_not_show_breaks_restoring_and_branching() -> None:
    config = strategies.config(ticks=st.integers(1, 4))

    properties.snapshot_round_trip(f"{SYSTEMS}:hidden", config=config, **FEW)
    restored = broken("restore_idempotence", "hidden", config=config)
    forked = broken("fork_and_converge", "hidden", config={"ticks": 2})

    assert restored.fields["config"] == {"ticks": 2}
    assert "not put back: counter.seen" in str(restored)
    assert "counter.value" in str(restored)
    assert "channel: snapshot" in str(restored)
    assert "twice verify a.twice --restores --all" in str(restored)
    assert "confirmed in fresh processes" in str(restored)
    assert "twice branch a.twice --at 1" in str(forked)


@pytest.mark.heavy
def test_another_state_after_restore_breaks_the_round_trip() -> None:
    found = broken("snapshot_round_trip", "forgetful", config=strategies.config(ticks=2))

    assert "came back different after restore()" in str(found)


@pytest.mark.heavy
def test_the_order_of_a_set_is_named_with_its_line_and_both_values() -> None:
    config = strategies.config(n=st.integers(1, 6), ticks=st.integers(1, 2))

    text = str(broken("replay_equivalence", "set_ordered", config=config))

    line = 1 + [
        "for name in {f" in each for each in Path(SYSTEMS).read_text("utf-8").splitlines()
    ].index(True)
    assert f"{SYSTEMS}:{line}" in text
    assert "channel: concurrency" in text
    assert "field: totals['sum']" in text or "totals.sum" in text
    assert "first difference: compare-point 1, tick of tick 0" in text
    assert "--env PYTHONHASHSEED=" in text
    assert "twice record" in text


@pytest.mark.integration
def test_the_recorded_surroundings_are_kept_when_nothing_is_varied() -> None:
    config = {"n": 4, "ticks": 1}

    holds("replay_equivalence", f"{SYSTEMS}:set_ordered", config=config, seeds=1, vary=())


@pytest.mark.integration
def test_a_generator_seeded_from_a_draw_breaks_isolation() -> None:
    found = broken("seed_isolation", "seeded_from_draws", config={"ticks": 2})

    assert "one draw more from the stream 'first' moves the beginning of 'second'" in str(found)
    assert "channel: rng" in str(found)


@pytest.mark.heavy
def test_draws_that_depend_on_other_streams_break_isolation() -> None:
    found = broken("seed_isolation", "globally_drawn", config={"ticks": 2})

    assert "one more component and stream differs" in str(found)


@pytest.mark.heavy
@pytest.mark.parametrize("sound", [True, False])
def test_a_declared_schedule_is_permuted(sound: bool) -> None:
    options: dict[str, Any] = {
        "config": strategies.config(ticks=1, sound=sound),
        "schedule": ("order", lambda config: 4),
    }

    if sound:
        properties.schedule_independence(f"{SYSTEMS}:ordered", **options, **FEW)
        return
    found = broken("schedule_independence", "ordered", **options)

    assert "order=[" in str(found)
    assert "held" in str(found)


@pytest.mark.heavy
@pytest.mark.parametrize("sound", [True, False])
def test_tasks_of_asyncio_are_turned(sound: bool) -> None:
    config = {"ticks": 1, "sound": sound}

    if sound:
        properties.schedule_independence(f"{SYSTEMS}:tasks", config=config, **FEW)
        return
    found = broken("schedule_independence", "tasks", config=config)

    assert "TWICE_CHILD_TASKS=newest-first" in str(found)


@pytest.mark.integration
def test_an_error_of_the_program_is_told_as_it_is() -> None:
    with pytest.raises(ConfigKeyUnknown, match="'ticks'"):
        properties.replay_equivalence(SWARM, config={"n": 1}, **FEW)


@pytest.mark.integration
def test_a_property_without_anything_to_judge_does_not_hold() -> None:
    with pytest.raises(NothingJudged, match="Not one example of restore_idempotence"):
        properties.restore_idempotence(f"{SYSTEMS}:no_tick", config={"ticks": 0}, **FEW)


def test_a_closure_is_refused() -> None:
    with pytest.raises(ProgramNotFound, match="closure"):
        properties.replay_equivalence(lambda run: None, **FEW)


def module_level(run: twice.Run) -> None:
    for _ in run.ticks(1):
        pass


class NoProgram:
    pass


def test_a_function_is_understood_by_itself_and_a_class_is_refused() -> None:
    program = subject_of(module_level)

    assert str(program.program) == "tests/testing/test_properties_hold.py:module_level"
    assert subject_of(program) is program
    with pytest.raises(ProgramNotFound, match="is a class"):
        subject_of(NoProgram)


@pytest.mark.parametrize(
    ("tier", "branching", "concurrency", "names"),
    [
        ("XS", True, "A", ()),
        ("S", False, None, ("seed_matters",)),
        ("M", False, None, properties.NAMES[:5]),
        ("M", True, None, (*properties.NAMES[:5], "fork_and_converge")),
        ("M", False, "B", properties.NAMES[:5]),
        ("L", True, "C", properties.NAMES),
        ("XL", False, "A", (*properties.NAMES[:5], "schedule_independence")),
    ],
)
def test_a_tier_requires(tier: Any, branching: bool, concurrency: Any, names: tuple[str]) -> None:
    required = properties.required(tier, branching=branching, concurrency=concurrency)

    assert required == names


def test_a_suite_has_a_test_for_each_required_property() -> None:
    made = properties.suite(SWARM, tier="XL", branching=True, concurrency="C", faults=True)
    tests = sorted(name for name in vars(made) if name.startswith("test_"))

    expected = [f"test_{name}" for name in properties.NAMES]
    assert tests == sorted([*expected, "test_stateful", "test_planted_faults_are_caught"])


@pytest.mark.parametrize(
    "options",
    [
        {"tier": "XS"},
        {"tier": "M", "only": ["replay"]},
        {"tier": "S", "seedless": "it draws nothing"},
    ],
)
def test_a_suite_without_a_test_is_refused(options: Any) -> None:
    with pytest.raises(UsageError, match=r"Tier X?S requires none|no property 'replay'"):
        properties.suite(SWARM, **options)


@pytest.mark.integration
def test_the_canary_stays_green_under_another_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "1")

    for name in ("replay_equivalence", "seed_isolation", "restore_idempotence"):
        holds(name, SWARM, config={"n": 3, "ticks": 3}, examples=1)
