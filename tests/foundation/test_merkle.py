"""Merkle trees: the same digest by every way, and one changed leaf changes its path alone."""

from __future__ import annotations

import copy
import dataclasses
from typing import NamedTuple

import numpy as np
import pytest

from twice.errors import EncodingCycle, EncodingRefused
from twice.foundation.digests import Algorithm, digest_value
from twice.foundation.encoding import decode, encode
from twice.foundation.merkle import Node, rehash, tree


@dataclasses.dataclass
class Agent:
    speed: float
    tags: list[str]


class Spot(NamedTuple):
    x: int
    y: object


def state() -> dict[str, object]:
    return {
        "agents": [Agent(1.0, ["a", "é"]), Agent(2.0, [])],
        "grid": np.arange(12).reshape(3, 4),
        "spot": Spot(1, {"deep": [None, 5]}),
        "numbers": [1.0, 2.0],
        "odd": {1: {2, 3}, (4,): b"x"},
    }


def node_at(node: Node, *path: object) -> Node:
    for step in path:
        node = node.children[encode(step)]
    return node


def test_size_is_the_length_of_the_canonical_form() -> None:
    assert tree(state()).size == len(encode(state()))


def test_a_leaf_has_the_digest_of_its_value_and_a_node_has_not() -> None:
    node = tree(state())
    assert node_at(node, "grid").labelled == digest_value(state()["grid"])
    assert node_at(node, "numbers").kind == "leaf"
    assert node.labelled != digest_value(state())


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("agents", 0, "tags", 1), "é"),
        (("spot", "y", "deep", 1), 5),
        (("odd", (4,)), b"x"),
        (("odd", 1), {2, 3}),
        (("agents",), [Agent(1.0, ["a", "é"]), Agent(2.0, [])]),
    ],
)
def test_a_node_inside_is_the_tree_of_the_value_there(
    path: tuple[object, ...], value: object
) -> None:
    assert node_at(tree(state()), *path) == tree(value)


def test_one_changed_leaf_changes_the_nodes_on_its_path_alone() -> None:
    before = tree(state())
    value = state()
    value["agents"][1].speed = 2.5
    after = tree(value)
    changed = [key for key in before.children if before.children[key] != after.children[key]]
    assert changed == [encode("agents")]
    assert node_at(before, "agents", 0) == node_at(after, "agents", 0)
    assert node_at(before, "agents", 1, "tags") == node_at(after, "agents", 1, "tags")


def test_opaque_values_have_the_tree_of_what_they_stand_for() -> None:
    assert tree(decode(encode(state()))).digest == tree(state()).digest


def test_kinds_and_keys_count() -> None:
    values = [[None], (None,), {"a": None}, {"b": None}, [[None]], None, [], (), {}, Spot(1, None)]
    assert len({tree(value).digest for value in values}) == len(values)


@pytest.mark.parametrize("algorithm", Algorithm)
def test_rehash_walks_only_what_is_named(algorithm: Algorithm) -> None:
    value = state()
    before = tree(value, algorithm)
    value["agents"] = None
    value["untold"] = object  # has no canonical form: a full walk would be refused
    del value["untold"]
    value["grid"][0, 0] = 7
    after = rehash(before, value, ["agents", "grid", "not there"], algorithm)
    assert after == tree(value, algorithm)
    unnamed = rehash(before, value, ["agents"], algorithm)
    assert unnamed != after, "what is not named keeps its old digest"


def test_rehash_notices_keys_that_came_or_went_and_other_kinds() -> None:
    before = tree(state())
    value = state()
    del value["spot"]
    value["new"] = 1
    for other in (value, {}, [1, [2]], [1.0], 5, dict(reversed(state().items())), Agent(1.0, [])):
        assert rehash(before, other, []) == tree(other)
    assert rehash(tree(state(), Algorithm.SHA256), state(), []) == tree(state())


def test_refusals_name_the_path_from_the_root() -> None:
    with pytest.raises(EncodingRefused) as caught:
        tree({"a": [1, object()]})
    assert caught.value.fields["path"] == "state['a'][1]"
    cycle = copy.copy(state())
    cycle["agents"] = [cycle]
    with pytest.raises(EncodingCycle):
        tree(cycle)


def test_depth_does_not_matter() -> None:
    deep: object = None
    for _ in range(5000):
        deep = [deep]
    assert tree(deep).size == len(encode(deep))
