"""What is put into the sets and dicts of a file, by name of a scope or attribute of a class.

Invariant: each place is known under who holds it and its name; ``[]`` after the name stands for whatever
is under a key of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from twice.checker.syntax.names import Names
from twice.checker.syntax.survey import Scope, Survey

Place = tuple[int, str]
_UNDER_KEY: Final = "[]"
_MANY: Final = {"update", "symmetric_difference_update"}


class Filling:
    """Where the containers of one file are filled."""

    def __init__(self, survey: Survey, names: Names) -> None:
        self._survey = survey
        self._names = names

    def into(self, place: Place) -> list[tuple[ast.expr, Scope, bool]]:
        """Give what is put into a place: an expression, its scope, and whether it is many at once."""
        return self._found.get(place, [])

    def place(self, node: ast.AST, scope: Scope) -> Place | None:
        """Give the place that an expression names."""
        if isinstance(node, ast.Subscript):
            return self.under(node.value, scope)
        if isinstance(node, ast.Name):
            holder = self._names.holder(node.id, scope)
            return None if holder is None else (id(holder), node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = scope.owner if node.value.id in {"self", "cls"} else None
            return None if owner is None else (id(owner), node.attr)
        return None

    def under(self, node: ast.AST, scope: Scope) -> Place | None:
        """Give the place of whatever is under a key of what an expression names."""
        outer = self.place(node, scope)
        return None if outer is None else (outer[0], outer[1] + _UNDER_KEY)

    @cached_property
    def _found(self) -> dict[Place, list[tuple[ast.expr, Scope, bool]]]:
        found: dict[Place, list[tuple[ast.expr, Scope, bool]]] = {}
        for base, value, scope, many in self._puts():
            place = self.place(base, scope)
            if place is not None:
                found.setdefault(place, []).append((value, scope, many))
        return found

    def _puts(self) -> Iterator[tuple[ast.expr, ast.expr, Scope, bool]]:
        for node, scope in self._survey.nodes.get(ast.Call, ()):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            if node.func.attr == "add" and len(node.args) == 1:
                yield node.func.value, node.args[0], scope, False
            elif node.func.attr in _MANY:
                for each in node.args:
                    yield node.func.value, each, scope, True
        for node, scope in self._survey.nodes.get(ast.AugAssign, ()):
            if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
                yield node.target, node.value, scope, True
