from __future__ import annotations

import enum
import json
import math
import struct
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from twice.errors import ClassRefused
from twice.foundation.comparison import (
    Abs,
    Exact,
    Quantum,
    Rel,
    Ulp,
    Verdict,
    tolerance_from_json,
)
from twice.foundation.comparison.walk import walk
from twice.foundation.encoding import decode, encode

ALL = [Exact(), Abs(0.5), Rel(1e-3), Ulp(3), Quantum(0.25), Abs(2, integers=True)]

leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.complex_numbers()
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


class Shade(enum.Enum):
    DARK = 1
    LIGHT = 2


@dataclass
class Spot:
    x: float
    shade: Shade


@given(values)
def test_every_value_is_the_same_as_its_copy_under_every_measure(value):
    for equivalence in ALL:
        verdict = equivalence.same(value, decode(encode(value)))
        assert verdict == Verdict(same=True, distance=0.0, where=None)


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("equivalence", ALL, ids=str)
def test_the_array_path_equals_the_scalar_path(equivalence, width):
    floats = hnp.arrays(f"f{width}", 6, elements=st.floats(width=8 * width))

    # Hypothesis tries constants of the sources, of which hardly any is a half float.
    @settings(suppress_health_check=[HealthCheck.filter_too_much])
    @given(floats, floats, st.booleans())
    def law(recorded, other, near):
        with np.errstate(all="ignore"):
            replayed = np.nextafter(recorded, other) if near and width > 2 else other
        found = equivalence.distance_array(recorded, replayed)
        expected = [
            equivalence.distance(a, b, width)
            for a, b in zip(recorded.tolist(), replayed.tolist(), strict=True)
        ]

        assert found.tolist() == expected

    law()


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 50))
def test_ulps_count_the_steps_of_nextafter(start, steps):
    end = start
    for _ in range(steps):
        end = math.nextafter(end, math.inf)
    if math.isinf(end):
        return

    assert Ulp(0).same(start, end).distance == steps
    assert Ulp(steps).same(start, end).same


def test_nan_equals_nan_and_infinities_equal_themselves():
    payload = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000007))[0]
    for equivalence in ALL:
        assert equivalence.same(math.nan, payload)
        assert equivalence.same(math.inf, math.inf)
        assert not equivalence.same(math.inf, -math.inf)
        assert not equivalence.same(math.nan, 0.0)
        assert not equivalence.same(math.inf, 1e308)
        assert not equivalence.same(np.array([1.0, math.nan]), np.array([math.nan, 1.0]))


def test_only_exact_tells_the_two_zeros_apart():
    assert not Exact().same(0.0, -0.0)
    assert not Exact().same(np.zeros(2), -np.zeros(2))
    assert Abs(0).same(0.0, -0.0)
    assert Ulp(0).same(np.zeros(2), -np.zeros(2))


def test_the_record_is_the_reference_of_a_relative_tolerance():
    assert Rel(0.1).same(100.0, 110.0)
    assert not Rel(0.1).same(0.0, 1e-300)
    assert not Rel(0.095).same(100.0, 110.0)
    assert Rel(0.095).same(110.0, 100.0)


def test_a_quantum_compares_at_the_decision_boundary_half_to_even():
    assert Quantum(1.0).same(0.5, 0.4)
    assert not Quantum(1.0).same(1.5, 1.4)
    assert Quantum(0.01).same(1.0049, 1.0001)
    assert not Quantum(1e-10).same(1e308, 1.1e308)


@pytest.mark.parametrize(
    ("recorded", "replayed", "where"),
    [
        (1, 1.0, ""),
        (True, 1, ""),
        ([1], (1,), ""),
        ([1.0], [1.0, 2.0], ""),
        ({"a": 1}, {"b": 1}, ".a"),
        ({}, {"not a name": 1}, "['not a name']"),
        ({"a": [0, {"b": "x"}]}, {"a": [0, {"b": "y"}]}, ".a[1].b"),
        (np.zeros(2), np.zeros(3), ""),
        (np.zeros(2, "f4"), np.zeros(2, "f8"), ""),
        (np.array([1, 2]), np.array([1, 3]), "[1]"),
        (np.array([["a", "b"]]), np.array([["a", "c"]]), "[0, 1]"),
        (np.array([{"k": 1}], dtype=object), np.array([{"k": 2}], dtype=object), "[0].k"),
        (
            np.array([(1, "x")], dtype=[("n", "i4"), ("s", "U1")]),
            np.array([(1, "y")], dtype=[("n", "i4"), ("s", "U1")]),
            "['s'][0]",
        ),
        (10**400, 10**400 + 1, ""),
    ],
)
def test_structure_types_and_integers_are_exact_under_a_tolerance(recorded, replayed, where):
    verdict = Abs(1e9).same(recorded, replayed)

    assert verdict == Verdict(same=False, distance=None, where=where)


def test_integers_have_a_tolerance_where_it_is_declared():
    assert Abs(2, integers=True).same({"n": 2**60}, {"n": 2**60 + 2})
    assert not Abs(2, integers=True).same({"n": 2**60}, {"n": 2**60 + 3})
    assert not Abs(2, integers=True).same(True, False)
    far = Abs(2, integers=True).same(np.array([1, 2**62]), np.array([2, 2**62 + 3]))
    assert far == Verdict(same=False, distance=3.0, where="[1]")
    assert not Rel(0.5, integers=True).same(10**400, 1)


def test_the_verdict_names_the_largest_distance_and_where_it_is():
    @dataclass
    class Body:
        speed: np.ndarray
        mass: float

    recorded = [Body(np.array([[1.0, 2.0]]), 1.0), Body(np.array([[1.0, 2.0]]), 1.0)]
    replayed = [Body(np.array([[1.0, 2.25]]), 1.0), Body(np.array([[1.0, 2.0]]), 1.75)]

    assert Abs(1).same(recorded, replayed) == Verdict(same=True, distance=0.75, where="[1].mass")
    assert Abs(0.5).same(recorded, replayed).same is False
    assert Abs(0).same(recorded[0], replayed[0]).where == ".speed[0, 1]"


def test_complex_numbers_scalars_and_odd_dtypes_are_compared():
    assert Abs(0.5).same(1 + 1j, 1 + 1.5j)
    assert not Abs(0.4).same(np.array([1 + 1j]), np.array([1 + 1.5j]))
    assert Ulp(1).same(np.float32(1), np.nextafter(np.float32(1), np.float32(2)))
    assert not Ulp(1).same(np.float64(1), np.float32(1))
    assert Exact().same(np.array([np.nan], "g"), np.array([np.nan], "g"))
    assert not Exact().same(np.array([1], "g"), np.array([2], "g"))
    assert Exact().same(np.array(["NaT"], "M8[s]"), np.array(["NaT"], "M8[s]"))


def test_the_order_of_keys_does_not_count():
    assert Exact().same({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0})


@pytest.mark.parametrize("equivalence", ALL, ids=str)
def test_a_measure_survives_json_and_says_what_it_is(equivalence):
    text = json.dumps(equivalence.to_json())

    assert tolerance_from_json(json.loads(text)) == equivalence
    assert equivalence.describe().startswith("they ")


@pytest.mark.parametrize(
    ("equivalence", "text"),
    [
        (Exact(), "exact"),
        (Abs(1e-6), "abs:1e-06"),
        (Rel(0.5), "rel:0.5"),
        (Ulp(4), "ulp:4"),
        (Quantum(0.01), "quantum:0.01"),
    ],
)
def test_a_measure_is_written_with_its_amount(equivalence, text):
    assert str(equivalence) == text


@pytest.mark.parametrize(
    ("make", "amount"),
    [
        (Abs, -1),
        (Abs, math.nan),
        (Abs, math.inf),
        (Rel, "1"),
        (Rel, True),
        (Ulp, 1.5),
        (Ulp, -1),
        (Quantum, 0),
    ],
)
def test_a_measure_that_makes_no_sense_is_refused(make, amount):
    with pytest.raises(ClassRefused):
        make(amount)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"measure": "abs"},
        {"measure": "abs", "epsilon": "1"},
        {"measure": "abs", "epsilon": True},
        {"measure": "abs", "epsilon": 1, "integers": "yes"},
        {"measure": "exact", "more": 1},
        {"measure": ["abs"]},
    ],
)
def test_json_that_is_no_measure_is_refused(data):
    with pytest.raises(ClassRefused):
        tolerance_from_json(data)


def test_an_opaque_value_is_compared_like_what_it_stands_for():
    recorded = decode(encode([Spot(1.0, Shade.DARK), Shade.DARK]))

    verdict = Abs(1).same(recorded, [Spot(1.5, Shade.DARK), Shade.DARK])
    assert verdict == Verdict(same=True, distance=0.5, where="[0].x")
    assert Abs(1).same(recorded, [Spot(1.0, Shade.DARK), Shade.LIGHT]).where == "[1]"


def test_a_decimal_that_is_no_number_is_the_same_as_itself():
    assert Abs(1).same([Decimal("NaN"), 1.0], [Decimal("NaN"), 1.5])
    assert not Abs(1).same(Decimal("NaN"), Decimal("sNaN12"))


def test_values_without_a_canonical_form_are_compared_by_equality():
    class Odd:
        def __eq__(self, other):
            return isinstance(other, Odd)

        __hash__ = None

    assert Abs(1).same({"a": [Odd(), 1.0]}, {"a": [Odd(), 1.5]})
    assert Abs(1).same([Odd()], [object()]).where == "[0]"


def test_a_value_that_contains_itself_ends():
    recorded, replayed = [1.0], [1.5]
    recorded.append(recorded)
    replayed.append(replayed)

    assert Abs(1).same(recorded, replayed) == Verdict(same=True, distance=0.5, where="[0]")


@pytest.mark.parametrize(
    ("a", "b", "paths"),
    [
        ([1.0, 2.0, 3.0], [1.0000000001, 5.0, 3.0, 4.0], {"s", "s[1]"}),
        ([[1.0], [2.0]], [[1.0], [5.0], [3.0]], {"s", "s[1][0]"}),
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0], {"s"}),
    ],
)
def test_of_lists_of_other_lengths_what_lies_beyond_the_tolerance_is_named(
    a: list[object], b: list[object], paths: set[str]
) -> None:
    found = {each.path: each for each in walk(a, b, root="s", tolerance=Abs(1e-6))}

    assert found.keys() == paths
    assert found["s"].differing == 1
