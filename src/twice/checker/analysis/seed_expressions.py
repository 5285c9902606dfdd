"""What counts as a seed, a generator or a draw, and where one may be missing: questions about single expressions.

Invariant: a name decides nothing alone; it is asked only where a call or an operator gives a reason. What a
condition rules out is not reported, and what cannot be read rules out nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from twice.checker.syntax.kind import is_none
from twice.checker.syntax.module import Site
from twice.checker.syntax.nodes import parameter_defaults
from twice.checker.syntax.survey import targets
from twice.checker.syntax.uses.loads import spelled
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import (
    GENERATOR,
    LABEL,
    SEED,
    SEED_KEYWORDS,
    about,
    last_name,
    parts,
)

_OTHER_SEEDS: Final = LABEL | {"node", "nodes", "word", "words", "point", "points", "data", "count"}
_AFTER_SEED: Final = re.compile(
    r"seeds?(?:_?\d+|_(?:base|value|offset|start|init|root|number|num|int|global|np|torch|env|\w))?_*\Z",
    re.IGNORECASE,
)
"""How a name ends that is a seed's: ``seed_staleness`` and ``seedIndex`` are of something else."""
_DELAYS: Final = frozenset({"backoff", "delay", "jitter", "sleep", "wait", "retry"})
_NOT_GENERATORS: Final = frozenset({"key", "keys", "module", "model"})
_NOT_SEEDED: Final = frozenset({"jax.random.split", "jax.random.fold_in"})
_ENTRIES: Final = frozenset(
    ["main", "cli", "demo", "test", "tests", "example", "train", "run", "benchmark", "experiment", "setup"]
)  # fmt: skip
_REFUSING: Final = frozenset({"torch.manual_seed", "torch.random.manual_seed"})
_BEGINNINGS: Final = frozenset({"__init__", "__new__", "reset", "setup", "seed"})
_MAY_LACK: Final = SEED | GENERATOR | {"entropy", "config", "cfg", "settings"}
_SETTERS: Final = frozenset({"__setstate__", "manual_seed", "seed", "set_state", "setstate"})


def is_seed_name(node: ast.AST) -> bool:
    """Say whether an expression is a name, an attribute or an element that is called a seed."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        key = node.slice.value
        return isinstance(key, str) and about(key, SEED) and not about(key, _OTHER_SEEDS)
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        name = last_name(node)
        return about(name, SEED) and (
            name.lower().endswith("_seed")
            or (_AFTER_SEED.search(name) is not None and not about(name, _OTHER_SEEDS))
        )
    return False


def is_generator(site: Site, node: ast.AST) -> bool:
    """Say whether an expression is a generator, by its kind, or by its name when that is unknown."""
    kind = site.kind(node)
    if kind is not None and kind.name != "object":
        return kind.is_generator
    if not isinstance(node, (ast.Name, ast.Attribute)) or site.qualified(node) is not None:
        return False
    words = parts(last_name(node))
    return not words.isdisjoint(GENERATOR) and words.isdisjoint(_NOT_GENERATORS)


def is_global_draw(site: Site, node: ast.AST) -> bool:
    """Say whether an expression is a draw from a process-wide stream."""
    return isinstance(node, ast.Call) and any(
        site.catalogue.has(group, site.qualified(node.func))
        for group in ("global-draws", "tensor-draws")
    )


def seed_of(site: Site) -> ast.expr | None:
    """Give what a call takes as a seed: of a constructor, a seeding function, or a method ``seed``."""
    called = site.called
    catalogue = site.catalogue
    if catalogue.has("generators", called) or catalogue.has("seeding", called):
        given = site.argument(0, "seed")
        return given if given is not None else _by_keyword(site)
    func = site.call.func
    is_method = isinstance(func, ast.Attribute) and (called is None or called[0] == ".")
    if is_method and last_name(func) in catalogue.methods.get("seeding", ()):
        return site.argument(0, "seed")
    return _by_keyword(site)


def _by_keyword(site: Site) -> ast.expr | None:
    for each in site.call.keywords:
        if each.arg in SEED_KEYWORDS:
            return each.value
    return None


def is_unseeded(site: Site) -> bool:
    """Say whether a generator is made with no argument but None."""
    call = site.call
    if site.has_star or site.called in _NOT_SEEDED:
        return False
    return all(is_none(each) for each in [*call.args, *(each.value for each in call.keywords)])


def is_set_later(site: Site) -> bool:
    """Say whether a generator that is made is seeded, or gets a state, in the same function."""
    survey = site.module.survey
    statement = survey.statement(site.node)
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return False
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    wanted = spelled(target)
    return any(
        scope is site.scope
        and (given := _gets_state(node)) is not None
        and spelled(given) == wanted
        for kind in (ast.Call, ast.Assign)
        for node, scope in survey.nodes.get(kind, ())
    )


def _gets_state(node: ast.AST) -> ast.expr | None:
    """Return the generator that a call seeds, or that an assignment gives a state."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        is_given = node.func.attr in _SETTERS and (node.args or node.keywords)
        return node.func.value if is_given else None
    target = node.targets[0] if isinstance(node, ast.Assign) else None
    if not isinstance(target, ast.Attribute) or target.attr != "state":
        return None
    base = target.value
    is_inner = isinstance(base, ast.Attribute) and base.attr.strip("_") == "bit_generator"
    return base.value if isinstance(base, ast.Attribute) and is_inner else base


def is_entry(site: Site) -> bool:
    """Say whether a site is in what a program starts with: top-level statements, ``main`` or the like."""
    function = site.scope.method
    return function is None or (function.owner is None and is_entry_name(function.name))


def is_entry_name(name: str) -> bool:
    """Say whether a function is called as what a program starts with."""
    return not _ENTRIES.isdisjoint(parts(name))


def is_named_seed(site: Site) -> bool:
    """Say whether a site's statement assigns to, or returns, what is called a seed."""
    statement = site.module.survey.statement(site.node)
    if isinstance(statement, ast.Assign):
        return any(is_seed_name(each) for one in statement.targets for each in targets(one))
    if isinstance(statement, ast.AnnAssign):
        return is_seed_name(statement.target)
    function = site.scope.method
    return (
        isinstance(statement, ast.Return)
        and function is not None
        and function.name.endswith(("seed", "seeds"))
    )


def is_delay(site: Site) -> bool:
    """Say whether a drawn number only makes something wait, or is returned by what computes a delay."""
    ends = site.ends()
    if any(_waits(each.node) for each in ends if each.use is Use.TIMING):
        return all(each.use <= Use.UNSEEN for each in ends)
    function = site.scope.method
    return (
        function is not None
        and about(function.name, _DELAYS)
        and bool(ends)
        and all(each.use in {Use.RETURNED, Use.TIMING, Use.TELEMETRY} for each in ends)
    )


def _waits(node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        return about(node.id, _DELAYS)
    return last_name(node) in {"sleep", "wait", "wait_for", "call_later"}


# Where a seed or a generator may be missing.


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


def iterate_conditions(site: Site) -> Iterator[tuple[ast.expr, bool]]:
    """Yield the conditions around a site in its function, innermost first, and whether each holds there."""
    below = site.node
    for each in site.above():
        if isinstance(each, (ast.If, ast.IfExp)) and below is not each.test:
            yield each.test, below in (each.body if isinstance(each.body, list) else [each.body])
        elif isinstance(each, ast.BoolOp) and each.values[0] is not below:
            yield each.values[0], isinstance(each.op, ast.And)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            return
        below = each


def is_none_branch(site: Site) -> bool:
    """Say whether a site gives a seed where none was given: ``if seed is None: seed = ...``."""
    for test, holds in iterate_conditions(site):
        tested = none_test(test)
        if tested is not None and is_seed_name(tested[0]):
            return holds is tested[1]
    return False


def find_missing(site: Site) -> ast.expr | None:
    """Give the expression that must be missing for a value to be used."""
    for test, holds in iterate_conditions(site):
        tested = none_test(test)
        if tested is not None and holds is tested[1] and about(last_name(tested[0]), _MAY_LACK):
            return tested[0]
    return None


def is_lazy(site: Site) -> ast.AST | None:
    """Give what a property or an accessor tests against None before it makes a generator here."""
    function = site.scope
    if not function.is_function or function.owner is None or function.name in _BEGINNINGS:
        return None
    for test, holds in iterate_conditions(site):
        tested = none_test(test)
        if tested is not None and holds is tested[1] and isinstance(tested[0], ast.Attribute):
            return tested[0]
    names = {last_name(each) for each in getattr(function.node, "decorator_list", ())}
    return function.node if names & {"cached_property", "lazy_property"} else None


def rules_out_none(site: Site, given: ast.expr) -> bool:
    """Say whether an expression cannot be None at a site, by a condition around it or one that leaves before."""
    what, function = ast.dump(given), site.scope.node
    if any(_not_none(test, what, holds=holds) for test, holds in iterate_conditions(site)):
        return True
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    for each in function.body:
        if each.lineno >= given.lineno:
            break
        if isinstance(each, ast.Assert) and _not_none(each.test, what, holds=True):
            return True
        if (
            isinstance(each, ast.If)
            and isinstance(each.body[-1], (ast.Raise, ast.Return))
            and _not_none(each.test, what, holds=False)
        ):
            return True
    return False


def default_of(arguments: ast.arguments, name: str) -> ast.expr | None:
    """Give the default of a parameter; None when it has none."""
    return parameter_defaults(arguments).get(name)


def refuses_none(site: Site, given: ast.expr) -> bool:
    """Say whether torch gets the same seed here, or before in the function: it raises where there is none."""
    text = ast.dump(given)
    return any(
        called in _REFUSING
        and scope is site.scope
        and node.lineno <= site.call.lineno
        and any(ast.dump(each) == text for each in node.args)
        for node, scope, called in site.module.calls
    )


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
