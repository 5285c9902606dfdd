"""Execute a record's program again in a fresh process and compare every point.

  twice verify a.twice
  twice verify a.twice --restores
  twice verify a.twice --from 100 --to 200 --json
  twice verify a.twice --diagnose
  twice verify *.twice --jobs 4
  twice verify runs --on ray --journal night.jsonl

--restores puts the run back at its snapshots, each in a fresh process, runs on and compares: at 16
of them, or with --all at every one. --diagnose says where and why, when the run does not verify, and with --report
in the report form.

Of several records, or a folder of them, each has one line, in the order given, with the ticks that its replay made
in a second. --on ray executes them on a Ray cluster, and --journal goes on where a command was stopped.

PASS 0, FAIL 1, UNKNOWN 2; PARTIAL 0 for a segment that was asked for, else 2. Of several records: 1 when any fails,
else 2 when any does not pass, or cannot be read, else 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from twice.cli.citations import cite
from twice.cli.console import Status, show_progress
from twice.cli.options import (
    RECORD,
    AsJson,
    Informational,
    argument,
    build_command,
    option,
    read_time_limit,
    refuse_together,
    refuse_without,
)
from twice.cli.output import print_beside, tell
from twice.cli.regression_tests import NewTest, require_free, write_test
from twice.cli.run_options import TrustOptions
from twice.cli.several_records import KeptPlaceOptions, find_records, verify_several
from twice.errors import OutputUnwritable, TwiceError, UsageError
from twice.foundation.printable import pluralize
from twice.recorder.runrecord import RunRecord
from twice.replayer.statistical import judges_samples_alone
from twice.replayer.verdict import SEAL
from twice.replayer.verification import Verification
from twice.runs.places import open_executor
from twice.runs.verify_options import VerifyOptions

if TYPE_CHECKING:
    from twice.diagnosis.divergence import Divergence


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How records are verified, each like the others."""

    classes: Annotated[
        tuple[str, ...],
        option(
            "--class CLASS",
            "judge by this class, or NAME=CLASS for one component, not by the recorded one",
        ),
    ]
    scope: Annotated[str | None, option("--scope SCOPE", "process, host or cross-host")]
    informational: Informational
    restores: Annotated[bool, option("--restores", "restore at kept snapshots too")]
    every: Annotated[bool, option("--all", "restore at every one")]
    repeat: Annotated[int, option(
        "--repeat N", "replay N times, under other switch intervals of threads and on fewer cores")] = 1  # fmt: skip
    time_limit: Annotated[
        str | None,
        option("--time-limit TIME", "how long a replay may execute: 60s, 5m; then it is UNKNOWN"),
    ] = None

    def to_options(self) -> VerifyOptions:
        """Return them as the rooms below take them."""
        return VerifyOptions(
            self.classes, self.scope, self.informational, self.restores, self.every, self.repeat,
            read_time_limit(self.time_limit),
        )  # fmt: skip


@build_command
def command(
    records: Annotated[tuple[Path, ...], argument(metavar="RECORD...", required=True, type=RECORD)],
    first: Annotated[int | None, option("--from T", "first tick")],
    last: Annotated[int | None, option("--to T", "last tick")],
    how: ReplayOptions,
    keep: Annotated[Path | None, option("--keep DIR", "an empty folder for the files that the replay writes")],
    verbose: Annotated[bool, option("-v, --verbose", "of a PASS, too, all that it rests on")],
    no_statement: Annotated[bool, option("--no-statement", "write no statement beside the record")],
    diagnose: Annotated[bool, option("--diagnose", "when it fails, say where and why")],
    report: Annotated[bool, option("--report", "of a diagnosis, the report form")],
    where: KeptPlaceOptions,
    trust: TrustOptions,
    test: NewTest,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Verify, write the statement beside the record, and say the result."""
    refuse_without({"--all": how.every}, {"--restores": how.restores})
    refuse_together(
        {"--time-limit": how.time_limit, "--restores": how.restores},
        "one of both: only replays are limited",
    )
    refuse_without({"--report": report, "--test": test}, {"--diagnose": diagnose})
    require_free(test)
    options, paths = how.to_options(), find_records(records)
    if not _is_alone(paths, records, where):
        _refuse_beside_several(paths, {
            "--from": first is not None, "--to": last is not None, "--keep": keep is not None, "--verbose": verbose,
            "--diagnose": diagnose,
        })  # fmt: skip
        with trust.trusting(*paths):
            return verify_several(paths, options, where, writes=not no_statement, as_json=as_json)
    record = records[0]
    with trust.trusting(record):
        with RunRecord.open(record) as opened:
            cited, mismatches = cite(opened, judges_recorded_class=not how.classes)
        with (
            show_progress("verifying") as progress,
            show_progress("restoring") as restoring,
            open_executor(where.on, where.jobs) if where.on else nullcontext() as executor,
        ):
            statement = options.verify(
                record,
                cited,
                mismatches,
                progress=progress,
                restoring=restoring,
                first=first,
                last=last,
                keep=keep,
                executor=executor,
            )
        text = statement.to_text(whole=verbose)
        if diagnose and (divergence := _diagnose(statement)) is not None:
            statement = replace(statement, divergence=divergence.to_json())
            text += f"\n\n{divergence.to_text()}"
            write_test(divergence, test)
    document = statement.to_json()
    if report and statement.divergence is not None:
        from twice.report.divergence_assessment import assess_divergence

        assessment = assess_divergence(statement.divergence)
        document, text = assessment.to_json(), assessment.to_markdown()
    unwritten = None if no_statement else _write_beside(statement)
    tell(document, [text], as_json=as_json)
    if unwritten is not None and not as_json:
        raise unwritten
    print_beside(*filter(None, [unwritten]))  # Whoever asked for JSON has the statement in hand.
    return statement.exit_code


def _write_beside(statement: Verification) -> OutputUnwritable | None:
    """Write a statement beside its record, before anybody reads it who may hang up; return why that is not possible."""
    try:
        statement.write_beside()
    except OutputUnwritable as error:
        return error
    return None


def _is_alone(paths: Sequence[Path], given: Sequence[Path], where: KeptPlaceOptions) -> bool:
    """Whether one record is verified by itself; in another place, only one whose sample's runs can be spread."""
    if len(paths) > 1 or [*paths] != [*given] or where.journal:
        return False
    if where == KeptPlaceOptions():
        return True
    try:
        with RunRecord.open(paths[0]) as opened:
            return judges_samples_alone(opened.setup.predicate)
    except TwiceError:
        return False


def _refuse_beside_several(records: Sequence[Path], options: dict[str, bool]) -> None:
    """Refuse options that mean something for one record alone.

    Raises:
        UsageError: E-USE-001.
    """
    if given := [name for name, is_given in options.items() if is_given]:
        raise UsageError(
            f"{' and '.join(given)} cannot be given for {pluralize(len(records), 'record')}.",
            "Expected one record beside it: it is about a part of one run, or its whole statement.",
            f"Verify that record by itself: twice verify {records[0]} {given[0]} ...",
        )


def _diagnose(statement: Verification) -> Divergence | None:
    """Say why a record does not verify; None where it does, and of a refusal, which names its line."""
    failure = statement.failure
    if failure is None or failure.name == SEAL:
        return None
    from twice.diagnosis.diagnose import diagnose_failure

    environment = statement.environment
    with Status() as status:
        return diagnose_failure(statement.path, failure, environment=environment, progress=status)
