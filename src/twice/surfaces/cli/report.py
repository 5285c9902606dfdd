"""Write one or two records as a page to look at: one HTML file, no network, no script.

  twice report a.twice -o a.html
  twice report a.twice b.twice -o both.html

One record: identity, a timeline of its ticks, what changed when, streams, reads of the world, output.
Two: the verdict of `twice diagnose` first, then where they part, the line, the fields and why.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.errors import UsageError
from twice.recording.runrecord import RunRecord
from twice.surfaces.cli.deriving import add_output, derived
from twice.surfaces.cli.showing import Doing, add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records

FORMAT = "twice.reported/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("records", nargs="+", type=Path, metavar="RECORD", help="one or two")
    parser.add_argument("--anyway", action="store_true", help="though seed, code or config differ")
    parser.add_argument("--no-lines", action="store_true", help="read logs only, execute nothing")
    add_output(parser, "path of the page")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write the page to a temporary name, then rename."""
    with trust_records(options, options.records):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    if len(options.records) > 2:
        raise UsageError(
            f"twice report was given {len(options.records)} records.",
            "Expected one or two.",
            "For example: twice report a.twice b.twice -o both.html",
        )
    with derived(options.out, *options.records, force=options.force) as partial:
        page, result = _one(options) if len(options.records) == 1 else _two(options)
        partial.write_text(page, encoding="utf-8")
    if options.json:
        records = [str(path) for path in options.records]
        told = {"out": str(options.out), "records": records, "result": result}
        print_json({"format": FORMAT, **told})
    else:
        print(f"wrote {options.out}{'' if result is None else f' ({result})'}")
    return 0


def _one(options: argparse.Namespace) -> tuple[str, None]:
    from twice.surfaces.report.one import page_of_one

    with RunRecord.open(options.records[0]) as record:
        return page_of_one(record), None


def _two(options: argparse.Namespace) -> tuple[str, str]:
    from twice.diagnosis.diagnose import diagnose
    from twice.surfaces.report.two import page_of_two

    with Doing() as doing:
        found = diagnose(
            *options.records, anyway=options.anyway, lines=not options.no_lines, progress=doing
        )
    with RunRecord.open(options.records[0]) as a, RunRecord.open(options.records[1]) as b:
        return page_of_two(a, b, found), found.result
