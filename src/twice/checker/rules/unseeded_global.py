"""A draw comes from the process-wide stream, and nothing in reach seeds it."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts, Rule, RuleFacts
from twice.checker.rules import streams
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-global"
_WHY = "Nothing in reach seeds that stream, so it starts from the system's entropy in each run."


def conclude(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report the draws from streams that nobody seeds."""
    for draw in streams.conclude(facts, seeded=False):
        if draw.is_seed and draw.picks:
            continue  # drawn-seed says so.
        reach = Reach.LOUD if draw.place == 0 and draw.is_script else Reach.UNSEEN
        if draw.place >= streams.SHOWN_IN_FILE:
            reach = Reach.QUIET
        yield draw.path, streams.renamed(draw.found, NAME, _WHY, reach)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Draw from a generator that is made with the run's seed: run.rng(name), np.random.default_rng(seed).",
        __doc__ or "",
    ),
    gather=streams.gather,
    conclude=conclude,
)
