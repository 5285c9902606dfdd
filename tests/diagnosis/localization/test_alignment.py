"""Pairing two sequences of events."""

from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from twice.diagnosis.localization import alignment

EVENTS = st.lists(st.integers(1, 6), max_size=80)


def align(a, b, depths):
    first, second = alignment.align(a, b, depths)
    return list(zip(first.tolist(), second.tolist(), strict=True))


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


@given(EVENTS, EVENTS, st.integers(1, 700))
def test_a_common_beginning_or_end_is_paired_however_long(a, b, count):
    common = [n % 7 for n in range(count)]
    begun = align([*common, *a], [*common, *b], [0] * (count + len(a)))
    assert begun[:count] == [(index, index) for index in range(count)]
    ended = align([98, *a, *common], [99, *b, *common], [0] * (1 + len(a) + count))
    after = [(1 + len(a) + step, 1 + len(b) + step) for step in range(count)]
    assert ended[-count:] == after


@given(EVENTS, EVENTS)
def test_events_that_go_on_alike_are_paired_as_far_as_they_do(a, b):
    pairs = align(a, b, [0] * len(a))
    tail = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(a[::-1], b[::-1]))))
    for i, j in pairs:
        last = i + 1 >= len(a) - tail or j + 1 >= len(b) - tail
        if not last and a[i + 1] == b[j + 1]:
            assert (i + 1, j + 1) in pairs


def test_of_a_loop_that_one_side_goes_round_more_often_the_first_rounds_are_paired():
    """Paired from the end, the line that the sides parted at was the one before the loop."""
    a = [1, 2, 90, 91, 16, 17, 18, 17, 19]
    b = [1, 2, 90, 90, 91, 16, 17, 18, 17, 18, 17, 18, 17, 19]
    pairs = dict(align(a, b, [0] * len(a)))
    assert [pairs[index] for index in (4, 5, 6, 7, 8)] == [5, 6, 7, 8, 13]
