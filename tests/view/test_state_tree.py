"""The tree of a state: nothing of a program's is taken for a form of the server's, and marks tell what differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import UsageError
from twice.foundation.encoding import decode, encode
from twice.report.values import find_part, list_numbers
from twice.view.state_tree import (
    FIELDS_MAX,
    LEVELS_MAX,
    NODES_MAX,
    PARTS_MAX,
    compare_states,
    describe_state,
)

NAMES = st.sampled_from(
    [
        "a",
        "b",
        "a.b",
        "b.c",
        "a['b']",
        "['a']",
        "a[0]",
        "0",
        "",
        "'",
        '"',
        "x['y']'",
        "x.y'",
        "[0]",
        "]",
        ".",
        "map",
    ]
)
KEYS = NAMES | st.sampled_from([0, 1.5, None, (0,), (0, "a"), b"a"])
VALUES = st.recursive(
    st.integers() | st.floats() | st.sampled_from(["t", None, True]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=3),
    max_leaves=8,
)
STATES = st.dictionaries(NAMES, VALUES, min_size=1, max_size=4).map(encode).map(decode)


def walk(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for part in node.get("parts", ()):
        below = part.get("path", path + part["label"])
        yield below, part
        yield from walk(part, below)


def describe(state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the nodes of a state that was recorded, by their paths; each label is there once."""
    found = [*walk(describe_state({name: decode(encode(each)) for name, each in state.items()}))]
    assert len({path for path, _ in found}) == len(found)
    return dict(found)


def list_differing(a: Any, b: Any) -> list[str]:
    one, two = describe({"s": a}), describe({"s": b})
    return [path for path in one if path in two and one[path]["mark"] != two[path]["mark"]]


@pytest.mark.parametrize(
    "value",
    [
        {"map": [[0, 1, 1], [0, 9, 1], [1, 0, 0]]},
        {"map": [None, None]},
        {"text": "hello"},
        {"set": [1, 2]},
        {"integer": "5"},
        {"float": "1.5"},
        {"bytes": "00ff"},
        {"bytes": "00ff", "omitted": 2},
        {"array": {"dtype": "int8", "shape": [1], "values": [1]}},
        {"type": "adam", "fields": {"lr": 0.1}},
        {"label": "x", "text": "y", "parts": [], "mark": "z", "size": 3},
    ],
)
def test_a_dict_of_a_program_is_a_dict(value: dict[str, Any]) -> None:
    found = describe({"s": value})

    assert found["s"]["text"] == f"dict of {len(value)}"
    assert {f"s.{key}" for key in value} < set(found)


def test_each_key_has_a_part_of_its_own() -> None:
    grid = {(0, 0): 1, (0, 1): 2, (1, 0): 3, 1: 4, "1": 5, None: 6, "x" * 300: 7, "x" * 301: 8}
    found = describe({"grid": grid})

    assert found["grid"]["text"] == "dict of 8"
    assert (found["grid[(0, 1)]"]["text"], found["grid['1']"]["text"]) == ("2", "5")
    assert sorted(node["text"] for node in found["grid"]["parts"]) == list("12345678")


def test_a_cut_value_says_so_and_what_it_is_of() -> None:
    state = {
        "big": {"array": np.arange(10_000.0).reshape(100, 100), "text": "x" * 5000, "bytes": b"\0" * 2001},
        "list": list(range(6000)),
        "keys": {key: key for key in range(3000)},
    }  # fmt: skip
    found = describe(state)

    array = found["big.array"]
    assert (array["text"], array["size"], len(array["parts"])) == (
        "float64 [100, 100]",
        10_000,
        1000,
    )
    assert array["parts"][150]["label"] == "[1, 50]"
    assert found["big.text"]["cut"] == "the first 1,000 of 5,000 characters"
    assert found["big.bytes"]["cut"] == "the first 1,000 of 2,001 bytes"
    assert (found["list"]["text"], len(found["list"]["parts"])) == ("list of 6,000", PARTS_MAX)
    assert all(len(node["parts"]) for _, node in found.items() if node["size"])
    assert describe_state(state)["omitted"] == 9000 + 5000 + 2000


@pytest.mark.parametrize(
    ("a", "b", "differing"),
    [
        (np.eye(100), np.eye(100) + np.outer(np.arange(100) == 50, np.arange(100) == 50), ["s"]),
        ({"x": "a" * 2000 + "0", "y": 1}, {"x": "a" * 2000 + "1", "y": 1}, ["s", "s.x"]),
        ({"x": b"a" * 2000 + b"0"}, {"x": b"a" * 2000 + b"1"}, ["s", "s.x"]),
        ({"x": list(range(6000)), "y": 1}, {"x": list(range(6001)), "y": 1}, ["s", "s.x"]),
        ([1], [1.0], ["s", "s[0]"]),
        ([0.0], [-0.0], ["s", "s[0]"]),
        ([float("nan")], [float("nan")], []),
        ((1,), [1], ["s"]),
        (np.array([1], "i4"), np.array([1], "i8"), ["s"]),
        (np.array([1.5, 2], "f4"), np.array([1.5, 3], "f4"), ["s", "s[1]"]),
        (np.array(["a"]), np.array(["b"]), ["s", "s[0]"]),
        (np.array([1], "M8[s]"), np.array([2], "M8[s]"), ["s", "s[0]"]),
        (np.array([(1, 2)], "i4,i4"), np.array([(1, 3)], "i4,i4"), ["s", "s[0]"]),
        ({1, 3}, {1, 2, 3}, ["s"]),
        (10**400, 10**400 + 1, ["s"]),
    ],
)  # fmt: skip
def test_marks_tell_what_differs_however_little_is_shown(
    a: Any, b: Any, differing: list[str]
) -> None:
    assert list_differing(a, b) == differing
    assert list_differing(b, a) == differing
    assert list_differing(a, a) == []


def test_a_large_component_hides_no_other() -> None:
    state = {"a": [list(range(900))] * 90, "b": {"m": np.eye(3)}, "c": {"same": 1}}
    found = describe(state)

    assert (found["c.same"]["text"], found["b.m[2, 2]"]["text"]) == ("1", "1.0")
    assert len(found) == NODES_MAX
    assert found["a[89]"]["size"] == 900


def test_what_is_nested_deeper_than_is_shown_has_its_size_and_mark() -> None:
    def nest(value: Any) -> Any:
        for _ in range(300):
            value = [value]
        return value

    one, two = (describe({"s": nest(value)}) for value in (1, 2))

    assert len(one) == LEVELS_MAX
    last = "s" + "[0]" * (LEVELS_MAX - 1)
    assert (one[last]["size"], "parts" in one[last]) == (1, True)
    assert all(one[path]["mark"] != two[path]["mark"] for path in one)


def test_only_a_number_with_a_path_can_be_plotted() -> None:
    state = {
        "s": {"set": {1, (2, 3)}, "flag": True, "x": 1, "text": "1", "array": np.array([1.5])},
    }
    numbers = [path for path, node in describe(state).items() if node["is_number"]]

    assert numbers == ["s.array[0]", "s.x"]


def test_components_of_which_one_begins_the_other_have_paths_of_their_own() -> None:
    parts = describe_state({"a": {"b": {"c": 1}}, "a.b": {"c": 2}, "d": 3})["parts"]

    assert [each["label"] for each in parts] == ["a", "a.b", "d"]
    assert [each["path"] for each in parts] == ["['a']", "['a.b']", "d"]


def test_two_states_are_compared_whole() -> None:
    a = {"big": {"array": np.zeros((100, 100)), "text": "x" * 5000, "same": 1}, "one": 1, "s": 2}
    b = {"big": {"array": np.eye(100), "text": "x" * 4999 + "y", "same": 1}, "two": 1, "s": 2}

    told = compare_states(a, b)

    assert [(each["path"], each["kind"], each["differing"]) for each in told["fields"]] == [
        ("big.array[0, 0]", "value", 100), ("big.text", "value", 1), ("one", "missing", 1), ("two", "missing", 1),
    ]  # fmt: skip
    assert told["is_whole"]


def test_a_comparison_says_when_it_stopped() -> None:
    a, b = ({"s": {str(key): [key + more] for key in range(2000)}} for more in (0, 1))

    told = compare_states(a, b)

    assert (len(told["fields"]), told["is_whole"]) == (FIELDS_MAX, False)


@given(STATES)
def test_a_path_leads_to_its_number_or_is_refused(state: dict[str, Any]) -> None:
    nodes = [*walk(describe_state(state))]
    assert len({path for path, _ in nodes}) == len(nodes)
    numbers = [(path, node["text"]) for path, node in nodes if node["is_number"]]
    for path, text in [*numbers, *((path, str(value)) for path, value in list_numbers(state))]:
        with suppress(UsageError):
            assert str(find_part(state, path)) == text


@given(STATES, STATES)
def test_marks_and_fields_agree_with_the_canonical_forms(
    a: dict[str, Any], b: dict[str, Any]
) -> None:
    for one, two in ((a, b), (a, a)):
        marks = [
            {path: node["mark"] for path, node in walk(describe_state(each))} for each in (one, two)
        ]
        is_equal = encode(one) == encode(two)
        assert (marks[0] == marks[1]) == is_equal
        assert (compare_states(one, two)["fields"] == []) == is_equal
