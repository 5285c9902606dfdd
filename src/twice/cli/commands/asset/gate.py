"""Judge whether logs are complete, consistent and true, for one asset or a build.

  twice asset gate hot/cover.png
  twice asset gate hot
  twice asset gate hot --measure --json
  twice asset gate hot --markdown -o gate.md

PATH is an asset, a log or a folder; the folder's assets are one build, and those of one work unit one set in it. Files
are hashed; --measure decodes and measures each of them again as well, which takes as long as decoding takes. A row says
what was seen, the smallest thing that mends it, and whose it is. Nothing is executed, and no heuristic repairs anything.

Exit code 0 pass, 1 block (a row is red), 2 conditional (a row is yellow), or wrong use.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import Report
from twice.cli.console import Progress
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option, limit_option
from twice.cli.output import limit_rows, tell
from twice.recording.recorder import refuse_existing
from twice.writing import write


@make_command(
    click.argument("path", type=PATH, default=Path()),
    click.option("--measure", is_flag=True, help="decode and measure every file again"),
    click.option("--markdown", is_flag=True, help="print every row as Markdown"),
    click.option("-o", "--output", type=PATH, metavar="FILE", help="write Markdown there"),
    click.option("--force", is_flag=True, help="write over FILE"),
    limit_option,
    json_option,
)
def command(
    path: Path,
    measure: bool,
    markdown: bool,
    output: Path | None,
    force: bool,
    limit: int | None,
    as_json: bool,
) -> int:
    """Judge, and print."""
    if output is not None:
        refuse_existing(output, force=force)
    with Progress("logs") as progress:
        report = run_gate(path, measure=measure, doing=progress)
    if output is not None:
        write(output, report.to_markdown().encode())
    if markdown and not as_json:
        print(report.to_markdown(), end="")
        return report.exit_code
    return tell_report(report, report.to_json(), limit=limit, as_json=as_json)


def tell_report(
    report: Report, document: Mapping[str, object], *, limit: int | None, as_json: bool
) -> int:
    """Print a report's document, or what is not green in it; the exit code."""
    if as_json:
        document = limit_rows(document, "rows", limit)
    return tell(document, [report.to_text(limit)], as_json=as_json, code=report.exit_code)
