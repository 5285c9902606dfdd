"""A seed is drawn from a stream that nothing seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts, Rule, RuleFacts
from twice.checker.rules import streams
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "drawn-seed"
_WHY = (
    "Nothing in reach seeds that stream, so every run has other seeds, and nothing remembers which."
)


def conclude(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report the draws from streams that nobody seeds, where they become seeds."""
    for draw in streams.conclude(facts, seeded=False):
        if draw.is_seed and draw.picks:
            called = draw.found.message.partition(" ")[0]
            found = streams.renamed(draw.found, NAME, _WHY, Reach.LOUD)
            yield draw.path, replace(found, message=f"{called} draws a seed.")


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Write the seeds down, or derive them from one: SeedSequence(seed).generate_state(n).",
        __doc__ or "",
    ),
    gather=streams.gather,
    conclude=conclude,
)
