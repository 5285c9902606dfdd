"""Bytes to numpy arrays and scalars, fresh and writable.

Invariant: no array is allocated whose elements the bytes do not hold.
"""

from __future__ import annotations

from math import prod

from twice.foundation.encoding import forms
from twice.foundation.encoding.arrays import description_form
from twice.foundation.encoding.cursor import Cursor, Malformed
from twice.foundation.encoding.dtypes import Description, description_of, dtype_of


def _description(cursor: Cursor, nesting: int = 0) -> Description:
    tag = cursor.take(1)
    if tag == forms.TEXT:
        return cursor.text()
    if tag != forms.TUPLE or nesting >= forms.DTYPE_NESTING_MAX:
        raise Malformed("neither a plain dtype nor a structure of them")
    return tuple(_field(cursor, nesting) for _ in range(cursor.count()))


def _field(cursor: Cursor, nesting: int) -> tuple[str, Description, tuple[int, ...]]:
    if cursor.take(5) != forms.pack_count(forms.TUPLE, 3) or cursor.take(1) != forms.TEXT:
        raise Malformed("a field of a dtype is (name, dtype, shape)")
    return (cursor.text(), _description(cursor, nesting + 1), _sides(cursor))


def _sides(cursor: Cursor) -> tuple[int, ...]:
    head = cursor.take(1)
    if head == forms.TUPLE:
        if cursor.u32():
            raise Malformed("the shape of a field is integers")
        return ()
    if head + cursor.take(2) != forms.VECTOR_TUPLE_INT:
        raise Malformed("the shape of a field is integers")
    return tuple(cursor.i64() for _ in range(cursor.count()))


def read_array(cursor: Cursor) -> object:
    """An array: dtype, number of sides, sides, number of bytes, bytes."""
    import numpy as np

    start = cursor.at
    dtype = dtype_of(_description(cursor))
    cursor.expect(description_form(description_of(dtype)), start)
    shape = tuple([cursor.u64() for _ in range(cursor.u8())])
    size = cursor.u64()
    if not dtype.itemsize or prod(shape) * dtype.itemsize != size:
        raise Malformed(f"an array of {shape} items of {dtype.itemsize} bytes in {size} bytes")
    at = cursor.skip(size)
    raw = bytearray(memoryview(cursor.data)[at : at + size])
    if not raw:
        return np.empty(shape, dtype)
    return np.frombuffer(raw, dtype).reshape(shape)


def read_scalar(cursor: Cursor) -> object:
    """A scalar: dtype, number of bytes, bytes."""
    import numpy as np

    start = cursor.at
    dtype = dtype_of(_description(cursor))
    cursor.expect(description_form(description_of(dtype)), start)
    raw = cursor.take(cursor.u64())
    if len(raw) != dtype.itemsize:
        raise Malformed(f"a scalar of {dtype.itemsize} bytes in {len(raw)} bytes")
    items = np.frombuffer(bytearray(raw), dtype) if raw else np.zeros(1, dtype)
    value: object = items[0]
    return value
