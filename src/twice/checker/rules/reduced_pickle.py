"""A pickled or copied object is made anew from its constructor's arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import begins, mentioned, method, own_attribute
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "reduced-pickle"
_AT_FIRST: Final = frozenset({"__init__", "__setstate__"})
_WORLDS: Final = frozenset({"env", "environment", "simulation", "simulator", "world"})


def look(site: Site) -> Iterator[Violation]:
    """Look at a method that says how its object is pickled."""
    node, owner = site.node, site.scope
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not owner.is_class:
        return
    if node.name in {"__reduce__", "__reduce_ex__"}:
        if _rebuilds(node, owner) and _changes(site, owner, node):
            yield _found(site, node)
    elif node.name == "__setstate__":
        getter = method(owner, "__getstate__")
        if getter is None or not _constructs(node):
            return
        if _keeps_arguments(site, owner, getter):
            if _takes_any(owner) or _changes(site, owner, getter.node) or _runs(owner):
                yield _found(site, _returned(getter.node))
        elif _runs(owner) and not _puts_back(node):
            for maker in ast.walk(node):
                if _makes_environment(site, maker):
                    yield _found(site, maker)
                    return


def _found(site: Site, node: ast.AST) -> Violation:
    return site.found(
        NAME,
        f"{site.scope.name} is pickled and copied by its constructor's arguments alone.",
        "A copy or a restored object starts anew: its progress and its generators' positions are gone.",
        node=node,
        confidence=0.9,
    )


def _returned(node: ast.AST) -> ast.AST:
    """Give the statement that says what is kept."""
    return next((each for each in ast.walk(node) if isinstance(each, ast.Return)), node)


def _runs(owner: Scope) -> bool:
    """Whether objects of a class go on by steps, so that they have a state besides their arguments."""
    node = owner.node
    assert isinstance(node, ast.ClassDef), "methods belong to classes"
    names = [node.name, *(last_name(each) for each in node.bases)]
    return method(owner, "step") is not None or any(about(each, _WORLDS) for each in names)


def _makes_environment(site: Site, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and site.catalogue.has(
        "environment-makers", site.qualified(node.func)
    )


def _puts_back(node: ast.FunctionDef) -> bool:
    """Whether anything but a constructor gets something of what was kept."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and (
            isinstance(each.ctx, ast.Store) or each.attr in {"__dict__", "__setstate__"}
        ):
            return True
        if (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and own_attribute(each.func)
            and each.func.attr != "__init__"
        ):
            return True
        if isinstance(each, ast.Name) and each.id in {"setattr", "vars"}:
            return True
    return False


def _constructs(node: ast.FunctionDef) -> bool:
    """Whether it makes a new object of its own class, or initialises itself again."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            func = each.func
            if isinstance(func, ast.Call) and _is_type_of_self(func):
                return True
            if (
                isinstance(func, ast.Attribute)
                and isinstance(func.value, ast.Name)
                and func.value.id == "self"
                and func.attr in {"__class__", "__init__"}
            ):
                return True
    return False


def _is_type_of_self(node: ast.Call) -> bool:
    return (
        isinstance(node.func, ast.Name)
        and node.func.id == "type"
        and len(node.args) == 1
        and isinstance(node.args[0], ast.Name)
        and node.args[0].id == "self"
    )


def _keeps_arguments(site: Site, owner: Scope, getter: Scope) -> bool:
    """Whether all that is kept is what the constructor was given, as it was given."""
    kept = mentioned(getter)
    every = site.module.attributes.of(owner)
    return bool(kept) and all(
        bool(every.get(name))
        and all(
            scope.method is not None
            and scope.method.name == "__init__"
            and isinstance(binding.node, ast.Name)
            and any(each.kind == "argument" for each in scope.bindings.get(binding.node.id, ()))
            for binding, scope, _ in every[name]
        )
        for name in kept
    )


def _takes_any(owner: Scope) -> bool:
    """Whether the constructor takes whatever it is given: a class for others to inherit from."""
    first = method(owner, "__init__")
    return (
        first is not None
        and isinstance(first.node, ast.FunctionDef)
        and first.node.args.vararg is not None
    )


def _rebuilds(node: ast.FunctionDef, owner: Scope) -> bool:
    """Whether all that is returned is the class and its arguments."""
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    return bool(returned) and all(
        isinstance(each, ast.Tuple)
        and len(each.elts) == 2
        and isinstance(each.elts[1], ast.Tuple)
        and (
            (isinstance(each.elts[0], ast.Call) and _is_type_of_self(each.elts[0]))
            or (isinstance(each.elts[0], ast.Attribute) and each.elts[0].attr == "__class__")
            or (isinstance(each.elts[0], ast.Name) and each.elts[0].id == owner.name)
        )
        for each in returned
    )


def _changes(site: Site, owner: Scope, reducer: ast.AST) -> bool:
    """Whether an attribute that is not kept changes after the constructor."""
    kept = {each.attr for each in ast.walk(reducer) if isinstance(each, ast.Attribute)}
    for name, bindings in site.module.attributes.of(owner).items():
        if name in kept or name.startswith("__"):
            continue
        places = {scope.method.name for _, scope, _ in bindings if scope.method is not None}
        later = {each for each in places if each not in _AT_FIRST and not begins(each)}
        if "__init__" in places and later:
            return True
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Keep the state besides the arguments, generators included, and put it back after construction.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=frozenset({"__reduce__", "__reduce_ex__", "__setstate__"}),
)
