"""What a name stands for: the qualified name of an import, a builtin, or nothing.

Imports are followed through aliases, relative imports and single assignments (``shuffle =
np.random.shuffle``). A name that could be several things, or that is computed, resolves to None, and
rules say nothing of it.

Invariant: a name that the file binds itself never resolves to a builtin or to another module's.
"""

from __future__ import annotations

import ast
import builtins
from typing import Final

from twice.checker.syntax.survey import Binding, Scope, Survey

BUILTINS: Final = frozenset(vars(builtins))
_ALIAS_DEPTH: Final = 4

LOCAL: Final = "."
"""What the qualified name of something that the file itself defines begins with."""


class Names:
    """Resolves names of one file."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._known: dict[tuple[Scope, str], str | None] = {}

    def qualified(self, node: ast.AST, scope: Scope) -> str | None:
        """Give what an expression names: ``numpy.random.default_rng``, ``builtins.set``, ``.helper``.

        A function or class of the file itself is its path with a dot before it.
        """
        trail: list[str] = []
        while node.__class__ is ast.Attribute:
            trail.append(node.attr)
            node = node.value
        if node.__class__ is not ast.Name:
            return None
        base = self.named(node.id, scope)
        if base is None or not trail:
            return base
        trail.append(base)
        trail.reverse()
        return ".".join(trail)

    def named(self, name: str, scope: Scope, depth: int = 0) -> str | None:
        """Give what a bare name stands for in a scope."""
        key = (scope, name)
        if key in self._known:
            return self._known[key]
        self._known[key] = None  # A name that is defined by itself is nothing.
        found = self._named(name, scope, depth)
        self._known[key] = found
        return found

    def _named(self, name: str, scope: Scope, depth: int) -> str | None:
        holder = self.holder(name, scope)
        if holder is None:
            return f"builtins.{name}" if name in BUILTINS else None
        bindings = holder.bindings[name]
        kinds = {each.kind for each in bindings}
        if kinds == {"import"} or (bindings[0].kind == "import" and _is_fallback(bindings)):
            return bindings[0].target
        if len(bindings) != 1:
            return None
        (only,) = bindings
        if only.kind == "define":
            return LOCAL + self.path(holder, name)
        if only.kind == "assign" and depth < _ALIAS_DEPTH:
            return self._alias(only.node, holder, depth)
        return None

    def _alias(self, node: ast.AST, holder: Scope, depth: int) -> str | None:
        trail: list[str] = []
        while isinstance(node, ast.Attribute):
            trail.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        base = self.named(node.id, holder, depth + 1)
        return None if base is None else ".".join([base, *reversed(trail)])

    def holder(self, name: str, scope: Scope) -> Scope | None:
        """Give the scope that binds a name as it is seen from another one."""
        current: Scope | None = scope
        first = True
        while current is not None:
            if name in current.bindings and (first or not current.is_class):
                return current
            if name in current.global_names:
                return self._survey.root if name in self._survey.root.bindings else None
            first = False
            current = current.parent
        return None

    def bindings(self, name: str, scope: Scope) -> list[Binding]:
        """Give every way in which a name, seen from a scope, gets its value."""
        holder = self.holder(name, scope)
        return [] if holder is None else holder.bindings[name]

    @staticmethod
    def path(scope: Scope, name: str = "") -> str:
        """Give the dotted path of a scope, or of a name in it, within its file."""
        parts = [name] if name else []
        current: Scope | None = scope
        while current is not None and current.parent is not None:
            parts.append(current.name)
            current = current.parent
        return ".".join(reversed(parts))


def _is_fallback(bindings: list[Binding]) -> bool:
    """Whether a name is an import, and None or a stand-in where that fails."""
    return all(
        each.kind in {"import", "define"}
        or (each.kind == "assign" and isinstance(each.node, ast.Constant))
        for each in bindings
    )
