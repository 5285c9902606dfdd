"""What a class does with its attributes, and which of its methods capture and restore its state.

A capture and a restore belong together by their names (``get_state`` and ``set_state``, ``save`` and ``load``), or the
constructor restores what it is given, or a class attribute lists the names that a base class captures.

Invariant: what a method hands to other code as a whole (``self``, ``self.__dict__``) is captured as a whole.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import Final, NamedTuple

from twice.checker.analysis.roles import captures, methods, restores
from twice.checker.syntax.module import Module
from twice.checker.syntax.nodes import own_attribute, walk
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name

# Besides the names that always mean state: these mean it where the other of the pair is there.
_PAIRS: Final = {
    "save": "load", "to_dict": "from_dict", "save_snapshot": "load_snapshot", "save_checkpoint": "load_checkpoint",
    "dump": "load", "serialize": "deserialize",
}  # fmt: skip
_LISTS: Final = frozenset(
    ["saved", "save", "state", "snapshot", "checkpoint", "persistent", "kept"]
)
_GIVEN: Final = frozenset(["state", "snapshot", "checkpoint"])
_FILLS: Final = {
    "append", "appendleft", "add", "insert", "extend", "update", "setdefault", "pop", "popleft", "remove", "discard",
    "clear",
}  # fmt: skip
_WHOLE: Final = {"__dict__", "__slots__", "__class__"}
_WHOLE_CALLS: Final = {
    "vars", "super", "asdict", "deepcopy", "dir", "getattr", "fields", "signature",
}  # fmt: skip
_DECORATED: Final = {"abstractmethod", "staticmethod", "classmethod", "property"}


class Change(NamedTuple):
    """One way in which an attribute changes.

    Args:
        kind: ``assign``, ``augment``, ``fill`` (its contents) or ``advance`` (an iterator of its own).
        method: the method's name.
        node: where.
        value: what is assigned, where one thing is.
    """

    kind: str
    method: str
    node: ast.AST
    value: ast.expr | None = None


class ClassState:
    """The attributes of one class."""

    def __init__(self, module: Module, owner: Scope) -> None:
        self.module = module
        self.owner = owner
        self.methods = {each.name: each for each in methods(owner)}

    @cached_property
    def changes(self) -> dict[str, list[Change]]:
        """For each attribute how methods change it, in the order of the methods."""
        found: dict[str, list[Change]] = {}
        for name, scope in self.methods.items():
            for attribute, kind, node, value in _iterate_changes(scope.node):
                found.setdefault(attribute, []).append(Change(kind, name, node, value))
        return found

    @cached_property
    def lazy(self) -> set[str]:
        """The attributes that are made where ``hasattr`` or ``getattr`` finds none."""
        return {
            str(each.args[1].value)
            for each in ast.walk(self.owner.node)
            if isinstance(each, ast.Call)
            and last_name(each) in {"hasattr", "getattr"}
            and len(each.args) > 1
            and is_self(each.args[0])
            and isinstance(each.args[1], ast.Constant)
        }

    @cached_property
    def options(self) -> list[str]:
        """The arguments with a default that the constructor keeps as they are, and does nothing else with."""
        node = self.methods["__init__"].node if "__init__" in self.methods else None
        if not isinstance(node, ast.FunctionDef):
            return []
        names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
        reads = Counter(each.id for each in names if isinstance(each.ctx, ast.Load))
        optional = node.args.args[len(node.args.args) - len(node.args.defaults) :]
        return [
            each.arg
            for each in optional
            if reads[each.arg] == 1
            and any(
                last_name(one.value) == each.arg
                for one in self.changes.get(each.arg, ())
                if one.value
            )
        ]

    def arguments(self, *names: str) -> set[str]:
        """Return the names of the arguments of methods, of all where none is named."""
        return {
            each.arg
            for name, scope in self.methods.items()
            if not names or name in names
            for each in ast.walk(scope.node)
            if isinstance(each, ast.arg)
        }

    def pair(self, capture: str) -> list[Scope]:
        """Return the methods that put back what a capture gave; none where it is no capture."""
        own = self.methods.get(capture)
        if own is None or not isinstance(own.node, ast.FunctionDef) or is_accessor(own.node):
            return []
        if captures(capture):
            return [each for name, each in self.methods.items() if restores(name)]
        back = self.methods.get(_PAIRS.get(capture, ""))
        if back is None or is_accessor(back.node):
            return []
        given = {own_attribute(each) for each in walk(own.node)} - {""}
        is_put_back = any(
            each.method == back.name and name in given
            for name, changes in self.changes.items()
            for each in changes
        )
        return [back] if is_put_back else []

    def reach(self, function: Scope) -> set[str] | None:
        """Return the attributes that a method and the methods that it calls mention; None where that is unknown."""
        found: set[str] = set()
        waiting, seen = [function], {function.name}
        while waiting:
            one = waiting.pop()
            for node in walk(one.node):
                if own_attribute(node):
                    found.add(own_attribute(node))
                elif _hands_whole(node):
                    return None
            for name in sorted(found & self.methods.keys()):
                if name not in seen:
                    seen.add(name)
                    waiting.append(self.methods[name])
        return None if found & _WHOLE else found

    def list_captured(self) -> tuple[ast.Assign, set[str]] | None:
        """Return the class attribute that lists what is captured by name: ``saved_attributes = ("model",)``."""
        for node in getattr(self.owner.node, "body", ()):
            if not isinstance(node, ast.Assign) or not isinstance(
                node.value, (ast.Tuple, ast.List)
            ):
                continue
            names = {each.value for each in node.value.elts if isinstance(each, ast.Constant)}
            words = last_name(node.targets[0])
            if names and about(words, _LISTS) and names <= self.changes.keys():
                return node, {str(each) for each in names}
        return None

    def constructor_restores(self) -> set[str]:
        """Return the attributes that the constructor takes out of a state that it is given."""
        if not any(about(each, _GIVEN) for each in self.arguments("__init__")):
            return set()
        for node in ast.walk(self.methods["__init__"].node):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                names = {own_attribute(each) for each in node.targets[0].elts}
                if "" not in names and about(last_name(node.value), _GIVEN):
                    return names
        return set()


def is_accessor(node: ast.AST) -> bool:
    """Say whether a method gives one attribute as it is, or is nobody's own."""
    returned = [each.value for each in walk(node) if isinstance(each, ast.Return)]
    if len(returned) == 1 and returned[0] is not None and own_attribute(returned[0]):
        return True
    decorators = getattr(node, "decorator_list", ())
    return any(last_name(each) in _DECORATED for each in decorators)


def is_self(node: ast.AST) -> bool:
    """Say whether an expression is ``self``."""
    return isinstance(node, ast.Name) and node.id == "self"


def is_whole(node: ast.AST) -> bool:
    """Say whether an expression is all that an object has: ``self.__dict__`` or ``vars(self)``."""
    if isinstance(node, ast.Call) and last_name(node) == "vars":
        return bool(node.args) and is_self(node.args[0])
    return own_attribute(node) == "__dict__"


def _hands_whole(node: ast.AST) -> bool:
    """Whether a node hands the object on as a whole, so that nobody knows what of it is used."""
    if isinstance(node, ast.Return):
        return node.value is not None and is_self(node.value)
    if not isinstance(node, ast.Call):
        return False
    if any(map(is_self, node.args)):
        return True
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    return name in _WHOLE_CALLS and not node.args


def _iterate_changes(function: ast.AST) -> Iterator[tuple[str, str, ast.AST, ast.expr | None]]:
    """Yield the attributes that a method changes, how, where and to what; by another name for it, too."""
    names: dict[str, str] = {}
    values: dict[ast.AST, ast.expr | None] = {}
    nodes = list(walk(function))
    for node in nodes:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            values[target] = node.value
            source = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(target, ast.Name) and source is not None and own_attribute(source):
                names[target.id] = own_attribute(source)

    def attribute(node: ast.AST) -> str:
        while isinstance(node, ast.Subscript):
            node = node.value
        return names.get(node.id, "") if isinstance(node, ast.Name) else own_attribute(node)

    for node in nodes:
        found, kind = "", "fill"
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found, kind = own_attribute(node), "assign"
        elif isinstance(node, ast.AugAssign):
            found, kind = attribute(node.target), "augment"
        elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            found = attribute(node)
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLS:
                found = attribute(node.func.value)
            elif last_name(node) == "next" and len(node.args) == 1:
                found, kind = own_attribute(node.args[0]), "advance"
        if found:
            yield found, kind, node, values.get(node)
