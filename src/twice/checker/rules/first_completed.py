"""A race between tasks decides what happens next."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "first-completed"


def look(site: Site) -> Iterator[Violation]:
    """Look at a call that waits for several tasks."""
    outcome = _of_done(site)
    if outcome is None or outcome.use is Use.ERASED:
        return
    when = site.keyword("return_when")
    races = when is not None and "FIRST" in site.module.source(when)
    yield site.found(
        NAME,
        "What is done first is taken first."
        if races
        else f"{site.called}() gives the finished tasks as a set, and their order is used.",
        "Which task is done first depends on the load of the machine."
        if races
        else "The order of a set of tasks follows their addresses in memory.",
        outcome=outcome,
    )


def _of_done(site: Site) -> Outcome | None:
    """Where the order of the finished tasks ends; None where they are not looked at."""
    parents = site.module.survey.parents
    current: ast.AST = site.node
    above = parents.get(current)
    while isinstance(above, (ast.Await, ast.Attribute, ast.Subscript)):
        if isinstance(above, ast.Subscript) and not _is_zero(above.slice):
            return None
        if isinstance(above, ast.Attribute) and above.attr != "done":
            return None
        current, above = above, parents.get(above)
    if not isinstance(above, ast.Assign):
        return site.order(current) if isinstance(current, (ast.Attribute, ast.Subscript)) else None
    target = above.targets[0]
    if isinstance(target, (ast.Tuple, ast.List)):
        target = target.elts[0]
    elif not isinstance(current, (ast.Attribute, ast.Subscript)):
        return None
    if not isinstance(target, ast.Name):
        return None
    module = site.module
    ends = [
        end
        for load, scope in module.loads.of(target.id, site.scope)
        if load.lineno > above.lineno
        for end in module.orders.follow(load, scope)
    ]
    return gravest(ends, Outcome(Use.ERASED, site.node))


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Wait for all tasks and go through them in the order in which they were made.",
        __doc__ or "",
    ),
    calls=("waiting-for-some",),
    look=look,
)
