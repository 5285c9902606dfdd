"""Claims about faults: each kind is caught on a simulation, an environment and a service."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from twice.errors import FaultMisplaced, PropertyBroken, UsageError
from twice.foundation.encoding import encode
from twice.testing import faults, planting, proof, properties, strategies
from twice.testing.faults import Fault

SYSTEMS = "tests/testing/tested_systems.py"
SWARM = "examples/swarm.py:main"
PLACES: dict[str, tuple[str, Any]] = {
    "swarm": (SWARM, strategies.config(n=st.integers(2, 5), ticks=st.integers(1, 5))),
    "service": (f"{SYSTEMS}:shop", strategies.config(requests=st.integers(1, 5))),
    "environment": (
        "tests/integrations/gymnasium_programs.py:act",
        strategies.config(env="CartPole-v1", steps=st.integers(1, 5)),
    ),
}


@pytest.mark.heavy
@pytest.mark.parametrize("name", PLACES)
def test_every_kind_of_fault_is_caught(name: str) -> None:
    if name == "environment":
        pytest.importorskip("gymnasium")
    program, config = PLACES[name]

    proved = properties.prove(program, config=config)

    assert [row.kind for row in proved.rows] == list(faults.KINDS)
    assert {row.outcome for row in proved.rows} == {"caught"}, proved.to_text()


@pytest.mark.integration
def test_a_kind_without_a_place_is_reported_by_name_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "_SURVEYED", 2)

    proved = properties.prove(f"{SYSTEMS}:still", config={"ticks": 2})

    assert [row.kind for row in proved.inapplicable] == list(faults.KINDS)
    assert "one ulp: not applicable" in proved.to_text()
    assert "there is no floating-point field in held" in proved.to_text()


@pytest.mark.integration
def test_a_fault_is_planted_inside_its_block_only() -> None:
    options: dict[str, Any] = {"config": {"n": 3, "ticks": 3}, "examples": 2, "examples_in": None}

    with (
        pytest.raises(PropertyBroken) as caught,
        faults.one_ulp("swarm", "position", tick=2),
    ):
        properties.replay_equivalence(SWARM, **options)
    properties.replay_equivalence(SWARM, **options)

    assert "planted: one ulp in swarm.position from tick 2" in str(caught.value)
    assert "moved of tick 2" in str(caught.value)


@pytest.mark.integration
def test_a_fault_that_is_never_planted_is_not_called_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(proof, "_EXAMPLES", 2)
    late = faults.one_ulp("swarm", "energy", tick=7)

    (row,) = properties.prove(SWARM, config={"n": 2, "ticks": 1}, seeds=0, faults=[late]).rows

    assert row.outcome == "not applicable"
    assert "no trace of it in" in row.reason


@pytest.mark.integration
def test_a_fault_beyond_every_tick_has_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proof, "_EXAMPLES", 2)
    dropped = faults.dropped_field("counter", "value", tick=9)
    hidden = f"{SYSTEMS}:hidden"

    (row,) = properties.prove(hidden, config={"ticks": 1}, seeds=0, faults=[dropped]).rows

    assert row.outcome == "not applicable"


@pytest.mark.integration
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (faults.one_ulp("shoal", "position"), "no component 'shoal'"),
        (faults.one_ulp("swarm", "place"), "no field 'place'"),
        (faults.extra_draw("wind"), "'wind' is not there"),
        (faults.set_order("swarm", "energy"), "not rows"),
        (faults.dropped_field("shoal", tick=1), "no component 'shoal'"),
    ],
)
def test_a_fault_in_the_wrong_place_is_refused(fault: Fault, words: str) -> None:
    name = "restore_idempotence" if fault.kind == "dropped field" else "replay_equivalence"
    ask = getattr(properties, name)

    with pytest.raises(FaultMisplaced, match=words), fault:
        ask(SWARM, config={"n": 2, "ticks": 2}, examples=1, examples_in=None)


def test_one_fault_at_a_time() -> None:
    with (
        faults.one_ulp("a"),
        pytest.raises(UsageError, match="planted already"),
        faults.extra_draw("b"),
    ):
        pass

    assert faults.active() is None


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(FaultMisplaced, match="no fault 'gremlin'"):
        Fault("gremlin")  # type: ignore[arg-type]


VALUES = (
    st.floats(allow_nan=False, allow_infinity=False)
    | st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6, unique=True)
    | hnp.arrays(
        np.float64, hnp.array_shapes(max_dims=2, min_side=2), elements=st.floats(-9, 9), unique=True
    )
)


@given(VALUES)
def test_a_changed_value_differs_and_the_given_one_stays(value: Any) -> None:
    before = encode(value)
    for change in (planting.move_one_ulp, lambda given: planting.add_time(given, 1234567)):
        assert encode(change(value)) != before
        assert encode(value) == before


@given(VALUES.filter(lambda value: not isinstance(value, float)))
def test_moved_rows_are_the_same_rows_in_another_order(value: Any) -> None:
    before = encode(value)
    for change in (planting.swap_rows, planting.reorder_by_set):
        moved = change(value)

        assert encode(moved) != before
        assert sorted(map(encode, list(moved))) == sorted(map(encode, list(value)))
    assert encode(value) == before


@pytest.mark.parametrize("value", [True, None, "text", [1, 1], np.ones(3), float("nan"), {}])
def test_what_has_no_two_rows_is_refused(value: Any) -> None:
    with pytest.raises(FaultMisplaced):
        planting.swap_rows(value)


def test_a_path_leads_into_dicts_and_lists() -> None:
    state = {"a": [1.0, {"b": 2.0}]}

    changed = planting.replace_part(state, "a/1/b", 3.0)

    assert planting.get_part(state, "a/1/b") == 2.0
    assert changed == {"a": [1.0, {"b": 3.0}]}
    with pytest.raises(FaultMisplaced, match="no field 'a/7'"):
        planting.get_part(state, "a/7")
