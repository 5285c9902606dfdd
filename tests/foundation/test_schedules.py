from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import SeedNameRefused
from twice.foundation.schedules import assigned_arm, pairings
from twice.foundation.seeds import Seed, arm_seed

ARMS = ["control", "half", "full"]
rosters = st.lists(st.sampled_from("abcdefghij"), min_size=2, max_size=10, unique=True)


@given(st.integers(0, 10**6), st.permutations(ARMS))
def test_an_arm_does_not_depend_on_the_order_of_arms(unit, arms):
    assert assigned_arm(Seed(1), unit, arms) == assigned_arm(Seed(1), unit, ARMS)


@given(st.integers(0, 10**6))
def test_removing_an_arm_moves_only_its_own_units(unit):
    before = assigned_arm(Seed(1), unit, ARMS)
    after = assigned_arm(Seed(1), unit, ["control", "half"])

    assert before in {after, "full"}


def test_an_arm_is_the_one_with_the_smallest_derived_seed_and_arms_are_even():
    found = [assigned_arm(Seed(7), unit, ARMS) for unit in range(900)]
    expected = [
        min((arm_seed(Seed(7), arm, unit).value, arm) for arm in ARMS)[1] for unit in range(900)
    ]

    assert found == expected
    assert all(250 < count < 350 for count in Counter(found).values())


@given(rosters, st.integers(0, 50), st.randoms(use_true_random=False))
def test_a_round_depends_on_who_plays_and_not_on_how_they_are_listed(players, round_, shuffler):
    listed = list(players)
    shuffler.shuffle(listed)
    pairs = pairings(Seed(3), round_, players)
    seated = [player for pair in pairs for player in pair]

    assert pairings(Seed(3), round_, listed) == pairs
    assert len(pairs) == len(players) // 2
    assert len(set(seated)) == len(seated)


def test_rounds_differ():
    players = list("abcdefgh")

    assert len({tuple(pairings(Seed(3), round_, players)) for round_ in range(20)}) == 20


@pytest.mark.parametrize("names", [[], ["a", "a"], "ab", ["", "b"], ["a"]])
def test_names_that_cannot_be_scheduled_are_refused(names):
    with pytest.raises(SeedNameRefused):
        pairings(Seed(1), 0, names)
    if names != ["a"]:
        with pytest.raises(SeedNameRefused):
            assigned_arm(Seed(1), 0, names)
