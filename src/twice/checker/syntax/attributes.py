"""What each class of a file assigns to attributes of ``self``, and where.

Only what stands in the class itself counts; inherited attributes are unknown here.

Invariant: assignments are in source order within each kind of statement.
"""

from __future__ import annotations

import ast

from twice.checker.syntax.survey import Binding, Scope, Survey


class Attributes:
    """What each class of one file assigns to attributes of ``self``."""

    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._found: dict[Scope, dict[str, list[tuple[Binding, Scope, ast.AST]]]] | None = None

    def of(self, owner: Scope) -> dict[str, list[tuple[Binding, Scope, ast.AST]]]:
        """Give for each attribute its bindings, the scope of each, and the node of its target."""
        if self._found is None:
            self._found = {}
            for scope in self._survey.scopes:
                if scope.is_class:
                    self._own(scope)
            for kind in (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.withitem):
                for node, scope in self._survey.nodes.get(kind, ()):
                    self._assigned(node, scope)
        return self._found.get(owner, {})

    def _own(self, scope: Scope) -> None:
        """Class-level assignments count as well."""
        assert self._found is not None, "of() made it"
        into = self._found.setdefault(scope, {})
        for name, bindings in scope.bindings.items():
            for each in bindings:
                if each.kind in {"assign", "annotated"}:
                    into.setdefault(name, []).append((each, scope, each.node))

    def _assigned(self, node: ast.AST, scope: Scope) -> None:
        owner = scope.owner
        if owner is None:
            return
        binding = Binding("assign", node)
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, (ast.Tuple, ast.List)):
                    self._unpacked(target, node.value, owner, scope)
                else:
                    targets.append(target)
            binding = Binding("assign", node.value)
        elif isinstance(node, ast.AnnAssign):
            targets, binding = [node.target], Binding("annotated", node)
        elif isinstance(node, ast.AugAssign):
            targets, binding = [node.target], Binding("augment", node)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            targets, binding = [node.optional_vars], Binding("with", node.context_expr)
        for target in targets:
            self._put(owner, target, binding, scope)

    def _unpacked(
        self, target: ast.Tuple | ast.List, value: ast.expr, owner: Scope, scope: Scope
    ) -> None:
        values: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            values = list(value.elts)
        for one, its in zip(target.elts, values, strict=True):
            kind = "unpack" if its is None else "assign"
            self._put(owner, one, Binding(kind, value if its is None else its), scope)

    def _put(self, owner: Scope, target: ast.AST, binding: Binding, scope: Scope) -> None:
        if (
            isinstance(target, ast.Attribute)
            and isinstance(target.value, ast.Name)
            and target.value.id in {"self", "cls"}
        ):
            assert self._found is not None, "of() made it"
            found = self._found.setdefault(owner, {})
            found.setdefault(target.attr, []).append((binding, scope, target))
