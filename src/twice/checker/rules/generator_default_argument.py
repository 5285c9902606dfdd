"""A generator is made in the default of an argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_none, seed_of
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "generator-default-argument"


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made."""
    parents = site.module.survey.parents
    arguments = parents.get(site.node)
    if not isinstance(arguments, ast.arguments):
        return
    given = seed_of(site)
    kind = site.kind(site.call)
    if given is None or is_none(given) or kind is None or not kind.is_generator:
        return
    function = parents.get(arguments)
    name = getattr(function, "name", "a lambda")
    yield site.found(
        NAME,
        f"{site.module.shown(site.node)} is made once and shared by all calls of {name}.",
        "What a call draws depends on how many calls came before it in the process.",
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Take the generator without a default, or None and a seed to make one from.",
        __doc__ or "",
    ),
    calls=("generators",),
    look=look,
)
