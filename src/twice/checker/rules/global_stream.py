"""A draw comes from the stream that the whole process shares."""

from __future__ import annotations

from collections.abc import Iterator

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, ProjectFacts, Rule, RuleFacts
from twice.checker.rules import streams
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "global-stream"
_WHY = "Whoever else draws from that stream, in any library, shifts every number that comes after."


def conclude(facts: ProjectFacts) -> Iterator[tuple[str, Violation]]:
    """Report the draws from streams that somebody seeds."""
    for draw in streams.conclude(facts, seeded=True):
        is_loud = draw.picks and draw.place < streams.SHOWN_IN_FILE
        reach = Reach.LOUD if is_loud else Reach.UNSEEN
        yield draw.path, streams.renamed(draw.found, NAME, _WHY, reach)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Draw from a generator of its own: run.rng(name), np.random.default_rng(seed), random.Random(seed).",
        __doc__ or "",
    ),
    gather=streams.gather,
    conclude=conclude,
)
