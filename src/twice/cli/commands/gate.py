"""Check a specification against evidence: seventeen checks, each with what was seen and why.

  twice gate
  twice gate --only 3,4
  twice gate --json
  twice gate --report

It reads the sheets in determinism-and-replay, here or in a folder above, and EXECUTES the program that sheet 00
names, the test vector's, and the tests of sheet 12, each in processes of their own. The report goes to
determinism-and-replay/evidence, as gate.json and gate.md, and sheet 99 names it when it passed; with --only or
--no-write nothing is written.
--report executes nothing: it shows the last report, and says whether it still stands.

Exit code 0 every check passes, is not needed or is waived; 1 one fails; 2 one could not be evaluated, the
report is stale, or the specification cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import click

from twice.cli.code_facts import read_code
from twice.cli.commands.spec.consolidation import SETTLED, after_passing, finish_gate
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.specification.errors import WorkspaceRefused
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.report import GateReport, GateResult, count_outcomes, list_lines
from twice.specification.gate.runner import NUMBERS, read_report, run_gate
from twice.specification.workspace import FOLDER, find_workspace, open_workspace


@make_command(
    click.argument("project", required=False, type=PATH, default=Path(), metavar="[FOLDER]"),
    click.option("--only", metavar="N,N", help="numbers of the checks to run, 1 to 17"),
    click.option("--report", "shows", is_flag=True, help="show the last report; executes nothing"),
    click.option("--no-write", is_flag=True, help="keep no report"),
    json_option,
)
def command(project: Path, only: str | None, shows: bool, no_write: bool, as_json: bool) -> int:
    """Run the gate, or look at the last report."""
    found = find_workspace(project)
    if found is None:
        raise WorkspaceRefused(
            f"There is no folder {FOLDER} in {project.resolve()}, nor above.",
            "Expected a specification there.",
            "Begin one: twice spec init",
        )
    today = datetime.now(UTC).date()
    if shows:
        if only:
            raise UsageError(
                "--report and --only were both given.",
                "Expected one: the last report is shown whole.",
                "Leave one of them out.",
            )
        report = read_report(found, today)
    else:
        with Status() as status:
            report = run_gate(found, read_code, today, only=_numbers(only), doing=status)
        if only is None and not no_write:
            report = finish_gate(report, found)
    lines = map(printable, _lines(report, found))
    return tell(report.to_json(), lines, as_json=as_json, code=report.exit_code)


def _numbers(text: str | None) -> tuple[int, ...]:
    if text is None:
        return NUMBERS
    numbers = [each.strip() for each in text.split(",")]
    if not all(each.isdecimal() for each in numbers):
        raise UsageError(
            f"--only {text!r} is no list of checks.",
            f"Expected numbers from {NUMBERS[0]} to {NUMBERS[-1]}, with commas between them.",
            "For example: twice gate --only 3,4",
        )
    return tuple(sorted({int(each) for each in numbers}))


def _lines(report: GateReport, project: Path) -> Iterator[str]:
    stale = ", and stale" if report.moved else ""
    yield f"{report.result.value}{stale}: {count_outcomes(report.checks)} (tier {report.tier})"
    yield from list_lines(report)
    for path in report.moved[:8]:
        yield f"moved since: {path}"
    yield _next(report, project)


def _next(report: GateReport, project: Path) -> str:
    """Say what to do now."""
    if report.moved:
        return "next: twice gate"
    if report.result is GateResult.PASS:
        steps = after_passing(open_workspace(project))
        whole = len(report.checks) == len(NUMBERS)
        return f"next: {steps[0] if whole else 'twice gate'}" if steps else SETTLED
    wanted = CheckOutcome.FAIL if report.result is GateResult.FAIL else CheckOutcome.BLOCKED
    numbers = ",".join(str(each.id) for each in report.checks if each.outcome is wanted)
    lacks = "twice spec status says what the sheets lack; " if numbers.startswith("1,") else ""
    return f"next: {lacks}correct the failures above, then: twice gate --only {numbers}"
