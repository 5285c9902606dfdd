"""Operands of the reductions: arrays, sequences and torch tensors in, the same kind out.

Every other file of this room sees numpy arrays of float32, float64 or int64 in the machine's byte order. Half precision,
complex numbers and objects are refused: a silent conversion would be one more rounding that nobody wrote down.

Invariant: an operand is never changed, no result shares memory with one, and torch is never imported here.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twice.errors import NumericRefused

Array = NDArray[Any]
INT64_MAX: Final = 2**63 - 1


def read_numbers(value: Any, name: str) -> Array:
    """Return an operand as an array of float32, float64 or int64; bool and smaller integers become int64.

    Raises:
        NumericRefused: E-NUMERIC-001, for other types, for masked arrays and for tensors elsewhere than in memory.
    """
    array = _read_array(value, name)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f" and size in (4, 8):
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    if kind in "biu":
        if kind == "u" and size == 8 and array.size and int(array.max()) > INT64_MAX:
            raise overflow_error(name)
        return array.astype(np.int64)
    raise NumericRefused(
        f"The operand {name!r} has the type {array.dtype}.",
        "A fixed reduction takes float32, float64, integers or bool.",
        f"Convert it where you can see the rounding, for example np.asarray({name}, dtype=np.float64).",
    )


def read_floats(value: Any, name: str) -> Array:
    """Return an operand as an array of float32 or float64; raise NumericRefused for integers as for other types."""
    array = read_numbers(value, name)
    if array.dtype.kind == "f" or array.size == 0:
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    raise NumericRefused(
        f"The operand {name!r} holds integers.",
        "This reduction rounds, so it takes float32 or float64.",
        f"Convert it where you can see the rounding: np.asarray({name}, dtype=np.float64).",
    )


def read_index(value: Any, name: str, size: int) -> Array:
    """Return a flat array of positions below ``size``; raise NumericRefused for others, and for negative ones."""
    index = _read_array(value, name)
    if index.size == 0:
        index = index.astype(np.int64)
    if index.dtype.kind not in "iu" or index.ndim != 1:  # A mask of bool is no list of positions.
        raise NumericRefused(
            f"The index {name!r} has the type {index.dtype} and the shape {index.shape}.",
            "An index is one row of integers.",
            f"Pass {name}.ravel() with an integer type, and np.flatnonzero({name}) for a mask.",
        )
    if index.size and not 0 <= index.min() <= index.max() < size:
        wrong = index[(index < 0) | (index >= size)][0]
        raise NumericRefused(
            f"The index {name!r} has the position {wrong}.",
            f"Positions go from 0 to {size - 1}; negative ones do not count from the end.",
            "Correct the position, or make the target longer.",
        )
    return index.astype(np.int64)


def move_axis(array: Array, axis: Any) -> Array:
    """Return a view with one axis in front; raise NumericRefused if the array does not have it."""
    if not isinstance(axis, int | np.integer) or not -array.ndim <= axis < array.ndim:
        raise NumericRefused(
            f"There is no axis {axis!r} in an array of shape {array.shape}.",
            "The axis is one integer below the number of dimensions.",
            "Correct the axis; for several, reduce along one after the other.",
        )
    return np.moveaxis(array, int(axis), 0)


def convert_result(result: Array, *operands: Any) -> Any:
    """Return a result as a torch tensor if an operand was one, else as an array or numpy scalar."""
    result = np.asarray(result)
    if result.dtype.kind == "f":
        # Sign and payload of a NaN depend on the processor and on the order of operands in an instruction.
        result = np.where(np.isnan(result), result.dtype.type(np.nan), result)
    if any(map(_is_tensor, operands)):
        return sys.modules["torch"].from_numpy(np.asarray(result))
    return result[()]


def shape_error(a: Array, b: Array, expected: str) -> NumericRefused:
    """Return the error for two operands whose shapes do not fit each other."""
    return NumericRefused(
        f"The operands have the shapes {a.shape} and {b.shape}.",
        expected,
        "Reshape one of them where you call the reduction.",
    )


def overflow_error(name: str) -> NumericRefused:
    """Return the error for a sum or operand of integers that leaves int64."""
    return NumericRefused(
        f"The integers of {name!r} leave the range of int64.",
        "A sum of integers is exact and stays between -2**63 and 2**63 - 1.",
        f"Convert them where you can see the rounding: np.asarray({name}, dtype=np.float64).",
    )


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")  # A tensor can exist only if the caller has loaded it.
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def _read_tensor(value: Any, name: str) -> Array:
    torch = sys.modules["torch"]
    if value.requires_grad and torch.is_grad_enabled():
        raise NumericRefused(
            f"The tensor {name!r} requires a gradient.",
            "The reductions of twice.numeric cannot be differentiated.",
            f"Pass {name}.detach(), or call it under torch.no_grad().",
        )
    try:
        array: Array = value.detach().numpy()
    except (TypeError, RuntimeError) as error:  # another device, a sparse layout, bfloat16
        raise NumericRefused(
            f"The tensor {name!r} ({value.dtype} on {value.device}, {value.layout}) has no numpy form.",
            "A tensor here is a dense one in memory, of float32, float64, integers or bool.",
            f"Convert it: {name}.cpu().to_dense().to(torch.float64).",
        ) from error
    return array


def _read_array(value: Any, name: str) -> Array:
    if _is_tensor(value):
        value = _read_tensor(value, name)
    if isinstance(value, np.ma.MaskedArray):
        raise NumericRefused(
            f"The operand {name!r} is a masked array.",
            "A reduction here adds every element, so a mask would be ignored.",
            f"Pass {name}.compressed() or {name}.filled(0).",
        )
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:  # ragged rows, tracers of jax
        raise NumericRefused(
            f"The operand {name!r} cannot become an array: {error}.",
            "An operand has numbers in memory, and all its rows have one length.",
            "Pad the rows, reduce each of them by itself, or convert the operand first.",
        ) from error
    return array
