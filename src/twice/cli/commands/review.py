"""Review code for determinism: the ten channels, what is wrong, what to do first, what is not known.

  twice review examples
  twice review examples --class logical
  twice review examples -o review.html
  twice review examples --json

Reads Python files, executes nothing. A folder determinism-and-replay beside the code is the
specification: findings are held against it. Exit code 0 nothing high, 1 something high or critical,
2 wrong use, or nothing high and a file that could not be read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from twice.cli.checked_project import SourceOptions, open_sources
from twice.cli.options import AsJson, build_command, option
from twice.cli.output import write_text
from twice.errors import UsageError

if TYPE_CHECKING:
    from twice.checking.reviewing.review import Review

_ENDINGS: Final = {".html": "html", ".htm": "html", ".json": "json"}


@build_command
def command(
    options: SourceOptions,
    form: Annotated[Literal["markdown", "json", "html"] | None, option(
        "--format", "default markdown, or by the ending of the file")],
    out: Annotated[Path | None, option("-o, --out FILE", "write it to a file")],
    force: Annotated[bool, option("--force", "replace an existing output")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Read, review, print or write."""
    if as_json and form not in {None, "json"}:
        raise UsageError(
            f"--json and --format {form} were both given.",
            "Expected one format.",
            "Leave one of them out.",
        )
    ending = "" if out is None else out.suffix.lower()
    chosen = "json" if as_json else form or _ENDINGS.get(ending, "markdown")
    found = open_sources(options, command="twice review").review()
    write_text(_render(found, chosen), out, force=force)
    if out is not None:
        print(f"wrote {out}: {found.verdict.text}")
    return found.exit_code


def _render(found: Review, form: str) -> str:
    if form == "html":
        from twice.report.review_page import page_of_review

        return page_of_review(found)
    if form == "json":
        from twice.checking.reviewing.document import document

        return json.dumps(document(found), indent=2) + "\n"
    from twice.checking.reviewing.markdown import markdown

    return markdown(found)
