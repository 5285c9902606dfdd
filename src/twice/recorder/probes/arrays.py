"""Probes of numpy: element-wise kernels, reductions, sort order of ties, generators.

numpy chooses kernels by instruction set when it is imported, so the same wheel gives other bits of
``exp`` and another order of equal keys on another processor.

Invariant: inputs are made by integer arithmetic and one exact scaling, so they are the same bits
everywhere and only the probed function can differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

POINTS = 8192


def fractions(count: int, salt: int) -> NDArray[np.float64]:
    """Return ``count`` exact float64 values in [-0.5, 0.5), by a mixing of integers."""
    mixed = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += np.uint64(salt * 0x9FB21C651E98DF25 % 2**64)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5


def bits(*results: Any) -> bytes:
    """Return the results' values, little-endian and C-contiguous, one after another."""
    parts = (np.ascontiguousarray(result) for result in results)
    return b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)


def probes() -> Mapping[str, Callable[[], bytes]]:
    """Return the probes of this module by name."""
    x = fractions(POINTS, 1)
    table: dict[str, Callable[[], bytes]] = {}
    for width, values in (("f64", x), ("f32", x.astype(np.float32))):
        for name, scale, shift in _ELEMENTWISE:
            operand = values * values.dtype.type(scale) + values.dtype.type(shift)
            table[f"numpy.{name}.{width}"] = partial(_elementwise, getattr(np, name), operand)
        table[f"numpy.power.{width}"] = partial(_power, values)
        table[f"numpy.arctan2.{width}"] = partial(_arctan2, values)
        table[f"numpy.sum.{width}"] = partial(_sums, values)
        table[f"numpy.einsum.{width}"] = partial(_einsum, values)
    table["numpy.denormals"] = _denormals
    table["numpy.argsort_ties"] = partial(_argsort_ties, x)
    table["numpy.fft"] = partial(_fft, x)
    table["numpy.complex"] = partial(_complex, x)
    table.update({f"random.{name}": partial(_drawn, name, *args) for name, *args in _DRAWS})
    table["random.multivariate_normal"] = _multivariate_normal
    return table


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


def _elementwise(function: Callable[[Array], Array], operand: Array) -> bytes:
    return bits(function(operand))


def _power(values: Array) -> bytes:
    kind = values.dtype.type
    return bits(np.power(np.abs(values) * kind(16.0), kind(1.7)))


def _arctan2(values: Array) -> bytes:
    return bits(np.arctan2(values, values[::-1]))


def _sums(values: Array) -> bytes:
    grid = values.reshape(64, -1)
    return bits(values.sum(), values[::3].sum(), grid.sum(axis=0), grid.sum(axis=1), values.var())


def _einsum(values: Array) -> bytes:
    return bits(np.einsum("i,i->", values, values[::-1].copy()))


def _denormals() -> bytes:
    smallest = np.array([1, 2**20 + 1, 2**51], dtype=np.uint64).view(np.float64)
    normal = np.full(3, 2.0**-1022)
    return bits(smallest * np.float64(2.0**600), normal * np.array([0.25, 0.5, 0.75]))


def _argsort_ties(values: Array) -> bytes:
    keys = np.round(values * 50.0)
    order = (
        np.argsort(keys),
        np.argpartition(keys, POINTS // 3),
        np.argsort(keys.astype(np.int32)),
    )
    return bits(*(one.astype(np.int64) for one in order))


def _fft(values: Array) -> bytes:
    return bits(np.fft.fft(values[:1000]), np.fft.rfft(values[:1024]))


def _complex(values: Array) -> bytes:
    numbers = values[:4096] + 1j * values[4096:]
    return bits(numbers * numbers[::-1], numbers / numbers[::-1], np.abs(numbers))


def _drawn(name: str, *args: Any) -> bytes:
    generator = np.random.Generator(np.random.PCG64(7))
    draw = getattr(generator, name)
    return bits(draw(*args) if name == "permutation" else draw(*args, size=1000))


def _multivariate_normal() -> bytes:
    generator = np.random.Generator(np.random.PCG64(7))
    return bits(generator.multivariate_normal([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], 100))
