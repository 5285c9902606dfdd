from __future__ import annotations

import enum
import json
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from twice.errors import UsageError
from twice.foundation.encoding import decode, encode
from twice.foundation.printable import printable
from twice.report.values import as_json, find_part, inline, limit_leaves, lines, list_numbers


@dataclass
class Boat:
    name: str
    load: float


class Colour(enum.Enum):
    RED = 1


def opaque(value: object) -> object:
    """Return a value as a reader without the program's types sees it."""
    return decode(encode(value))


def test_no_character_of_a_record_reaches_the_terminal_as_a_command() -> None:
    hostile = "\x1b[2Jred\u202e\r\n\x9b\ud800"

    assert printable(hostile) == "\\x1b[2Jred\\u202e\\r\\n\\x9b\\ud800"
    assert "\x1b" not in inline(["\x1b[2J"])
    assert not any("\x1b" in line for line in lines({"\x1b]0;": "\x1b"}, "x"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (1.5, 1.5),
        (math.inf, {"float": "inf"}),
        (b"\x00\xff", {"bytes": "00ff"}),
        ((1, [2]), [1, [2]]),
        ({3, 1, 2}, {"set": [1, 2, 3]}),
        ({1: "a"}, {"map": [[1, "a"]]}),
        (
            np.array([[1, 2]], "<i2"),
            {"array": {"dtype": "int16", "shape": [1, 2], "values": [[1, 2]]}},
        ),
        (np.float32(0.5), 0.5),
        (Fraction(1, 3), {"text": "Fraction(1, 3)"}),
    ],
)
def test_a_value_has_one_form_in_json(value: object, expected: object) -> None:
    found = as_json(opaque(value))

    assert found == expected
    assert json.loads(json.dumps(found, allow_nan=False)) == expected


def test_types_of_a_program_stay_names() -> None:
    told = as_json(opaque({"boat": Boat("Fram", 2.0), "colour": Colour.RED}))

    assert told["boat"]["type"].endswith(":Boat")
    assert told["boat"]["fields"] == {"load": 2.0, "name": "Fram"}
    assert "Colour.RED" in told["colour"]["text"]
    assert inline(opaque(Boat("Fram", 2.0))).endswith(":Boat load: 2.0, name: 'Fram'>")


def test_not_a_number_in_an_array_is_said_and_not_json_nan() -> None:
    told = as_json(np.array([1.0, math.nan]))

    assert told["array"]["values"] == [1.0, {"float": "nan"}]


def test_long_values_say_how_much_is_left_out() -> None:
    listed = list(lines(list(range(100)), "x"))
    array = list(lines(np.arange(1000), "x"))

    assert listed[-1] == "x: 68 of 100 are not shown"
    assert array == ["x = int64 [1000]: 0 1 2 3 4 5 6 7 ... (1000 in all)"]


def test_short_containers_stand_on_one_line() -> None:
    assert list(lines({"a": 1, "b": [1, 2]}, "s")) == ["s['a'] = 1", "s['b'] = [1, 2]"]
    assert inline((1, "x")) == "(1, 'x')"


def test_depth_ends_somewhere() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]

    assert "text" in json.dumps(as_json(deep))
    assert len(list(lines(deep, "x"))) == 1


def test_a_part_is_found_by_the_path_of_a_diagnosis_or_of_a_line() -> None:
    state = {
        "a": {"b": 1, "b.c": 2, 3: [4, {"d": None}]},
        "a.b": opaque(Boat("Fram", 7.5)),
        "array": np.arange(6).reshape(2, 3),
    }
    paths: dict[str, Any] = {
        "a.b": state["a.b"], "a['b']": 1, "a['b.c']": 2, "a[3][0]": 4, "a[3][1].d": None,
        "a.b.load": 7.5, "array[1, 2]": 5, "array[1]": [3, 4, 5],
    }  # fmt: skip

    for path, value in paths.items():
        assert np.array_equal(find_part(state, path), value), path
    for path in (
        "c",
        "a.",
        "a.x",
        "a.b.loa",
        "a[3][2]",
        "array[2, 0]",
        "array[0, 0, 0]",
        "array.x",
    ):
        with pytest.raises(KeyError):
            find_part(state, path)


def test_a_path_with_two_meanings_is_refused_and_each_has_a_path_of_its_own() -> None:
    state = {"a": {"b": {"c": 1}, 0: 5}, "a.b": {"c": 2}, "ab": {"c": 3}}

    with pytest.raises(UsageError, match="several parts"):
        find_part(state, "a.b.c")
    found = dict(list_numbers(state))

    assert found == {"['a'].b.c": 1, "['a'][0]": 5, "['a.b'].c": 2, "ab.c": 3}
    assert {path: find_part(state, path) for path in found} == found


def test_no_two_keys_have_one_path() -> None:
    long = "x" * 300
    keys = [
        (0, 0),
        (0, 1),
        (0, (1,)),
        (0, "1"),
        (),
        "0",
        0,
        1.5,
        None,
        b"0",
        long + "a",
        long + "b",
    ]
    keys += [
        "it's",
        'it"s',
        "a\nb",
        "a\\nb",
        Fraction(1, 3),
        Fraction(2, 3),
        10**5000,
        10**5000 + 1,
    ]
    keys += [tuple(range(300)), (*range(299), 0), "x['y']'", "x.y'"]
    state = {"grid": opaque(dict(zip(keys, range(len(keys)), strict=True)))}

    found = dict(list_numbers(state))

    assert len(found) == len(keys)
    assert {path: find_part(state, path) for path in found} == found
    assert found["grid[(0, 1)]"] == 1


@pytest.mark.parametrize(
    ("limit", "kept", "others"),
    [
        (1, {"a": [1]}, 4),
        (3, {"a": [1, {"b": 2, "c": []}]}, 2),
        (5, {"a": [1, {"b": 2, "c": []}], "d": {}, "e": "x"}, 0),
    ],
)
def test_the_first_leaves_are_kept_and_the_others_counted(
    limit: int, kept: object, others: int
) -> None:
    value = {"a": [1, {"b": 2, "c": []}], "d": {}, "e": "x"}

    assert limit_leaves(value, limit) == (kept, others)
