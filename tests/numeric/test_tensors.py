"""Tensors of torch come back as tensors with the bits of arrays, where torch is installed."""

from __future__ import annotations

import numpy as np
import pytest
from test_fixed_sums import METHODS, bits, normals

from twice import numeric
from twice.errors import NumericRefused

torch = pytest.importorskip("torch", reason="needs the extra twice[torch]")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_tensor_gives_a_tensor_with_the_bits_of_an_array(method: str, dtype: str) -> None:
    a, b = normals(1, 30, 40, dtype=dtype), normals(2, 40, 9, dtype=dtype)
    left, right = torch.from_numpy(a), torch.from_numpy(b)
    index = torch.arange(30) % 4

    pairs = [
        (numeric.sum(left, method=method), numeric.sum(a, method=method)),
        (numeric.sum(left.T, 0, method), numeric.sum(a.T, 0, method)),
        (numeric.mean(left, 1, method), numeric.mean(a, 1, method)),
        (numeric.dot(left[0], right[:, 0], method), numeric.dot(a[0], b[:, 0], method)),
        (numeric.matmul(left, right, method), numeric.matmul(a, b, method)),
        (numeric.matmul(a, right, method), numeric.matmul(a, b, method)),
        (
            numeric.scatter_add(torch.zeros(4, 40, dtype=left.dtype), index, left),
            numeric.scatter_add(np.zeros((4, 40), dtype), index.numpy(), a),
        ),
        (numeric.argsort(left), numeric.argsort(a)),
    ]

    for tensor, array in pairs:
        assert isinstance(tensor, torch.Tensor)
        assert bits(tensor.numpy()) == bits(array)


def test_a_tensor_that_does_not_fit_is_refused() -> None:
    learned = torch.ones(3, requires_grad=True)
    refused = {
        "gradient": learned,
        "bfloat16": torch.ones(3, dtype=torch.bfloat16),
        "meta": torch.ones(3, device="meta"),
        "sparse": torch.eye(3).to_sparse(),
    }

    for words, tensor in refused.items():
        with pytest.raises(NumericRefused, match=words):
            numeric.sum(tensor)
    with torch.no_grad():
        assert numeric.sum(learned) == 3.0
