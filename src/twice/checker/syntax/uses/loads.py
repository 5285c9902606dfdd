"""Where a name, an attribute of ``self``, or a function of the file is read.

Built for a file when a rule first follows a value in it.

Invariant: results are in the order of the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.survey import Scope, Survey

_MAKERS: Final = {"collections.namedtuple", "dataclasses.make_dataclass", "typing.NamedTuple"}


class Loads:
    """Reads of names in one file."""

    def __init__(self, survey: Survey, names: Names) -> None:
        self._survey = survey
        self._names = names
        self._scopes = {scope.node: scope for scope in survey.scopes}
        self._named: dict[str, list[ast.Name]] = {}
        self._attributes: dict[str, list[ast.Attribute]] = {}
        self._readers: dict[str, dict[Scope | None, list[tuple[ast.Name, Scope]]]] = {}
        for node in survey.parents:  # Every node of the file: its class is compared, not asked.
            if node.__class__ is ast.Name:
                self._named.setdefault(node.id, []).append(node)
            elif node.__class__ is ast.Attribute:
                self._attributes.setdefault(node.attr, []).append(node)
        self._sorted: dict[tuple[Scope, str], list[ast.expr]] | None = None
        for names_found in self._named.values():
            names_found.sort(key=_position)
        for attributes_found in self._attributes.values():
            attributes_found.sort(key=_position)

    def scope(self, node: ast.AST) -> Scope:
        """Give the scope that a node is evaluated in."""
        parents = self._survey.parents
        below = node
        current = parents.get(node)
        while current is not None:
            scope = self._scopes.get(current)
            if scope is not None and self._is_inside(current, below):
                return scope
            below = current
            current = parents.get(current)
        return self._survey.root

    @staticmethod
    def _is_inside(node: ast.AST, child: ast.AST) -> bool:
        """Whether a child of a definition is in its body and not in its signature."""
        if isinstance(node, ast.Lambda):
            return child is node.body
        return isinstance(child, ast.stmt)  # No signature holds a statement, no body anything else.

    def of(self, name: str, scope: Scope) -> list[tuple[ast.Name, Scope]]:
        """Give the reads of a name that a scope binds, each with the scope that reads it."""
        readers = self._readers.get(name)
        if readers is None:
            readers = self._readers[name] = {}
            for node in self._named.get(name, ()):
                if isinstance(node.ctx, ast.Load):
                    where = self.scope(node)
                    holder = self._names.holder(name, where)
                    readers.setdefault(holder, []).append((node, where))
        return readers.get(self._names.holder(name, scope), [])

    def of_attribute(self, name: str, owner: Scope) -> list[tuple[ast.Attribute, Scope]]:
        """Give the reads of ``self.name`` in a class, and of ``anything.name`` outside of it."""
        found = []
        for node in self._attributes.get(name, ()):
            if isinstance(node.ctx, ast.Load):
                where = self.scope(node)
                own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
                if not own or where.owner is owner:
                    found.append((node, where))
        return found

    def is_tracked(self, name: str, scope: Scope) -> bool:
        """Whether ``run.track("…", name)`` makes what a name holds state of the run."""
        bound = [each.node for each in self._names.bindings(name, scope)]
        holder = self._names.holder(name, scope)
        for call, where in self._trackings():
            given = call.args[1]
            if call in bound or (
                isinstance(given, ast.Name)
                and given.id == name
                and self._names.holder(name, where) is holder
            ):
                return True
        return False

    def is_class_tracked(self, owner: Scope) -> bool:
        """Whether an object of a class of the file is made state of the run there."""
        for call, where in self._trackings():
            given = call.args[1]
            made: list[ast.AST] = [given]
            if isinstance(given, ast.Name):
                made = [each.node for each in self._names.bindings(given.id, where)]
            for each in made:
                if isinstance(each, ast.Call):
                    qualified = self._names.qualified(each.func, where)
                    if qualified == LOCAL + self._names.path(owner):
                        return True
        return False

    def _trackings(self) -> Iterator[tuple[ast.Call, Scope]]:
        """Yield the calls ``run.track("…", …)`` of anything but a module that is imported."""
        for node in self._attributes.get("track", ()):
            call = self._survey.parents.get(node)
            if isinstance(call, ast.Call) and call.func is node and len(call.args) == 2:
                where, name = self.scope(node), call.args[0]
                is_named = isinstance(name, ast.Constant) and isinstance(name.value, str)
                if is_named and self._names.qualified(node, where) is None:
                    yield call, where

    def calls_of(self, function: Scope) -> list[tuple[ast.Call, Scope]]:
        """Give the calls of a function or method of the file, as far as they are plain."""
        found: list[tuple[ast.Call, Scope]] = []
        parents = self._survey.parents
        outer = function.parent
        if outer is not None and outer.is_class:
            for node in self._attributes.get(function.name, ()):
                call = parents.get(node)
                if isinstance(call, ast.Call) and call.func is node:
                    found.append((call, self.scope(call)))
            return found
        path = LOCAL + self._names.path(function)
        for name in self._named.get(function.name, ()):
            call = parents.get(name)
            if isinstance(call, ast.Call) and call.func is name:
                where = self.scope(call)
                if self._names.named(name.id, where) == path:
                    found.append((call, where))
        return found

    def is_sorted(self, node: ast.AST, scope: Scope) -> bool:
        """Say whether what a name or attribute holds is sorted in place in a scope, after a line."""
        return self.sorted_in(node, scope) > 0

    def sorted_in(self, node: ast.AST, scope: Scope) -> int:
        """Give the line in which what a name or attribute holds from here on is sorted; 0 when it is not."""
        if self._sorted is None:
            self._sorted = {}
            for place, call in self._sortings():
                self._sorted.setdefault(place, []).append(call)
        line = getattr(node, "lineno", 0)
        for call in self._sorted.get((scope, spelled(node)), ()) if self._sorted else ():
            if call.lineno >= line > 0 and self._is_sure(call, node, scope):
                return call.lineno
        return 0

    def _is_sure(self, call: ast.expr, node: ast.AST, scope: Scope) -> bool:
        """Whether a sorting comes whenever a place is passed: no condition of something else is between."""
        around = set(self._survey.above(node))
        for each in self._survey.above(call):
            if each is scope.node:
                break
            if isinstance(each, (ast.If, ast.IfExp)) and each not in around:
                parts = [one for one in ast.walk(each.test) if isinstance(one, ast.expr)]
                if not _is_usual(each.test, scope) and spelled(node) not in map(spelled, parts):
                    return False
        return True

    def _sortings(self) -> Iterator[tuple[tuple[Scope, str], ast.expr]]:
        """Where something is sorted: ``x.sort()`` and ``x = sorted(x)``."""
        parents = self._survey.parents
        for attribute in self._attributes.get("sort", ()):
            if isinstance(parents.get(attribute), ast.Call):
                yield (self.scope(attribute), spelled(attribute.value)), attribute
        for name in self._named.get("sorted", ()):
            call = parents.get(name)
            assign = None if call is None else parents.get(call)
            if (
                isinstance(call, ast.Call)
                and isinstance(assign, ast.Assign)
                and call.args
                and spelled(assign.targets[0]) == spelled(call.args[0])
            ):
                yield (self.scope(call), spelled(call.args[0])), call

    def function(self, qualified: str | None) -> Scope | None:
        """Give the scope of a function of the file by its qualified name."""
        if qualified is None or not qualified.startswith(LOCAL):
            return None
        return self._functions.get(qualified)

    @cached_property
    def _functions(self) -> dict[str, Scope]:
        """Functions by qualified name, the first of several; a class stands for its constructor."""
        found: dict[str, Scope] = {}
        for scope in self._survey.scopes:
            if scope.is_function:
                path = LOCAL + self._names.path(scope)
                found.setdefault(path, scope)
                if scope.name == "__init__":
                    found.setdefault(path.removesuffix(".__init__"), scope)
        return found

    def is_record(self, qualified: str | None) -> bool:
        """Say whether it is a class of the file that takes what it is made of for its fields."""
        return qualified in self._records

    @cached_property
    def _records(self) -> set[str]:
        found = {
            LOCAL + self._names.path(scope)
            for scope in self._survey.scopes
            if isinstance(scope.node, ast.ClassDef)
            and (scope.node.decorator_list or scope.node.bases)
            and "__init__" not in scope.bindings
        }
        root = self._survey.root
        for name, bindings in root.bindings.items():
            made = bindings[0].node
            if isinstance(made, ast.Call) and self._names.qualified(made.func, root) in _MAKERS:
                found.add(LOCAL + name)
        return found

    def called(self, call: ast.Call, scope: Scope) -> Scope | None:
        """Give the function, method or constructor of the file that a call calls."""
        return self.callee(call.func, scope)

    def callee(self, func: ast.expr, scope: Scope) -> Scope | None:
        """Give the function, method or constructor of the file that an expression names."""
        found = self.function(self._names.qualified(func, scope))
        if found is not None:
            return found
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
            owner = scope.owner
            if func.value.id in {"self", "cls"} and owner is not None:
                for inner in owner.inner:
                    if inner.name == func.attr and inner.is_function:
                        return inner
        return None


def spelled(node: ast.AST) -> str:
    """Give how a place is written, read or assigned."""
    return ast.dump(node).replace("ctx=Store()", "ctx=Load()")


def _is_usual(test: ast.expr, scope: Scope) -> bool:
    """Whether a condition is a parameter that is true unless somebody says otherwise."""
    node = scope.node
    if not (
        isinstance(test, ast.Name) and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ):
        return False
    plain = [*node.args.posonlyargs, *node.args.args]
    pairs = [
        *zip(reversed(plain), reversed(node.args.defaults), strict=False),
        *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
    ]
    return any(
        each.arg == test.id and isinstance(value, ast.Constant) and value.value is True
        for each, value in pairs
    )


def _position(node: ast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset


def argument_place(call: ast.Call, argument: ast.AST) -> str | None:
    """Give the position of an argument in its call, or its keyword; None when a star hides it."""
    for position, each in enumerate(call.args):
        if isinstance(each, ast.Starred):
            return None
        if each is argument:
            return str(position)
    return next((each.arg for each in call.keywords if argument in {each, each.value}), None)


def parameter_at(function: Scope, place: str | None) -> str | None:
    """Give the name of the parameter of a function that an argument at a place of its call becomes."""
    node = function.node
    if place is None or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    if not place.isdigit():
        return place if place in function.bindings else None
    names = [each.arg for each in [*node.args.posonlyargs, *node.args.args]]
    is_method = function.parent is not None and function.parent.is_class
    if is_method and names[:1] in (["self"], ["cls"]):
        names = names[1:]
    return names[int(place)] if int(place) < len(names) else None
