"""Say where two runs part, and why: tick, field, line, both values, channel.

  twice diagnose a.twice b.twice
  twice diagnose a.twice b.twice --anyway --json
  twice diagnose a.twice b.twice --confirm
  twice diagnose a.twice b.twice --time-limit 60s
  twice diagnose runs/a runs/b

Runs of other seeds, code or configuration are refused as not-same-input, unless --anyway. Both are
executed again, each in its own recorded surroundings. --confirm swaps what differs between them, one thing
at a time, and holds still what may keep a run from reproducing itself: a channel is confirmed or refuted
by what comes of it. --traces compares the files that `twice trace`
wrote, on this machine or others, and executes nothing. --time-limit ends the executions; what was found by then
is told. --report prints the report form: evidence, confidence, risk, information gaps, caveats, and one plain
sentence. --test writes a test for pytest, which fails until the runs agree.

Two folders are two runs of a distributed program, with one record a rank: the rank is named in which the
difference began, and nothing is executed.

Exit code 0 same or within tolerance, 1 they part, 2 could not tell.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from twice.cli.console import Status
from twice.cli.group import has_wing
from twice.cli.options import (
    RECORD,
    AsJson,
    argument,
    build_command,
    option,
    read_time_limit,
    refuse_together,
)
from twice.cli.output import tell
from twice.cli.regression_tests import NewTest, require_free, write_test
from twice.cli.run_options import TrustOptions
from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.errors import UsageError
from twice.foundation.printable import pluralize


@build_command
def command(
    records: Annotated[tuple[Path, ...], argument(metavar="RECORD RECORD", type=RECORD)],
    anyway: Annotated[bool, option("--anyway", "though seed, code or config differ")],
    confirm: Annotated[bool, option("--confirm", "try causes by experiment")],
    no_lines: Annotated[bool, option("--no-lines", "read logs only, execute nothing")],
    time_limit: Annotated[str | None, option("--time-limit TIME", "how long to execute: 60s, 5m")],
    traces: Annotated[tuple[Path, Path] | None, option("--traces FILE FILE", "two trace files")],
    report: Annotated[bool, option("--report", "the report form: confidence, risk, gaps, caveats")],
    test: NewTest,
    trust: TrustOptions,
    as_json: AsJson,
) -> int:
    """Diagnose, and print the verdict."""
    refuse_together({"--test": test, "--traces": traces}, "one of both: a test records the runs")
    require_free(test)
    if traces is not None:
        from twice.diagnosis.trace_file.compare import diagnose_traces

        if records:
            raise _wrong(f"records and --traces together: {records[0]}")
        found = diagnose_traces(*traces)
    else:
        if len(records) == 1:
            raise _wrong("1 record", f"twice verify {records[0]} --diagnose")
        if len(records) != 2:
            raise _wrong(pluralize(len(records), "record"))
        if all(each.is_dir() for each in records):
            from twice.runs.ranks import compare_ranks

            alone = {"--confirm": confirm, "--report": report, "--test": test}
            refuse_together({"two folders": records, **alone}, "give the two records of one rank")
            compared = compare_ranks(*records, anyway=anyway)
            code = compared.exit_code
            return tell(compared.to_json(), compared.to_lines(), as_json=as_json, code=code)
        seconds = read_time_limit(time_limit)
        with trust.trusting(*records), Status() as status:
            found = diagnose(
                *records,
                anyway=anyway,
                confirm=confirm,
                lines=not no_lines,
                progress=status,
                time_limit_s=seconds,
            )
    found = add_remedies(found)
    write_test(found, test)
    if report:
        from twice.report.divergence_assessment import assess_divergence

        told = assess_divergence(found.to_json())
        return tell(told.to_json(), [told.to_markdown()], as_json=as_json, code=found.exit_code)
    has_sheets = False
    if has_wing("specification"):
        from twice.specification.location import find_workspace

        has_sheets = find_workspace(Path.cwd()) is not None
    text = found.to_text(artifacts=has_sheets)
    return tell(found.to_json(), [text], as_json=as_json, code=found.exit_code)


def add_remedies(found: Divergence) -> Divergence:
    """Give a diagnosis the remedies of the checker's findings of its channel at its line, which is only read."""
    line = found.operation or next(iter(found.candidates), None)
    # An input that differs is no fault of its line.
    if not has_wing("checker") or line is None or line.name.startswith("inputs["):
        return found
    if not Path(line.file).is_file():
        return found
    from twice.checker.driver import check
    from twice.checker.policy import Policy

    channel = found.attribution[0].channel.value if found.attribution else ""
    remedies = [
        f"{each.remedy} (twice check: {each.found.rule})"
        for each in check([line.file], Policy()).findings
        if each.found.place.line == line.line and each.channel == channel
    ]
    return replace(found, remedies=remedies or found.remedies)


def _wrong(given: str, example: str = "twice diagnose a.twice b.twice") -> UsageError:
    return UsageError(
        f"twice diagnose was given {given}.",
        "Expected two records, or --traces and two trace files.",
        f"For example: {example}",
    )
