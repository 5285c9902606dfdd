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

import argparse
from pathlib import Path

from twice.assets.gate.gate import run_gate
from twice.errors import OutputExists
from twice.surfaces.cli.asset.judging import told
from twice.surfaces.cli.showing import Progress, add_json, print_json
from twice.writing import write


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", nargs="?", type=Path, default=Path(), metavar="PATH")
    parser.add_argument(
        "--measure", action="store_true", help="decode and measure every file again"
    )
    parser.add_argument("--markdown", action="store_true", help="print every row as Markdown")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write Markdown there")
    parser.add_argument("--force", action="store_true", help="write over FILE")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Judge, and print."""
    output: Path | None = options.output
    if output is not None and output.exists() and not options.force:
        raise OutputExists(
            f"{output} is there already.", "Expected a new file.", "Write over it: --force"
        )
    with Progress("logs") as doing:
        report = run_gate(options.path, measure=options.measure, doing=doing)
    if output is not None:
        write(output, report.to_markdown().encode())
    if options.json:
        print_json(report.to_json())
    elif options.markdown:
        print(report.to_markdown(), end="")
    else:
        print("\n".join(told(report)))
    return report.exit_code
