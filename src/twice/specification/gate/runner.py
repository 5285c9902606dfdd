"""Run the gate: gather what the wanted checks need, judge them, and keep the report.

Gathering executes the program of sheet 00, its tests, and the program of the test vector, each in processes
of their own. Reading a report, or the sheets, executes nothing.

Invariant: evidence is gathered once, only what a wanted check looks at, and for the sheets as they were read
when the gate began.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final

from twice.errors import TwiceError, UsageError
from twice.specification.errors import GateUnfinished
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.checks.costs import find_due
from twice.specification.gate.evidence import files, runs, suite, trials
from twice.specification.gate.evidence.context import (
    Doing,
    EvidenceContext,
    MissingEvidence,
    ReadsCode,
    Unavailable,
)
from twice.specification.gate.model import (
    Check,
    CheckOutcome,
    CheckResult,
    FirmFault,
    GateFacts,
    Observed,
    Undecided,
    optional,
    shorten,
)
from twice.specification.gate.report import GateReport
from twice.specification.gate.staleness import CODE, digest_inputs, refuse_outside
from twice.specification.gate.waivers import apply_waivers, list_ended, read_waivers
from twice.specification.location import FOLDER
from twice.specification.lock import NAME, read_lock
from twice.specification.workspace import Workspace, open_workspace
from twice.writing import write

EVIDENCE: Final = "evidence"
REPORT: Final = "gate.json"
PAGE: Final = "gate.md"
NUMBERS: Final = tuple(each.id for each in CHECKS)
KINDS: Final[dict[str, Callable[[EvidenceContext], object]]] = {
    "code": files.gather_code,
    "taken": runs.gather_taken,
    "trial": runs.gather_trial,
    "sealed": runs.gather_sealed,
    "reseeded": runs.gather_reseeded,
    "varied": runs.gather_varied,
    "vector": runs.gather_vector,
    "restored": runs.gather_restored,
    "planted": trials.gather_planted,
    "operations": trials.gather_operations,
    "policies": runs.gather_policies,
    "encoded": files.gather_encoded,
    "suite": suite.gather_suite,
    "costs": files.gather_costs,
    "installed": files.gather_installed,
    "handoff": files.gather_handoff,
    "laid": files.gather_laid,
}
"""How each kind of evidence is made, by its name in ``GateFacts``, in the order in which they are made."""


def gather(kind: str, context: EvidenceContext) -> object:
    """Make one kind of evidence, or say why there is none: no refusal of a run ends the gate."""
    try:
        return KINDS[kind](context)
    except MissingEvidence as missing:
        return Unavailable(str(missing))
    except TwiceError as error:
        return Unavailable(context.explain(error))


def judge(check: Check, facts: GateFacts) -> CheckResult:
    """Judge one check."""
    reason = check.absent(facts) if check.absent is not None else ""
    if reason:
        return CheckResult(check.id, check.title, CheckOutcome.NA, (), reason)
    found: list[str] = []
    # What was found before evidence was missing stays.
    with contextlib.suppress(MissingEvidence):
        for each in check.judge(facts):
            found.append(each)  # noqa: PERF402  (list() would lose them)
    faults = [each for each in found if not isinstance(each, (Observed, Undecided))]
    unknown = [str(each) for each in found if isinstance(each, Undecided)]
    if not unknown:
        missing = [getattr(facts, each) for each in check.needs]
        unknown = [each.reason for each in missing if isinstance(each, Unavailable)]
        unknown = list(dict.fromkeys(unknown))
    outcome = (
        CheckOutcome.FAIL if faults else CheckOutcome.BLOCKED if unknown else CheckOutcome.PASS
    )
    result = CheckResult(
        check.id,
        check.title,
        outcome,
        tuple(str(each) for each in found if isinstance(each, Observed)),
        shorten(faults or unknown),
        tuple(map(str, faults)),
    )
    is_firm = any(isinstance(each, FirmFault) for each in faults)
    return apply_waivers(result, check, facts, firm=is_firm)


def run_gate(
    project: Path,
    reads_code: ReadsCode,
    today: date,
    *,
    only: Collection[int] = NUMBERS,
    base: str = FOLDER,
    doing: Doing = lambda _: None,
    gathers: Callable[[str, EvidenceContext], object] = gather,
) -> GateReport:
    """Run the gate on a project's specification.

    Args:
        project: the folder in which the workspace lies.
        reads_code: reads source code for findings and audits.
        today: the day by which waivers are judged.
        only: numbers of the checks that are wanted.
        base: the folder of the sheets, from the project on.
        doing: called with what is being done.
        gathers: makes evidence; another one may keep what was made before.

    Raises:
        WorkspaceRefused, SheetRefused, SheetVersion, SpecForeign: E-SPEC-001 to 006: the sheets cannot be read.
        UsageError: E-USE-001: a check that there is not. GateUnfinished: E-GATE-001: files changed meanwhile.
    """
    unknown = sorted(set(only) - set(NUMBERS))
    if unknown:
        raise UsageError(
            f"There is no check {unknown[0]}.",
            f"Expected numbers from {NUMBERS[0]} to {NUMBERS[-1]}.",
            "For example: twice gate --only 3,4",
        )
    project = project.resolve()
    workspace, lock = open_workspace(project, base), read_lock(project / base / NAME)
    refuse_outside(workspace)
    wanted = [each for each in CHECKS if each.id in set(only)]
    before = digest_inputs(workspace, lock)
    needed = {name for each in wanted for name in (*each.needs, *each.wants)}
    evidence: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="twice-gate-") as scratch, contextlib.chdir(project):
        context = EvidenceContext(workspace, Path(scratch).resolve(), reads_code, doing)
        for kind in KINDS:
            if kind in needed:
                evidence[kind] = gathers(kind, context)
    facts = GateFacts(workspace, lock, today, **evidence)
    results = [judge(each, facts) for each in wanted]
    trial, tests = optional(facts.trial), optional(facts.suite)
    seen = {*((*trial.files, *trial.read) if trial else ()), *(tests.loaded if tests else ())}
    try:
        # Read again: a sheet that is saved meanwhile is not the one that was judged.
        saved, lock = open_workspace(project, base), read_lock(project / base / NAME)
    except TwiceError as error:
        raise _report_moved([base]) from error
    rests_on = digest_inputs(saved, lock, sorted(seen))
    sheets = {each.path for each in (*workspace.sheets.values(), *saved.sheets.values())}
    fixed = {*sheets, f"{base}/{NAME}", workspace.text("01", "vector"), workspace.text("13", "measured")}  # fmt: skip
    judged = [each for each in {*before, *sheets} if each.endswith(CODE) or each in fixed]
    moved = sorted(each for each in judged if rests_on.get(each) != before.get(each))
    if moved:
        raise _report_moved(moved)
    tier = workspace.situation().tier.value
    return GateReport(workspace.component(), tier, results, rests_on)


def _report_moved(moved: list[str]) -> GateUnfinished:
    """Return the refusal of evidence of files that were edited meanwhile: nobody knows which of them ran."""
    return GateUnfinished(
        f"{moved[0]} changed while the gate ran.",
        "Expected sheets, code and evidence that stay as they are until it ends; no report was kept.",
        "Run it again: twice gate",
        moved=moved,
    )


def write_report(report: GateReport, workspace: Workspace) -> Path:
    """Write a report as JSON and as Markdown among the evidence, each whole or not at all.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    path = report_path(workspace)
    path.parent.mkdir(exist_ok=True)
    write(path.with_name(PAGE), report.to_markdown().encode())
    write(path, report.to_text().encode())
    return path


def report_path(workspace: Workspace) -> Path:
    """Return where the report of a workspace is kept."""
    return workspace.folder / EVIDENCE / REPORT


def read_report(project: Path, today: date, *, base: str = FOLDER) -> GateReport:
    """Return the kept report, with what moved by a day and the waivers that ended; nothing is executed.

    Raises:
        GateUnfinished: E-GATE-001: there is none, or it cannot be read.
        SheetRefused and others: E-SPEC-001 to 006, when the sheets cannot be read.
    """
    project = project.resolve()
    workspace = open_workspace(project, base)
    path = report_path(workspace)
    shown = path.relative_to(project).as_posix()
    try:
        said = json.loads(path.read_bytes())
        report = GateReport.from_json(said)
        _refuse_inconsistent(report, said, workspace)
    except FileNotFoundError as error:
        raise GateUnfinished(
            f"There is no {shown}.", "Expected the report of a gate that ran.", "Run it: twice gate"
        ) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise GateUnfinished(
            f"{shown} is no report of a gate: {type(error).__name__}: {error}.",
            "Expected what twice gate wrote.",
            "Run it again: twice gate",
        ) from error
    refuse_outside(workspace)
    then = report.inputs
    now = digest_inputs(workspace, read_lock(project / base / NAME), then)
    moved = [path for path in sorted({*then, *now}) if then.get(path) != now.get(path)]
    ended = list_ended(report.checks, workspace, today)
    due = _list_due(report.checks, workspace, today)
    return replace(report, moved=(*ended, *due, *moved))


def _list_due(checks: Sequence[CheckResult], workspace: Workspace, today: date) -> Iterator[str]:
    """Yield the days of sheet 13 that went by since check 17 passed."""
    sheet = workspace.get("13")
    passed = any(each.id == 17 and each.outcome is CheckOutcome.PASS for each in checks)
    if sheet is not None and passed:
        yield from (f"{sheet.number}.{key}: {told}" for key, told in find_due(sheet, today))


def _refuse_inconsistent(
    report: GateReport, said: Mapping[str, object], workspace: Workspace
) -> None:
    """Raise ``ValueError`` for a report that is not a whole one of this specification."""
    numbers = tuple(each.id for each in report.checks)
    if numbers != NUMBERS:
        held = ", ".join(map(str, numbers)) or "none"
        raise ValueError(f"it holds the checks {held}, not 1 to 17")
    for check, each in zip(CHECKS, report.checks, strict=True):
        if each.outcome is CheckOutcome.NA and check.absent is None:
            raise ValueError(f"it says n/a of check {each.id}, which every system has")
        waived = check.is_waivable and read_waivers(workspace, each.id)
        if each.outcome is CheckOutcome.WAIVED and not waived:
            raise ValueError(f"it says waived of check {each.id}, and no sheet waives that")
    if said.get("result") != report.result.value:
        raise ValueError(f"it says {said.get('result')}, and its checks give {report.result.value}")
    if (report.component, report.tier) != (workspace.component(), workspace.situation().tier):
        raise ValueError(f"it is of {report.component!r} at tier {report.tier}")
