"""Claims about factors: where two surroundings differ, and one factor swapped for the other side's."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.surroundings_factors import list_differing_factors, swap
from twice.errors import UsageError
from twice.recorder.environment.surroundings import (
    Surroundings,
    environ_for_child,
    for_recording,
)


def written_and_read(surroundings: Surroundings) -> Surroundings:
    return Surroundings.from_json(json.loads(json.dumps(surroundings.to_json())))


names = st.sampled_from(["PYTHONHASHSEED", "OMP_NUM_THREADS", "TZ", "LANG", "MODE", "API_TOKEN"])
chosen = st.dictionaries(names, st.sampled_from(["1", "2", "3"]))
surroundings = st.builds(lambda explicit: for_recording({}, explicit=explicit), chosen)


@given(surroundings, surroundings)
def test_swapping_every_factor_makes_a_into_b(a: Surroundings, b: Surroundings) -> None:
    for difference in list_differing_factors(a, b):
        a = swap(a, b, difference.name)

    assert list_differing_factors(a, b) == []
    assert environ_for_child({}, a) == environ_for_child({}, b)


@given(surroundings)
def test_the_written_form_does_not_differ(a: Surroundings) -> None:
    assert list_differing_factors(a, written_and_read(a)) == []


def test_one_factor_is_swapped_alone() -> None:
    a = for_recording({}, explicit={"MODE": "fast"})
    b = for_recording({"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "7"}, explicit={"MODE": "slow"})

    assert [one.name for one in list_differing_factors(a, b)] == [
        "hash seed",
        "threads",
        "env MODE",
    ]
    assert [one.name for one in list_differing_factors(a, swap(a, b, "threads"))] == ["threads"]
    assert (list_differing_factors(a, b)[2].a, list_differing_factors(a, b)[2].b) == (
        "MODE=fast",
        "MODE=slow",
    )


def test_an_unknown_factor_is_refused_with_those_there_are() -> None:
    a = for_recording({})

    with pytest.raises(UsageError, match="moon phase") as refused:
        swap(a, a, "moon phase")

    assert "hash seed" in refused.value.expected


def test_factors_have_names_people_use() -> None:
    a, b = (
        Surroundings(),
        Surroundings().with_variables({"NPY_DISABLE_CPU_FEATURES": "1", "LC_TIME": "1", "X": "1"}),
    )

    assert [one.name for one in list_differing_factors(a, b)] == ["cpu dispatch", "locale", "env X"]
