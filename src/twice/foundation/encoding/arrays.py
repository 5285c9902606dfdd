"""numpy arrays and scalars: a header, then little-endian C-contiguous bytes, verbatim.

A plain dtype is written as its string with the order folded to little-endian (``<f8``, ``|b1``,
``<M8[ns]``), a structured one as a tuple of ``(name, dtype, shape)``, one per field, in field order.
Offsets, alignment, titles and metadata are memory layout or comment, and are not written;
structured values are copied field by field, so that padding never leaks into a digest.

Invariant: equal shape, dtype and elements give equal bytes, whatever the strides or byte order.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

from twice.foundation.encoding import format as fmt
from twice.foundation.encoding.built_in_types import (
    Decomposed,
    Decomposer,
    EncodeKey,
    Refusal,
    refuse_type,
)

# numpy is never imported to encode: a value of its types exists only when it is loaded.
if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

Description: TypeAlias = "str | tuple[tuple[str, Description, tuple[int, ...]], ...]"

_PLAIN = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|\|[SV](0|[1-9]\d{0,8})|<U(0|[1-9]\d{0,7})"
    r"|<[mM]8(\[([1-9]\d{0,8})?(Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?"
)
_LITTLE = sys.byteorder == "little"
_CACHE_MAX = 4096
_SMALL_BYTES = 1024

# (dtype, shape) -> header; whether ``tobytes`` is best: C order, any strides; whether elements lie in memory as written.
heads: dict[tuple[Any, ...], tuple[bytes, bool, bool]] = {}
# Plain numbers only: their bytes in memory are their canonical form. Rewards are numpy scalars.
_scalar_heads: dict[Any, bytes] = {}


def describe_dtype(dtype: np.dtype[Any], nesting: int = 0) -> Description:
    """Return the plain value that describes a dtype."""
    if dtype.names is not None:
        if nesting >= fmt.DTYPE_NESTING_MAX:
            raise Refusal(
                "an array whose structured dtype nests too deeply",
                f"Expected at most {fmt.DTYPE_NESTING_MAX} levels.",
                "Flatten the fields.",
            )
        assert dtype.fields is not None, "a dtype with names has fields"
        fields = []
        for name in dtype.names:
            inner = dtype.fields[name][0]
            base, shape = inner.subdtype or (inner, ())
            fields.append((name, describe_dtype(base, nesting + 1), tuple(shape)))
        return tuple(fields)
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


def make_dtype(description: Description, nesting: int = 0) -> np.dtype[Any]:
    """Return the packed little-endian dtype of a description, or raise ``ValueError``."""
    import numpy as np

    if isinstance(description, str):
        if not _PLAIN.fullmatch(description):
            raise ValueError(f"{description!r} is not a plain dtype")
        dtype: np.dtype[Any] = np.dtype(description)
        if dtype.newbyteorder("<").str != description:
            raise ValueError(f"{description!r} is not how its dtype is written")
        return dtype
    if nesting >= fmt.DTYPE_NESTING_MAX:
        raise ValueError("neither a plain dtype nor a structure of them")
    if not all(name and min(shape, default=0) >= 0 for name, _, shape in description):
        raise ValueError("a field has a name and non-negative sides")
    return np.dtype(
        [(name, make_dtype(inner, nesting + 1), shape) for name, inner, shape in description]
    )


def encode_description(description: Description) -> bytes:
    """Return the canonical form of a dtype's description."""
    if isinstance(description, str):
        return fmt.encode_text(description)
    form = fmt.pack_count(fmt.TUPLE, len(description))
    for name, inner, shape in description:
        form += fmt.pack_count(fmt.TUPLE, 3) + fmt.encode_text(name) + encode_description(inner)
        if shape:
            form += fmt.pack_ints[len(shape)](fmt.VECTOR_TUPLE_INT, len(shape), *shape)
        else:
            form += fmt.pack_count(fmt.TUPLE, 0)
    return form


def _encode_head(array: Array) -> bytes:
    description = describe_dtype(array.dtype)
    itemsize = make_dtype(description).itemsize
    if itemsize == 0:
        raise Refusal(
            f"an array of dtype {array.dtype}, whose items have no bytes",
            "Expected items of at least one byte.",
            "Convert it to a list.",
        )
    sides = b"".join(map(fmt.pack_u64, array.shape))
    size = fmt.pack_u64(array.size * itemsize)
    return fmt.ARRAY + encode_description(description) + bytes((array.ndim,)) + sides + size


def _is_plain(dtype: np.dtype[Any]) -> bool:
    """Return whether elements in memory are as canonical form has them."""
    return dtype.names is None and (dtype.isnative if _LITTLE else dtype.byteorder in "<|")


def pack_array(array: Array) -> Array:
    """Return the same elements packed, little-endian, C-contiguous; the array itself if it is so."""
    if not _is_plain(array.dtype):
        array = array.astype(make_dtype(describe_dtype(array.dtype)), order="C")
    if not array.flags.c_contiguous:
        array = array.copy(order="C")
    return array


def _view_bytes(array: Array) -> memoryview:
    """Return a flat view of a C-contiguous array; of the array itself, not a copy."""
    if array.size == 0:
        return memoryview(b"")
    try:
        return array.data.cast("B")
    except (TypeError, ValueError, NotImplementedError, BufferError):
        # Dates, fixed-width text and structures have no format that memoryview can cast.
        return array.reshape(-1).view("u1").data


def encode_array(array: Array) -> tuple[bytes, bytes | memoryview]:
    """Return header and element bytes; those of a small array are a copy, which is quicker."""
    dtype = array.dtype
    key = (dtype, array.shape)
    known = heads.get(key)
    if known is None:
        is_plain = _is_plain(dtype)
        known = (_encode_head(array), is_plain and 0 < array.nbytes <= _SMALL_BYTES, is_plain)
        if dtype.names is None:
            if len(heads) >= _CACHE_MAX:
                heads.clear()
            heads[key] = known
    head, is_small, is_plain = known
    if is_small:
        return head, array.tobytes()
    if is_plain and array.flags.c_contiguous:
        return head, _view_bytes(array)
    return head, _view_bytes(pack_array(array))


def decompose_array(value: Any, _encode_key: EncodeKey) -> Decomposed:
    """Take an array apart: header and bytes, nothing inside."""
    return Decomposed(encode_array(value))


def decompose_scalar(value: np.generic, _encode_key: EncodeKey) -> Decomposed:
    """Take a numpy scalar apart: tag, dtype, number of bytes, little-endian bytes."""
    kept = value.dtype
    if kept.type is not type(value):  # a subclass can have state that twice does not see
        raise refuse_type(type(value))
    head = _scalar_heads.get(kept)
    if head is not None:
        return Decomposed((head + value.tobytes(),))
    import numpy as np

    description = describe_dtype(kept)
    dtype = make_dtype(description)
    head = fmt.NUMPY_SCALAR + encode_description(description)
    if _LITTLE and kept.kind in "biuf" and kept.itemsize <= 8 and kept.isnative:
        _scalar_heads[kept] = head + fmt.pack_u64(kept.itemsize)
    # numpy pads an empty item to one byte as soon as it is in an array.
    raw = np.asarray(value, dtype=kept).astype(dtype).tobytes() if dtype.itemsize else b""
    return Decomposed((head + fmt.pack_u64(len(raw)) + raw,))


def find_numpy_decomposer(cls: type[Any]) -> Decomposer | None:
    """Return the decomposer of a numpy type, if numpy is loaded and ``cls`` is exactly one."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return None
    if cls is getattr(numpy, "ndarray", None):
        return decompose_array
    generic = getattr(numpy, "generic", None)
    return decompose_scalar if generic is not None and issubclass(cls, generic) else None
