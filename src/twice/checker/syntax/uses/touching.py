"""Whether a call touches one object alone, so that doing it to several in any order comes to the same.

A method of a class of the file is read: it may change what its object made for itself, and call what is
known to be pure. Of a method that is not in the file its verb says it: to close, resize or restore a thing
is done to that thing.

Invariant: what draws, calls what is not known, or changes what was handed in touches more.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope, targets
from twice.checker.syntax.uses.following import Reading
from twice.checker.syntax.uses.methods import DRAWS, ERASING, PUTTING
from twice.checker.syntax.uses.words import ARRANGING, GENERATOR, REMOVING, about, last_name

_DEPTH: Final = 3
_PURE: Final = frozenset(
    f"builtins.{each}"
    for each in [
        "abs", "all", "any", "bool", "bytes", "dict", "divmod", "enumerate", "float", "frozenset",
        "getattr", "hasattr", "int", "isinstance", "len", "list", "max", "min", "pow", "print", "range",
        "repr", "reversed", "round", "set", "sorted", "str", "sum", "tuple", "type", "zip",
    ]
)  # fmt: skip
_PURE_MODULES: Final = ("math.", "numpy.", "operator.", "copy.", "itertools.")
_READS: Final = {
    "copy", "count", "endswith", "format", "get", "index", "items", "join", "keys", "lower", "lstrip",
    "rstrip", "split", "startswith", "strip", "upper", "values",
}  # fmt: skip
_ESCAPES = (
    ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom,
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda,
)  # fmt: skip


class Touching:
    """Reads what methods of one file do to their own object.

    Args:
        reading: the file.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._known: dict[Scope, bool] = {}

    def is_of_one(self, call: ast.Call, scope: Scope, own: frozenset[str]) -> bool:
        """Say whether a method called on an element touches that element alone.

        Args:
            call: the call of a method.
            scope: where it stands.
            own: the names that the loop gives anew for each element.
        """
        func = call.func
        if not isinstance(func, ast.Attribute) or not self._is_given_plainly(call, own):
            return False
        method = self._method(func, scope)
        if method is not None:
            return self._touches_own(method, 0)
        return about(func.attr, ARRANGING) or about(func.attr, REMOVING)

    def removes(self, call: ast.Call, own: frozenset[str]) -> bool:
        """Say whether a call takes elements away: they are gone in whatever order they go."""
        return about(last_name(call), REMOVING) and self._is_given_plainly(call, own)

    def _is_given_plainly(self, call: ast.Call, own: frozenset[str]) -> bool:
        """Whether no argument draws, or asks something that goes on from one element to the next."""
        for argument in [*call.args, *(each.value for each in call.keywords)]:
            for each in ast.walk(argument):
                if isinstance(each, ast.Call) and not self._is_plain(each, own):
                    return False
                if isinstance(each, (ast.Name, ast.Attribute)) and about(
                    last_name(each), GENERATOR
                ):
                    return False
        return True

    def _is_plain(self, call: ast.Call, own: frozenset[str]) -> bool:
        func = call.func
        if isinstance(func, ast.Attribute):
            base: ast.AST = func
            while isinstance(base, (ast.Attribute, ast.Subscript, ast.Call)):
                base = base.func if isinstance(base, ast.Call) else base.value
            return func.attr in _READS or (isinstance(base, ast.Name) and base.id in own)
        return isinstance(func, ast.Name) and f"builtins.{func.id}" in _PURE

    def _method(self, func: ast.Attribute, scope: Scope) -> Scope | None:
        """Return the file's method that a call on an element calls, if its class is known."""
        kind = self._reading.kinds.of(func.value, scope)
        if kind is None or kind.name != "object" or not kind.origin.startswith(LOCAL):
            return None
        return self._reading.loads.function(f"{kind.origin}.{func.attr}")

    def _touches_own(self, function: Scope, depth: int) -> bool:
        known = self._known.get(function)
        if known is not None:
            return known
        if depth > _DEPTH:
            return False
        self._known[function] = True  # A method that calls itself touches what it touches.
        found = all(self._is_own(each, function, depth) for each in _inside(function.node))
        self._known[function] = found
        return found

    def _is_own(self, node: ast.AST, function: Scope, depth: int) -> bool:
        if isinstance(node, _ESCAPES):
            return False
        if isinstance(node, (ast.Assign, ast.Delete)):
            return all(
                self._is_own_place(one, function) for each in node.targets for one in targets(each)
            )
        if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            return self._is_own_place(node.target, function)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            inner = node.value
            return not _is_of_self(inner) or self._is_made_here(inner, function)
        return not isinstance(node, ast.Call) or self._calls_own(node, function, depth)

    def _is_own_place(self, target: ast.AST, function: Scope) -> bool:
        if isinstance(target, ast.Name):
            return True
        if isinstance(target, ast.Attribute):
            return isinstance(target.value, ast.Name) and target.value.id == "self"
        return isinstance(target, ast.Subscript) and self._is_made_here(target.value, function)

    def _is_made_here(self, node: ast.AST, function: Scope) -> bool:
        """Whether a place holds what the object, or the method, made for itself."""
        if isinstance(node, ast.Name):
            made = [each.node for each in function.bindings.get(node.id, ())]
            return bool(made) and all(map(_is_made, made))
        if not isinstance(node, ast.Attribute) or not _is_of_self(node) or function.owner is None:
            return False
        found = self._reading.attributes.of(function.owner).get(node.attr, [])
        return bool(found) and all(
            _is_made(each.node) for each, _, _ in found if each.kind != "augment"
        )

    def _calls_own(self, call: ast.Call, function: Scope, depth: int) -> bool:
        reading, func = self._reading, call.func
        qualified = reading.names.qualified(func, function)
        if qualified is not None and not qualified.startswith(LOCAL):
            return qualified in _PURE or (
                qualified.startswith(_PURE_MODULES)
                and not reading.catalogue.has("global-draws", qualified)
            )
        if not isinstance(func, ast.Attribute):
            return False
        if isinstance(func.value, ast.Name) and func.value.id == "self":
            callee = reading.loads.called(call, function)
            return callee is not None and self._touches_own(callee, depth + 1)
        if func.attr in _READS:
            return True
        changes = func.attr in ERASING or func.attr in PUTTING or func.attr in DRAWS
        return changes and self._is_made_here(func.value, function)


def _inside(function: ast.AST) -> Iterator[ast.AST]:
    for each in getattr(function, "body", ()):
        yield from ast.walk(each)


def _is_of_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _is_made(node: ast.AST) -> bool:
    """Whether a value is a new one: a display, a number, or what a call gives."""
    value = node.value if isinstance(node, ast.AnnAssign) else node
    if isinstance(value, ast.Subscript):
        return isinstance(value.slice, ast.Slice)  # A stretch of a list is a new one.
    return not isinstance(value, (ast.Name, ast.Attribute, ast.arg, type(None)))
