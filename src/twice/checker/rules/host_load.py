"""How busy the machine is decides what a run does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "host-load"
_SIZES: Final = frozenset(
    [
        "batch",
        "batches",
        "size",
        "workers",
        "jobs",
        "threads",
        "processes",
        "chunk",
        "count",
        "parallel",
        "concurrency",
    ]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at a reading of the machine's load."""
    ends = [each for each in site.ends() if each.use is Use.BRANCH and _sizes(site, each.node)]
    if not ends:
        return
    if not _is_first(site):
        return
    outcome = gravest(ends, Outcome(Use.UNSEEN, site.node))
    yield site.found(
        NAME,
        f"{site.module.shown(site.call.func)}() reads how busy the machine is.",
        "Two runs find the machine otherwise busy",
        outcome=outcome,
        confidence=0.85,
    )


def _is_first(site: Site) -> bool:
    """Whether it is the first such reading of its function: one finding says it."""
    for node, scope, called in site.module.calls:
        if scope is site.scope and _reads(site, node, called):
            return node is site.node
    return True


def _reads(site: Site, node: ast.Call, called: str | None) -> bool:
    return site.catalogue.has("host-load", called) or (
        isinstance(node.func, ast.Attribute)
        and site.catalogue.has_method("host-load", node.func.attr)
    )


def _sizes(site: Site, branch: ast.AST) -> bool:
    """Whether a branch decides how much is done at once, as names in it say."""
    if isinstance(branch, ast.IfExp):
        statements: list[ast.stmt] = [site.module.survey.statement(branch)]
    elif isinstance(branch, (ast.If, ast.While)):
        statements = [*branch.body, *branch.orelse]
    else:
        return False
    for one in statements:
        for each in ast.walk(one):
            targets = each.targets if isinstance(each, ast.Assign) else []
            if isinstance(each, ast.AugAssign):
                targets = [each.target]
            if any(about(last_name(target), _SIZES) for target in targets):
                return True
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Take sizes and numbers of workers from the configuration, and record them.",
        __doc__ or "",
    ),
    calls=("host-load",),
    methods=("host-load",),
    look=look,
)
