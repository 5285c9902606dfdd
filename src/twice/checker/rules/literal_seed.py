"""A library's function seeds with a number that is written into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_entry, seed_of
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "literal-seed"


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made, and at a stream that is seeded."""
    given = seed_of(site)
    if not isinstance(given, ast.Constant) or type(given.value) not in {int, str, bytes}:
        return
    if is_entry(site) or isinstance(site.module.survey.parents.get(site.node), ast.arguments):
        return
    yield site.found(
        NAME,
        f"{site.called}() is seeded with {given.value!r}, which no caller can change.",
        "Runs with different seeds share this stream.",
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.STATISTICAL,
        Severity.LOW,
        "Take the seed as an argument, or derive it: run.rng(name).",
        __doc__ or "",
    ),
    calls=("generators", "seeding"),
    look=look,
)
