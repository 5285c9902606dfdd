"""Constraints are moved to the two steps that race, whatever ran between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twice.schedules.tighten import tighten
from twice.simulation.trace import TracedStep


def run(base: Sequence[str], after: Mapping[str, str]) -> list[str]:
    """Return the order of steps that are all ready, under constraints; a task's own steps keep theirs."""
    made: list[str] = []
    while len(made) < len(base):
        for key in base:
            task, _, number = key.partition("#")
            is_next = number == "0" or f"{task}#{int(number) - 1}" in made
            if key not in made and is_next and after.get(key, "") in {"", *made}:
                made.append(key)
                break
    return made


def tightened(base: str, bad: str, after: Mapping[str, str], first: str, then: str) -> object:
    """Tighten constraints of a program that fails if one step runs before another one."""
    steps = [TracedStep(key, key, base.split().index(key), 0, None) for key in bad.split()]

    def fails(constraints: Mapping[str, str]) -> bool:
        order = run(base.split(), constraints)
        return order.index(first) < order.index(then)

    assert fails(after)
    found = tighten(after, steps, fails)
    assert fails(found)
    return found


def test_a_chain_through_a_step_that_only_ran_between_becomes_one_constraint():
    found = tightened(
        "one#0 noise#0 two#0",
        "two#0 noise#0 one#0",
        {"one#0": "noise#0", "noise#0": "two#0"},
        "two#0",
        "one#0",
    )

    assert found == {"one#0": "two#0"}


def test_a_step_does_not_wait_for_more_than_it_races_with():
    found = tightened(
        "one#0 two#0 noise#0", "two#0 noise#0 one#0", {"one#0": "noise#0"}, "two#0", "one#0"
    )

    assert found == {"one#0": "two#0"}


def test_the_last_step_of_a_task_that_may_wait_is_the_one_that_does():
    found = tightened(
        "one#0 one#1 one#2 two#0",
        "two#0 one#0 one#1 one#2",
        {"one#0": "two#0"},
        "two#0",
        "one#1",
    )

    assert found == {"one#1": "two#0"}


def test_two_races_stay_two_constraints():
    base, after = "one#0 two#0 three#0", {"one#0": "three#0", "two#0": "three#0"}
    steps = [
        TracedStep(key, key, base.split().index(key), 0, None)
        for key in ("three#0", "one#0", "two#0")
    ]

    found = tighten(after, steps, lambda each: run(base.split(), each)[0] == "three#0")

    assert found == after
