"""A missing seed silently becomes the system's entropy."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.absence import is_none_branch, none_parameter
from twice.checker.rules.seeding import is_named_seed, is_none, is_seed_name, seed_of
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import SEED, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "seed-none-fallback"
_REFUSING: Final = frozenset({"torch.manual_seed", "torch.random.manual_seed"})
_KEPT: Final = {Use.TELEMETRY, Use.STORED, Use.RETURNED, Use.STATE}
_WHY: Final = "Who gives no seed gets another stream in each run, and nothing says so."


def look(site: Site) -> Iterator[Violation]:
    """Look at a seed that is chosen, and at a generator that is made."""
    if isinstance(site.node, ast.Assign):
        yield from _nones(site, site.node)
    elif site.catalogue.has("generators", site.called) or site.catalogue.has(
        "seeding", site.called
    ):
        yield from _passed(site)
    else:
        yield from _chosen(site)


def _nones(site: Site, node: ast.Assign) -> Iterator[Violation]:
    """``seed = [None] * n`` where none was given."""
    value = node.value
    if isinstance(value, ast.ListComp):
        inside: ast.expr | None = value.elt
    elif isinstance(value, ast.BinOp) and isinstance(value.left, ast.List) and value.left.elts:
        inside = value.left.elts[0]
    else:
        return
    if not is_none(inside) or not is_seed_name(node.targets[0]) or not is_none_branch(site):
        return
    yield site.found(
        NAME,
        f"A missing seed becomes {site.module.shown(value)}: every part starts from entropy.",
        _WHY,
    )


def _passed(site: Site) -> Iterator[Violation]:
    given = seed_of(site)
    if given is None or not none_parameter(site, given) or _refuses_none(site, given):
        return
    function = site.scope.method
    if function is None or about(function.name, SEED):
        return
    yield site.found(
        NAME,
        f"{site.module.shown(given)} in {_shown(site)} may be None, and {site.called}() then starts from entropy.",
        _WHY,
        confidence=0.8,
    )


def _refuses_none(site: Site, given: ast.expr) -> bool:
    """Whether torch gets the same seed here, or before in the function: it raises where there is none."""
    text = ast.dump(given)
    return any(
        called in _REFUSING
        and scope is site.scope
        and node.lineno <= site.call.lineno
        and any(ast.dump(each) == text for each in node.args)
        for node, scope, called in site.module.calls
    )


def _shown(site: Site) -> str:
    function = site.scope.method
    assert function is not None, "it was asked for"
    owner = function.owner
    return function.name if owner is None else f"{owner.name}.{function.name}"


def _chosen(site: Site) -> Iterator[Violation]:
    """Find a clock, entropy or a draw that replaces a missing seed."""
    if not is_none_branch(site):
        return
    ends = site.module.values.follow(site.node, site.scope) if site.module.follows else []
    uses = {each.use for each in ends}
    if Use.SEED not in uses and not is_named_seed(site):
        return
    kept = not uses.isdisjoint(_KEPT) and not site.catalogue.has("seed-asking", site.called)
    yield site.found(
        NAME,
        f"A missing seed is chosen by {site.called}().",
        _WHY,
        reach=Reach.UNSEEN if kept else Reach.LOUD,
    )


def _suits(node: ast.Assign, scope: Scope) -> bool:
    """Whether what is assigned is a list of one thing many times."""
    del scope
    return isinstance(node.value, (ast.ListComp, ast.BinOp))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Require a seed, or take one from the run and record it.",
        __doc__ or "",
    ),
    calls=(
        "generators",
        "seeding",
        "clock",
        "entropy",
        "process-identity",
        "global-draws",
        "initial-seed",
    ),
    nodes=(ast.Assign,),
    look=look,
    suits=_suits,
    applies=mentions("seed"),
)
