"""A function takes a seed, and is called without one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.absence import default_of, is_lazy, none_test
from twice.checker.rules.seeding import is_none, is_unseeded
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import GENERATOR, SEED, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "seed-not-passed"
_BOTH: Final = SEED | GENERATOR


def look(site: Site) -> Iterator[Violation]:
    """Look at a function's definition."""
    node = site.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "definitions are asked for"
    arguments = node.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = [each.arg for each in every if about(each.arg, _BOTH)]
    if not names:
        return
    inner = next((each for each in site.scope.inner if each.node is node), None)
    wanted = [
        name
        for name in names
        if inner is not None and is_none(default_of(arguments, name)) and _makes(site, inner, name)
    ]
    if not wanted or inner is None:
        return
    called = site.scope if node.name == "__init__" else inner
    is_method = site.scope.is_class
    calls = site.module.loads.calls_of(called)
    is_late = called is inner and any(
        scope.owner is site.scope and _gives(call, names, arguments, is_method=is_method)
        for call, scope in calls
    )
    is_drawn = not is_late and _is_drawn(site, inner)
    for call, scope in calls:
        if is_method and called is inner and not _is_own(call, scope, site.scope):
            continue
        if scope.method is inner or _gives(call, names, arguments, is_method=is_method):
            continue
        if is_lazy(site.module.site(call, scope)) is not None:
            continue  # lazy-unseeded says it.
        begins = scope.method is not None and scope.method.name == "__init__"
        yield site.module.site(call, scope).found(
            NAME,
            f"{called.name} is called without its {wanted[0]}.",
            "It then starts from the system's entropy, whatever seed the run has.",
            reach=Reach.LOUD if is_drawn or (is_late and not begins) else Reach.UNSEEN,
        )


def _is_drawn(site: Site, inner: Scope) -> bool:
    """Whether anything in the file reads what the function makes; only what it keeps in ``self`` may not be."""
    owner, module = inner.owner, site.module
    if owner is None or not module.follows:
        return True
    kept = [
        name
        for name, bindings in module.attributes.of(owner).items()
        if any(
            scope.method is inner and _makes_generator(module.site(binding.node, scope))
            for binding, scope, _ in bindings
        )
    ]
    parents = module.survey.parents
    return not kept or any(
        not (isinstance(call := parents[load], ast.Call) and call.func is load)
        for name in kept
        for load, _ in module.loads.of_attribute(name, owner)
    )


def _makes_generator(site: Site) -> bool:
    return isinstance(site.node, ast.Call) and site.catalogue.has("generators", site.called)


def _is_own(call: ast.Call, scope: Scope, owner: Scope) -> bool:
    """Whether a method is called on ``self`` in its own class."""
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "self"
        and scope.owner is owner
    )


def _makes(site: Site, inner: Scope, name: str) -> bool:
    """Whether a parameter seeds a generator, or is replaced by one that nobody seeds."""
    module = site.module
    parents = module.survey.parents
    for load, scope in module.loads.of(name, inner):
        parent = parents.get(load)
        if isinstance(parent, ast.keyword):
            parent = parents.get(parent)
        if isinstance(parent, ast.Call) and module.catalogue.has(
            "generators", module.names.qualified(parent.func, scope)
        ):
            return True
        if isinstance(parent, ast.BoolOp) and any(
            _is_fresh(module.site(each, scope)) for each in parent.values
        ):
            return True
        branch = parents.get(parent) if isinstance(parent, ast.Compare) else None
        if (
            isinstance(branch, ast.If)
            and none_test(branch.test) == (load, True)
            and any(
                isinstance(each, ast.Assign) and _is_fresh(module.site(each.value, scope))
                for each in branch.body
            )
        ):
            return True
    return False


def _is_fresh(site: Site) -> bool:
    """Whether an expression makes a generator without a seed."""
    return (
        isinstance(site.node, ast.Call)
        and site.catalogue.has("generators", site.called)
        and is_unseeded(site)
    )


def _gives(call: ast.Call, names: list[str], arguments: ast.arguments, *, is_method: bool) -> bool:
    if any(isinstance(each, ast.Starred) for each in call.args):
        return True
    if any(each.arg is None or each.arg in names for each in call.keywords):
        return True
    places = [each.arg for each in [*arguments.posonlyargs, *arguments.args]][is_method:]
    return any(name in names for name in places[: len(call.args)])


def _suits(node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> bool:
    """Whether something is None by default."""
    del scope
    return any(map(is_none, (*node.args.defaults, *node.args.kw_defaults)))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Pass the run's seed or generator on.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef, ast.AsyncFunctionDef),
    look=look,
    applies=mentions("seed"),
    suits=_suits,
)
