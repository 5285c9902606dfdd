"""Claims about operands: what does not fit is refused with one error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from twice import numeric
from twice.errors import NumericRefused

ROW = np.ones(3)
REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "method": (lambda: numeric.sum(ROW, method="kahan"), "'kahan'"),
    "method of a product": (lambda: numeric.matmul(ROW, ROW, "fast"), "'fast'"),
    "objects": (lambda: numeric.sum(np.array([1, "a"], object)), "object"),
    "a set, which has no order": (lambda: numeric.sum({1.0, 2.0}), "object"),
    "a generator": (lambda: numeric.sum(each for each in [1.0]), "object"),
    "integers too large": (lambda: numeric.sum([2**70]), "object"),
    "text": (lambda: numeric.argsort(["a"]), "<U1"),
    "half precision": (lambda: numeric.sum(np.ones(3, np.float16)), "float16"),
    "complex": (lambda: numeric.dot(ROW, ROW * 1j), "complex128"),
    "a mask": (lambda: numeric.sum(np.ma.masked_array(ROW, [0, 1, 0])), "masked"),
    "ragged rows": (lambda: numeric.sum([[1.0], [1.0, 2.0]]), "inhomogeneous"),
    "an axis": (lambda: numeric.sum(ROW, 1), "axis 1"),
    "two axes": (lambda: numeric.sum(np.ones((2, 2)), (0, 1)), "axis (0, 1)"),
    "an axis of a scalar": (lambda: numeric.sum(1.0, 0), "axis 0"),
    "an axis of an order": (lambda: numeric.argsort(ROW, 2), "axis 2"),
    "the order of a scalar": (lambda: numeric.argsort(1.0), "axis -1"),
    "no terms of a mean": (lambda: numeric.mean([]), "no terms"),
    "a mean of integers": (lambda: numeric.mean([1, 2]), "integers"),
    "integers in a product": (lambda: numeric.dot([1, 2], [1, 2]), "integers"),
    "lengths": (lambda: numeric.dot(ROW, ROW[:2]), "(3,) and (2,)"),
    "matrices in dot": (lambda: numeric.dot(np.eye(2), np.eye(2)), "(2, 2)"),
    "inner sizes": (lambda: numeric.matmul(np.eye(2), np.eye(3)), "(2, 2) and (3, 3)"),
    "stacks": (lambda: numeric.matmul(np.ones((2, 2, 2)), np.eye(2)), "(2, 2, 2)"),
    "a scalar in matmul": (lambda: numeric.matmul(1.0, ROW), "()"),
    "a sum of integers": (lambda: numeric.sum([2**62, 2**62]), "int64"),
    "an unsigned integer": (lambda: numeric.sum(np.array([2**63], np.uint64)), "int64"),
    "a negative position": (lambda: numeric.scatter_add(ROW, [-1], [1.0]), "-1"),
    "a position outside": (lambda: numeric.scatter_add(ROW, [0, 3], [1.0, 1.0]), "3"),
    "a position of a fraction": (lambda: numeric.scatter_add(ROW, [0.0], [1.0]), "float64"),
    "a mask of bool": (lambda: numeric.scatter_add(ROW, ROW > 0, ROW), "bool"),
    "two rows of positions": (lambda: numeric.scatter_add(ROW, [[0]], [[1.0]]), "(1, 1)"),
    "too few values": (lambda: numeric.scatter_add(ROW, [0, 1], [1.0]), "(1,)"),
    "rows of another length": (lambda: numeric.scatter_add(np.eye(2), [0], [[1.0]]), "(1, 1)"),
    "a scalar target": (lambda: numeric.scatter_add(1.0, [0], [1.0]), "()"),
    "integers into floats": (lambda: numeric.scatter_add(ROW, [0], [1]), "int64"),
    "a scattered sum of integers": (lambda: numeric.scatter_add([2**62], [0], [2**62]), "int64"),
    "integer weights": (lambda: numeric.histogram([0, 0], [0, 1], [2**62, 2**62]), "int64"),
    "weights of another shape": (lambda: numeric.histogram(ROW, [0, 1], [1.0]), "(3,) and (1,)"),
    "one edge": (lambda: numeric.histogram(ROW, [0]), "(1,)"),
    "equal edges": (lambda: numeric.histogram(ROW, [0, 0, 1]), "(3,)"),
    "an edge that is NaN": (lambda: numeric.histogram(ROW, [0, np.nan]), "(2,)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    call, words = REFUSED[case]

    with pytest.raises(NumericRefused) as refused:
        call()

    assert words in refused.value.happened
    assert refused.value.expected
    assert refused.value.remedy


@pytest.mark.integration  # A process of its own: this one may have torch loaded.
def test_neither_twice_nor_a_reduction_imports_more_than_it_needs() -> None:
    code = (
        "import sys, twice; print('twice.numeric' in sys.modules);"
        "from twice import numeric; numeric.sum([1.0]); print('torch' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "False"]
