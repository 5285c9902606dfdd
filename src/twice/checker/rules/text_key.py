"""The text of nested values is a key."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.digests import is_nested, is_star, keyed
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "text-key"
_WORKERS: Final = {"threading.current_thread", "threading.currentThread", "asyncio.current_task"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a text that is made of something."""
    if isinstance(site.node, ast.FormattedValue):
        yield from _formatted(site, site.node)
        return
    call = site.call
    if len(call.args) != 1:
        return
    (subject,) = call.args
    if isinstance(subject, ast.Call) and site.qualified(subject.func) in _WORKERS:
        outcome = site.value()
        if outcome.use.reach is not Reach.QUIET:
            yield site.found(
                NAME,
                "The text of a thread or a task is kept as its identity.",
                "It has a number and an address in it that another run does not give again.",
            )
        return
    if not _is_nested(site, subject):
        return
    outcome_of_key = keyed(site)
    if outcome_of_key is not None:
        yield site.found(
            NAME,
            f"{site.module.shown(call.func)}() of nested values is used as a key.",
            "Equal values can have different texts and different values the same",
            outcome=outcome_of_key,
            confidence=0.85,
        )


def _formatted(site: Site, node: ast.FormattedValue) -> Iterator[Violation]:
    """Look at a value in a formatted string."""
    subject, whole = node.value, site.module.survey.parents.get(node)
    if not isinstance(subject, ast.Name) or whole is None:
        return
    if not is_star(subject, site.scope):
        return
    outcome = keyed(site.module.site(whole, site.scope))
    if outcome is not None:
        yield site.found(
            NAME,
            f"A text with {subject.id} in it is used as a key.",
            "Equal values can have different texts and different values the same",
            node=whole,
            outcome=outcome,
            confidence=0.85,
        )


def _is_nested(site: Site, node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List)):
        return any(is_nested(site.kind(each)) or is_star(each, site.scope) for each in node.elts)
    if isinstance(node, ast.Dict):
        return any(is_nested(site.kind(each)) for each in node.values)
    return is_star(node, site.scope)


def _suits(node: ast.FormattedValue, scope: Scope) -> bool:
    """Whether a name is formatted, in a function."""
    del scope
    return isinstance(node.value, ast.Name)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.ENCODING,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Make the key of a canonical encoding: json.dumps(values, sort_keys=True), hashed.",
        __doc__ or "",
    ),
    calls=("text",),
    nodes=(ast.FormattedValue,),
    look=look,
    suits=_suits,
)
