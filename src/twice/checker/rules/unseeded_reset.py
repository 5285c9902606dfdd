"""An environment is made and reset, and never gets a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.environments import calls_on, holder_of_made, reach_of
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-reset"


def look(site: Site) -> Iterator[Violation]:
    """Look at a call of ``reset``."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    if site.call.args or site.call.keywords:
        return
    holder = holder_of_made(site, func.value)
    if holder is None:
        return
    assert isinstance(func.value, ast.Name), "it has a holder"
    first = True
    for called, call in calls_on(site, func.value.id, holder):
        if called in {"seed", "unwrapped.seed", "set_state"}:
            return
        if called.rpartition(".")[2] == "reset":
            if any(each.arg != "options" for each in call.keywords) or call.args:
                return
            if first and call is not site.call:
                return
            first = False
    yield site.found(
        NAME,
        f"{func.value.id} is reset without a seed, and never gets one.",
        "Its first reset starts it from the system's entropy.",
        reach=reach_of(site),
        confidence=0.8,
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Give the first reset the run's seed: env.reset(seed=seed).",
        __doc__ or "",
    ),
    methods=("resetting",),
    look=look,
)
