"""A default value reads a clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import LABEL, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "default-argument-clock"


def look(site: Site) -> Iterator[Violation]:
    """Look at a reading of a clock, and at a field that is given one."""
    node = site.node
    if site.catalogue.has("field", site.called):
        for name in ("default_factory", "factory", "default"):
            given = site.keyword(name)
            if given is not None and site.catalogue.has("clock", site.qualified(given)):
                yield _field(site, given, site.qualified(given) or "A clock")
        return
    where = frozen(site)
    if isinstance(where, ast.arguments):
        yield site.found(
            NAME,
            f"{site.called}() is the default of an argument: it is read once, at import.",
            "Each process freezes the moment of its import into every call that leaves it out.",
            confidence=0.95,
        )
    elif where is not None:
        yield _field(site, node, f"{site.called}()")


def _field(site: Site, node: ast.AST, clock: str) -> Violation:
    return site.found(
        NAME,
        f"{clock.removesuffix('()')}() is the default of a field.",
        "Every object that nobody gave a time to keeps the real one, so two runs keep two.",
        node=node,
        reach=Reach.UNSEEN,  # Who reads it is not known.
        confidence=0.9,
    )


def frozen(site: Site) -> ast.AST | None:
    """Give the arguments, or the field's call, that a clock is the default of; None elsewhere."""
    survey = site.module.survey
    scope: Scope = site.scope
    if scope.node.__class__ is ast.Lambda:
        parent = survey.parents.get(scope.node)
        if isinstance(parent, ast.keyword) and parent.arg in {"default_factory", "factory"}:
            return survey.parents.get(parent)
        return None
    for above in survey.above(site.node):
        if isinstance(above, ast.arguments):
            return above
        if isinstance(above, ast.stmt):
            if isinstance(above, ast.AnnAssign) and scope.is_class:
                name = above.target.id if isinstance(above.target, ast.Name) else ""
                return None if about(name, LABEL - {"timestamp", "stamp"}) else above
            return None
    return None


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Make None the default and take the time from the run when it is needed.",
        __doc__ or "",
    ),
    calls=("clock", "field"),
    look=look,
)
