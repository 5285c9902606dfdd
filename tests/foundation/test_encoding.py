"""Canonical form: what is distinct stays distinct, what is equal becomes equal, the rest is refused."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import math
import os
import struct
import sys
from collections import Counter, namedtuple
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePosixPath, PureWindowsPath
from typing import NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest

from twice.errors import EncodingCycle, EncodingRefused, EncodingTextRefused, TypeNameTaken
from twice.foundation.encoding import Registry, decode, encode, encode_parts, loaded_types
from twice.foundation.encoding.reference_walk import walk
from twice.foundation.encoding.registry import registry as default


class Colour(enum.Enum):
    RED = 1
    CRIMSON = 1  # noqa: PIE796  # an alias
    BLUE = 2


class Other(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 1


class Perm(enum.Flag):
    R = 4
    W = 2


@dataclasses.dataclass
class Point:
    y: float = 0.0
    x: float = 0.0

    def __post_init__(self) -> None:
        self.made_by_init = True


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    a: int
    b: object = None


@dataclasses.dataclass
class Empty:
    pass


class Subclass(Point):
    pass


class Place(NamedTuple):
    x: int
    y: int


Old = namedtuple("Old", ["only"])  # noqa: PYI024


class SubInt(int):
    pass


class SubStr(str):
    __slots__ = ()


class SubDict(dict):
    pass


NAN_2 = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
NAN_MINUS = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000000))[0]
SHARED = [1, 2]
BERLIN = ZoneInfo("Europe/Berlin")
SUMMER = dt.datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN)

PLAIN = [
    None, True, False, 0, 1, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 2**64, 2**200, -(2**200),
    255, 256, 0.0, -0.0, 1.0, 1.5, math.inf, -math.inf, math.nan, 5e-324, 0j, -0j, 1j,
    complex(0.0, -0.0), complex(math.nan, 1), "", "a", "é", "e\u0301", "\U0001f600", "\0", "1",
    b"", b"a", b"ab", bytearray(b""), bytearray(b"ab"), [], (), {}, set(), frozenset(),
    [1, 2], (1, 2), [1.0, 2.0], (1.0, 2.0), [1, 2.0], [True, 2], [1, 2**63], [[1], 2], ([1], 2),
    [[]], [()], [None], {1: 0}, {"1": 0}, {True: 0}, {"true": 0}, {1.0: 0}, {(1, 2): 0},
    {"a": 1, "b": 2}, {"a": 2, "b": 1}, {"ab": 0}, {"a": "b"}, {1}, frozenset({1}), {"1"}, {(1,)},
    Colour.RED, Colour.BLUE, Other.RED, Level.LOW, Perm.R, Perm.W, Perm.R | Perm.W, Perm(0),
    Point(1.0, 2.0), Point(2.0, 1.0), Slotted(1), Slotted(1, []), Empty(), Place(1, 2), Old(1),
    dt.date(2024, 1, 2), dt.time(1, 2, 3), dt.time(1, 2, 3, 4), dt.time(1, 2, 3, fold=1),
    dt.time(1, tzinfo=dt.UTC), dt.time(1, tzinfo=BERLIN), dt.datetime(2024, 1, 2),
    dt.datetime(2024, 1, 2, tzinfo=dt.UTC), dt.datetime(2024, 1, 2, tzinfo=ZoneInfo("UTC")),
    dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(0), "GMT")),
    dt.datetime(2024, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=-3, microseconds=7))),
    SUMMER, SUMMER.replace(fold=1), dt.timedelta(0), dt.timedelta(-1, 5, 7), dt.timedelta.max,
    Decimal(1), Decimal("1.0"), Decimal("-0"), Decimal("1E+3"), Decimal("NaN"), Decimal("sNaN12"),
    Decimal("-Infinity"), Fraction(1, 2), Fraction(-1, 2), Fraction(2**100, 3), UUID(int=0),
    UUID(int=1), range(3), range(0, 3, 2), range(2, 2), range(1, 1), PurePosixPath("a/b"),
    PureWindowsPath("a/b"), PurePosixPath("."), PurePosixPath(os.fsdecode(b"\xff\xfe")),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=lambda v: f"{type(v).__name__}-{v!r}"[:40])
def test_a_value_comes_back_and_encodes_to_the_same_bytes(value: object) -> None:
    form = encode(value)
    back = decode(form, resolve=loaded_types)
    assert type(back) is type(value)
    assert repr(back) == repr(value) or isinstance(value, set | frozenset)
    assert encode(back) == form
    assert encode(decode(form)) == form, "opaque values encode to the same bytes"


@pytest.mark.parametrize("value", PLAIN, ids=lambda v: f"{type(v).__name__}-{v!r}"[:40])
def test_the_fast_path_agrees_with_the_reference_walk(value: object) -> None:
    nested = {"one": value, "many": [value, (value, None)], 7: [value]}
    assert encode(value) == b"".join(walk(value, default, "x"))
    assert encode(nested) == b"".join(walk(nested, default, "x"))


def test_all_these_values_are_distinct() -> None:
    forms = {encode(value) for value in PLAIN}
    assert len(forms) == len(PLAIN)


SAME = [
    (math.nan, NAN_2), (math.nan, NAN_MINUS), ([1.0, NAN_2], [1.0, NAN_MINUS]),
    ([math.inf, -math.inf], [math.inf, -math.inf]), (complex(NAN_2, 0), complex(math.nan, 0)),
    ({8, 16, 24, "a"}, {"a", 24, 16, 8}), ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    ({1: 0, "a": 0}, {"a": 0, 1: 0}), ({10: 0, 9: 0}, {9: 0, 10: 0}), (Colour.RED, Colour.CRIMSON),
    ({"\ue000": 0, "\U0001f600": 1}, {"\U0001f600": 1, "\ue000": 0}),
    ([SHARED, SHARED], [[1, 2], [1, 2]]),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), SAME)
def test_equal_states_have_equal_bytes(a: object, b: object) -> None:
    assert encode(a) == encode(b)


def test_a_dict_with_keys_of_a_text_subclass_is_refused_even_when_its_shape_is_known() -> None:
    encode({"a": 1, "b": 2})
    with pytest.raises(EncodingRefused, match="SubStr"):
        encode({SubStr("a"): 1, "b": 2})


def _cycle() -> object:
    inner: list[object] = [1]
    value = {"a": [0, inner]}
    inner.append(value)
    return value


class _Zone(dt.tzinfo):
    def utcoffset(self, _when: object) -> dt.timedelta:
        return dt.timedelta(0)


@pytest.mark.parametrize(
    ("value", "path", "leaf"),
    [
        ({"a": [0, 0, 0, Slotted(1, SubInt(2))]}, "state['a'][3].b", EncodingRefused),
        ({"a": {"b": (1, object())}}, "state['a']['b'][1]", EncodingRefused),
        (_cycle(), "state['a'][1][1]", EncodingCycle),
        (["ok", "\ud800"], "state[1]", EncodingTextRefused),
        ({"k\udfff": 1}, "state{'k\\udfff'}", EncodingTextRefused),
        ({(1, SubInt(2)): 0}, "state{(1, 2)}[1]", EncodingRefused),
        ({1: {SubStr("x")}}, "state[1]{'x'}", EncodingRefused),
        ([SubDict(a=1)], "state[0]", EncodingRefused),
        ([Counter(a=1)], "state[0]", EncodingRefused),
        (Place(1, print), "state.y", EncodingRefused),
        ([Subclass()], "state[0]", EncodingRefused),
        ([dt.time(1, tzinfo=_Zone())], "state[0]", EncodingRefused),
        ({math.nan: 1, NAN_2: 2}, "state", EncodingRefused),
        ([lambda: 0], "state[0]", EncodingRefused),
        ([int], "state[0]", EncodingRefused),
        (iter([1]), "state", EncodingRefused),
        ([os.stat_result(range(10))], "state[0]", EncodingRefused),
        ([Fraction(1, 2 ** (8 << 16))], "state[0]", EncodingRefused),
        ([memoryview(b"ab")], "state[0]", EncodingRefused),
    ],
)
def test_a_refusal_names_the_path(value: object, path: str, leaf: type[EncodingRefused]) -> None:
    with pytest.raises(leaf) as caught:
        encode(value)
    assert type(caught.value) is leaf
    assert caught.value.fields["path"] == path
    assert caught.value.happened.startswith(path)


def test_a_missing_field_is_refused_with_its_name() -> None:
    value = Slotted.__new__(Slotted)
    with pytest.raises(EncodingRefused, match="without its field 'a'"):
        encode([value])


def test_any_depth_of_nesting_is_encoded_and_decoded() -> None:
    deep: object = 1
    for _ in range(50_000):
        deep = [deep]
    form = encode(deep)
    back = decode(form)
    assert encode(back) == form
    assert len(form) == 5 * 49_999 + len(encode([1]))


def test_a_cycle_beside_much_state_is_refused_without_writing_it_again_and_again() -> None:
    value: dict[str, object] = {"bulk": ["x" * 100] * 1000}
    value["self"] = value
    with pytest.raises(EncodingCycle):
        encode(value)


def test_deeply_nested_keys_and_sets_are_one_clear_refusal() -> None:
    sets: object = frozenset()
    for _ in range(100):
        sets = frozenset([sets])
    with pytest.raises(EncodingRefused, match="too deeply"):
        encode(sets)
    key: object = ()
    for _ in range(3000):
        key = (key,)
    with pytest.raises(EncodingRefused, match="too deeply"):
        encode({key: 1})


def test_a_dataclass_comes_back_without_its_init() -> None:
    back = decode(encode(Point(1.0, 2.0)), resolve=loaded_types)
    assert back == Point(1.0, 2.0)
    assert not hasattr(back, "made_by_init")


def test_an_unresolved_type_stays_opaque_and_readable() -> None:
    back = decode(encode([Point(1.0, 2.0), Colour.BLUE, Place(1, 2)]))
    module = __name__
    assert repr(back) == (
        f"[<{module}:Point x=2.0, y=1.0>, <{module}:Colour.BLUE>, <{module}:Place(x=1, y=2)>]"
    )


def test_opaque_values_are_equal_when_their_bytes_are() -> None:
    one, same, other = (decode(encode(Slotted(a))) for a in (1, 1, True))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert len({one, same, other}) == 2


def test_a_registered_type_round_trips_and_only_once_under_a_name() -> None:
    registry = Registry()
    with pytest.raises(EncodingRefused):
        encode([SubInt(3)], registry=registry)
    registry.register(SubInt, "tests.SubInt", int, lambda value: SubInt(value))
    form = encode([SubInt(3), 3], registry=registry)
    back = decode(form, registry=registry, resolve=loaded_types)
    assert [type(item) for item in back] == [SubInt, int]
    opaque = decode(form)
    assert repr(opaque) == "[<tests.SubInt 3>, 3]"
    assert encode(opaque) == form
    with pytest.raises(TypeNameTaken):
        registry.register(SubInt, "again", int, int)
    with pytest.raises(TypeNameTaken):
        registry.register(SubStr, "tests.SubInt", str, str)
    with pytest.raises(TypeNameTaken):
        registry.register(int, "tests.int", int, int)


def test_parts_hold_large_buffers_without_copying_them() -> None:
    large, small = bytes(5000), b"ab"
    grown = bytearray(6000)
    value = {"a": large, "b": small, "c": grown, "d": "text"}
    parts = encode_parts(value)
    assert b"".join(parts) == encode(value)
    views = [part for part in parts if isinstance(part, memoryview)]
    assert [view.obj for view in views] == [large, grown]
    assert all(view.ndim == 1 and view.itemsize == 1 for view in views)


@pytest.mark.integration
def test_numpy_is_not_imported_by_encoding() -> None:
    import subprocess

    code = (
        "import sys, twice.foundation.encoding as e; e.decode(e.encode({'a': [1.5, None, {2}]}));"
        "sys.exit('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ})
    assert done.returncode == 0
