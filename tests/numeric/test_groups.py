"""Claims about histograms, scattered sums and orders: the order of the pairs is not in the result."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fixed_sums import bits, layouts, normals

from twice import numeric
from twice.numeric import exact

PAIRS = st.lists(
    st.tuples(st.integers(0, 4), st.floats(allow_nan=False, allow_infinity=False)), max_size=40
)


@given(PAIRS, st.permutations(range(40)))
def test_a_permutation_of_the_pairs_changes_no_bit(
    pairs: list[tuple[int, float]], order: list[int]
) -> None:
    target = np.array([0.0, 1.0, -1e308, 5e-324, -0.0])
    index = np.array([at for at, _ in pairs], np.int64)
    values = np.array([value for _, value in pairs], np.float64)
    moved = [at for at in order if at < len(pairs)]

    for weights in (values, np.clip(values, -3e38, 3e38).astype(np.float32)):
        assert bits(numeric.scatter_add(target, index, weights)) == bits(
            numeric.scatter_add(target, index[moved], weights[moved])
        )
        edges = np.arange(6.0)
        assert bits(numeric.histogram(index, edges, weights)) == bits(
            numeric.histogram(index[moved], edges, weights[moved])
        )


@given(PAIRS)
def test_a_scattered_sum_is_the_exact_sum_of_its_row(pairs: list[tuple[int, float]]) -> None:
    index, values = [at for at, _ in pairs], [value for _, value in pairs]
    start = np.array([0.0, 0.1, 1e10, -3.0, 2.0])

    rows = numeric.scatter_add(start, index, values)

    for row, first in enumerate(start.tolist()):
        parts = [first, *(value for at, value in pairs if at == row)]
        assert bits(rows[row]) == bits(numeric.sum(parts, method="exact"))


@pytest.mark.parametrize("size", [1, 3, 200, 9000, 70_000])
@pytest.mark.parametrize("spread", [0, 4, 200])
def test_many_groups_are_exact_whatever_their_exponents(size: int, spread: int) -> None:
    draw = np.random.default_rng(size + spread)
    index = draw.integers(0, size, 150_000)
    values = draw.standard_normal(150_000) * 10.0 ** draw.uniform(-spread, spread, 150_000)

    rows = numeric.scatter_add(np.zeros(size), index, values)

    for row in (0, size // 2, size - 1):
        assert rows[row] == math.fsum(values[index == row].tolist())


def test_a_group_of_more_values_than_a_table_may_add_is_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index, values = np.arange(4000) % 7 % 2, normals(2, 4000)
    whole = exact.sum_groups(values, index, 2, values.dtype)
    monkeypatch.setattr(exact, "_BLOCK_MIN", 64)
    monkeypatch.setattr(exact, "_SPARSE", 1000)
    monkeypatch.setattr(exact, "_BLOCK_MAX", 100)

    assert bits(exact.sum_groups(values, index, 2, values.dtype)) == bits(whole)


def test_rows_of_a_matrix_are_scattered_lane_by_lane() -> None:
    target, values = normals(1, 4, 3, dtype="float32"), normals(2, 50, 3, dtype="float32")
    index = np.arange(50) * 3 % 4

    rows = numeric.scatter_add(target, index, values)

    assert (rows.shape, rows.dtype) == ((4, 3), np.float32)
    for lane in range(3):
        assert bits(rows[:, lane]) == bits(
            numeric.scatter_add(target[:, lane], index, values[:, lane])
        )
    for other in layouts(values):
        assert bits(numeric.scatter_add(target, index, other)) == bits(rows)


def test_the_target_stays_as_it_was() -> None:
    target = np.zeros(2)

    rows = numeric.scatter_add(target, [0, 0], [1.0, 2.0])

    assert (target.tolist(), rows.tolist()) == ([0.0, 0.0], [3.0, 0.0])
    assert bits(numeric.scatter_add(target, [], [])) == bits(target)
    assert bits(numeric.scatter_add([-0.0, -0.0], [1], [-0.0])) == bits(np.array([-0.0, 0.0]))
    assert numeric.scatter_add(np.zeros((0, 2)), [], np.zeros((0, 2))).shape == (0, 2)


def test_infinities_stay_in_their_groups() -> None:
    rows = numeric.scatter_add(
        np.zeros(4), [0, 1, 1, 2, 2, 3], [math.inf, math.inf, -math.inf, 1e308, 1e308, 1.0]
    )

    assert bits(rows) == bits(np.array([math.inf, math.nan, math.inf, 1.0]))


def test_integers_are_counted_exactly() -> None:
    counted = numeric.scatter_add([2**62, 0, -5], [0, 0, 1], [2**62 - 1, -7, 2**40])

    assert bits(counted) == bits(np.array([2**63 - 8, 2**40, -5]))


@given(
    st.lists(st.floats(-3, 3) | st.sampled_from([0.0, 1.0, -1.0, math.nan, math.inf]), max_size=30)
)
def test_a_histogram_counts_as_numpy_does(values: list[float]) -> None:
    edges = [-1.0, -0.5, 0.0, 1.0]
    known = np.array([value for value in values if not math.isnan(value)])

    assert bits(numeric.histogram(values, edges)) == bits(np.histogram(known, edges)[0])


def test_weights_of_a_histogram_have_their_own_type() -> None:
    x, edges = [[0.0, 1.0], [2.0, 2.0]], [0, 1, 2]

    assert bits(numeric.histogram(x, edges)) == bits(np.array([1, 3]))
    assert bits(numeric.histogram(x, edges, [[5, 6], [7, 8]])) == bits(np.array([5, 21]))
    light = np.array([[0.1, 0.25], [0.5, 1.0]], np.float32)
    assert bits(numeric.histogram(x, edges, light)) == bits(np.array([0.1, 1.75], np.float32))


@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, math.nan, -math.inf]), max_size=30))
def test_equal_elements_keep_their_order(values: list[float]) -> None:
    order = numeric.argsort(np.array(values, np.float64))

    ranks = {0.0: 1, 1.0: 2, 2.0: 3, -math.inf: 0}
    wanted = sorted(range(len(values)), key=lambda at: ranks.get(values[at], 4))
    assert order.tolist() == wanted


def test_an_order_along_an_axis() -> None:
    x = np.array([[1, 0], [1, 1], [0, 1]], np.int16)

    assert numeric.argsort(x, axis=0).tolist() == [[2, 0], [0, 1], [1, 2]]
    assert numeric.argsort(x).tolist() == [[1, 0], [0, 1], [0, 1]]
    assert bits(numeric.argsort([])) == bits(np.zeros(0, np.int64))
