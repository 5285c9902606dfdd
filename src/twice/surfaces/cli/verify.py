"""Execute a record's program again in a fresh process and compare every point.

  twice verify a.twice
  twice verify a.twice --restores
  twice verify a.twice --from 100 --to 200 --json

PASS 0, FAIL 1, UNKNOWN 2; PARTIAL 0 for a segment that was asked for, else 2.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.foundation.classes import Predicate
from twice.replaying.verifying import verify
from twice.surfaces.cli.showing import Progress, add_json, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path)
    parser.add_argument("--from", type=int, dest="first", metavar="T", help="first tick")
    parser.add_argument("--to", type=int, dest="last", metavar="T", help="last tick")
    parser.add_argument("--class", action="append", default=[], dest="classes", metavar="CLASS")
    parser.add_argument("--scope", default=None, help="process, host or cross-host")
    parser.add_argument("--informational", action="store_true", help="go on though code differs")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Verify, write the statement beside the record, and say the result."""
    predicate = None
    if options.classes or options.scope:
        predicate = Predicate.parse(options.classes, options.scope or "host")
    with Progress("verifying") as progress:
        statement = verify(
            options.record,
            first=options.first,
            last=options.last,
            predicate=predicate,
            informational=options.informational,
            progress=progress,
        )
    statement.write_beside()
    if options.json:
        print_json(statement.to_json())
    else:
        print(statement.to_markdown().lstrip("# ").rstrip())
    return statement.exit_code
