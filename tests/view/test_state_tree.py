"""The tree of a state: nothing of a program's is taken for a form of the server's, and marks tell what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import UsageError
from twice.foundation.comparison import short
from twice.foundation.encoding import decode, encode
from twice.report.values import find_part, list_numbers
from twice.view import state_tree
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
LEAVES = st.integers() | st.floats() | st.sampled_from(["t", None, True])
OF_NUMPY = st.sampled_from([np.float64(1), np.int64(1), np.bool_(True), np.array(1.0)])


def make_states(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    values = st.recursive(
        leaves,
        lambda each: st.lists(each, max_size=3) | st.dictionaries(KEYS, each, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(NAMES, values, min_size=1, max_size=4).map(encode).map(decode)


STATES = make_states(LEAVES)


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
        (np.array([0.1], "f4"), np.array([0.1]), ["s", "s[0]"]),
        (np.array([1.0]), [1.0], ["s"]),
        ([np.float64(1)], [1.0], ["s", "s[0]"]),
        ([np.float64(1)], [np.float32(1)], ["s", "s[0]"]),
        ([np.float64(1)], [np.array(1.0)], ["s", "s[0]"]),
        ([np.str_("a")], ["a"], ["s", "s[0]"]),
        ([b"a"], [bytearray(b"a")], ["s", "s[0]"]),
        (np.array([1], "M8[s]"), np.array([2], "M8[s]"), ["s", "s[0]"]),
        (np.array([1], "M8[s]"), np.array([1], "M8[ms]"), ["s", "s[0]"]),
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


@given(*[make_states(LEAVES | OF_NUMPY)] * 2)
def test_of_two_parts_that_differ_the_texts_do(a: dict[str, Any], b: dict[str, Any]) -> None:
    one, two = (dict(walk(describe_state(each))) for each in (a, b))
    for path in one.keys() & two.keys():
        is_whole = not (one[path]["size"] or two[path]["size"])
        if is_whole and one[path]["mark"] != two[path]["mark"]:
            assert one[path]["text"] != two[path]["text"]


def test_a_number_of_numpy_says_so() -> None:
    state = {"s": {"x": np.float32(0.5), "y": np.array(0.5), "z": 0.5, "list": np.array([0.5])}}
    texts = {path: node["text"] for path, node in describe(state).items()}

    assert [texts[f"s.{name}"] for name in "xyz"] == ["0.5 (float32)", "0.5 (float64 [])", "0.5"]
    assert texts["s.list[0]"] == "0.5"


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


def test_marks_read_a_deep_state_once(monkeypatch: pytest.MonkeyPatch) -> None:
    state: Any = "innermost"
    for level in range(1000):
        state = {"below": state, "beside": [level, str(level)]}
    visits = Counter[int]()

    def count(read: Callable[[object], Any]) -> Callable[[object], Any]:
        def counted(value: object) -> Any:
            visits[id(value)] += isinstance(value, dict | list)
            return read(value)

        return counted

    for name in ("decompose", "digest_value", "encode_parts"):
        monkeypatch.setattr(state_tree, name, count(getattr(state_tree, name)))
    assert len(describe_state({"s": state})["parts"]) == 1
    assert visits.total() <= 2 * 1000 + LEVELS_MAX


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
    assert told["notes"] == []


def test_a_path_in_a_comparison_names_its_component() -> None:
    a, b = {"a": {"b": {"c": 1}}, "a.b": {"c": 2}}, {"a.b": {"c": 3}, "d[0]": 1}

    assert [(each["path"], each["a"], each["b"]) for each in compare_states(a, b)["fields"]] == [
        ("['a']", "dict of 1", "(absent)"), ("['a.b'].c", "2", "3"), ("d[0]", "(absent)", "1"),
    ]  # fmt: skip


def test_a_comparison_shows_where_two_long_texts_part() -> None:
    a, b = ({"s": {"text": "x" * 5000 + end}} for end in ("0", "1"))

    (field,) = compare_states(a, b)["fields"]

    assert (field["a"], field["b"]) == (f"...{'x' * 20}0'", f"...{'x' * 20}1'")


def test_a_comparison_goes_into_lists_of_other_lengths() -> None:
    grown = [[{"n": at} for at in order] for order in (range(9), (0, 7, 2, 8, 4, 5, 6, 7, 8, 9))]
    shifted = [[[at] for at in range(start, 9)] for start in (0, 1)]
    a, b = ({"s": {"grown": grown[at], "shifted": shifted[at]}} for at in (0, 1))

    told = compare_states(a, b)

    assert [(each["path"], each["kind"], each["differing"]) for each in told["fields"]] == [
        ("s.grown", "shape", 3), ("s.grown[1]['n']", "value", 1), ("s.grown[3]['n']", "value", 1),
        ("s.shifted", "shape", 9), ("s.shifted[0][0]", "value", 1),
    ]  # fmt: skip
    assert "of other lengths" in told["notes"][0]


def test_a_comparison_says_when_it_stopped() -> None:
    a, b = ({"s": {str(key): [key + more] for key in range(2000)}} for more in (0, 1))

    told = compare_states(a, b)

    assert len(told["fields"]) == FIELDS_MAX
    assert told["notes"] == ["These are the first 300 differences. There are more."]


@given(STATES)
def test_a_path_leads_to_its_number_or_is_refused(state: dict[str, Any]) -> None:
    nodes = [*walk(describe_state(state))]
    assert len({path for path, _ in nodes}) == len(nodes)
    numbers = [(path, node["text"]) for path, node in nodes if node["is_number"]]
    for path, text in [*numbers, *((path, str(value)) for path, value in list_numbers(state))]:
        with suppress(UsageError):
            assert str(find_part(state, path)) == text


@given(STATES, STATES)
def test_a_path_in_a_comparison_leads_to_the_values(a: dict[str, Any], b: dict[str, Any]) -> None:
    for field in compare_states(a, b)["fields"]:
        for side, state in (("a", a), ("b", b)):
            with suppress(UsageError):
                if field["kind"] == "value":
                    assert short(find_part(state, field["path"])) == field[side]


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
