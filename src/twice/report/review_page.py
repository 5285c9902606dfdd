"""The review of a project as a page: the verdict, steps, the ten channels, findings, audits.

Invariant: the page says what the Markdown says.
"""

from __future__ import annotations

from twice.checker.review import markdown
from twice.checker.review.review import Review
from twice.report.page import render


def page_of_review(review: Review) -> str:
    """Return a page about the review of a project."""
    groups = markdown.group_findings(review)
    return render(
        "review",
        review=review,
        basis=markdown.basis(review),
        steps=[(each, markdown.settles(each)) for each in review.steps],
        channels=[
            (each, markdown.counts(each), markdown.artifact(each)) for each in review.channels
        ],
        groups=groups,
        besides=markdown.besides(review, groups),
        seeds_line=markdown.seeds_line(review.audit.uses),
        streams=[each for each in review.streams if not each.is_idle],
        idle=markdown.idle_line(review),
        effects_line=markdown.effects_line(review.audit.reads),
        gaps=markdown.gap_rows(review.gaps),
        places_max=markdown.PLACES_MAX,
        lines_max=markdown.LINES_MAX,
        rows_max=markdown.ROWS_MAX,
    )
