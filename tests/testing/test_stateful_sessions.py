"""Claims about sessions in any order: sound systems stay true to their record, others are caught."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from twice.errors import RestoreRefused
from twice.testing.stateful import make_machine


@pytest.mark.integration
def test_a_sound_system_stays_true_in_any_order() -> None:
    made = make_machine(
        "examples/swarm.py:main", config={"n": 2, "ticks": 3}, seeds=7, examples=2, steps=6
    )

    run_state_machine_as_test(made)

    assert {"step", "snapshot", "restore", "roll_back", "branch"} <= set(dir(made))


@pytest.mark.heavy
def test_a_system_that_restores_something_else_is_caught() -> None:
    made = make_machine(
        "tests/testing/tested_systems.py:forgetful",
        config={"ticks": 2},
        seeds=7,
        examples=2,
        steps=4,
    )

    only_found = settings(made.TestCase.settings, phases=[Phase.generate])
    with pytest.raises(RestoreRefused, match="came back different"):
        run_state_machine_as_test(made, settings=only_found)
