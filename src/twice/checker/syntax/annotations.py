"""What an annotation says that a value is.

Invariant: an annotation of several kinds says nothing, but for None beside one kind.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from twice.checker.syntax.classes import Classes
from twice.checker.syntax.kind import PLAIN, Kind, holding, is_none, table
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.survey import Scope

_DEPTH: Final = 6
_THROUGH: Final = {"Annotated", "ClassVar", "Final", "Optional", "ReadOnly", "Required"}
_GIVING: Final = {"AsyncIterator", "Generator", "Iterable", "Iterator"}
_TABLES: Final = {"Mapping", "MutableMapping"}


class Annotations:
    """Reads annotations of one file.

    Args:
        names: its names.
        classes: its classes.
        makers: qualified names of constructors with the kind of what they make.
    """

    def __init__(self, names: Names, classes: Classes, makers: Mapping[str, str]) -> None:
        self._names = names
        self._classes = classes
        self._makers = makers

    def of(self, node: ast.AST | None, scope: Scope, depth: int = 0) -> Kind | None:
        """Give what an annotation says that a value is."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                node = ast.parse(node.value, mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
        if node is None or depth > _DEPTH:
            return None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._agreed(list(_sides(node)), scope, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, scope, depth)
        qualified = self._names.qualified(node, scope)
        if qualified is None:
            return None
        if qualified in self._makers:
            return Kind(self._makers[qualified], origin=qualified)
        last = qualified.rpartition(".")[2]
        if qualified.startswith(("builtins.", "typing.", "collections.")) and last in PLAIN:
            return Kind(PLAIN[last])
        return self._classes.instance(qualified) if qualified.startswith(LOCAL) else None

    def _agreed(self, sides: list[ast.expr], scope: Scope, depth: int) -> Kind | None:
        """Return the kind that all sides except None agree on."""
        kinds = [self.of(each, scope, depth + 1) for each in sides if not is_none(each)]
        first = kinds[0] if kinds else None
        if first is None or any(each is None or each.name != first.name for each in kinds):
            return None
        return first if len(set(kinds)) == 1 else Kind(first.name)

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> Kind | None:
        last = (self._names.qualified(node.value, scope) or "").rpartition(".")[2]
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not inside:
            return None
        if last == "Union":
            return self._agreed(list(inside), scope, depth)
        if last in _THROUGH:
            return self.of(inside[0], scope, depth + 1)
        if last in _GIVING:
            return holding(last, self.of(inside[0], scope, depth + 1))
        if PLAIN.get(last) == "dict" or last in _TABLES:
            keys = self.of(inside[0], scope, depth + 1)
            values = self.of(inside[1], scope, depth + 1) if len(inside) > 1 else None
            if last == "Counter":
                values = Kind("int")
            found = table(keys, values)
            return found if last in PLAIN else Kind(last, found.element, "", values)
        if PLAIN.get(last) == "tuple":
            kinds = [self.of(each, scope, depth + 1) for each in inside if not _is_rest(each)]
            return holding("tuple", kinds[0] if len(set(kinds)) == 1 else None)
        if last in PLAIN:
            return holding(PLAIN[last], self.of(inside[0], scope, depth + 1))
        return None


def _sides(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the members of ``A | B | None``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield from _sides(node.left)
        yield from _sides(node.right)
    else:
        yield node


def _is_rest(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def classes_in(node: ast.expr) -> Iterator[ast.expr]:
    """Give the names in an annotation that may be the value's class: the members of a union, but for None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    if isinstance(node, ast.Subscript):
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for each in (
            inside
            if getattr(node.value, "attr", getattr(node.value, "id", "")) in _THROUGH | {"Union"}
            else ()
        ):
            yield from classes_in(each)
    elif isinstance(node, ast.BinOp):
        for side in _sides(node):
            yield from classes_in(side)
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield node
