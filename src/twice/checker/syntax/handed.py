"""Functions that are kept and called later: a clock in an attribute, in a default, in a ``partial``.

``self.clock = time.time`` makes every ``self.clock()`` a reading of that clock, and ``class Dice(
random.Random)`` makes ``Dice()`` such a generator. Only names of some groups are followed in this way.

Invariant: what is bound in more than one way stands for nothing.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.catalogue import Catalogue
from twice.checker.syntax.attributes import Attributes
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.nodes import parameter_defaults
from twice.checker.syntax.survey import Scope, Survey

_GROUPS: Final = ("clock", "entropy", "global-draws")
_GENERATORS: Final = ("stdlib-generator", "numpy-generator")
_PARTIAL: Final = "functools.partial"
_OWN_STREAM: Final = frozenset({"__init__", "__new__", "seed", "random", "getrandbits"})
_WORDS: Final = ("partial", "Random)", "RandomState)", "Generator)")


class Handed:
    """What calls of kept functions stand for in one file."""

    def __init__(
        self,
        survey: Survey,
        names: Names,
        attributes: Attributes,
        catalogue: Catalogue,
        text: str,
    ) -> None:
        self._names = names
        self._catalogue = catalogue
        self._attributes: dict[tuple[Scope, str], str] = {}
        self._defaults: dict[tuple[Scope, str], str] = {}
        self._partials: dict[tuple[Scope, str], str] = {}
        self._classes: dict[str, str] = {}
        for scope in survey.scopes:
            if scope.is_function:
                self._taken(scope)
            elif scope.is_class and any(each in text for each in _WORDS):
                self._derived(scope)
        for node, scope in survey.nodes.get(ast.Assign, ()):
            if node.value.__class__ in _KEPT:  # type: ignore[attr-defined]
                self._assigned(node, scope, attributes)
        self.is_empty = not (self._attributes or self._defaults or self._partials or self._classes)

    def of(self, func: ast.expr, scope: Scope, named: str | None) -> str | None:
        """Give what a call of an expression stands for, or the name that it has anyhow."""
        if isinstance(func, ast.Attribute):
            owner = scope.owner
            own = isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}
            found = self._attributes.get((owner, func.attr)) if own and owner else None
            return named if found is None else found
        if named is not None:
            return self._classes.get(named, named)
        if isinstance(func, ast.Name):
            holder = self._names.holder(func.id, scope)
            if holder is not None:
                key = (holder, func.id)
                return self._partials.get(key) or self._defaults.get(key)
        return named

    def _assigned(self, node: ast.AST, scope: Scope, attributes: Attributes) -> None:
        assert isinstance(node, ast.Assign), "assignments are asked for"
        target = node.targets[0]
        if isinstance(target, ast.Attribute):
            owner = scope.owner
            if owner is None or len(attributes.of(owner).get(target.attr, ())) != 1:
                return
            found = self._kept(node.value, scope)
            if found is not None:
                self._attributes[owner, target.attr] = found
        elif isinstance(target, ast.Name) and not isinstance(node.value, (ast.Name, ast.Attribute)):
            found = self._kept(node.value, scope)
            if found is not None and len(self._names.bindings(target.id, scope)) == 1:
                self._partials[scope, target.id] = found

    def _kept(self, node: ast.expr, scope: Scope) -> str | None:
        """Give the function of the groups that an expression is, by itself or bound to arguments."""
        if isinstance(node, ast.Call):
            if self._names.qualified(node.func, scope) != _PARTIAL or len(node.args) != 1:
                return None
            node = node.args[0]
        if isinstance(node, (ast.BoolOp, ast.IfExp)):  # One clock or another.
            every = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse]
            kept = [found for each in every if (found := self._kept(each, scope))]
            return kept[0] if kept else None
        if isinstance(node, ast.Name) and (scope, node.id) in self._defaults:
            return self._defaults[scope, node.id]
        found = self._names.qualified(node, scope)
        return found if any(self._catalogue.has(each, found) for each in _GROUPS) else None

    def _taken(self, scope: Scope) -> None:
        """Add the parameters that are such a function when nobody gives another."""
        given = getattr(scope.node, "args", None)
        if not isinstance(given, ast.arguments) or isinstance(scope.node, ast.Lambda):
            return
        if any(each.__class__ in _NAMED for each in (*given.defaults, *given.kw_defaults)):
            for name, default in parameter_defaults(given).items():
                is_bound = [each.kind for each in scope.bindings[name]] != ["argument"]
                if default is not None and default.__class__ in _NAMED and not is_bound:
                    found = self._names.qualified(default, scope.parent or scope)
                    if found and any(self._catalogue.has(each, found) for each in _GROUPS):
                        self._defaults[scope, name] = found

    def _derived(self, scope: Scope) -> None:
        """Add a class of the file that derives from a generator and keeps its initialization."""
        assert isinstance(scope.node, ast.ClassDef), "classes are asked for"
        if not _OWN_STREAM.isdisjoint(scope.bindings) or scope.parent is None:
            return
        for base in scope.node.bases:
            found = self._names.qualified(base, scope.parent)
            if any(self._catalogue.has(each, found) for each in _GENERATORS) and found:
                self._classes[LOCAL + self._names.path(scope)] = found


_NAMED: Final = (ast.Name, ast.Attribute)
_KEPT: Final = (ast.Name, ast.Attribute, ast.Call, ast.BoolOp, ast.IfExp)
