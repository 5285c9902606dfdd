"""Review code for determinism: the ten channels, what is wrong, what to do first, what is not known.

  twice review examples
  twice review examples --class logical
  twice review examples -o review.html
  twice review examples --json
  twice review examples --report

Reads Python files, executes nothing. A folder determinism-and-replay beside the code is the
specification: findings are held against it. Exit code 0 nothing high, 1 something high or critical,
2 wrong use, or nothing high and a file that could not be read. --report prints the report form: evidence,
confidence, risk, information gaps, caveats, and one plain sentence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from twice.cli.checked_project import SourceOptions, open_sources
from twice.cli.options import AsJson, build_command, option, refuse_together
from twice.cli.output import write_text

if TYPE_CHECKING:
    from twice.checker.review.review import Review

_ENDINGS: Final = {".html": "html", ".htm": "html", ".json": "json"}


@build_command
def command(
    options: SourceOptions,
    form: Annotated[Literal["markdown", "json", "html"] | None, option(
        "--format", "default markdown, or by the ending of the file")],
    out: Annotated[Path | None, option("-o, --out FILE", "write it to a file")],
    report: Annotated[bool, option("--report", "the report form: confidence, risk, gaps, caveats")],
    force: Annotated[bool, option("--force", "replace an existing output")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Read, review, print or write."""
    refuse_together(
        {"--json": as_json, f"--format {form}": form not in {None, "json"}}, "one format"
    )
    ending = "" if out is None else out.suffix.lower()
    chosen = "json" if as_json else form or _ENDINGS.get(ending, "markdown")
    refuse_together({"--report": report, "HTML": chosen == "html"}, "a report as Markdown or JSON")
    found = open_sources(options, command="twice review").review()
    write_text(_render(found, chosen, report=report), out, force=force)
    if out is not None:
        print(f"wrote {out}: {found.verdict.text}")
    return found.exit_code


def _render(review: Review, form: str, *, report: bool) -> str:
    """Write a review in one of the three forms, or its report in one of two."""
    if form == "html":
        from twice.report.review_page import page_of_review

        return page_of_review(review)
    if form == "markdown" and not report:
        from twice.checker.review.markdown import render_markdown

        return render_markdown(review)
    from twice.checker.review.document import to_document
    from twice.report.review_assessment import assess_review

    written = to_document(review)
    if report:
        assessment = assess_review(written)
        if form == "markdown":
            return assessment.to_markdown() + "\n"
        written = assessment.to_json()
    return json.dumps(written, indent=2) + "\n"
