"""Numbers of a scene as values with an identity: shortest float32, one zero, nothing infinite.

A property of 32 bits that was set to 0.1 holds 0.10000000149011612. It is written as the shortest
decimal that reads back to the same 32 bits, 0.1, so that what people set is what a state says and
equal bits are equal text. Rounding is not tolerance: tolerance is the business of ``comparing``.

Invariant: two numbers of one width give one value exactly when their bits are equal, but for the
sign of zero.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from twice.tools.errors import SceneValueRefused

Array: TypeAlias = "NDArray[Any]"
Value: TypeAlias = Any
"""None, bool, int, float, str, an array of ``DTYPES``, or a list or text-keyed dict of values."""

DTYPES: Final = ("<f4", "<f8", "<i4", "<i8", "|i1", "|u1", "|b1")
"""The element types that an array in a state may have."""


@lru_cache(maxsize=1 << 16)
def float32(value: float) -> float:
    """Round a value to the canonical number of a 32-bit property.

    Args:
        value: any finite number within the range of 32 bits; it is rounded to them first.

    Returns:
        The double nearest to the shortest decimal that reads back to those bits; never ``-0.0``.

    Raises:
        SceneValueRefused: E-SCENE-001, the value is not finite at 32 bits.
    """
    with np.errstate(over="ignore"):
        narrow = np.float32(value)
    if not np.isfinite(narrow):
        raise _refused(value, "a 32-bit number")
    return float(str(narrow)) + 0.0


def float64(value: float) -> float:
    """Return the canonical number of a 64-bit property's value.

    Raises:
        SceneValueRefused: E-SCENE-001, the value is not finite.
    """
    if value - value != 0:
        raise _refused(value, "a number")
    return value + 0.0


def floats32(values: Any) -> list[float]:
    """Several 32-bit numbers, row by row when they stand in a matrix."""
    return [float32(x) for x in np.asarray(values, dtype=np.float64).ravel().tolist()]


def array(values: Any, dtype: str) -> Array:
    """Build an array of a state: little-endian, in C order, one zero, read-only.

    Args:
        values: any values that numpy accepts.
        dtype: one of ``DTYPES``.

    Raises:
        SceneValueRefused: E-SCENE-001, an element is not finite.
    """
    assert dtype in DTYPES, f"a state has no arrays of {dtype}"
    if type(values) is np.ndarray and values.dtype == dtype:
        made = values.copy(order="C")
    else:
        with np.errstate(over="ignore"):
            made = np.array(values, dtype=dtype, order="C")
    if dtype in ("<f4", "<f8"):
        finite = np.isfinite(made)
        if not finite.all():
            where = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise _refused(float(made[where]), "an array", f" at {list(where)}")
        made += 0.0  # -0.0 + 0.0 is 0.0
    made.flags.writeable = False
    return made


def _refused(value: float, of: str, where: str = "") -> SceneValueRefused:
    return SceneValueRefused(
        f"{of.capitalize()} in the scene is {value!r}{where}.",
        "Expected finite numbers within the range of their property: others have no identity.",
        "Set it to a finite number, then ask again.",
        value=repr(value),
    )
