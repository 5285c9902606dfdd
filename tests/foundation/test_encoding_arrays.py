"""Arrays and numpy scalars in canonical form: values and dtype count, memory layout does not."""

from __future__ import annotations

import numpy as np
import pytest

from twice.errors import EncodingRefused
from twice.foundation.encoding import decode, encode, encode_parts
from twice.foundation.encoding.reference_walk import walk
from twice.foundation.encoding.registry import registry

NUMERIC = "?bBhHiIlLqQefdFD"
NESTED = np.dtype(
    [("a", "u1"), ("b", [("c", ">f8"), ("d", "S3")]), ("e", "<i2", (2, 2))], align=True
)

ARRAYS = [
    *(np.arange(6).astype(code).reshape(2, 3) for code in NUMERIC),
    np.array(["2024-01-02", "NaT"], "M8[D]"), np.array([1, 2], "M8[25us]"), np.array([1], "m8[ns]"),
    np.array([1], "m8"), np.array([b"ab", b""]), np.array(["é", "abc"]), np.zeros((), "f8"),
    np.zeros((0, 3)), np.zeros((3, 0), "f4"), np.zeros((2, 1)), np.zeros((1, 2)), np.zeros(2, "V5"),
    np.zeros(3, NESTED), np.array([np.nan, -np.nan, -0.0, np.inf]), np.zeros((1,) * 32),
]  # fmt: skip
SCALARS = [
    *(np.dtype(code).type(1) for code in NUMERIC), np.float64("nan"), np.datetime64("2024-01-02"),
    np.datetime64("2024-01-02", "ns"), np.timedelta64(5, "h"), np.str_("ab"), np.bytes_(b"ab"),
    np.str_(""), np.bytes_(b""), np.zeros(1, NESTED)[0], np.void(b"abc"), np.void(b""),
]  # fmt: skip


@pytest.mark.parametrize("value", ARRAYS, ids=lambda a: f"{a.dtype}-{a.shape}"[:40])
def test_an_array_comes_back_fresh_writable_and_equal(value: np.ndarray) -> None:
    form = encode(value)
    back = decode(form)
    assert encode(back) == form == b"".join(walk(value, registry, "x"))
    assert back.shape == value.shape
    assert back.flags.writeable
    assert back.flags.owndata or back.base is not None
    assert back.dtype.names == value.dtype.names
    if value.dtype.names is None:
        assert back.dtype == value.dtype.newbyteorder("<")
        assert back.tobytes() == value.tobytes()


@pytest.mark.parametrize("value", SCALARS, ids=lambda a: f"{a.dtype}")
def test_a_numpy_scalar_comes_back_with_its_type(value: np.generic) -> None:
    form = encode(value)
    back = decode(form)
    # longlong is another class than int64 with the same dtype; it comes back as int64.
    assert type(back) is type(value) or back.dtype == value.dtype
    assert encode(back) == form == b"".join(walk(value, registry, "x"))


def test_arrays_and_scalars_of_different_dtype_shape_or_value_are_distinct() -> None:
    values = [*ARRAYS, *SCALARS, 1, 1.0, True, 1j, "ab", b"ab", [0.0, 0.0], np.array(1.0)]
    # l and q are one dtype on this platform, as are L and Q: the same value twice is expected.
    forms = {encode(value) for value in values}
    twins = 2 * (np.dtype("l") == np.dtype("q")) + 2 * (np.dtype("L") == np.dtype("Q"))
    assert len(forms) == len(values) - twins


def test_layout_does_not_show() -> None:
    value = np.arange(24.0).reshape(2, 3, 4)
    layouts = [
        np.asfortranarray(value), value.astype(">f8"), np.repeat(value, 2, axis=1)[:, ::2],
        value[::-1][::-1], value.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    ]  # fmt: skip
    assert {encode(layout) for layout in layouts} == {encode(value)}
    read_only = value.copy()
    read_only.flags.writeable = False
    assert encode(read_only) == encode(value)


def test_padding_of_a_structure_does_not_show() -> None:
    clean, dirty = (np.frombuffer(bytes([fill]) * 48, "u1").copy() for fill in (0, 255))
    aligned = np.dtype([("a", "u1"), ("b", "f8"), ("c", "u1")], align=True)
    one, two = clean.view(aligned), dirty.view(aligned)
    for array in (one, two):
        array["a"], array["b"], array["c"] = 1, 2.0, 3
    assert one.tobytes() != two.tobytes()
    assert encode(one) == encode(two)
    assert encode(one[0]) == encode(two[0])
    assert encode(one) != encode(np.zeros(2, aligned))


def test_bits_of_array_floats_are_kept() -> None:
    payload = np.array([0x7FF8000000000001, 0xFFF0000000000001], "u8").view("f8")
    assert encode(payload) != encode(np.array([np.nan, np.nan]))
    assert decode(encode(payload)).tobytes() == payload.tobytes()
    swapped = payload.byteswap().view(">f8")
    assert encode(swapped) == encode(payload)


@pytest.mark.parametrize(
    "value",
    [
        np.array([None]), np.zeros(1, [("a", object)]), np.zeros(1, np.longdouble), np.longdouble(1),
        np.zeros(1, np.clongdouble), np.ma.zeros(2), np.zeros(2).view(np.recarray),
        np.asmatrix(np.zeros((1, 1))), np.dtype("f8"), np.random.default_rng(0),
    ],
    ids=lambda v: type(v).__name__,
)  # fmt: skip
def test_what_has_no_portable_bytes_is_refused_with_its_path(value: object) -> None:
    with pytest.raises(EncodingRefused) as caught:
        encode({"a": [value]})
    assert caught.value.fields["path"] == "state['a'][0]"


def test_large_arrays_stand_alone_and_uncopied() -> None:
    value = {"a": np.arange(1000.0), "b": np.arange(3), "c": np.zeros((60, 60), order="F")}
    parts = encode_parts(value)
    views = [part for part in parts if isinstance(part, memoryview)]
    assert b"".join(parts) == encode(value)
    assert len(views) == 2
    assert np.shares_memory(np.frombuffer(views[0], "u1"), value["a"])
    assert not np.shares_memory(np.frombuffer(views[1], "u1"), value["c"])


def test_a_decoded_array_does_not_alias_its_bytes() -> None:
    data = bytearray(encode(np.arange(3)))
    back = decode(data)
    data[-8:] = bytes(8)
    assert back.tolist() == [0, 1, 2]
