"""Claims about dot and matmul: each element is the sum of its products, whatever else is computed with it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_fixed_sums import LOOPS, METHODS, ROUNDING, bits, layouts, normals

from twice import numeric
from twice.numeric import products

FINITE = st.floats(allow_nan=False, allow_infinity=False)
PAIRS = st.lists(st.tuples(FINITE, FINITE), max_size=20)


def nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@given(PAIRS)
@example([(0.0, 1.3393857490036326e300)])
def test_an_exact_dot_is_the_nearest_number(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).reshape(-1, 2).T

    whole = sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))
    assert numeric.dot(a, b, "exact") == nearest(whole)


@pytest.mark.parametrize("scale", [1.0, 1e-160, 1e-310, 1e155])
def test_an_exact_dot_has_no_range_of_its_own(scale: float) -> None:
    a, b = normals(1, 400) * scale, normals(2, 400) * scale
    a[:3] = 0.0

    whole = sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True))
    assert numeric.dot(a, b, "exact") == nearest(whole)


def test_an_infinite_factor_decides_alone() -> None:
    huge = np.array([1e200, math.inf])

    assert numeric.dot(huge, [-1e200, 1.0], "exact") == math.inf
    assert numeric.dot([1.0, math.inf], [1.0, 1.0], "exact") == math.inf
    assert bits(numeric.dot([math.inf, 1e300], [0.0, 1e300], "exact")) == bits(math.nan)
    assert numeric.dot([1e200, 1e200], [1e200, -1e200], "exact") == 0.0


@pytest.mark.parametrize("method", ["pairwise", "sequential"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_dot_is_the_loop_over_rounded_products(method: str, dtype: str) -> None:
    a, b = normals(1, 9001, dtype=dtype), normals(2, 9001, dtype=dtype)

    wanted = LOOPS[method]([x * y for x, y in zip(a, b, strict=True)])
    assert bits(numeric.dot(a, b, method)) == bits(wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [10, 1000, 20_000])
def test_the_errors_of_a_dot_are_within_their_bounds(dtype: str, count: int) -> None:
    a, b = normals(count, count, dtype=dtype), normals(count + 1, count, dtype=dtype)
    a[1::2], b[1::2] = a[::2], -b[::2] * b.dtype.type(1 + 1e-4)
    parts = [Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    whole, size, unit = sum(parts), float(sum(map(abs, parts))), ROUNDING[a.dtype]

    def gamma(k: int) -> float:
        return k * unit / (1 - k * unit)

    bounds = {
        "pairwise": gamma(math.ceil(math.log2(count)) + 1) * size,
        "sequential": gamma(count) * size,
        "neumaier": unit * abs(float(whole)) + gamma(count) ** 2 * size,
        "exact": unit * abs(float(whole)),
    }
    for method, bound in bounds.items():
        error = abs(Fraction(float(numeric.dot(a, b, method))) - whole)
        assert float(error) <= bound, method


@given(
    st.lists(st.tuples(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150)), min_size=1, max_size=9)
)
def test_the_error_of_a_product_is_exact_where_no_product_is_tiny(
    pairs: list[tuple[float, float]],
) -> None:
    a, b = np.array([pair for pair in pairs if abs(pair[0] * pair[1]) > 1e-280]).reshape(-1, 2).T

    errors = products._find_errors(a, b, a * b)

    for x, y, error in zip(a.tolist(), b.tolist(), errors.tolist(), strict=True):
        assert Fraction(x) * Fraction(y) == Fraction(x * y) + Fraction(error)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [(1, 1, 1), (3, 7, 5), (2, 300, 70), (70, 9, 2), (5, 3, 20_000), (2, 9001, 3), (3, 0, 2)],
)
def test_each_element_is_the_dot_of_its_row_and_column(method: str, m: int, k: int, n: int) -> None:
    a, b = normals(1, m, k), normals(2, k, n)

    product = numeric.matmul(a, b, method)

    assert product.shape == (m, n)
    for i, j in {(0, 0), (m - 1, n - 1), (m // 2, n // 3)}:
        assert bits(product[i, j]) == bits(numeric.dot(a[i], b[:, j], method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_does_not_depend_on_the_batch(method: str, dtype: str) -> None:
    batch, weights = normals(1, 150, 40, dtype=dtype), normals(2, 40, 9, dtype=dtype)

    product = numeric.matmul(batch, weights, method)

    for size in (1, 2, 7, 64, 149):
        assert bits(numeric.matmul(batch[:size], weights, method)) == bits(product[:size])
    assert bits(numeric.matmul(batch[5], weights, method)) == bits(product[5])
    assert bits(numeric.matmul(batch, weights[:, 3], method)) == bits(product[:, 3])


@pytest.mark.parametrize("method", METHODS)
def test_the_layout_of_matrices_does_not_matter(method: str) -> None:
    a, b = normals(1, 30, 90), normals(2, 90, 20)
    product = bits(numeric.matmul(a, b, method))
    total = bits(numeric.dot(a[0], b[:30, 0].repeat(3), method))

    for left, right in zip(layouts(a), layouts(b), strict=True):
        assert bits(numeric.matmul(left, b, method)) == product
        assert bits(numeric.matmul(a, right, method)) == product
        assert bits(numeric.dot(left[0], right[:30, 0].repeat(3), method)) == total


def test_the_wider_type_is_that_of_the_result() -> None:
    a, b = normals(1, 4, dtype="float32"), normals(2, 4)

    assert numeric.dot(a, b).dtype == np.float64
    assert bits(numeric.dot(a, b)) == bits(numeric.dot(a.astype(np.float64), b))
    assert numeric.matmul(a, np.zeros((4, 0), np.float32)).shape == (0,)


def test_nan_and_overflow_in_products_are_those_of_ieee() -> None:
    a = np.array([[1e200, 1.0], [math.inf, 0.0], [math.nan, 1.0]])
    b = np.array([[1e200], [1.0]])

    for method in METHODS:
        product = numeric.matmul(a, b, method)
        assert bits(product[:, 0]) == bits(np.array([math.inf, math.inf, math.nan]))
