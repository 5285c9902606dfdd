"""What an expression is: a set of strings, a numpy generator, a path, an executor.

A light reading of types: displays, constructors that the catalogue names, annotations, what a name
or an attribute of ``self`` is assigned, operators on sets. What is several things, or not known, is None.

Invariant: nothing is guessed from a name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Final

from twice.checker.catalogue import Catalogue
from twice.checker.syntax.annotations import Annotations
from twice.checker.syntax.attributes import Attributes
from twice.checker.syntax.classes import Classes, is_property
from twice.checker.syntax.filling import Filling, Place
from twice.checker.syntax.kind import (
    BUILT,
    CONSTRUCTORS,
    SAME,
    STABLE,
    TABLES,
    TEXT,
    WHOLE,
    Kind,
    combine,
    holding,
    is_none,
    shared,
    table,
)
from twice.checker.syntax.names import LOCAL, Names
from twice.checker.syntax.reaching import is_asked, latest, reaches
from twice.checker.syntax.survey import Binding, Scope, Survey

_DEPTH: Final = 6
_RETURNS: Final = 8


class Kinds:
    """Reads what expressions of one file are.

    Args:
        survey: the file.
        names: its names.
        catalogue: constructors by name.
        attributes: for each class scope, what each attribute of ``self`` is assigned.
    """

    def __init__(
        self,
        survey: Survey,
        names: Names,
        catalogue: Catalogue,
        attributes: Attributes,
    ) -> None:
        self._survey = survey
        self._names = names
        self._attributes = attributes
        self._makers = {
            name: kind
            for group, kind in CONSTRUCTORS.items()
            for name in catalogue.names(group)
        }  # fmt: skip
        self._classes = Classes(survey, names)
        self._annotations = Annotations(names, self._classes, self._makers)
        self._filling = Filling(survey, names)
        self._running: set[tuple[int, str]] = set()

    def of(self, node: ast.AST | None, scope: Scope, depth: int = 0) -> Kind | None:
        """Give what an expression is, or None."""
        if node is None or depth > _DEPTH:
            return None
        method = getattr(self, f"_{node.__class__.__name__.lower()}", None)
        found: Kind | None = None if method is None else method(node, scope, depth + 1)
        return found

    def annotation(self, node: ast.AST | None, scope: Scope, depth: int = 0) -> Kind | None:
        """Give what an annotation says that a value is."""
        return self._annotations.of(node, scope, depth)

    # One method for each kind of expression, named after it.

    def _set(self, node: ast.Set, scope: Scope, depth: int) -> Kind:
        return holding("set", self._common(node.elts, scope, depth))

    def _setcomp(self, node: ast.SetComp, scope: Scope, depth: int) -> Kind:
        return holding("set", self._common([node.elt], scope, depth))

    def _list(self, node: ast.List, scope: Scope, depth: int) -> Kind:
        return holding("list", self._common(node.elts, scope, depth))

    def _listcomp(self, node: ast.ListComp, scope: Scope, depth: int) -> Kind:
        return holding("list", self._common([node.elt], scope, depth))

    def _generatorexp(self, node: ast.GeneratorExp, scope: Scope, depth: int) -> Kind:
        return holding("list", self._common([node.elt], scope, depth))

    def _tuple(self, node: ast.Tuple, scope: Scope, depth: int) -> Kind:
        return holding("tuple", self._common(node.elts, scope, depth))

    def _dict(self, node: ast.Dict, scope: Scope, depth: int) -> Kind:
        keys = [each for each in node.keys if each is not None]
        plain = len(keys) == len(node.keys)
        values = self._common(node.values, scope, depth) if plain else None
        return table(self._common(keys, scope, depth), values)

    def _dictcomp(self, node: ast.DictComp, scope: Scope, depth: int) -> Kind:
        keys, values = ([each] for each in (node.key, node.value))
        return table(self._common(keys, scope, depth), self._common(values, scope, depth))

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope, depth: int) -> Kind:
        del node, scope, depth
        return Kind("str")

    def _constant(self, node: ast.Constant, scope: Scope, depth: int) -> Kind | None:
        del scope, depth
        name = type(node.value).__name__
        return Kind(name) if name in STABLE | TEXT else None

    def _await(self, node: ast.Await, scope: Scope, depth: int) -> Kind | None:
        return self.of(node.value, scope, depth)

    def _namedexpr(self, node: ast.NamedExpr, scope: Scope, depth: int) -> Kind | None:
        return self.of(node.value, scope, depth)

    def _ifexp(self, node: ast.IfExp, scope: Scope, depth: int) -> Kind | None:
        return self._agreed([node.body, node.orelse], scope, depth)

    def _boolop(self, node: ast.BoolOp, scope: Scope, depth: int) -> Kind | None:
        return self._agreed(node.values, scope, depth)

    def _binop(self, node: ast.BinOp, scope: Scope, depth: int) -> Kind | None:
        return combine(node, self.of(node.left, scope, depth), self.of(node.right, scope, depth))

    def _call(self, node: ast.Call, scope: Scope, depth: int) -> Kind | None:
        qualified = self._names.qualified(node.func, scope)
        if qualified in {"builtins.set", "builtins.frozenset"}:
            return holding("set", self._inside(node.args[0], scope, depth) if node.args else None)
        if qualified in {"builtins.list", "builtins.tuple", "builtins.sorted"}:
            inside = self._inside(node.args[0], scope, depth) if node.args else None
            return holding("tuple" if qualified == "builtins.tuple" else "list", inside)
        if qualified is not None:
            if qualified == "builtins.type" and len(node.args) == 1:
                return Kind("object", origin="builtins.type")
            if qualified in WHOLE:
                return Kind("list", "int", qualified)
            if qualified == "collections.defaultdict":
                return table(None, self._maker(node.args[0], scope, depth) if node.args else None)
            if qualified in BUILT:
                return Kind(BUILT[qualified], origin=qualified)
            if qualified in self._makers:
                return Kind(self._makers[qualified], origin=qualified)
            if qualified.startswith(LOCAL):
                return self._local(qualified, depth)
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, scope, depth)
        return None

    def _maker(self, maker: ast.expr, scope: Scope, depth: int) -> Kind | None:
        """Return the kind of a call without arguments: the values of a ``defaultdict``."""
        if isinstance(maker, ast.Lambda):
            return self.of(maker.body, scope, depth)
        return self._annotations.of(maker, scope, depth)

    def _local(self, qualified: str, depth: int) -> Kind | None:
        """Return the annotated result of a function of the file, or an object of its class."""
        if self._classes.scope(qualified) is not None:
            return self._classes.instance(qualified)
        bindings = self._survey.root.bindings.get(qualified.removeprefix(LOCAL), [])
        node = bindings[0].node if len(bindings) == 1 else None
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return self.annotation(node.returns, self._survey.root, depth)
        return None

    def _method(
        self, node: ast.Call, called: ast.Attribute, scope: Scope, depth: int
    ) -> Kind | None:
        base = self.of(called.value, scope, depth)
        if base is not None:
            if called.attr in SAME.get(base.name, ()):
                return base
            if base.name == "process-context" and called.attr.endswith("Queue"):
                return Kind("queue")
            if base.name in TABLES:
                return self._of_table(node, base, called, scope, depth)
            if base.name == "str":
                split = called.attr in {"split", "splitlines"}
                return holding("list", Kind("str")) if split else None
            if base.name in {"list", "set"} and called.attr == "pop":
                return base.inside
        owner = self._owner(called.value, scope, depth)
        method = None if owner is None else self._classes.method(owner, called.attr)
        return None if method is None else self._returned(method, depth)

    def _of_table(
        self, node: ast.Call, base: Kind, called: ast.Attribute, scope: Scope, depth: int
    ) -> Kind | None:
        """Return the kind of the result of a dict's method."""
        if called.attr == "keys":
            return Kind("list", base.element)
        if called.attr == "values":
            return holding("list", base.inside)
        if called.attr not in {"get", "pop", "setdefault"}:
            return None
        inside = base.inside
        if inside is None and called.attr == "setdefault" and len(node.args) > 1:
            inside = self.of(node.args[1], scope, depth)
        return self._filled(inside, self._filling.under(called.value, scope), depth)

    def _returned(self, method: Scope, depth: int) -> Kind | None:
        """Return the annotated kind of a method's result, or its returned values' kind."""
        node = method.node
        if isinstance(node, ast.Lambda):
            return None
        assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), (
            "a function is one of three"
        )
        if node.returns is not None:
            return self.annotation(node.returns, method, depth)
        values = [
            each.value
            for each in ast.walk(node)
            if isinstance(each, ast.Return) and each.value is not None
        ]
        key = (id(method), "return")
        if key in self._running or not 0 < len(values) < _RETURNS:
            return None
        self._running.add(key)
        try:
            return self._agreed(values, method, depth)
        finally:
            self._running.discard(key)

    def _owner(self, node: ast.AST, scope: Scope, depth: int) -> Scope | None:
        """Return the class of the file that an expression is an instance of."""
        if isinstance(node, ast.Name) and node.id in {"self", "cls"}:
            return scope.owner
        kind = self.of(node, scope, depth)
        if kind is None or kind.name not in {"object", "hashed"}:
            return None
        return self._classes.scope(kind.origin)

    def _subscript(self, node: ast.Subscript, scope: Scope, depth: int) -> Kind | None:
        base = self.of(node.value, scope, depth)
        if base is None:
            return None
        if isinstance(node.slice, ast.Slice):
            return base if base.name in {"list", "tuple", "str"} else None
        if base.name not in TABLES and base.name != "list":
            return None
        return self._filled(base.inside, self._filling.place(node, scope), depth)

    def _filled(self, kind: Kind | None, place: Place | None, depth: int) -> Kind | None:
        """Complete a set of unknown elements with the values that the file adds to it."""
        if kind is None or kind.name != "set" or kind.element or place is None:
            return kind
        return holding("set", self._added(place, depth))

    def _name(self, node: ast.Name, scope: Scope, depth: int) -> Kind | None:
        holder = self._names.holder(node.id, scope)
        if holder is None:
            return None
        if scope is holder and scope.is_function:
            last = latest(self._survey, holder.bindings[node.id], node)
            if last is not None:
                return self._of_binding(last, holder, depth, node.id)
        bindings = ((each, holder) for each in holder.bindings[node.id])
        found = self._bound_all(bindings, (id(holder), node.id), depth)
        if found is None and scope is holder and holder.is_function:
            return self._left(node, holder, depth)
        return found

    def _left(self, node: ast.Name, holder: Scope, depth: int) -> Kind | None:
        """Return a set that a name may still refer to at a read, whatever else it may refer to."""
        bindings = holder.bindings[node.id]
        key = (id(holder), node.id)
        if key in self._running or any(each.kind != "assign" for each in bindings):
            return None
        self._running.add(key)
        kinds = [self._of_binding(each, holder, depth, node.id) for each in bindings]
        self._running.discard(key)
        for each, kind in zip(bindings, kinds, strict=True):
            if kind is not None and kind.is_ordered_by_chance:
                if is_asked(self._survey, node.id, bindings):
                    return None
                return kind if reaches(self._survey, each.node, node, bindings) else None
        return None

    def _attribute(self, node: ast.Attribute, scope: Scope, depth: int) -> Kind | None:
        owner = self._owner(node.value, scope, depth)
        for its in () if owner is None else self._classes.lineage(owner):
            bindings = self._attributes.of(its).get(node.attr)
            if bindings:
                key = (id(its), node.attr)
                return self._bound_all([each[:2] for each in bindings], key, depth)
            for inner in its.inner:
                if inner.name == node.attr and inner.is_function and is_property(inner.node):
                    return self._returned(inner, depth)
        if node.attr == "parent":
            base = self.of(node.value, scope, depth)
            return base if base is not None and base.name == "path" else None
        return self._classes.member(node, scope)

    def _bound_all(
        self, bindings: Iterable[tuple[Binding, Scope]], key: tuple[int, str], depth: int
    ) -> Kind | None:
        """Return the kind that all bindings of a name agree on; ignore empty ones and None."""
        if key in self._running:
            return None
        self._running.add(key)
        try:
            found: Kind | None = None
            for binding, scope in bindings:
                if binding.kind in {"augment", "delete"} or is_none(binding.node):
                    continue
                kind = self._of_binding(binding, scope, depth, key[1])
                if kind is None or (found is not None and kind.name != found.name):
                    return None
                if found is None or not found.element:
                    found = kind
            return self._filled(found, key, depth)
        finally:
            self._running.discard(key)

    def _of_binding(self, binding: Binding, scope: Scope, depth: int, name: str) -> Kind | None:
        node = binding.node
        if binding.kind in {"assign", "with"}:
            return self.of(node, scope, depth)
        if binding.kind == "annotated" and isinstance(node, ast.AnnAssign):
            declared = self.annotation(node.annotation, scope, depth)
            return declared if declared is not None else self.of(node.value, scope, depth)
        if binding.kind == "argument" and isinstance(node, ast.arg):
            return self.annotation(node.annotation, scope.parent or scope, depth)
        if binding.kind == "element" and isinstance(
            node, (ast.For, ast.AsyncFor, ast.comprehension)
        ):
            return self._element(node.target, node.iter, scope, depth, name)
        return None

    def _element(
        self, target: ast.expr, source: ast.expr, scope: Scope, depth: int, name: str
    ) -> Kind | None:
        """Return the kind that a loop assigns: an element, or the key or value of a pair."""
        if isinstance(target, ast.Name):
            return self._inside(source, scope, depth)
        if not (isinstance(target, ast.Tuple) and isinstance(source, ast.Call)):
            return None
        names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
        if len(names) != 2 or name not in names:
            return None
        if self._names.qualified(source.func, scope) == "builtins.enumerate" and source.args:
            return self._inside(source.args[0], scope, depth) if name == names[1] else Kind("int")
        if isinstance(source.func, ast.Attribute) and source.func.attr == "items":
            base = self.of(source.func.value, scope, depth)
            if base is not None and base.name in TABLES:
                if name == names[1]:
                    place = self._filling.under(source.func.value, scope)
                    return self._filled(base.inside, place, depth)
                return Kind(base.element) if base.element in STABLE | TEXT else None
        return None

    def _added(self, place: Place, depth: int) -> Kind | None:
        """Return the kind of the values added to an empty set, by a name or an attribute."""
        kinds = {
            self._inside(value, scope, depth) if many else self.of(value, scope, depth)
            for value, scope, many in self._filling.into(place)
        }
        return shared(kinds)

    def _agreed(self, nodes: list[ast.expr], scope: Scope, depth: int) -> Kind | None:
        kinds: list[Kind] = []
        for each in nodes:
            kind = self.of(each, scope, depth)
            if kind is not None:
                kinds.append(kind)
            elif not is_none(each):
                return None
        if len({each.name for each in kinds}) != 1:
            return None
        return next((each for each in kinds if each.element), kinds[0])

    def _common(self, nodes: list[ast.expr], scope: Scope, depth: int) -> Kind | None:
        """Return the kind of all elements, or None if they differ or are unknown."""
        return shared({self.of(each, scope, depth) for each in nodes[:50]})

    def _inside(self, node: ast.AST, scope: Scope, depth: int) -> Kind | None:
        """Return the kind of an iterable's elements."""
        kind = self.of(node, scope, depth)
        if kind is None:
            return None
        if kind.name in {"range", "str"}:
            return Kind({"range": "int", "str": "str"}[kind.name])
        if kind.name in TABLES or kind.inside is None:
            return Kind(kind.element) if kind.element else None
        return kind.inside
