"""A verdict in text says nothing twice, counts no ticks below zero, and shows values that a reader can tell apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from twice.diagnosis.attribution import Observations, attribute
from twice.diagnosis.divergence import Attribution, Divergence, ExtraRead, OperationFound
from twice.diagnosis.log_comparison import PointRef
from twice.diagnosis.surroundings_factors import DifferingFactor
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.determinism_class import Predicate

LINE = OperationFound("/p/walk.py", 7, "Walk.step", "x += 1", "x", "1", "2", 0.95)


def verdict(result: Any = "localised", **found: Any) -> Divergence:
    known = {
        "predicate": Predicate(),
        "subsystems": ["walk"],
        "compare_point": PointRef(4, 3, "tick"),
        "last_agreement": PointRef(3, 2, "tick"),
        "components": ["walk"],
    }
    return Divergence("a.twice", "b.twice", result, **{**known, **found})


def lines(found: Divergence) -> list[str]:
    return [line.strip() for line in found.to_text().splitlines()]


def test_points_are_named_by_their_tick() -> None:
    assert lines(verdict(operation=LINE))[4:6] == [
        "first differing compare-point: 4 (tick 3)",
        "last agreement: 3 (tick 2)",
    ]
    decision = verdict(compare_point=PointRef(9, 3, "decision"))
    assert "first differing compare-point: 9 (decision, tick 3)" in lines(decision)


def test_before_the_first_tick_no_number_is_shown() -> None:
    at_start = verdict(compare_point=PointRef(0, -1, "start"), last_agreement=None, operation=LINE)
    assert lines(at_start)[0] == "localised: they part before the first tick, at /p/walk.py:7"
    assert "first differing compare-point: 0 (before the first tick)" in lines(at_start)


def test_between_coarse_points_the_ticks_of_both_are_named() -> None:
    coarse = verdict(
        compare_point=PointRef(3, 299, "episode"), last_agreement=PointRef(2, 199, "episode")
    )
    assert lines(coarse)[0] == "localised: they part between ticks 200 and 299"


@pytest.mark.parametrize(
    ("repeats", "said"),
    [
        ({"a": [False, False], "b": [True]}, "run a differs from its own record"),
        ({"a": [True], "b": [False]}, "run b differs from its own record"),
        ({"a": [False], "b": [False]}, "runs a and b differ from their own records"),
    ],
)
def test_the_headline_says_which_run_does_not_reproduce_itself(
    repeats: dict[str, list[bool]], said: str
) -> None:
    found = verdict("non-reproducing", repeats=repeats, operation=LINE)
    assert found.headline() == f"non-reproducing: {said} at tick 3, at /p/walk.py:7"


def test_an_extra_read_is_no_differing_compare_point() -> None:
    found = lines(verdict("extra-read", components=["effects"], reads=[ExtraRead("clock.time")]))
    assert "first read: before compare-point 4 (tick 3)" in found
    assert not [line for line in found if line.startswith(("first differing", "components:"))]


def test_a_surrounding_stands_in_the_evidence_or_by_itself() -> None:
    factor = DifferingFactor("hash seed", "PYTHONHASHSEED=0", "PYTHONHASHSEED=2")
    known = {"surroundings": [(factor.name, factor.a, factor.b)], "operation": LINE}
    told = attribute(Observations(factors=[factor]))
    row = "hash seed: PYTHONHASHSEED=0 / PYTHONHASHSEED=2"
    assert row in lines(verdict(**known))
    with_evidence = verdict(**known, attribution=told)
    assert row not in lines(with_evidence)
    assert with_evidence.to_text().count("PYTHONHASHSEED=2") == 1


def test_ulps_are_counted_where_values_are_near() -> None:
    near = FieldDifference("walk.x", "value", "1.0", "1.0000000000000002", ulps=1)
    far = replace(near, b="2.0", ulps=2**52)
    assert "field: walk.x (value, 1 ulp): 1.0 / 1.0000000000000002" in lines(verdict(fields=[near]))
    assert "field: walk.x (value): 1.0 / 2.0" in lines(verdict(fields=[far]))


def test_values_that_look_alike_are_said_to_differ() -> None:
    same = replace(LINE, a="<c_uint>", b="<c_uint>")
    assert "x: <c_uint> on both sides, with different contents" in lines(verdict(operation=same))


def test_a_channel_has_a_confidence_and_its_evidence_names_a_variable() -> None:
    ranked = attribute(Observations(factors=[DifferingFactor("env FLAG", "", "FLAG=1")]))
    assert [row.channel for row in ranked] == [Channel.EFFECTS]
    found = lines(verdict(operation=LINE, attribution=ranked))
    assert "channel: effects (confidence 30%)" in found
    assert "the runs were started alike, except for the variable FLAG (unset / FLAG=1)" in found


def test_sentences_that_read_the_same_are_said_once() -> None:
    sentences = ("object:walk.cache differs", "walk.cache differs")
    row = Attribution(Channel.SNAPSHOT, 0.9, sentences)
    assert lines(verdict(operation=LINE, attribution=[row])).count("walk.cache differs") == 1
