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
        basis=markdown.describe_basis(review),
        steps=[(each, markdown.describe_settled(each)) for each in review.steps],
        channels=[
            (each, markdown.describe_counts(each), markdown.describe_artifact(each))
            for each in review.channels
        ],
        groups=groups,
        besides=markdown.describe_rest(review, groups),
        seeds_line=markdown.describe_draws(review.audit.uses),
        streams=[each for each in review.streams if not each.is_idle],
        idle=markdown.describe_idle(review),
        effects_line=markdown.describe_reads(review.audit.reads),
        gaps=markdown.list_gaps(review.gaps),
        places_max=markdown.PLACES_MAX,
        lines_max=markdown.LINES_MAX,
        rows_max=markdown.ROWS_MAX,
    )
