"""Print a digest of every reduction over the same operands; run by hand under an emulator, too.

``qemu-x86_64 -cpu Nehalem python tests/numeric/all_reductions.py`` prints what ``python …`` prints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from twice import numeric

METHODS = ("pairwise", "sequential", "neumaier", "exact")


def make_values(dtype: str, *shape: int) -> np.ndarray:
    """Numbers from integers alone: a draw through libm would differ by itself."""
    count = int(np.prod(shape))
    steps = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    steps ^= steps >> np.uint64(29)
    steps *= np.uint64(0xBF58476D1CE4E5B9)
    mantissas = (steps >> np.uint64(11)).astype(np.float64) - 2.0**52
    exponents = (steps & np.uint64(31)).astype(np.int64) - 70
    return np.ldexp(mantissas, exponents).astype(dtype).reshape(shape)


def compute_all() -> Iterator[tuple[str, object]]:
    for dtype in ("float32", "float64"):
        long, table = make_values(dtype, 100_003), make_values(dtype, 130, 71)
        edges = [5e-324, 1e300, -1e300, 3e38] if dtype == "float64" else [1e-45, 3e38, -3e38]
        hard = np.concatenate((long, np.array(edges, dtype)))
        index = np.arange(len(long)) * 7919 % 513
        for method in METHODS:
            name = f"{dtype} {method}"
            yield f"{name} sum", numeric.sum(long, method=method)
            yield f"{name} strided", numeric.sum(long[::-3], method=method)
            yield f"{name} hard", numeric.sum(hard, method=method)
            yield f"{name} rows", numeric.sum(table, 1, method)
            yield f"{name} columns", numeric.mean(table, 0, method)
            yield f"{name} dot", numeric.dot(long, long[::-1], method)
            yield f"{name} matmul", numeric.matmul(table[:40], table[:71], method)
        yield f"{dtype} scatter", numeric.scatter_add(np.zeros(513, dtype), index, long)
        yield f"{dtype} histogram", numeric.histogram(long, np.linspace(-1e-3, 1e-3, 40), long)
        yield f"{dtype} argsort", numeric.argsort(np.round(long * 1e4))
        yield f"{dtype} nan", numeric.sum(np.array([np.nan, np.inf, -np.inf], dtype)[[1, 2, 0]])


def list_dispatched() -> str:
    """The instruction sets beyond numpy's baseline that it uses here, as a value of NPY_DISABLE_CPU_FEATURES."""
    core = np._core if hasattr(np, "_core") else np.core
    umath = core._multiarray_umath
    return " ".join(name for name in umath.__cpu_dispatch__ if umath.__cpu_features__.get(name))


if __name__ == "__main__":
    print("instructions:", list_dispatched())
    for name, result in compute_all():
        data = np.ascontiguousarray(result)
        print(name, hashlib.sha256(str(data.dtype).encode() + data.tobytes()).hexdigest()[:16])
