"""Where a seed or a generator may be missing: conditions on None, defaults, accessors.

Invariant: what a condition rules out is not reported; what cannot be read rules out nothing.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.rules.seeding import is_none, is_seed_name
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name

_BEGINNINGS: Final = frozenset({"__init__", "__new__", "reset", "setup", "seed"})


def none_test(test: ast.expr) -> tuple[ast.expr, bool] | None:
    """Give what a condition compares with None, and whether it holds where that is None."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if isinstance(test.operand, (ast.Name, ast.Attribute)):
            return test.operand, True
        inner = none_test(test.operand)
        return None if inner is None else (inner[0], not inner[1])
    if isinstance(test, (ast.Name, ast.Attribute)):
        return test, False
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and is_none(test.comparators[0]):
        if isinstance(test.ops[0], (ast.Is, ast.Eq)):
            return test.left, True
        if isinstance(test.ops[0], (ast.IsNot, ast.NotEq)):
            return test.left, False
    return None


def is_none_branch(site: Site) -> bool:
    """Say whether a site gives a seed where none was given: ``if seed is None: seed = ...``."""
    below = site.node
    for each in site.above():
        if isinstance(each, ast.If):
            tested = none_test(each.test)
            if tested is not None and is_seed_name(tested[0]):
                return (below in each.body) is tested[1]
        elif isinstance(each, ast.IfExp):
            tested = none_test(each.test)
            if tested is not None and is_seed_name(tested[0]):
                return (below is each.body) is tested[1]
        elif isinstance(each, ast.BoolOp) and isinstance(each.op, ast.Or):
            if each.values[0] is not below and is_seed_name(each.values[0]):
                return True
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        below = each
    return False


def is_lazy(site: Site) -> ast.AST | None:
    """Give what a property or an accessor tests against None before it makes a generator here."""
    function = site.scope
    if not function.is_function or function.owner is None or function.name in _BEGINNINGS:
        return None
    below = site.node
    for each in site.above():
        if isinstance(each, ast.If):
            tested = none_test(each.test)
            if (
                tested is not None
                and isinstance(tested[0], ast.Attribute)
                and (below in each.body) is tested[1]
            ):
                return tested[0]
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = {last_name(one) for one in each.decorator_list}
            return each if names & {"cached_property", "lazy_property"} else None
        below = each
    return None


def none_parameter(site: Site, given: ast.expr) -> bool:
    """Say whether a seed is a parameter with the default None that may still be None here.

    It may be kept in an attribute of ``self`` on the way.
    """
    function = site.scope
    node = function.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if isinstance(given, ast.Name):
        if not _is_none_by_default(function, given.id):
            return False
    elif not _is_kept_none(site, given):
        return False
    what = ast.dump(given)
    return not _ruled_out(site, what) and not _left_before(node, given, what)


def _is_none_by_default(function: Scope, name: str) -> bool:
    node = function.node
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    return len(function.bindings.get(name, [])) == 1 and is_none(default_of(node.args, name))


def _is_kept_none(site: Site, given: ast.expr) -> bool:
    """Whether it is ``self.seed``, and only such a parameter is ever assigned to it."""
    owner = site.scope.owner
    if (
        owner is None
        or not isinstance(given, ast.Attribute)
        or not isinstance(given.value, ast.Name)
        or given.value.id != "self"
    ):
        return False
    found = False
    for binding, scope, _ in site.module.attributes.of(owner).get(given.attr, ()):
        value = binding.node
        if binding.kind == "annotated" and isinstance(value, ast.AnnAssign):
            value = value.value or value
        if (
            isinstance(value, ast.Name)
            and _is_none_by_default(scope, value.id)
            and not _ruled_out(site.module.site(value, scope), ast.dump(value))
        ):
            found = True
        elif not is_none(value):
            return False
    return found


def default_of(arguments: ast.arguments, name: str) -> ast.expr | None:
    """Give the default of a parameter; None when it has none."""
    places = [*arguments.posonlyargs, *arguments.args]
    given = [None] * (len(places) - len(arguments.defaults)) + list(arguments.defaults)
    for one, default in zip(places, given, strict=True):
        if one.arg == name:
            return default
    for one, only in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if one.arg == name:
            return only
    return None


def _ruled_out(site: Site, what: str) -> bool:
    """Whether a condition around a site says that an expression, as a dump, is not None."""
    below = site.node
    for each in site.above():
        if isinstance(each, (ast.If, ast.IfExp)):
            branch = each.body if isinstance(each.body, list) else [each.body]
            holds = below in branch
            if below is not each.test and _not_none(each.test, what, holds=holds):
                return True
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        below = each
    return False


def _not_none(test: ast.expr, what: str, *, holds: bool) -> bool:
    """Whether a condition that holds, or does not, says that an expression is not None."""
    if isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is holds:
            return any(_not_none(each, what, holds=holds) for each in test.values)
        return False
    if isinstance(test, ast.Call) and last_name(test.func) == "isinstance" and test.args:
        return holds and ast.dump(test.args[0]) == what
    tested = none_test(test)
    return tested is not None and ast.dump(tested[0]) == what and tested[1] is not holds


def _left_before(node: ast.FunctionDef | ast.AsyncFunctionDef, given: ast.expr, what: str) -> bool:
    """Whether a function is left, before a line, when an expression is None."""
    for each in node.body:
        if each.lineno >= given.lineno:
            return False
        if isinstance(each, ast.Assert) and _not_none(each.test, what, holds=True):
            return True
        if (
            isinstance(each, ast.If)
            and isinstance(each.body[-1], (ast.Raise, ast.Return))
            and _not_none(each.test, what, holds=False)
        ):
            return True
    return False
