"""Probes of numpy, of BLAS and LAPACK, and of PyTorch on the processor where the process has loaded it.

numpy chooses kernels by instruction set when it is imported, so the same wheel gives other bits of ``exp`` and another
order of equal keys on another processor. Bits of PyTorch follow its own kernels, its own BLAS and its thread count.

Sizes for BLAS lie on both sides of the threshold above which OpenBLAS splits a product over its threads (vectors
longer than 10 000, products beyond 64 by 64), because only the larger ones move with the thread count; which of them
do depends on the kernel set. Only one factorisation is that large: where other programs hold the cores, OpenBLAS's
threads wait for each other by spinning, and one solve of 100 unknowns then takes 100 ms instead of 0.2.

Invariant: inputs are made by integer arithmetic and one exact scaling, so they are the same bits everywhere and only
the probed function can differ; draws come from generators made here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from twice.recorder.environment.probes import Probe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

_POINTS = 8192
# Function, scale and shift of the inputs in [-0.5, 0.5).
_ELEMENTWISE: tuple[tuple[str, float, float], ...] = (
    ("exp", 40.0, 0.0), ("exp2", 40.0, 0.0), ("expm1", 4.0, 0.0), ("log", 16.0, 8.25),
    ("log2", 16.0, 8.25), ("log10", 16.0, 8.25), ("log1p", 4.0, 1.5), ("sin", 100.0, 0.0),
    ("cos", 100.0, 0.0), ("tan", 8.0, 0.0), ("arcsin", 1.0, 0.0), ("arccos", 1.0, 0.0),
    ("arctan", 40.0, 0.0), ("sinh", 16.0, 0.0), ("cosh", 16.0, 0.0), ("tanh", 8.0, 0.0),
    ("arcsinh", 40.0, 0.0), ("arccosh", 16.0, 9.5), ("arctanh", 1.0, 0.0), ("cbrt", 40.0, 0.0),
    ("sqrt", 16.0, 8.25),
)  # fmt: skip
_DRAWS: tuple[tuple[Any, ...], ...] = (
    ("random",), ("standard_normal",), ("standard_exponential",), ("standard_gamma", 0.7),
    ("beta", 0.5, 2.5), ("poisson", 30.0), ("binomial", 100, 0.3), ("vonmises", 0.5, 4.0),
    ("permutation", 1000),
)  # fmt: skip


def list_probes(groups: Collection[str]) -> dict[str, Probe]:
    """Return the probes of these groups by name, and perhaps of others: inputs are made for whole libraries."""
    probes: dict[str, Probe] = {}
    if {"numpy", "random"} & {*groups}:
        probes |= _list_numpy_probes()
    if {"blas", "lapack"} & {*groups}:
        probes |= _list_blas_probes()
    if "torch" in groups and "torch" in sys.modules:
        probes |= _list_torch_probes(sys.modules["torch"])
    return probes


def _make_fractions(count: int, salt: int) -> NDArray[np.float64]:
    """Return ``count`` exact float64 values in [-0.5, 0.5), by a mixing of integers."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64(salt * 0x9FB21C651E98DF25 % 2**64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5


def _probe(compute: Callable[..., Any], *operands: Any) -> Probe:
    """Make a probe of the values of one or several results, little-endian and C-contiguous, one after another."""

    def run() -> bytes:
        found = compute(*operands)
        parts = map(np.ascontiguousarray, found if isinstance(found, tuple) else (found,))
        return b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)

    return run


def _list_numpy_probes() -> dict[str, Probe]:
    x = _make_fractions(_POINTS, 1)
    table: dict[str, Probe] = {}
    for width, values in (("f64", x), ("f32", x.astype(np.float32))):
        kind, backwards = values.dtype.type, values[::-1]
        for name, scale, shift in _ELEMENTWISE:
            operand = values * kind(scale) + kind(shift)
            table[f"numpy.{name}.{width}"] = _probe(getattr(np, name), operand)
        table[f"numpy.power.{width}"] = _probe(np.power, np.abs(values) * kind(16.0), kind(1.7))
        table[f"numpy.arctan2.{width}"] = _probe(np.arctan2, values, backwards)
        table[f"numpy.sum.{width}"] = _probe(
            lambda v, grid: (v.sum(), v[::3].sum(), grid.sum(axis=0), grid.sum(axis=1), v.var()),
            values,
            values.reshape(64, -1),
        )
        table[f"numpy.einsum.{width}"] = _probe(np.einsum, "i,i->", values, backwards.copy())
    denormals = np.array([1, 2**20 + 1, 2**51], dtype=np.uint64).view(np.float64)
    normals, numbers, keys = np.full(3, 2.0**-1022), x[:4096] + 1j * x[4096:], np.round(x * 50.0)
    table["numpy.denormals"] = _probe(
        lambda: (denormals * np.float64(2.0**600), normals * np.array([0.25, 0.5, 0.75]))
    )
    table["numpy.argsort_ties"] = _probe(
        lambda: (
            np.argsort(keys).astype(np.int64),
            np.argpartition(keys, _POINTS // 3).astype(np.int64),
            np.argsort(keys.astype(np.int32)).astype(np.int64),
        )
    )
    table["numpy.fft"] = _probe(lambda: (np.fft.fft(x[:1000]), np.fft.rfft(x[:1024])))
    table["numpy.complex"] = _probe(
        lambda: (numbers * numbers[::-1], numbers / numbers[::-1], np.abs(numbers))
    )
    table.update({f"random.{name}": _probe(_draw, name, *args) for name, *args in _DRAWS})
    table["random.multivariate_normal"] = _probe(
        _draw, "multivariate_normal", [0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], 100
    )
    return table


def _draw(name: str, *args: Any) -> Any:
    draw = getattr(np.random.Generator(np.random.PCG64(7)), name)
    is_sized = name in ("permutation", "multivariate_normal")
    return draw(*args) if is_sized else draw(*args, size=1000)


def _list_blas_probes() -> dict[str, Probe]:
    values = _make_fractions(256_000, 11)
    square = values[:10_000].reshape(100, 100)
    small = values[:1600].reshape(40, 40)
    # A product minus its own rounded value is zero, unless multiply and add are fused.
    x = 1.0 + _make_fractions(16, 13)
    left, right = np.stack([-(x * x), x], axis=1), np.stack([np.ones(16), x])
    table = {
        "blas.fma": _probe(lambda: np.diagonal(left @ right)),
        "blas.matmul_of_transposed": _probe(lambda: (square @ square.T, square.T @ square)),
        "lapack.cholesky": _probe(lambda: np.linalg.cholesky(small @ small.T + np.eye(40))),
        "lapack.eigh": _probe(np.linalg.eigvalsh, small),
        "lapack.inv": _probe(np.linalg.inv, small),
        "lapack.qr": _probe(np.linalg.qr, small),
        "lapack.solve": _probe(np.linalg.solve, square, square[0]),
        "lapack.svd": _probe(np.linalg.svd, small),
    }
    for width, v in (("f64", values), ("f32", values.astype(np.float32))):
        rows = np.tile(v[:250_000].reshape(25, 10_000), (2, 1))
        table[f"blas.dot.{width}"] = _probe(np.dot, v[:5000], v[5000:10_000])
        table[f"blas.dot_long.{width}"] = _probe(np.dot, v[:20_000], v[20_000:40_000])
        table[f"blas.matmul.{width}"] = _probe(_multiply_halves, v, 128)
        table[f"blas.matmul_small.{width}"] = _probe(_multiply_halves, v[:512], 16)
        table[f"blas.matvec.{width}"] = _probe(np.matmul, rows, v[-10_000:])
    return table


def _multiply_halves(values: Array, rows: int) -> Array:
    half = len(values) // 2
    return values[:half].reshape(rows, -1) @ values[half:].reshape(-1, rows)


def _list_torch_probes(torch: Any) -> dict[str, Probe]:
    values = torch.from_numpy(_make_fractions(101_000, 17).astype(np.float32))
    square = values[:16_384].reshape(128, 128)
    computed: dict[str, Callable[[], Any]] = {
        "dot": lambda: torch.dot(values[:20_000], values[20_000:40_000]),
        "exp": lambda: torch.exp(values * 40.0),
        "layer_norm": lambda: torch.nn.functional.layer_norm(square, (128,)),
        "matmul": lambda: square @ square,
        "pow": lambda: torch.pow(values.abs() * 16.0, 1.7),
        "qr": lambda: torch.linalg.qr(square.double())[0],
        "randn": lambda: torch.randn(
            1000, generator=torch.Generator("cpu").manual_seed(7), device="cpu"
        ),
        "sigmoid": lambda: torch.sigmoid(values * 8.0),
        "softmax": lambda: torch.softmax(values[:100_000].reshape(100, 1000), dim=0),
        "sqrt": lambda: torch.sqrt(values.abs()),
        "sum": values.sum,
        "tanh": lambda: torch.tanh(values * 8.0),
    }

    def compute(run: Callable[[], Any]) -> Array:
        with torch.no_grad():
            return run().cpu().numpy()  # type: ignore[no-any-return]

    return {f"torch.{name}": _probe(partial(compute, run)) for name, run in computed.items()}
