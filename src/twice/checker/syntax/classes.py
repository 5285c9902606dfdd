"""The classes of one file: their bases, and what members and instances of them count as in a set.

A member of an ``IntEnum`` hashes as its number does, one of another ``Enum`` as its name does, and an
instance of a class with a hash of its own, or of a frozen dataclass, as its fields do.

Invariant: bases that are not in the file are unknown, and nothing is said of them but their names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from twice.checker.syntax.kind import STABLE, Kind
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.survey import Scope, Survey

_NUMBERS: Final = {"enum.IntEnum", "enum.IntFlag"}
_WORDS: Final = {"enum.Enum", "enum.Flag", "enum.StrEnum"}
_TUPLES: Final = {"typing.NamedTuple"}


class Classes:
    """Reads the classes of one file."""

    def __init__(self, survey: Survey, names: Names) -> None:
        self._survey = survey
        self._names = names

    @cached_property
    def _scopes(self) -> dict[str, Scope]:
        found: dict[str, Scope] = {}
        for scope in self._survey.scopes:
            if scope.is_class:
                found.setdefault(LOCAL + self._names.path(scope), scope)
        return found

    def scope(self, qualified: str) -> Scope | None:
        """Give the scope of a class by its qualified name."""
        return self._scopes.get(qualified)

    def lineage(self, owner: Scope) -> Iterator[Scope]:
        """Give a class and those of its bases that are in the file, nearest first."""
        waiting, seen = [owner], {owner}
        while waiting and len(seen) < 50:
            scope = waiting.pop(0)
            yield scope
            for base in self._bases(scope):
                its = self._scopes.get(base)
                if its is not None and its not in seen:
                    seen.add(its)
                    waiting.append(its)

    def method(self, owner: Scope, name: str) -> Scope | None:
        """Give the method of a class, or of a base of it, that is in the file."""
        for scope in self.lineage(owner):
            for inner in scope.inner:
                if inner.name == name and inner.is_function:
                    return inner
        return None

    def instance(self, qualified: str) -> Kind:
        """Give what an instance of a class of the file is."""
        scope = self._scopes.get(qualified)
        if scope is None:
            return Kind("object", origin=qualified)
        bases = {base for each in self.lineage(scope) for base in self._bases(each)}
        if bases & _NUMBERS:
            return Kind("int", origin=qualified)
        if bases & _WORDS:
            return Kind("enum", origin=qualified)
        if bases & _TUPLES or self._has_hash(scope):
            return Kind("hashed", self._fields(scope), qualified)
        return Kind("object", origin=qualified)

    def member(self, node: ast.Attribute, scope: Scope) -> Kind | None:
        """Give what ``Colour.RED`` is, where the class is an enumeration of the file."""
        qualified = self._names.qualified(node.value, scope)
        if qualified is None or qualified not in self._scopes:
            return None
        kind = self.instance(qualified)
        return kind if kind.name in {"int", "enum"} else None

    def _bases(self, scope: Scope) -> list[str]:
        node = scope.node
        if not isinstance(node, ast.ClassDef):
            return []
        outer = scope.parent or scope
        plain = [each.value if isinstance(each, ast.Subscript) else each for each in node.bases]
        return [self._names.qualified(each, outer) or "" for each in plain]

    def _has_hash(self, scope: Scope) -> bool:
        """Whether instances are hashed by what is in them."""
        node = scope.node
        for one in self.lineage(scope):
            if "__hash__" in one.bindings:
                return True
        for each in getattr(node, "decorator_list", ()):
            if isinstance(each, ast.Call) and any(
                one.arg in {"frozen", "unsafe_hash"}
                and isinstance(one.value, ast.Constant)
                and one.value.value is True
                for one in each.keywords
            ):
                return True
        return False

    def _fields(self, scope: Scope) -> str:
        """``int`` where all fields are numbers, else ""."""
        if "__hash__" in scope.bindings:
            return ""
        said = [
            each.node.annotation.id if isinstance(each.node.annotation, ast.Name) else ""
            for bindings in scope.bindings.values()
            for each in bindings
            if isinstance(each.node, ast.AnnAssign)
        ]
        return "int" if said and STABLE.issuperset(said) else ""


def is_property(node: ast.AST) -> bool:
    """Say whether a method is read as an attribute."""
    return any(
        (each.id if isinstance(each, ast.Name) else getattr(each, "attr", ""))
        in {"property", "cached_property"}
        for each in getattr(node, "decorator_list", ())
    )
