"""Claims about sums and means: each method is its definition, bit for bit, and only values and shape matter."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from twice import numeric
from twice.numeric import exact

METHODS = ("pairwise", "sequential", "neumaier", "exact")
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SINGLE = st.floats(allow_nan=False, allow_infinity=False, width=32)
# What cancels, overflows or is denormal in some order.
EDGES = st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.0, 2.0**-53, -1.0, 1e308, -1e308, 1.7976931348623157e308]
)  # fmt: skip
ARRAYS = npst.arrays(
    st.sampled_from([np.float32, np.float64]), npst.array_shapes(max_dims=3, max_side=9)
)
ROUNDING = {np.dtype(np.float32): 2.0**-24, np.dtype(np.float64): 2.0**-53}


def bits(value: object) -> tuple[str, tuple[int, ...], bytes]:
    array = np.asarray(value)
    return str(array.dtype), array.shape, array.tobytes()


def normals(seed: int, *shape: int, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def add_pairwise(terms: list[np.floating]) -> np.floating:
    while len(terms) > 1:
        half = (len(terms) + 1) // 2
        terms = [
            terms[at] + terms[at + half] if at + half < len(terms) else terms[at]
            for at in range(half)
        ]
    return terms[0]


def add_sequentially(terms: list[np.floating]) -> np.floating:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def add_compensated(terms: list[np.floating]) -> np.floating:
    """Neumaier's algorithm as he wrote it."""
    total, missing = terms[0], type(terms[0])(0.0)
    for term in terms[1:]:
        after = total + term
        if abs(total) >= abs(term):
            missing = missing + ((total - after) + term)
        else:
            missing = missing + ((term - after) + total)
        total = after
    return total + missing


def add_exactly(terms: list[np.floating]) -> float:
    return math.fsum(map(float, terms))


LOOPS = {"pairwise": add_pairwise, "sequential": add_sequentially, "neumaier": add_compensated}


@given(st.lists(FINITE | EDGES, max_size=20), st.sampled_from([1, 300]))
def test_an_exact_sum_is_that_of_fsum_where_fsum_has_one(values: list[float], times: int) -> None:
    """Three hundred of each are more than there are windows of exponents, so that all go through the table."""
    total = numeric.sum(np.repeat(np.array(values, np.float64), times), method="exact")

    try:
        assert bits(total) == bits(math.fsum(values * times))
    except OverflowError:
        whole = sum(map(Fraction, values)) * times
        try:
            assert total == float(whole)
        except OverflowError:
            assert total == (math.inf if whole > 0 else -math.inf)


@given(st.lists(FINITE | EDGES, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_an_exact_sum_does_not_depend_on_the_order(
    values: list[float], chance: random.Random
) -> None:
    total = numeric.sum(values, method="exact")

    chance.shuffle(values)

    assert bits(numeric.sum(values, method="exact")) == bits(total)


@given(st.lists(SINGLE, min_size=1, max_size=30))
def test_an_exact_sum_of_float32_is_rounded_once(values: list[float]) -> None:
    total = numeric.sum(np.array(values, np.float32), method="exact")

    whole = sum(map(Fraction, values))
    assert total.dtype == np.float32
    if abs(total) < 3e38:
        below, above = (np.nextafter(total, np.float32(side)) for side in (-np.inf, np.inf))
        error = abs(Fraction(float(total)) - whole)
        assert error <= min(abs(Fraction(float(each)) - whole) for each in (below, above))


def test_the_second_rounding_to_float32_is_not_seen() -> None:
    """Rounded to float64 first, 1 + 2**-24 + 2**-60 is a tie, and goes to the even neighbour below."""
    parts = np.array([1.0, 2.0**-24, 2.0**-60], np.float32)

    assert numeric.sum(parts, method="exact") == np.float32(1 + 2.0**-23)
    assert numeric.sum(-parts, method="exact") == -np.float32(1 + 2.0**-23)
    assert np.float32(math.fsum(map(float, parts))) == 1.0


@pytest.mark.parametrize("spread", [0, 5, 40, 300])
@pytest.mark.parametrize("count", [1000, 65536, 200_003])
def test_long_sums_are_exact_whatever_their_exponents(count: int, spread: int) -> None:
    draw = np.random.default_rng(count + spread)
    values = draw.standard_normal(count) * 10.0 ** draw.uniform(-spread, spread, count)
    values[::7] = 0.0
    values[1::5] *= -1.0

    assert numeric.sum(values, method="exact") == math.fsum(values.tolist())


def test_a_full_window_of_the_largest_parts_is_exact() -> None:
    """As many equal numbers as one table may add, with every bit set: the partial sums use all 53 bits."""
    count, size = exact._BLOCK_MAX, exact._BLOCK_MAX // exact._SPARSE
    index = np.zeros(count, np.int64)
    for value in (
        2.0**8 * (2 - 2.0**-52),
        -(2.0**-1015) * (2 - 2.0**-52),
        2.0**1000 * (2 - 2.0**-52),
    ):
        totals = exact.sum_groups(np.full(count, value), index, size, np.dtype(np.float64))

        assert totals[0] == value * count
        assert not totals[1:].any()


def test_sums_beyond_the_largest_number_are_infinite_only_if_the_exact_one_is() -> None:
    assert numeric.sum([1e308, 1e308, -1e308], method="exact") == 1e308
    assert numeric.sum([1e308, 1e308], method="exact") == math.inf
    assert numeric.sum([-1e308, -1e308], method="exact") == -math.inf
    assert numeric.sum(np.full(3, 3e38, np.float32), method="exact") == np.float32(np.inf)
    assert numeric.sum([1e308] * 70_000 + [-1e308] * 70_000 + [0.5], method="exact") == 0.5
    assert [numeric.sum([1e308, 1e308, -1e308], method=each) for each in METHODS[1:3]] == [
        math.inf
    ] * 2


@pytest.mark.parametrize("method", METHODS)
def test_infinities_and_nan_are_those_of_ieee(method: str) -> None:
    inf, nan = math.inf, math.nan

    for values, total in (
        ([1, inf], inf),
        ([-inf, 1], -inf),
        ([inf, 1, -inf], nan),
        ([nan, 1], nan),
    ):
        assert bits(numeric.sum(np.array(values, float), method=method)) == bits(total)


@pytest.mark.parametrize("method", METHODS)
def test_a_nan_is_always_the_same_nan(method: str) -> None:
    odd = np.array([0xFFF8000000000123, 0x7FF8000000000456], np.uint64).view(np.float64)

    assert bits(numeric.sum(odd, method=method)) == bits(np.float64(np.nan))
    assert bits(numeric.sum(odd[::-1], method=method)) == bits(np.float64(np.nan))


@pytest.mark.parametrize("method", LOOPS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 63, 64, 1000, 20_011])
def test_a_method_is_its_loop(method: str, dtype: str, count: int) -> None:
    values = normals(count, count, dtype=dtype)
    values *= 10.0 ** np.random.default_rng(1).integers(-6, 7, count).astype(dtype)

    assert bits(numeric.sum(values, method=method)) == bits(LOOPS[method](list(values)))


@given(ARRAYS, st.sampled_from(list(LOOPS)), st.integers(0, 2))
def test_each_lane_of_an_axis_is_its_loop(values: np.ndarray, method: str, axis: int) -> None:
    axis %= values.ndim
    values[~np.isfinite(values)] = 1.0
    values = np.clip(values, -1e30, 1e30)

    totals = numeric.sum(values, axis, method)

    lanes = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1).T
    wanted = [LOOPS[method](list(lane)) for lane in lanes]
    assert totals.ravel().tolist() == [float(each) for each in wanted]
    assert totals.dtype == values.dtype


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("lanes", [1, 3, 63, 64, 65, 300])
def test_a_lane_does_not_depend_on_its_neighbours(method: str, lanes: int) -> None:
    values = normals(lanes, 500, lanes)

    totals = numeric.sum(values, 0, method)

    alone = [numeric.sum(values[:, lane], method=method) for lane in range(lanes)]
    assert bits(totals) == bits(alone)


@given(ARRAYS, st.sampled_from(METHODS), st.none() | st.integers(0, 2))
def test_the_layout_in_memory_does_not_matter(
    values: np.ndarray, method: str, axis: int | None
) -> None:
    axis = None if axis is None else axis % values.ndim
    total = bits(numeric.sum(values, axis, method))

    for other in layouts(values):
        assert bits(numeric.sum(other, axis, method)) == total


def layouts(values: np.ndarray) -> list[np.ndarray]:
    """The same values in column order, with gaps, backwards, off their alignment and in the other byte order."""
    gaps = np.repeat(values, 3, axis=-1)[..., ::3]
    backwards = np.ascontiguousarray(values[..., ::-1])[..., ::-1]
    shifted = np.empty(values.nbytes + 1, np.uint8)[1:].view(values.dtype).reshape(values.shape)
    shifted[...] = values
    swapped = values.astype(values.dtype.newbyteorder())
    return [np.asfortranarray(values), gaps, backwards, shifted, swapped]


@pytest.mark.parametrize("method", METHODS)
def test_a_long_sum_does_not_depend_on_the_layout(method: str) -> None:
    values = normals(4, 70_001)

    assert {bits(numeric.sum(other, method=method)) for other in layouts(values)} == {
        bits(numeric.sum(values, method=method))
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [10, 1000, 30_000])
def test_the_errors_are_within_their_bounds(dtype: str, count: int) -> None:
    values = normals(count, count, dtype=dtype)
    values[1::2] = -values[::2] * values.dtype.type(1 + 1e-4)
    whole = sum(map(Fraction, values.tolist()))
    size = float(sum(abs(Fraction(each)) for each in values.tolist()))
    unit = ROUNDING[values.dtype]

    def gamma(k: int) -> float:
        return k * unit / (1 - k * unit)

    bounds = {
        "pairwise": gamma(math.ceil(math.log2(count))) * size,
        "sequential": gamma(count - 1) * size,
        "neumaier": unit * abs(float(whole)) + gamma(count - 1) ** 2 * size,
        "exact": unit * abs(float(whole)),
    }
    for method, bound in bounds.items():
        error = abs(Fraction(float(numeric.sum(values, method=method))) - whole)
        assert float(error) <= bound, method


def test_integers_are_added_exactly() -> None:
    assert numeric.sum([2**62, 2**62 - 1, -5]) == 2**63 - 6
    assert bits(numeric.sum(np.array([True, True, False]))) == bits(np.int64(2))
    assert bits(numeric.sum(np.arange(6, dtype=np.uint8).reshape(2, 3), 0)) == bits(
        np.array([3, 5, 7])
    )


def test_empty_and_scalar_operands() -> None:
    for method in METHODS:
        assert bits(numeric.sum([], method=method)) == bits(0.0)
        assert bits(numeric.sum(np.float32(2.5), method=method)) == bits(np.float32(2.5))
        assert numeric.sum(np.zeros((0, 3)), 0, method).tolist() == [0.0, 0.0, 0.0]
        assert numeric.sum(np.zeros((3, 0)), 0, method).shape == (0,)


def test_an_operand_is_not_changed_and_shares_nothing_with_the_result() -> None:
    values = normals(3, 1, 5)
    before = values.copy()

    for method, axis in itertools.product(METHODS, (None, 0, 1)):
        total = numeric.sum(values, axis, method)
        assert not np.shares_memory(values, total)
    assert bits(values) == bits(before)


@pytest.mark.parametrize("method", METHODS)
def test_a_mean_is_the_sum_divided_once(method: str) -> None:
    values = normals(5, 77, 4, dtype="float32")

    assert bits(numeric.mean(values, 0, method)) == bits(
        numeric.sum(values, 0, method) / np.float32(77)
    )
    assert numeric.mean([1.0, 2.0]) == 1.5
