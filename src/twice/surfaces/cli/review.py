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

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from twice.errors import UsageError
from twice.surfaces.cli.auditing import add_paths, gathered
from twice.surfaces.cli.deriving import derived
from twice.surfaces.cli.showing import add_json, print_json

if TYPE_CHECKING:
    from twice.checking.reviewing.review import Review
    from twice.surfaces.cli.auditing import Gathered

MIXES = True
_FORMATS = ("markdown", "json", "html")


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_paths(parser)
    parser.add_argument(
        "--format", choices=_FORMATS, default="markdown", help="markdown by default"
    )
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", help="write it to a file")
    parser.add_argument("--force", action="store_true", help="replace an existing output")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Read, review, print or write."""
    from twice.checking.reviewing.document import document
    from twice.checking.reviewing.review import review

    read = gathered(options, findings=True)
    assert read.report is not None, "asked for"
    found = review(
        read.report, read.project, read.catalogue, read.workspace, declared=read.declared
    )
    wanted = _format(options)
    if options.out is None:
        if wanted == "json":
            print_json(document(found))
        else:
            print(_written(found, wanted), end="")
        return _code(read, found)
    with derived(options.out, force=options.force) as partial:
        partial.write_text(_written(found, wanted), encoding="utf-8", errors="backslashreplace")
    print(f"wrote {options.out}: {found.verdict.text}")
    return _code(read, found)


def _code(read: Gathered, found: Review) -> int:
    """What is not read is not known to be fine."""
    return found.exit_code or (2 if read.project.unread else 0)


def _format(options: argparse.Namespace) -> str:
    chosen = "json" if options.json else str(options.format)
    ending = "" if options.out is None else options.out.suffix.lower()
    guessed = {".html": "html", ".htm": "html", ".json": "json"}.get(ending)
    if guessed is not None and chosen == "markdown":
        return guessed
    if options.json and options.format == "html":
        raise UsageError(
            "--json and --format html were both given.",
            "Expected one format.",
            "Leave one of them out.",
        )
    return chosen


def _written(found: Review, wanted: str) -> str:
    from twice.checking.reviewing.document import document
    from twice.checking.reviewing.markdown import markdown

    if wanted == "html":
        from twice.surfaces.report.review import page_of_review

        return page_of_review(found)
    if wanted == "json":
        return json.dumps(document(found), indent=2) + "\n"
    return markdown(found)
