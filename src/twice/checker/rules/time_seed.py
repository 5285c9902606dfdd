"""A seed comes from the clock, from entropy or from the process."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.absence import is_none_branch
from twice.checker.rules.seeding import is_named_seed
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "time-seed"
_SHOWN = {Use.DROPPED, Use.LABEL, Use.TELEMETRY, Use.TIMING}
_NAMES_OF_THINGS = {"builtins.id", "builtins.hash"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a reading of the clock, of entropy, or of what the process is."""
    if site.called in _NAMES_OF_THINGS or site.called == "random.SystemRandom":
        return  # identity-subseed looks at the former.
    outcome = site.value()
    is_seen = outcome.use is Use.SEED
    if not is_seen and not (is_named_seed(site) or _is_option(site)):
        return
    if is_none_branch(site) or (outcome.use in _SHOWN and not is_seen):
        return  # seed-none-fallback says the former.
    yield site.found(
        NAME,
        f"{site.called}() becomes a seed.",
        "Every run has another seed, and nothing remembers which.",
        outcome=outcome if is_seen else None,
        reach=Reach.LOUD if is_seen else Reach.UNSEEN,
    )


def _is_option(site: Site) -> bool:
    """Whether it is the default of an option: ``add_argument("--seed", default=int(time()))``."""
    for each in site.above():
        if isinstance(each, ast.keyword):
            call = site.module.survey.parents.get(each)
            return (
                each.arg in {"default", "default_factory"}
                and isinstance(call, ast.Call)
                and any(
                    isinstance(one, ast.Constant) and "--seed" in str(one.value)
                    for one in call.args
                )
            )
        if isinstance(each, ast.stmt):
            break
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.STATISTICAL,
        Severity.CRITICAL,
        "Take the seed as an argument of the run, and record it; derive others with run.rng(name).",
        __doc__ or "",
    ),
    calls=("clock", "entropy", "process-identity"),
    look=look,
)
