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

import sys
from dataclasses import replace
from pathlib import Path

import click

from twice.cli.console import Progress, Status
from twice.cli.group import make_command
from twice.cli.options import PATH, informational_option, json_option, record_argument, several
from twice.cli.output import tell
from twice.cli.run_options import TrustOptions, trust_options
from twice.errors import OutputUnwritable, UsageError
from twice.recording.runrecord import RunRecord
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification
from twice.replayer.verify import verify


@make_command(
    record_argument,
    click.option("--from", "first", type=int, metavar="T", help="first tick"),
    click.option("--to", "last", type=int, metavar="T", help="last tick"),
    several(
        "--class", "classes", metavar="CLASS",
        help="judge by this class, or NAME=CLASS for one component, not by the recorded one",
    ),
    click.option("--scope", metavar="SCOPE", help="process, host or cross-host"),
    informational_option,
    click.option("--restores", is_flag=True, help="restore at kept snapshots too"),
    click.option("--all", "every", is_flag=True, help="restore at every one"),
    click.option(
        "--repeat", type=int, default=1, metavar="N",
        help="replay N times, under other switch intervals of threads and on fewer cores",
    ),
    click.option(
        "--keep", type=PATH, metavar="DIR",
        help="an empty folder for the files that the replay writes",
    ),
    click.option("-v", "--verbose", is_flag=True, help="of a PASS, too, all that it rests on"),
    click.option("--no-statement", is_flag=True, help="write no statement beside the record"),
    click.option("--diagnose", is_flag=True, help="when it fails, say where and why"),
    trust_options,
    json_option,
)  # fmt: skip
def command(
    record: Path,
    first: int | None,
    last: int | None,
    classes: tuple[str, ...],
    scope: str | None,
    informational: bool,
    restores: bool,
    every: bool,
    repeat: int,
    keep: Path | None,
    verbose: bool,
    no_statement: bool,
    diagnose: bool,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Verify, write the statement beside the record, and say the result."""
    if every and not restores:
        raise UsageError(
            "--all was given without --restores.",
            "It says at how many snapshots to restore.",
            f"For example: twice verify {record} --restores --all",
        )
    with trust.trusting(record):
        predicate = None
        if classes or scope:
            with RunRecord.open(record) as opened:
                predicate = opened.setup.predicate.amend(classes, scope)
        with Progress("verifying") as progress:
            statement = verify(
                record,
                first=first,
                last=last,
                predicate=predicate,
                informational=informational,
                progress=progress,
                keep=keep,
                repeat=repeat,
            )
        if restores:
            statement = _restore(record, statement, every=every, informational=informational)
        text = statement.to_text(whole=verbose)
        # Of a refusal there is nothing to find: it names its line.
        if diagnose and statement.failure is not None and statement.failure.name != SEAL:
            from twice.diagnosis.diagnose import diagnose_failure

            with Status() as status:
                divergence = diagnose_failure(record, statement.failure, progress=status)
            statement = replace(statement, divergence=divergence.to_json())
            text += f"\n\n{divergence.to_text()}"
    code = tell(statement.to_json(), [text], as_json=as_json, code=statement.exit_code)
    if not no_statement:
        try:
            statement.write_beside()
        except OutputUnwritable as error:
            if not as_json:
                raise
            print(error, file=sys.stderr)  # Whoever asked for JSON has the statement in hand.
    return code


def _restore(
    record: Path, statement: Verification, *, every: bool, informational: bool
) -> Verification:
    from twice.diagnosis.restore_gaps import explained_restores

    with Progress("restoring") as progress:
        found = explained_restores(
            record, every=every, informational=informational, progress=progress
        )
    return replace(statement, restores=found)
