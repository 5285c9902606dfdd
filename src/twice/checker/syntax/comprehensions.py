"""Names of comprehensions that are spelled as others of their function, kept apart from them.

A comprehension has names of its own. It has no scope here, so that the scope of a node is its function; where a
function and its comprehensions share a name, those get another spelling in the tree.

Invariant: a name keeps its words, and its text in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from twice.checker.syntax.survey import Binding, Scope

APART: Final = "'"
"""What is added to a name, once or several times."""


def separate_names(scopes: Iterable[Scope], parents: Mapping[ast.AST, ast.AST]) -> None:
    """Give the names of comprehensions that a scope binds otherwise too another spelling."""
    for scope in scopes:
        for name in [name for name, its in scope.bindings.items() if len(its) > 1]:
            inner: dict[ast.AST, list[Binding]] = {}
            others = []
            for each in scope.bindings[name]:
                if isinstance(each.node, ast.comprehension):
                    inner.setdefault(parents[each.node], []).append(each)
                else:
                    others.append(each)
            first = None if others or not inner else next(iter(inner))  # It keeps its name.
            # What is inside of another comprehension comes after that one.
            for count, (whole, bindings) in enumerate(reversed(inner.items()), 1):
                if whole is first:
                    others = bindings
                else:
                    scope.bindings[name + APART * count] = bindings
                    _rename(whole, name, name + APART * count)
            if others:
                scope.bindings[name] = others


def _rename(whole: ast.AST, name: str, other: str) -> None:
    stack = [whole]
    outside = whole.generators[0].iter  # type: ignore[attr-defined]
    while stack:
        node = stack.pop()
        if node is outside or (isinstance(node, ast.Lambda) and _takes(node, name)):
            continue
        if isinstance(node, ast.Name) and node.id == name:
            node.id = other
        else:
            stack.extend(ast.iter_child_nodes(node))


def _takes(function: ast.Lambda, name: str) -> bool:
    return any(isinstance(each, ast.arg) and each.arg == name for each in ast.walk(function.args))
