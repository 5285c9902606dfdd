"""Dataclasses come back from plain data as they were, and what does not fit is named by its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from twice.foundation.dataclass_codec import OPTIONAL, from_plain, to_plain


@dataclass(frozen=True)
class Leaf:
    """A part of the whole."""

    name: str
    digest: bytes = b""


@dataclass(frozen=True)
class Tree:
    """One field of each kind."""

    count: int
    rows: tuple[tuple[str, bytes, int], ...]
    names: Sequence[str]
    leaves: Mapping[str, tuple[Leaf, ...]]
    parent: Leaf | None
    free: dict[str, Any]
    added: float = field(default=0.5, metadata=OPTIONAL)


TREE = Tree(
    count=3,
    rows=(("a", b"\0", 1), ("b", b"", 2)),
    names=("x", "y"),
    leaves={"left": (Leaf("l", b"1"), Leaf("m")), "right": ()},
    parent=None,
    free={"anything": [1, None, {"else": []}]},
    added=1.5,
)


def read(data: object) -> Any:
    def refuse(place: str, found: object, expected: str) -> Exception:
        return ValueError(f"{place}: {expected}, not {type(found).__name__}")

    return from_plain(Tree, data, "", refuse)


@pytest.mark.parametrize("parent", [None, Leaf("root", b"r")])
def test_a_value_comes_back(parent: Leaf | None) -> None:
    tree = Tree(**{**vars(TREE), "parent": parent})
    assert read(to_plain(tree)) == tree
    assert read({**to_plain(tree), "unknown": 1}) == tree


def test_an_instance_stands_for_itself() -> None:
    assert read({**to_plain(TREE), "parent": Leaf("as it is")}).parent == Leaf("as it is")


def test_a_field_that_older_documents_lack_has_its_default() -> None:
    plain = to_plain(TREE)
    del plain["added"]
    assert read(plain).added == 0.5


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("count", True, "count: a whole number, not bool"),
        ("rows", [["a", b"", 1], ["b", b""]], r"rows\[1\]: a list of 3, not list"),
        ("rows", [["a", "b", 1]], r"rows\[0\]\[1\]: bytes, not str"),
        ("names", ["x", 1], "names: a list of text, not list"),
        ("names", "xy", "names: a list, not str"),
        ("leaves", {"left": [{"name": 1}]}, r"leaves.left\[0\].name: text, not int"),
        ("leaves", {1: []}, "leaves.1: text, not list"),
        ("parent", {"name": "p"}, "parent.digest: bytes, not NoneType"),
        ("free", [], "free: an object, not list"),
    ],
)
def test_what_does_not_fit_is_named_by_its_place(name: str, value: object, told: str) -> None:
    with pytest.raises(ValueError, match=f"^{told}$"):
        read({**to_plain(TREE), name: value})


@pytest.mark.parametrize("name", ["count", "rows", "names", "leaves", "parent", "free"])
def test_a_field_that_is_left_out_is_refused(name: str) -> None:
    plain = to_plain(TREE)
    del plain[name]
    with pytest.raises(ValueError, match=f"^{name}: "):
        read(plain)
