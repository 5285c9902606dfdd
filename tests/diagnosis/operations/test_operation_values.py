"""Captured results are compared element by element, with ULPs of their own type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from twice.diagnosis.operations.inside import compare_outputs, find_equation
from twice.diagnosis.operations.operation_inside import OperationInside


def output(values: Any, dtype: str = "") -> dict[str, Any]:
    array = np.asarray(values)
    return {
        "dtype": dtype or str(array.dtype),
        "shape": list(array.shape),
        "bytes": array.tobytes(),
    }


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_step_of_one_type_is_one_ulp(dtype: str) -> None:
    values = np.ones((2, 3), dtype)
    moved = values.copy()
    moved[1, 2] = np.nextafter(moved[1, 2], np.dtype(dtype).type(2))
    (difference,) = compare_outputs([output(values)], [output(moved)])
    assert (difference.path, difference.ulps) == ("output 0[1, 2]", 1)
    assert (difference.differing, difference.of) == (1, 6)


def test_a_step_of_bfloat16_is_one_ulp() -> None:
    words = np.array([0x3F80, 0x3F80], "<u2")
    moved = np.array([0x3F80, 0x3F81], "<u2")
    (difference,) = compare_outputs([output(words, "bfloat16")], [output(moved, "bfloat16")])
    assert (difference.path, difference.ulps, difference.a) == ("output 0[1]", 1, "1.0")


def test_equal_results_have_no_difference_and_a_form_is_one() -> None:
    same, other = output(np.ones(4)), output(np.ones((2, 2)))
    assert compare_outputs([same], [same]) == []
    (difference,) = compare_outputs([same, same], [same, other])
    assert (difference.path, difference.kind) == ("output 1", "shape")


def test_a_large_result_is_compared_as_far_as_it_was_kept() -> None:
    a, b = output(np.zeros(8)), output(np.ones(8))
    a["bytes"], b["bytes"] = a["bytes"][:16], b["bytes"][:16]
    (difference,) = compare_outputs([a], [b])
    assert (difference.differing, difference.of) == (2, 2)


def test_types_that_numpy_lacks_are_compared_as_bytes() -> None:
    a, b = output([1, 2], "float8_e4m3fn"), output([1, 3], "float8_e4m3fn")
    (difference,) = compare_outputs([a], [b])
    assert difference.differing == 1


def test_the_verdict_says_operation_module_pass_and_line() -> None:
    captured = {
        "name": "aten.mm.default", "line": "/a/train.py:7", "caller": "/b/layers.py:31",
        "module": "Net.head", "node": "AddmmBackward0",
    }  # fmt: skip
    found = OperationInside.from_captured("operation", captured, number=3, factor="threads (1 / 2)")
    first, *rest = found.to_lines()
    assert " ".join([first, *(line.strip() for line in rest)]) == (
        "  inside: aten.mm.default in Net.head, backward (AddmmBackward0), at /a/train.py:7, "
        "through /b/layers.py:31 made by: threads (1 / 2)"
    )
    assert found.to_json()["line"] == 7


def equation(name: str, inputs: int, outputs: int) -> dict[str, Any]:
    return {"name": name, "inputs": inputs, "outputs": outputs}


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ([equation("dot", 1, 2), equation("tanh", 2, 9)], 1),
        ([equation("dot", 1, 8), equation("tanh", 8, 9)], 0),
        ([equation("dot", 5, 8), equation("tanh", 8, 9)], None),
        ([equation("sin", 1, 8)], None),
        ([equation("dot", 1, 2), equation("tanh", 2, 3)], None),
    ],
)
def test_the_first_equation_with_equal_inputs_and_other_results_is_found(
    other: list[dict[str, Any]], found: int | None
) -> None:
    own = [equation("dot", 1, 2), equation("tanh", 2, 3)]
    pair = find_equation(own, other)

    assert pair == (None if found is None else (own[found], other[found]))
