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
from typing import Annotated

from twice.cli.code_facts import read_code, read_rules
from twice.cli.commands.spec.workspace import SETTLED, name_component
from twice.cli.console import Status
from twice.cli.options import AsJson, argument, build_command, option, refuse_together
from twice.cli.output import tell
from twice.errors import UsageError
from twice.foundation.printable import printable
from twice.specification.consolidate import finish_gate, list_last_steps
from twice.specification.errors import WorkspaceRefused
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.report import GateReport, GateResult, count_outcomes, list_lines
from twice.specification.gate.runner import NUMBERS, read_report, run_gate
from twice.specification.location import FOLDER, find_workspace
from twice.specification.workspace import Workspace, open_component, open_workspace


@build_command
def command(
    project: Annotated[Path, argument(required=False, default=Path(), metavar="[FOLDER]")],
    only: Annotated[str | None, option("--only N,N", "numbers of the checks to run, 1 to 17")],
    shows: Annotated[bool, option("--report", "show the last report; executes nothing")],
    no_write: Annotated[bool, option("--no-write", "keep no report")],
    component: Annotated[str | None, option(
        "--component NAME", "whose sheets, where a project has several components")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Run the gate, or look at the last report."""
    refuse_together({"--report": shows, "--only": only}, "one: the last report is shown whole")
    found = find_workspace(project)
    if found is None:
        raise WorkspaceRefused(
            f"There is no folder {FOLDER} in {project.resolve()}, nor above.",
            "Expected a specification there.",
            "Begin one: twice spec init",
        )
    given = [each.strip() for each in (only or "").split(",")]
    if only is not None and not all(each.isdecimal() for each in given):
        raise UsageError(
            f"--only {only!r} is no list of checks.",
            f"Expected numbers from {NUMBERS[0]} to {NUMBERS[-1]}, with commas between them.",
            "For example: twice gate --only 3,4",
        )
    numbers = NUMBERS if only is None else tuple(sorted({*map(int, given)}))
    today, workspace = datetime.now(UTC).date(), open_component(found, component or "")
    if shows:
        report = read_report(found, today, base=workspace.base)
    else:
        with Status() as status:
            report = run_gate(
                found, read_code, today, only=numbers, base=workspace.base, doing=status
            )
        if only is None and not no_write:
            report = finish_gate(report, found, read_rules, base=workspace.base)
    lines = map(printable, _describe(report, workspace))
    return tell(report.to_json(), lines, as_json=as_json, code=report.exit_code)


def _describe(report: GateReport, workspace: Workspace) -> Iterator[str]:
    """Say what each check came to, and what to do now."""
    (again,) = name_component(workspace, ["twice gate"])
    stale = ", and stale" if report.moved else ""
    yield f"{report.result.value}{stale}: {count_outcomes(report.checks)} (tier {report.tier})"
    yield from list_lines(report)
    if report.moved:
        yield from (f"moved since: {path}" for path in report.moved[:8])
        yield f"next: {again}"
    elif report.result is GateResult.PASS:
        steps = list_last_steps(open_workspace(workspace.project, workspace.base))
        is_whole = len(report.checks) == len(NUMBERS)
        step = name_component(workspace, steps[:1]) if is_whole else [again]
        yield f"next: {step[0]}" if steps else SETTLED
    else:
        wanted = CheckOutcome.FAIL if report.result is GateResult.FAIL else CheckOutcome.BLOCKED
        numbers = ",".join(str(each.id) for each in report.checks if each.outcome is wanted)
        lacks = "twice spec status says what the sheets lack; " * numbers.startswith("1,")
        (only,) = name_component(workspace, [f"twice gate --only {numbers}"])
        yield f"next: {lacks}correct the failures above, then: {only}"
