"""Differences: found where they are, measured, and readable."""

from __future__ import annotations

import copy
import dataclasses
import enum
import math
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

from twice.foundation.comparison import FieldDifference, differences, walk
from twice.foundation.digests import Algorithm, Digest, digest_value
from twice.foundation.encoding import OpaqueKind, OpaqueValue, decode, encode


class Kind(enum.Enum):
    ORC = 1
    ELF = 2


@dataclasses.dataclass
class Agent:
    speed: float
    tags: list[str]


def only(a: object, b: object, **how: object) -> FieldDifference:
    (found,) = differences(a, b, **how)
    return found


def test_a_float_is_measured_in_ulps() -> None:
    found = only({"w": Agent(1.0, [])}, {"w": Agent(math.nextafter(1.0, 2), [])})
    assert found == FieldDifference(
        "state['w'].speed", "value", "1.0", "1.0000000000000002", 1, 1, 1, 2.0**-52
    )


@pytest.mark.parametrize(
    ("a", "b", "kind", "ulps", "magnitude"),
    [
        (0.0, -0.0, "value", 0, 0.0), (math.nan, 1.0, "value", None, None),
        (math.inf, 1.0, "value", None, None), (1, 3, "value", None, 2.0), (10**400, 1, "value", None, None),
        (1, 1.0, "type", None, None), (True, 1, "type", None, None), ("a", "b", "value", None, None),
        (None, 0, "type", None, None), ([1], (1,), "type", None, None), (b"a", "a", "type", None, None),
        (Kind.ORC, Kind.ELF, "value", None, None), ([], [[]], "shape", None, None),
        (np.float32(1), np.float64(1), "type", None, None), (np.float64(1), 1.0, "type", None, None),
        (np.array(1.0), np.float64(1), "type", None, None), (1j, 2j, "value", None, None),
        (np.float32(1), np.nextafter(np.float32(1), np.float32(2)), "value", 1, 2.0**-23),
        ({1}, {2}, "missing", None, None), (range(3), range(4), "value", None, None),
    ],
)  # fmt: skip
def test_one_place_has_one_kind(
    a: object, b: object, kind: str, ulps: int | None, magnitude: float | None
) -> None:
    found = only(a, b)
    assert (found.path, found.kind, found.ulps, found.magnitude) == ("state", kind, ulps, magnitude)


def test_an_array_says_how_many_where_and_how_far() -> None:
    a = np.zeros((4, 3))
    b = a.copy()
    b[3, 1], b[3, 2] = 0.25, -0.5
    found = only({"position": a}, {"position": b}, component="swarm")
    assert found.path == "swarm.position[3, 1]"
    assert (found.differing, found.of, found.magnitude) == (2, 12, 0.5)
    assert (found.a, found.b) == ("0.0", "0.25")


def test_array_dtype_shape_order_and_structures_are_told_apart() -> None:
    a = np.array([3, 1, 2])
    assert only(a, a.astype("i4")).kind == "type"
    assert only(a, a.reshape(1, 3)).kind == "shape"
    moved = only(a, np.sort(a))
    assert (moved.kind, moved.path, moved.differing, moved.of) == ("order", "state[0]", 3, 3)
    padded = np.zeros(2, np.dtype([("a", "u1"), ("b", "f8")], align=True))
    changed = padded.copy()
    changed["b"][1] = 1
    assert only(padded, changed).path == "state[1]"
    assert only(np.array(["x", "y"]), np.array(["x", "z"])).path == "state[1]"
    assert only(np.array([1j]), np.array([1j + 5e-324])).ulps == 1
    assert only(np.array([np.nan]), np.array([-np.nan])).kind == "value"
    big = only(np.array([0], "u8"), np.array([2**64 - 1], "u8"))
    assert big.magnitude == float(2**64 - 1)


def test_the_same_items_elsewhere_are_an_order() -> None:
    found = only([{"a": 1}, {"b": 2}, 3], [{"b": 2}, {"a": 1}, 3])
    assert (found.kind, found.path, found.differing, found.of) == ("order", "state[0]", 2, 3)
    assert only([1.0, 2.0], [2.0, 1.0]).kind == "order"


def test_the_order_of_a_dict_is_no_difference() -> None:
    assert differences({"a": 1, "b": 2}, {"b": 2, "a": 1}) == []


def test_a_list_that_grew_names_its_length_and_the_first_change() -> None:
    found = differences([1, [2], 3], [0, 1, [2], 3])
    assert [(one.kind, one.path) for one in found] == [("value", "state[0]"), ("shape", "state")]
    assert (found[1].a, found[1].b) == ("3 items", "4 items")


def test_a_list_that_grew_names_every_change_if_later_items_agree() -> None:
    found = differences([[1], [2], [3], [4]], [[0], [2], [0], [4], [5]])
    assert [(one.kind, one.path) for one in found] == [
        ("value", "state[0][0]"), ("value", "state[2][0]"), ("shape", "state"),
    ]  # fmt: skip
    assert (found[2].differing, found[2].of) == (3, 5)


def test_a_list_of_numbers_that_grew_says_how_many_differ() -> None:
    found = differences([1, 2, 3, 4], [0, 2, 0, 4, 5])
    assert [(one.kind, one.path, one.differing, one.of) for one in found] == [
        ("value", "state[0]", 2, 4), ("shape", "state", 3, 5),
    ]  # fmt: skip
    assert [one.path for one in differences([1, 2], [1, 2, 3])] == ["state"]


@pytest.mark.parametrize(
    ("a", "b"), [("x" * 200, "x" * 201), (b"x" * 200, b"x" * 199 + b"y"), (10**200, 10**200 + 1)]
)
def test_long_texts_are_shown_where_they_part(a: object, b: object) -> None:
    for found in (only(a, b), only([a], [b]), only(np.array([str(a)]), np.array([str(b)]))):
        assert found.a != found.b
        assert len(found.a) <= 80
        assert len(found.b) <= 80


def test_a_key_on_one_side_is_missing_on_the_other() -> None:
    found = differences({"a": 1, "my key": [2]}, {"b": 1}, component="swarm")
    assert [(one.path, one.a, one.b) for one in found] == [
        ("swarm.a", "1", "(absent)"),
        ("swarm.b", "(absent)", "1"),
        ("swarm['my key']", "list of 1", "(absent)"),
    ]


def test_the_smallest_difference_comes_first_and_the_limit_cuts_the_largest() -> None:
    a = {"far": 1.0, "near": 1.0, "steps": 5, "text": "a", "gone": 0}
    b = {"far": 2.0, "near": math.nextafter(1.0, 2), "steps": 7, "text": "b"}
    paths = [one.path for one in differences(a, b)]
    assert paths == [f"state['{key}']" for key in ("near", "steps", "far", "text", "gone")]
    assert [one.path for one in differences(a, b, limit=2)] == paths[:2]


def test_opaque_values_are_compared_like_what_they_stand_for() -> None:
    a, b = [Agent(1.0, ["x"]), Kind.ORC], [Agent(1.0, ["y"]), Kind.ELF]
    opaque = decode(encode(b))
    assert [one.path for one in differences(a, opaque)] == ["state[0].tags[0]", "state[1]"]
    assert differences(b, opaque) == []


def test_fields_in_another_order_are_a_difference() -> None:
    one = namedtuple("Spot", ["x", "y"])(1, 1)  # noqa: PYI024
    two = OpaqueValue(OpaqueKind.NAMED_TUPLE, f"{type(one).__module__}:Spot", (("y", 1), ("x", 1)))
    assert only(one, two).kind == "order"


def test_values_print_short_and_run_nothing() -> None:
    class Loud:
        def __repr__(self) -> str:
            raise AssertionError("a user's repr was run")

    loud = dataclasses.make_dataclass("Quiet", ["x"], namespace={"__repr__": Loud.__repr__})
    found = only({"a": loud(1)}, {"a": "x" * 500})
    assert len(found.b) <= 90
    assert "Quiet" in found.a


def test_an_integer_too_wide_to_print_is_named_by_its_width() -> None:
    assert only([10**5000, "x"], [1, "x"]).a == "int of 16610 bits"
    assert only({10**5000: 1}, {10**5000: 2}).path == "state[<int>]"


def test_json_has_the_fields_of_the_contract() -> None:
    found = only({"x": 1.0}, {"x": 1.5}, component="swarm")
    assert found.to_json() == {
        "path": "swarm.x", "kind": "value", "a": "1.0", "b": "1.5", "ulps": 2**51, "magnitude": 0.5, "differing": 1,
        "of": 1,
    }  # fmt: skip
    assert only({"x": 1.0}, {"x": math.inf}).to_json()["magnitude"] is None


def test_a_deep_difference_is_found_without_a_reading_for_each_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def nest(innermost: object) -> object:
        for level in range(1000):
            innermost = {"below": innermost, "beside": [level, str(level)]}
        return innermost

    readings = []

    def read(value: object, algorithm: Algorithm, **options: Any) -> Digest:
        readings.append(value)
        return digest_value(value, algorithm, **options)

    monkeypatch.setattr(walk, "digest_value", read)
    found = only(nest([1, "a"]), nest([1, "b"]))
    below = "['below']" * 1000
    assert found.path == f"state{below}[1]"
    assert len(readings) < 50


def test_one_change_in_a_large_state_is_one_difference() -> None:
    a = [{"id": i, "x": float(i), "tags": ["t", str(i)]} for i in range(2000)]
    b = copy.deepcopy(a)
    b[1500]["tags"][1] = "!"
    assert only(a, b).path == "state[1500]['tags'][1]"
