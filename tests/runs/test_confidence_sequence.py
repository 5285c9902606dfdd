"""Claims about the interval that may be looked at after every value."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.distributions import student_t_quantile
from twice.runs.confidence_sequence import LEAST, MeanSequence

ALPHA = 0.05
LOOKS = 400
SAMPLES = 400


def martingale(values: list[float], mean: float) -> float:
    """The likelihood ratio that the interval inverts, as the papers write it: Rouder et al. 2009, equation of a fixed g."""
    n, spread = len(values), 1 + 0.1 * len(values)
    middle = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (n - 1))
    t = math.sqrt(n) * (middle - mean) / deviation
    ratio = (1 + t * t / (n - 1)) / (1 + t * t / ((n - 1) * spread))
    return float(spread**-0.5 * ratio ** (n / 2))


def sequence_of(values: list[float]) -> MeanSequence:
    sequence = MeanSequence()
    for value in values:
        sequence.add(value)
    return sequence


def miss_rates(draw_value: str) -> tuple[float, float]:
    """How often the true mean, 0, was ever outside: of this interval, and of the ordinary one that is peeked at."""
    quantiles = {n: student_t_quantile(ALPHA / 2, n - 1) for n in range(LEAST, LOOKS)}
    missed = peeked = 0
    for seed in range(SAMPLES):
        draw = getattr(Random(seed), draw_value)
        sequence, has_missed, has_peeked = MeanSequence(), False, False
        for n in range(1, LOOKS):
            sequence.add(draw(0, 1) if draw_value == "gauss" else draw(-1, 1))
            if n < LEAST:
                continue
            error = math.sqrt(sequence.squares / (n - 1) / n)
            has_missed |= abs(sequence.mean) > sequence.half_width(ALPHA)
            has_peeked |= abs(sequence.mean) > quantiles[n] * error
        missed, peeked = missed + has_missed, peeked + has_peeked
    return missed / SAMPLES, peeked / SAMPLES


@pytest.mark.parametrize("shape", ["gauss", "uniform"])
def test_a_look_after_every_value_misses_no_more_than_alpha_where_the_ordinary_interval_does(
    shape: str,
) -> None:
    missed, peeked = miss_rates(shape)

    assert missed <= ALPHA
    assert peeked > 2 * ALPHA


@given(st.lists(st.floats(-100, 100), min_size=LEAST, max_size=60, unique=True))
def test_the_ends_are_where_the_martingale_reaches_one_in_alpha(values: list[float]) -> None:
    sequence = sequence_of(values)
    half = sequence.half_width(ALPHA)

    for end in (sequence.mean - half, sequence.mean + half):
        assert martingale(values, end) == pytest.approx(1 / ALPHA, rel=1e-6)


@given(
    st.lists(st.floats(-100, 100), min_size=LEAST, max_size=40, unique=True),
    st.floats(-10, 10),
    st.floats(0.1, 10),
)
def test_the_interval_moves_and_scales_with_the_values(
    values: list[float], shift: float, scale: float
) -> None:
    plain = sequence_of(values)
    moved = sequence_of([shift + scale * value for value in values])

    assert moved.mean == pytest.approx(shift + scale * plain.mean, abs=1e-9)
    assert moved.half_width(ALPHA) == pytest.approx(scale * plain.half_width(ALPHA), rel=1e-6)


def test_few_values_bound_nothing() -> None:
    draw = Random(1).gauss
    values = [draw(0, 1) for _ in range(LEAST)]

    assert math.isinf(sequence_of(values[:-1]).half_width(ALPHA))
    assert math.isfinite(sequence_of(values).half_width(ALPHA))
