"""A call leaves a seed out, and what it calls then seeds with a default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, ProjectFacts, Rule, RuleFacts
from twice.checker.rules.seed_callers import SeedCallers
from twice.checker.rules.seed_sources import gather
from twice.checker.rules.seed_ways import NAME
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


def conclude(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report every call that relies on a default, once."""
    said = set()
    for seeded in SeedCallers(facts.outside_tests()).unreached():
        for each in seeded.relied:
            if (each.path, each.found.place) in said:
                continue
            said.add((each.path, each.found.place))
            if each.name and each.found.statement != seeded.shown:
                message = (
                    f"{each.found.statement} leaves {each.name} out, which is then {each.text}."
                )
            else:
                message = f"The seed is {each.text} where none is given."
            why = f"The run's seed never reaches {seeded.shown} in {seeded.path}:{seeded.line}."
            yield each.path, replace(each.found, message=message, why=why)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.STATISTICAL,
        Severity.LOW,
        "Pass the run's seed on, and give the parameter no default.",
        __doc__ or "",
    ),
    gather=gather,
    conclude=conclude,
)
