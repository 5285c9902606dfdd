"""Draws from a process-wide stream that nobody else can shift, or that are of nothing that lasts.

A stream that is seeded anew in the function itself gives the same numbers whoever drew before. Noise of
a training step follows the one seed of the training. Operands of a benchmark and data that is made up
reach no result, and what is played by hand is not repeated.

Invariant: a draw that picks an action, an order or an index is none of these, unless it is seeded anew.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.findings import Reach
from twice.checker.rules.roles import is_seeder
from twice.checker.rules.seeding import is_entry, is_unseeded
from twice.checker.rules.showing import reach_of
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name

_FITTING: Final = frozenset({"loss", "forward"})
_AUGMENTING: Final = frozenset({"aug", "augment", "augmentation", "augmentations"})
_OF_WORKERS: Final = frozenset({"torch", "random"})
"""What torch seeds in each worker of a loader, from a stream that was seeded."""
_MADE_UP: Final = frozenset({"fake", "dummy", "mock", "stub", "placeholder"})
_TEMPLATES: Final = frozenset({"example", "template"})
_BENCHMARKS: Final = frozenset({"benchmark", "benchmarks", "bench", "profiling", "perf"})
_ORDERS: Final = frozenset({"randperm", "multinomial"})
_ACTIONS: Final = frozenset({"act", "action", "actions", "logit", "logits"})
_CALL_DEPTH: Final = 3
_A_FEW: Final = 3
_BLOCKS: Final = ("body", "orelse", "finalbody")


def is_undisturbed(site: Site, stream: str) -> bool:
    """Say whether a draw is one of these.

    Args:
        site: the draw.
        stream: the library whose stream it is from.
    """
    return (
        is_reseeded(site, stream)
        or _is_fitting_noise(site, stream)
        or _is_made_up(site)
        or reach_of(site) is not Reach.LOUD
        or _is_an_operand(site)
        or _is_shuffled_away(site.call)
    )


def is_reseeded(site: Site, stream: str) -> bool:
    """Say whether the function of a draw, or every function that calls that one, seeds the stream before."""
    function = site.scope.method
    if function is None:
        return _is_just_seeded(site, stream)
    if _is_next(site, function, stream):
        return True
    if _seedings(site, function, site.node, stream):
        return not is_entry(site)
    return site.module.follows and _is_called_reseeded(site, function, stream, _CALL_DEPTH)


def _is_just_seeded(site: Site, stream: str) -> bool:
    """Whether a script seeds the stream a few statements before."""
    module = site.module
    body = module.tree.body
    statement = module.survey.statement(site.node)
    if statement not in body:
        return False
    place = body.index(statement)
    before = {each for each in body[max(place - _A_FEW, 0) : place] if isinstance(each, ast.Expr)}
    return any(
        module.survey.parents.get(call) in before
        and stream in module.catalogue.names("seeding").get(called or "", "").split()
        and not is_unseeded(module.site(call, scope))
        for call, scope, called in module.calls
    )


def _is_called_reseeded(site: Site, function: Scope, stream: str, depth: int) -> bool:
    """Whether whoever calls a function of the file has seeded the stream before, or their callers have."""
    calls = site.module.loads.calls_of(function)
    if depth == 0 or not calls or function.name.startswith("__"):
        return False
    for call, scope in calls:
        caller = scope.method
        if caller is None or caller is function:
            return False
        if _seedings(site, caller, call, stream):
            if is_entry(site.module.site(call, scope)):
                return False
        elif not _is_called_reseeded(site, caller, stream, depth - 1):
            return False
    return True


def _seedings(
    site: Site, function: Scope, node: ast.AST, stream: str, *, by_name: bool = False
) -> list[ast.stmt]:
    """List a function's statements that seed a stream, without a condition, before a node.

    Args:
        site: the draw.
        function: the function.
        node: the node that they precede.
        stream: the library whose stream it is.
        by_name: whether to count a function that seeds everything by its name alone.
    """
    module = site.module
    around = {node, *module.survey.above(node)}
    found: list[ast.stmt] = []
    for call, scope, called in module.calls:
        if scope.method is not function or called is None:
            continue
        known = module.catalogue.names("seeding").get(called)
        if known is None and not (by_name and call.args and is_seeder(last_name(call.func))):
            continue
        if known is not None and stream not in known.split():
            continue
        statement = module.survey.statement(call)
        block = module.survey.parents.get(statement)
        if (
            isinstance(statement, ast.Expr)
            and not is_unseeded(module.site(call, scope))
            and block in around
            and call.lineno < getattr(node, "lineno", 0)
            and _is_in_block(block, statement, around)
        ):
            found.append(statement)
    return found


def _is_in_block(block: ast.AST | None, statement: ast.stmt, around: set[ast.AST]) -> bool:
    """Whether a statement stands in the same branch of a block as another node."""
    for name in _BLOCKS:
        those = getattr(block, name, ())
        if isinstance(those, list) and statement in those:
            return any(each in around for each in those)
    return False


def _is_next(site: Site, function: Scope, stream: str) -> bool:
    """Whether nothing stands between the seeding and the draw."""
    statement = site.module.survey.statement(site.node)
    block = site.module.survey.parents.get(statement)
    seedings = _seedings(site, function, site.node, stream, by_name=True)
    for name in _BLOCKS:
        those = getattr(block, name, ())
        if isinstance(those, list) and statement in those:
            place = those.index(statement)
            return place > 0 and those[place - 1] in seedings
    return False


def _is_fitting_noise(site: Site, stream: str) -> bool:
    """Whether it is noise in what a network learns from, and no index or order."""
    function, owner = site.scope.method, site.scope.owner
    if function is None or "torch" not in site.module.imported:
        return False
    bases = {last_name(each) for each in getattr(getattr(owner, "node", None), "bases", ())}
    if stream == "torch" and "Transform" in bases:
        return True  # The workers of a loader get seeds of that stream from it.
    if about(function.name, _AUGMENTING) and stream in _OF_WORKERS:
        return True
    if not about(function.name, _FITTING):
        return False
    if stream != "torch":
        if not about(function.name, frozenset({"loss"})) and "Module" not in bases:
            return False
    elif last_name(site.call) in _ORDERS or _is_done(site):
        return False
    return not any(isinstance(each, ast.Subscript) for end in site.ends() for each in end.way)


def _is_done(site: Site) -> bool:
    """Whether what is drawn becomes, or is put into, what is called an action."""
    statement = site.module.survey.statement(site.node)
    if isinstance(statement, ast.Assign):
        return any(about(last_name(each), _ACTIONS) for each in statement.targets)
    call = getattr(statement, "value", None)
    func = getattr(call, "func", None)
    return isinstance(func, ast.Attribute) and about(last_name(func.value), _ACTIONS)


def _is_made_up(site: Site) -> bool:
    function, owner = site.scope.method, site.scope.owner
    stem = site.module.path.rpartition("/")[2].removesuffix(".py")
    names = [stem, *("" if each is None else each.name for each in (function, owner))]
    return stem in _TEMPLATES or any(about(each, _MADE_UP) for each in names)


def _is_an_operand(site: Site) -> bool:
    """Whether it stands in a benchmark, or among such beside a clock that times what is done with it."""
    folder, _, stem = site.module.path.removesuffix(".py").rpartition("/")
    if about(stem, _BENCHMARKS):
        return True
    if not about(folder.replace("/", "_"), _BENCHMARKS):
        return False
    function = site.scope.method
    return any(
        scope.method is function and site.catalogue.has("clock", called)
        for _, scope, called in site.module.calls
    )


def _is_shuffled_away(call: ast.Call) -> bool:
    """Whether what is shuffled is made on the spot, so that nobody sees the new order."""
    return (
        last_name(call) == "shuffle"
        and len(call.args) == 1
        and isinstance(call.args[0], (ast.Call, ast.ListComp))
        and isinstance(call.func, ast.Attribute)
        and last_name(call.args[0]) in {"", "list", "sorted"}
    )
