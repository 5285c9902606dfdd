"""The review of a project as a page: the verdict, steps, the ten channels, findings, audits.

Invariant: the page says what the Markdown says.
"""

from __future__ import annotations

from twice.checker.reviewing import markdown
from twice.checker.reviewing.grouping import grouped
from twice.checker.reviewing.review import Review
from twice.foundation.severity import Severity
from twice.report.page import render


def page_of_review(review: Review) -> str:
    """Return a page about the review of a project."""
    groups = grouped(review.findings, Severity.MEDIUM)
    streams = [each for each in review.streams if not each.is_idle]
    n_idle = len(review.streams) - len(streams)
    return render(
        "review",
        review=review,
        basis=markdown.basis(review),
        steps=[(each, markdown.settles(each)) for each in review.steps],
        channels=[
            (each, markdown.counts(each), markdown.artifact(each)) for each in review.channels
        ],
        groups=groups,
        besides=markdown.besides(review, sum(len(group.items) for group in groups)),
        seeds_line=markdown.seeds_line(review.draws),
        streams=streams,
        idle=markdown.idle_line(n_idle) if n_idle else "",
        effects_line=markdown.effects_line(review.asks),
        gaps=list(markdown.gap_cells(review.gaps)),
        places_max=markdown.PLACES_MAX,
        lines_max=markdown.LINES_MAX,
        rows_max=markdown.ROWS_MAX,
    )
