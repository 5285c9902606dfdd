"""What numpy calls a dtype, as a plain value: portable, without padding, without byte order.

A plain dtype is its string with the order folded to little-endian (``<f8``, ``|b1``, ``<M8[ns]``);
a structured one is a tuple of ``(name, dtype, shape)``, one per field, in field order. Offsets,
alignment, titles and metadata are memory layout or comment, and are not written.

Invariant: ``dtype_of(description_of(d))`` is ``d`` packed and little-endian.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeAlias

from twice.foundation.encoding import forms
from twice.foundation.encoding.refusals import Refusal

if TYPE_CHECKING:
    import numpy as np

Description: TypeAlias = "str | tuple[tuple[str, Description, tuple[int, ...]], ...]"

_PLAIN = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|\|[SV](0|[1-9]\d{0,8})|<U(0|[1-9]\d{0,7})"
    r"|<[mM]8(\[([1-9]\d{0,8})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)


def description_of(dtype: np.dtype[Any], nesting: int = 0) -> Description:
    """The plain value that describes a dtype.

    Raises:
        Refusal: the dtype holds objects, is platform-dependent, or nests too deeply.
    """
    if dtype.names is not None:
        if nesting >= forms.DTYPE_NESTING_MAX:
            raise Refusal(
                "an array whose structured dtype nests too deeply",
                f"Expected at most {forms.DTYPE_NESTING_MAX} levels.",
                "Flatten the fields.",
            )
        return tuple(_field(dtype, name, nesting) for name in dtype.names)
    if dtype.char in "gG":
        raise Refusal(
            f"a {dtype.name}, whose width and meaning depend on the platform",
            "Expected a number that is the same everywhere, such as float64.",
            "Convert it: value.astype('float64').",
        )
    text = str(dtype.newbyteorder("<").str)
    if dtype.hasobject or not _PLAIN.fullmatch(text):
        raise Refusal(
            f"an array of dtype {dtype}",
            "Expected numbers, booleans, fixed-width strings, dates, or structures of these.",
            "Convert it to a list, or to an array of plain numbers.",
        )
    return text


def _field(
    dtype: np.dtype[Any], name: str, nesting: int
) -> tuple[str, Description, tuple[int, ...]]:
    assert dtype.fields is not None, "a dtype with names has fields"
    inner = dtype.fields[name][0]
    base, shape = inner.subdtype or (inner, ())
    return (name, description_of(base, nesting + 1), tuple(shape))


def dtype_of(description: object, nesting: int = 0) -> np.dtype[Any]:
    """The packed little-endian dtype of a description.

    Raises:
        ValueError: it is not the description of a dtype.
    """
    import numpy as np

    if type(description) is str:
        if not _PLAIN.fullmatch(description):
            raise ValueError(f"{description!r} is not a plain dtype")
        dtype: np.dtype[Any] = np.dtype(description)
        if dtype.newbyteorder("<").str != description:
            raise ValueError(f"{description!r} is not how its dtype is written")
        return dtype
    if type(description) is not tuple or nesting >= forms.DTYPE_NESTING_MAX:
        raise ValueError("neither a plain dtype nor a structure of them")
    fields = [_decoded_field(field, nesting) for field in description]
    return np.dtype(fields)


def _decoded_field(field: object, nesting: int) -> tuple[str, Any, tuple[int, ...]]:
    if type(field) is not tuple or len(field) != 3:
        raise ValueError("a field is (name, dtype, shape)")
    name, inner, shape = field
    if type(name) is not str or type(shape) is not tuple:
        raise ValueError("a field is (name, dtype, shape)")
    if not name or not all(type(side) is int and side >= 0 for side in shape):
        raise ValueError("a field has a name and non-negative sides")
    return (name, dtype_of(inner, nesting + 1), shape)
