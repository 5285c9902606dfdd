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
from twice.cli.options import AsJson, build_command, option, refuse_together
from twice.cli.output import write_text

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
    refuse_together(
        {"--json": as_json, f"--format {form}": form not in {None, "json"}}, "one format"
    )
    ending = "" if out is None else out.suffix.lower()
    chosen = "json" if as_json else form or _ENDINGS.get(ending, "markdown")
    found = open_sources(options, command="twice review").review()
    if chosen == "html":
        from twice.report.review_page import page_of_review as render
    elif chosen == "markdown":
        from twice.checking.reviewing.markdown import markdown as render
    else:
        from twice.checking.reviewing.document import document

        def render(review: Review) -> str:
            return json.dumps(document(review), indent=2) + "\n"

    write_text(render(found), out, force=force)
    if out is not None:
        print(f"wrote {out}: {found.verdict.text}")
    return found.exit_code
