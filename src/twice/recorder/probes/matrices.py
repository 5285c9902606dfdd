"""Probes of BLAS and LAPACK: kernels by processor, splits by thread count, fused multiply-add.

Sizes lie on both sides of the threshold above which OpenBLAS splits a product over its threads
(vectors longer than 10 000, products beyond 64 by 64), because only the larger ones move with the
thread count; which of them do depends on the kernel set.

Only one factorisation is that large: where other programs hold the cores, OpenBLAS's threads wait
for each other by spinning, and one solve of 100 unknowns then takes 100 ms instead of 0.2.

Invariant: as in ``arrays``, inputs are exact, so a moved bit is the library's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twice.recorder.probes.arrays import bits, fractions

if TYPE_CHECKING:
    from twice.recorder.probes.arrays import Array


def probes() -> Mapping[str, Callable[[], bytes]]:
    """Return the probes of this module by name."""
    values = fractions(256_000, 11)
    single = values.astype(np.float32)
    square = values[:10_000].reshape(100, 100)
    small = values[:1600].reshape(40, 40)
    table: dict[str, Callable[[], bytes]] = {
        "blas.fma": _fused,
        "blas.matmul_of_transposed": partial(_matmul_of_transposed, square),
        "lapack.cholesky": partial(_cholesky, small),
        "lapack.eigh": partial(_bits_of, np.linalg.eigvalsh, small),
        "lapack.inv": partial(_bits_of, np.linalg.inv, small),
        "lapack.qr": partial(_bits_of, np.linalg.qr, small),
        "lapack.solve": partial(_bits_of, np.linalg.solve, square, square[0]),
        "lapack.svd": partial(_bits_of, np.linalg.svd, small),
    }
    for width, v in (("f64", values), ("f32", single)):
        table[f"blas.dot.{width}"] = partial(_bits_of, np.dot, v[:5000], v[5000:10_000])
        table[f"blas.dot_long.{width}"] = partial(_bits_of, np.dot, v[:20_000], v[20_000:40_000])
        table[f"blas.matmul.{width}"] = partial(_matmul, v, 128)
        table[f"blas.matmul_small.{width}"] = partial(_matmul, v[:512], 16)
        table[f"blas.matvec.{width}"] = partial(_matvec, v)
    return table


def _bits_of(function: Callable[..., Any], *operands: Array) -> bytes:
    result = function(*operands)
    return bits(*result) if isinstance(result, tuple) else bits(result)


def _matmul(values: Array, rows: int) -> bytes:
    half = len(values) // 2
    return bits(values[:half].reshape(rows, -1) @ values[half:].reshape(-1, rows))


def _matvec(values: Array) -> bytes:
    rows = np.tile(values[:250_000].reshape(25, 10_000), (2, 1))
    return bits(rows @ values[-10_000:])


def _matmul_of_transposed(square: Array) -> bytes:
    return bits(square @ square.T, square.T @ square)


def _cholesky(small: Array) -> bytes:
    return bits(np.linalg.cholesky(small @ small.T + np.eye(len(small))))


def _fused() -> bytes:
    """Subtract its own rounded value from a product: zero unless multiply and add are fused."""
    x = 1.0 + fractions(16, 13)
    left = np.stack([-(x * x), x], axis=1)
    right = np.stack([np.ones(16), x])
    return bits(np.diagonal(left @ right))
