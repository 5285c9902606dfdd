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

import argparse
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.specification.errors import WorkspaceRefused
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.report import GateReport, GateResult, count_outcomes, list_lines
from twice.specification.gate.runner import NUMBERS, read_report, run_gate
from twice.specification.workspace import FOLDER, find_workspace, open_workspace
from twice.surfaces.cli.showing import Doing, add_json, print_json
from twice.surfaces.cli.spec.consolidation import SETTLED, after_passing, finish_gate
from twice.surfaces.codefacts import read_code


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "project", nargs="?", type=Path, default=Path(), metavar="FOLDER",
        help="the project, or a folder in it; the current one by default",
    )  # fmt: skip
    parser.add_argument("--only", metavar="N,N", help="numbers of the checks to run, 1 to 17")
    parser.add_argument(
        "--report", action="store_true", help="show the last report; executes nothing"
    )
    parser.add_argument("--no-write", action="store_true", help="keep no report")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run the gate, or look at the last report."""
    project = find_workspace(options.project)
    if project is None:
        raise WorkspaceRefused(
            f"There is no folder {FOLDER} in {options.project.resolve()}, nor above.",
            "Expected a specification there.",
            "Begin one: twice spec init",
        )
    if options.report:
        if options.only:
            raise UsageError(
                "--report and --only were both given.",
                "Expected one: the last report is shown whole.",
                "Leave one of them out.",
            )
        report = read_report(project, datetime.now(UTC).date())
    else:
        report = _run(options, project)
    if options.json:
        print_json(report.to_json())
    else:
        print("\n".join(map(printable, _told(report, project))))
    return report.exit_code


def _run(options: argparse.Namespace, project: Path) -> GateReport:
    with Doing() as doing:
        report = run_gate(
            project,
            read_code,
            datetime.now(UTC).date(),
            only=_only(options.only),
            doing=doing,
        )
    is_kept = options.only is None and not options.no_write
    return finish_gate(report, project) if is_kept else report


def _only(text: str | None) -> tuple[int, ...]:
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


def _told(report: GateReport, project: Path) -> Iterator[str]:
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
    return f"next: {lacks}mend what is named, then: twice gate --only {numbers}"
