"""Execute a record's program again in a fresh process and compare every point.

  twice verify a.twice
  twice verify a.twice --restores
  twice verify a.twice --from 100 --to 200 --json
  twice verify a.twice --diagnose

--restores puts the run back at its snapshots, each in a fresh process, runs on and compares: at 16
of them, or with --all at every one. --diagnose says where and why, when the run does not verify.

PASS 0, FAIL 1, UNKNOWN 2; PARTIAL 0 for a segment that was asked for, else 2.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from twice.errors import OutputUnwritable, UsageError
from twice.recording.runrecord import RunRecord
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification
from twice.replayer.verify import verify
from twice.surfaces.cli.showing import Doing, Progress, add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    parser.add_argument("--from", type=int, dest="first", metavar="T", help="first tick")
    parser.add_argument("--to", type=int, dest="last", metavar="T", help="last tick")
    parser.add_argument(
        "--class", action="append", default=[], dest="classes", metavar="CLASS",
        help="judge by this class, or NAME=CLASS for one component, not by the recorded one",
    )  # fmt: skip
    parser.add_argument("--scope", default=None, help="process, host or cross-host")
    parser.add_argument("--informational", action="store_true", help="go on though code differs")
    parser.add_argument("--restores", action="store_true", help="restore at kept snapshots too")
    parser.add_argument("--all", action="store_true", dest="every", help="restore at every one")
    parser.add_argument(
        "--repeat", type=int, default=1, metavar="N",
        help="replay N times, under other switch intervals of threads and on fewer cores",
    )  # fmt: skip
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="DIR",
        help="an empty folder for the files that the replay writes",
    )
    parser.add_argument(
        "--no-statement", action="store_true", help="write no statement beside the record"
    )
    parser.add_argument("--diagnose", action="store_true", help="when it fails, say where and why")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Verify, write the statement beside the record, and say the result."""
    with trust_records(options, [options.record]):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    if options.every and not options.restores:
        raise UsageError(
            "--all was given without --restores.",
            "It says at how many snapshots to restore.",
            f"For example: twice verify {options.record} --restores --all",
        )
    statement = _verified(options)
    divergence = None
    if options.restores:
        from twice.diagnosis.restore_gaps import explained_restores

        with Progress("restoring") as progress:
            found = explained_restores(
                options.record,
                every=options.every,
                informational=options.informational,
                progress=progress,
            )
        statement = replace(statement, restores=found)
    # Of a refusal there is nothing to find: it names its line.
    if options.diagnose and statement.failure is not None and statement.failure.name != SEAL:
        from twice.diagnosis.diagnose import diagnose_failure

        with Doing() as doing:
            divergence = diagnose_failure(options.record, statement.failure, progress=doing)
        statement = replace(statement, divergence=divergence.to_json())
    if options.json:
        print_json(statement.to_json())
    else:
        print(statement.to_markdown().lstrip("# ").rstrip())
        if divergence is not None:
            print(f"\n{divergence.to_text()}")
    if options.no_statement:
        return statement.exit_code
    try:
        statement.write_beside()
    except OutputUnwritable as error:
        if not options.json:
            raise
        print(error, file=sys.stderr)  # Whoever asked for JSON has the statement in hand.
    return statement.exit_code


def _verified(options: argparse.Namespace) -> Verification:
    predicate = None
    if options.classes or options.scope:
        with RunRecord.open(options.record) as record:
            predicate = record.setup.predicate.amend(options.classes, options.scope)
    with Progress("verifying") as progress:
        return verify(
            options.record,
            first=options.first,
            last=options.last,
            predicate=predicate,
            informational=options.informational,
            progress=progress,
            keep=options.keep,
            repeat=options.repeat,
        )
