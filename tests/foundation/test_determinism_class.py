from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import ClassRefused
from twice.foundation.comparison import Abs, Exact, Quantum, Ulp
from twice.foundation.determinism_class import (
    Axis,
    DeterminismClass,
    Predicate,
    SampleTest,
    Scope,
    Summary,
)

chances = st.floats(0.01, 0.99)
summaries = st.builds(
    Summary,
    name=st.text(min_size=1, max_size=8),
    test=st.sampled_from(SampleTest),
    epsilon=st.floats(0, 1e6),
    n=st.integers(2, 1000),
    power=chances,
    alpha=chances,
)
predicates = st.builds(
    Predicate,
    st.sampled_from(DeterminismClass),
    st.sampled_from(Scope),
    st.dictionaries(st.text(min_size=1, max_size=6), st.sampled_from(DeterminismClass)),
    st.sampled_from([Exact(), Abs(0.5), Ulp(4), Quantum(0.01)]),
    st.none() | summaries,
)


@given(predicates)
def test_a_predicate_survives_json_and_its_text_is_stable(predicate):
    text = json.dumps(predicate.to_json())
    again = Predicate.from_json(json.loads(text))

    assert again == predicate
    assert hash(again) == hash(predicate)
    assert json.dumps(again.to_json()) == text


@given(predicates)
def test_every_predicate_is_one_sentence(predicate):
    sentence = predicate.sentence()

    assert sentence.startswith("two runs are equivalent iff ")
    assert "they " not in sentence.replace("they differ", "")


def test_the_default_is_bit_exact_on_a_host():
    assert Predicate().sentence() == (
        "two runs are equivalent iff on one host, "
        "the canonical bytes of their state are equal at every compare-point"
    )


def test_a_tolerance_and_a_summary_appear_in_the_sentence():
    logical = Predicate(DeterminismClass.LOGICAL, decisions=Quantum(0.5))
    statistical = Predicate(
        DeterminismClass.STATISTICAL, sample=Summary("reward", epsilon=0.1, n=50)
    )

    assert "equal once rounded to multiples of 0.5" in logical.sentence()
    assert "over 50 seeds each the means of 'reward' differ by less than 0.1" in (
        statistical.sentence()
    )


def test_the_longest_path_decides_a_subsystems_class():
    predicate = Predicate.parse(["logical", "env=bit-exact", "env/3=statistical"])

    assert predicate.class_of("env/3/arm") is DeterminismClass.STATISTICAL
    assert predicate.class_of("env/31") is DeterminismClass.BIT_EXACT
    assert predicate.class_of("policy") is DeterminismClass.LOGICAL
    assert predicate.for_subsystem("env/0").summary() == {
        "class": "bit-exact",
        "scope": "host",
        "predicate": Predicate().sentence(),
    }


def test_a_scope_names_its_axis():
    assert [scope.axis for scope in Scope] == [
        Axis.DETERMINISM,
        Axis.DETERMINISM,
        Axis.REPRODUCIBILITY,
    ]
    assert Predicate.parse([], "cross-host").axis is Axis.REPRODUCIBILITY


@pytest.mark.parametrize(
    "words",
    [["bitexact"], ["=logical"], ["a=b"], ["logical", "bit-exact"], ["a=logical"] * 2, [""]],
)
def test_unknown_or_double_class_words_are_refused(words):
    with pytest.raises(ClassRefused) as caught:
        Predicate.parse(words)

    assert caught.value.id == "E-CLASS-001"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"class": "bit-exact"},
        {**Predicate().to_json(), "scope": "galaxy"},
        {**Predicate().to_json(), "subsystems": []},
        {**Predicate().to_json(), "decisions": {"measure": "abs"}},
        {**Predicate().to_json(), "sample": {"name": "x"}},
    ],
)
def test_json_that_is_no_predicate_is_refused(data):
    with pytest.raises(ClassRefused):
        Predicate.from_json(data)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": ""},
        {"epsilon": -1},
        {"n": 1},
        {"power": 1.0},
        {"alpha": 0},
        {"epsilon": float("nan")},
    ],
)
def test_a_summary_that_makes_no_sense_is_refused(fields):
    with pytest.raises(ClassRefused):
        Summary(**{"name": "reward", **fields})


def test_what_a_command_line_does_not_name_stays_as_it_was() -> None:
    recorded = replace(Predicate.parse(["logical", "env=bit-exact"]), decisions=Abs(1e-6))
    scoped = recorded.amend([], "process")
    assert (scoped.determinism_class, scoped.scope) == (DeterminismClass.LOGICAL, Scope.PROCESS)
    assert (scoped.subsystems, scoped.decisions) == (recorded.subsystems, Abs(1e-6))
    beside = recorded.amend(["policy=statistical"])
    assert beside.class_of("env") is DeterminismClass.BIT_EXACT
    assert beside.class_of("policy") is DeterminismClass.STATISTICAL
    assert beside.class_of("walk") is DeterminismClass.LOGICAL
    assert recorded.amend(["bit-exact"]).subsystems == {}
