"""Floating-point numbers are added up in an order by chance."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "order-dependent-sum"
_DEPTH = 20
_WHY = "Each addition rounds, so another order gives another sum."


def look(site: Site) -> Iterator[Violation]:
    """Look at a sum or a loop."""
    if isinstance(site.node, ast.Call):
        yield from _summed(site)
    else:
        yield from _looped(site)


def _summed(site: Site) -> Iterator[Violation]:
    """``sum`` of floats in a set, or of what is computed for each element of one."""
    given = site.call.args[0] if site.call.args else None
    if given is None:
        return
    source: ast.expr = given
    is_float = False
    if isinstance(given, (ast.GeneratorExp, ast.ListComp)):
        source = given.generators[0].iter
        is_float = _is_float(site, given.elt, site.scope)
    words = _by_chance(site, source)
    kind = site.kind(given)
    if words is None or not (is_float or (kind is not None and kind.element == "float")):
        return
    outcome = site.value()
    yield site.found(
        NAME, f"Floats are summed in the order of {words}.", _WHY, outcome=outcome, confidence=0.85
    )


def _looped(site: Site) -> Iterator[Violation]:
    """Find a loop that adds to a float."""
    loop = site.node
    assert isinstance(loop, (ast.For, ast.AsyncFor)), "asked for"
    adds = [
        each
        for each in loop.body
        if isinstance(each, ast.AugAssign) and isinstance(each.op, (ast.Add, ast.Sub))
    ]
    if not adds:
        return
    words = _by_chance(site, loop.iter)
    if words is None:
        return
    for each in adds:
        kind = site.kind(each.target)
        total = kind is not None and kind.name == "float"
        if (total and not _is_whole(site, each.value)) or _is_float(site, each.value, site.scope):
            yield site.found(
                NAME,
                f"{site.module.shown(each.target)} adds up floats in the order of {words}.",
                _WHY,
                node=each,
                confidence=0.85,
            )


def _by_chance(site: Site, source: ast.expr) -> str | None:
    """Name in words an iterable whose order is due to chance, or return None."""
    kind = site.kind(source)
    if kind is not None and kind.name == "set" and kind.element not in {"int", "bool"}:
        return "a set"
    if isinstance(source, ast.Call):
        called = site.qualified(source.func)
        if site.catalogue.has("completion-order", called) or last_name(source) == "imap_unordered":
            return "what is finished first"
        if site.catalogue.has("listing", called) and called not in {"os.walk", "os.fwalk"}:
            return "a listing of files"
    return None


def _is_float(site: Site, node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether a term is plainly a float: made by float(), a product with one, a division."""
    if depth > _DEPTH:
        return False
    kind = site.module.kinds.of(node, scope)
    if kind is not None:
        return kind.name == "float"
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) or any(
            _is_float(site, each, scope, depth + 1) for each in (node.left, node.right)
        )
    return isinstance(node, ast.Call) and (
        site.catalogue.has("transcendental", site.qualified(node.func))
        or site.qualified(node.func) == "math.sqrt"
    )


def _is_whole(site: Site, node: ast.expr) -> bool:
    kind = site.kind(node)
    return kind is not None and kind.name in {"int", "bool"}


def _suits(node: ast.For | ast.AsyncFor, scope: Scope) -> bool:
    """Whether a loop adds something up."""
    del scope
    return any(isinstance(each, ast.AugAssign) for each in node.body)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.FLOATING_POINT,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Sort before summing, or use math.fsum.",
        __doc__ or "",
    ),
    calls=("summing",),
    nodes=(ast.For, ast.AsyncFor),
    look=look,
    suits=_suits,
)
