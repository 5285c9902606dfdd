"""numpy arrays and scalars: a header, then little-endian C-contiguous bytes, verbatim.

numpy is never imported here to encode: a value of its types exists only when it is loaded.
Structured values are copied field by field, so that padding never leaks into a digest.

Invariant: equal shape, dtype and elements give equal bytes, whatever the strides or byte order.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from twice.foundation.encoding import forms
from twice.foundation.encoding.dtypes import Description, description_of, dtype_of
from twice.foundation.encoding.opened import Opened, Opener, Sub
from twice.foundation.encoding.refusals import Refusal, unknown_type

if TYPE_CHECKING:
    import numpy as np

_LITTLE = sys.byteorder == "little"
_CACHE_MAX = 4096

_SMALL_BYTES = 1024

# (dtype, shape) -> header, and whether ``tobytes`` gives the element bytes: C order, any strides.
_heads: dict[tuple[Any, ...], tuple[bytes, bool]] = {}
# Of plain numbers only, whose bytes in memory are their form: rewards are numpy scalars.
_scalar_heads: dict[Any, bytes] = {}


def description_form(description: Description) -> bytes:
    """The canonical form of a dtype's description."""
    if isinstance(description, str):
        return forms.text_form(description)
    fields = b"".join(
        forms.pack_count(forms.TUPLE, 3)
        + forms.text_form(name)
        + description_form(inner)
        + _shape_form(shape)
        for name, inner, shape in description
    )
    return forms.pack_count(forms.TUPLE, len(description)) + fields


def _shape_form(shape: tuple[int, ...]) -> bytes:
    if not shape:
        return forms.pack_count(forms.TUPLE, 0)
    return forms.pack_ints[len(shape)](forms.VECTOR_TUPLE_INT, len(shape), *shape)


def _array_head(array: np.ndarray[Any, Any]) -> bytes:
    description = description_of(array.dtype)
    itemsize = dtype_of(description).itemsize
    if itemsize == 0:
        raise Refusal(
            f"an array of dtype {array.dtype}, whose items have no bytes",
            "Expected items of at least one byte.",
            "Convert it to a list.",
        )
    sides = b"".join(map(forms.pack_u64, array.shape))
    ndim = bytes((array.ndim,))
    size = forms.pack_u64(array.size * itemsize)
    return forms.ARRAY + description_form(description) + ndim + sides + size


def _is_plain(dtype: np.dtype[Any]) -> bool:
    return dtype.names is None and (dtype.isnative if _LITTLE else dtype.byteorder in "<|")


def folded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same elements, packed, little-endian and C-contiguous; the array itself if it is so."""
    if not _is_plain(array.dtype):
        array = array.astype(dtype_of(description_of(array.dtype)), order="C")
    if not array.flags.c_contiguous:
        array = array.copy(order="C")
    return array


def raw_bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """A flat view of the bytes of a C-contiguous array; of the array itself, not a copy."""
    if array.size == 0:
        return memoryview(b"")
    try:
        return array.data.cast("B")
    except (TypeError, ValueError, NotImplementedError, BufferError):
        # Dates, fixed-width text and structures have no format that memoryview can cast.
        return array.reshape(-1).view("u1").data


def array_parts(array: np.ndarray[Any, Any]) -> tuple[bytes, bytes | memoryview]:
    """Header and element bytes of an array; those of a small one are a copy, which is quicker.

    Raises:
        Refusal: the dtype has no canonical form.
    """
    dtype = array.dtype
    key = (dtype, array.shape)
    known = _heads.get(key)
    if known is not None:
        head, is_small = known
        if is_small:
            return head, array.tobytes()
    else:
        head = _array_head(array)
        if dtype.names is None:
            if len(_heads) >= _CACHE_MAX:
                _heads.clear()
            _heads[key] = (head, 0 < array.nbytes <= _SMALL_BYTES and _is_plain(dtype))
    if array.flags.c_contiguous and _is_plain(dtype):
        return head, raw_bytes(array)
    return head, raw_bytes(folded(array))


def open_array(value: Any, _sub: Sub) -> Opened:
    """An array taken apart: header and bytes, nothing inside."""
    return Opened(array_parts(value))


def _scalar_opener(cls: type[Any]) -> Opener:
    def open_scalar(value: Any, _sub: Sub) -> Opened:
        if value.dtype.type is not cls:
            raise unknown_type(cls)
        return Opened((scalar_form(value),))

    return open_scalar


def scalar_form(value: np.generic) -> bytes:
    """Tag, dtype, number of bytes, little-endian bytes of a numpy scalar.

    Raises:
        Refusal: the dtype has no canonical form.
    """
    kept = value.dtype
    head = _scalar_heads.get(kept)
    if head is not None:
        return head + value.tobytes()
    import numpy as np

    description = description_of(kept)
    dtype = dtype_of(description)
    if _LITTLE and kept.kind in "biuf" and kept.itemsize <= 8 and kept.isnative:
        head = forms.NUMPY_SCALAR + description_form(description) + forms.pack_u64(kept.itemsize)
        _scalar_heads[kept] = head
        return head + value.tobytes()
    # numpy gives an item of no bytes one byte as soon as it stands in an array.
    raw = np.asarray(value, dtype=value.dtype).astype(dtype).tobytes() if dtype.itemsize else b""
    return forms.NUMPY_SCALAR + description_form(description) + forms.pack_u64(len(raw)) + raw


def numpy_opener(cls: type[Any]) -> Opener | None:
    """The opener of a numpy type, if numpy is loaded and ``cls`` is exactly one of its types."""
    numpy_module = sys.modules.get("numpy")
    ndarray = getattr(numpy_module, "ndarray", None)
    generic = getattr(numpy_module, "generic", None)
    if ndarray is None or generic is None:
        return None
    if cls is ndarray:
        return open_array
    if issubclass(cls, generic):
        return _scalar_opener(cls)
    return None
