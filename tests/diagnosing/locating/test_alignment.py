"""Pairing two sequences of events."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosing.locating.alignment import align

EVENTS = st.lists(st.integers(1, 6), max_size=80)


@given(EVENTS, EVENTS)
def test_pairs_rise_on_both_sides_and_have_equal_keys(a, b):
    pairs = align(a, b, [0] * len(a))
    assert all(a[i] == b[j] for i, j in pairs)
    assert all(p[0] < q[0] and p[1] < q[1] for p, q in itertools.pairwise(pairs))


@given(EVENTS)
def test_equal_sequences_are_paired_one_to_one(a):
    assert align(a, a, [0] * len(a)) == [(index, index) for index in range(len(a))]


@given(EVENTS, st.integers(0, 80), st.integers(1, 9))
def test_an_insertion_loses_nothing_of_what_was_there(a, at, count):
    at = min(at, len(a))
    b = a[:at] + [99] * count + a[at:]
    assert len(align(a, b, [0] * len(a))) == len(a)


def body(order):
    events = [1, 2]
    for n in order:
        events += [10, 11] + ([20, 21, 22] if n % 3 == 0 else []) + ([30] if n % 5 == 0 else [])
    return [*events, 90, 91]


def test_a_loop_in_another_order_keeps_most_of_its_pairs_and_its_ends():
    order = list(range(2000))
    other = order[:]
    random.Random(1).shuffle(other)
    a, b = body(order), body(other)
    pairs = align(a, b, [1] * len(a))
    assert len(pairs) > len(a) * 0.6
    assert pairs[:2] == [(0, 0), (1, 1)]
    assert pairs[-1] == (len(a) - 1, len(b) - 1)


def test_sides_that_never_meet_inside_a_frame_meet_after_it():
    a = [1, *range(1000, 4000), 5, 6, 7, 8, 7, 9]
    b = [1, *range(5000, 9000), 5, 6, 7, 8, 7, 7]
    depths = [1] + [2] * 3000 + [1] * 6
    assert (3001, 4001) in align(a, b, depths)
