"""What an expression is, as far as its file says it."""

from __future__ import annotations

import ast

import pytest

from sourcefiles import call_of, last_value, module_of


@pytest.mark.parametrize(
    ("text", "name", "element"),
    [
        ("{'a', 'b'}", "set", "str"),
        ("{1, 2}", "set", "int"),
        ("set()", "set", ""),
        ("frozenset(['a'])", "set", "str"),
        ("a = {'x'}\nb = {'y'}\na | b", "set", "str"),
        ("a = {}\nb = {}\na.keys() & b.keys()", "set", ""),
        ("{str(x) for x in y}", "set", "str"),
        ("s = set()\ns.add(1)\ns", "set", "int"),
        ("s = set()\ns.add(1)\ns.add('a')\ns", "set", ""),
        ("s: set[str] = make()\ns", "set", "str"),
        ("def tags() -> set[str]: ...\ntags()", "set", "str"),
        ("from pathlib import Path\nPath('a') / 'b'", "path", ""),
        ("import numpy as np\nnp.random.default_rng(3)", "numpy-generator", ""),
        ("x = [] if y else ['a']\nx", "list", "str"),
        ("'a,b'.split(',')", "list", "str"),
        ("f'{x}'", "str", ""),
        ("len('abc')", "int", ""),
        ("class World: ...\nWorld()", "object", ""),
        ("d: dict[str, set[int]] = make()\nd['a']", "set", "int"),
        ("d: dict[str, set[str]] = make()\nd.get('a')", "set", "str"),
        ("from collections import defaultdict\nd = defaultdict(set)\nd[1].add('a')\nd[1]", "set", "str"),
        ("s = set()\ns.update(range(3))\ns", "set", "int"),
        ("from typing import Union\ns: Union[set[str], None] = make()\ns", "set", "str"),
        ("a: dict[int, str] = make()\nb: dict[int, str] = make()\na.keys() & b.keys()", "set", "int"),
        ("{1} | {'a'}", "set", ""),
        ("from enum import IntEnum\nclass C(IntEnum):\n    A = 1\n{C.A}", "set", "int"),
        ("from enum import Enum\nclass C(Enum):\n    A = 1\n{C.A}", "set", "enum"),
        ("from pathlib import Path\n{Path('a')}", "set", ""),
        ("class C:\n    def __hash__(self): ...\n{C()}", "set", ""),
    ],
)  # fmt: skip
def test_an_expression_is_what_it_is_made_from(text: str, name: str, element: str) -> None:
    site = last_value(module_of(text))
    kind = site.kind(site.node)
    assert kind is not None
    assert (kind.name, kind.element) == (name, element)


@pytest.mark.parametrize(
    "text", ["x", "x = 1\nx = 'a'\nx", "f()", "x = x\nx", "x = {1}\nx = [1]\nx", "a.b.c"]
)
def test_what_is_several_things_or_unknown_is_nothing(text: str) -> None:
    site = last_value(module_of(text))
    assert site.kind(site.node) is None


def test_attributes_of_self_are_what_the_class_assigns() -> None:
    module = module_of(
        """
        class World:
            def __init__(self):
                self.tags: set[str] = set()
                self.seen = set()

            def see(self, who):
                self.seen.add(int(who))
                return list(self.tags), list(self.seen)
        """
    )
    for name, by_chance in (("tags", True), ("seen", False)):
        site = call_of(module, f"list(self.{name})")
        assert isinstance(site.node, ast.Call)
        kind = site.kind(site.node.args[0])
        assert kind is not None
        assert kind.is_ordered_by_chance is by_chance
