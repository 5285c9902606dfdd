"""Read what sheets leave open from a record, from this environment and from the code.

  twice spec fill
  twice spec fill --record a.twice
  twice spec fill --dry-run

What somebody wrote stays. What cannot be read stays "?", and is listed. The record is the one that 01 names, unless
another is given. Traits of 00 are filled where a run or a line shows that they are there, never where
nothing shows it; what is seen though 00 denies it is told. Exit code 0 when nothing is open any more,
1 otherwise.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.specification.fill import FillResult
from twice.specification.workspace import save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, opened, print_next
from twice.surfaces.cli.spec.proposing import propose_fill
from twice.surfaces.cli.spec.stepping import completing


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="the one that 01 names by default"
    )
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Read, put in, say what is still open."""
    before, _ = opened(options)
    done = propose_fill(before, options.record)
    if not options.dry_run:
        save(before, done.workspace)
    _report(options, done)
    return 1 if done.unknown else 0


def _report(options: argparse.Namespace, done: FillResult) -> None:
    if options.json:
        print_json({
            "format": FORMAT,
            "filled": [{"sheet": each.sheet, "key": each.key, "value": each.value, "source": each.source} for each in done.put_in],
            "unknown": [{"sheet": number, "key": key, "says": says} for number, key, says in done.unknown],
            "against": list(done.against),
        })  # fmt: skip
        return
    for each in done.put_in:
        print(f"{each.sheet} {each.key}: {each.source}")
    print(
        f"{len(done.put_in)} filled{' (nothing was written)' if options.dry_run else ''}, {len(done.unknown)} open"
    )
    for said in done.against:
        print(f"  {said}")
    for number, key, says in done.unknown:
        print(f"  {number} {key}: {says}")
    print_next(list(completing(done.workspace)) or ["twice spec status"])
