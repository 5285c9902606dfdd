"""Run the gate: gather what the wanted checks need, judge them, and keep the report.

Gathering executes the program of sheet 00, its tests, and the program of the test vector, each in processes
of their own. Reading a report, or the sheets, executes nothing.

Invariant: evidence is gathered once, and only what a wanted check looks at.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, Final, Protocol

from twice.errors import GateUnfinished, UsageError
from twice.specifying.gate.check import always
from twice.specifying.gate.checks import CHECKS
from twice.specifying.gate.facts import Facts
from twice.specifying.gate.gathering.bench import Bench, ReadsCode
from twice.specifying.gate.gathering.kinds import KINDS, Kind
from twice.specifying.gate.inputs import CODE, digests_of, seen_in
from twice.specifying.gate.judging import judge
from twice.specifying.gate.outcome import Outcome
from twice.specifying.gate.outside import refuse_outside
from twice.specifying.gate.plan import Plan, plan_of
from twice.specifying.gate.report import Report
from twice.specifying.gate.waiving import ended, waivers_of
from twice.specifying.lock import NAME, Lock, read_lock
from twice.specifying.workspace import FOLDER, Workspace, open_workspace
from twice.writing import write

EVIDENCE: Final = "evidence"
REPORT: Final = "gate.json"
PAGE: Final = "gate.md"
NUMBERS: Final = tuple(each.id for each in CHECKS)


class Gathers(Protocol):
    """Makes one kind of evidence at a bench."""

    def __call__(self, name: str, kind: Kind, bench: Bench, /) -> object:
        """Give the evidence, or that it is unavailable."""


def gather(name: str, kind: Kind, bench: Bench) -> object:
    """Make one kind of evidence."""
    del name
    return kind.gather(bench)


def run_gate(
    project: Path,
    reads_code: ReadsCode,
    today: date,
    *,
    only: Collection[int] = NUMBERS,
    doing: Callable[[str], None] | None = None,
    gathers: Gathers = gather,
) -> Report:
    """Run the gate on a project's specification.

    Args:
        project: the folder in which the workspace lies.
        reads_code: reads source code for findings and audits.
        today: the day by which waivers are judged.
        only: numbers of the checks that are wanted.
        doing: called with what is being done.
        gathers: makes evidence; another one may keep what was made before.

    Raises:
        WorkspaceRefused, SheetRefused, SheetVersion, SpecForeign: E-SPEC-001 to 006, for a specification that
            cannot be read. UsageError: E-USE-001, for a check that there is not. GateUnfinished: E-GATE-001,
            when code or evidence changed meanwhile.
    """
    unknown = sorted(set(only) - set(NUMBERS))
    if unknown:
        raise UsageError(
            f"There is no check {unknown[0]}.",
            f"Expected numbers from {NUMBERS[0]} to {NUMBERS[-1]}.",
            "For example: twice gate --only 3,4",
        )
    project = project.resolve()
    workspace, lock = open_workspace(project), read_lock(project / FOLDER / NAME)
    refuse_outside(workspace)
    wanted = [each for each in CHECKS if each.id in set(only)]
    plan = plan_of(workspace)
    before = digests_of(workspace, lock, plan)
    needed = {name for each in wanted for name in (*each.needs, *each.wants)}
    evidence: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="twice-gate-") as scratch, contextlib.chdir(project):
        bench = Bench(project, plan, Path(scratch).resolve(), reads_code, doing or _silent)
        for name, kind in KINDS.items():
            if name in needed:
                evidence[name] = gathers(name, kind, bench)
    facts = Facts(workspace, lock, today, **evidence)
    checks = [judge(each, facts) for each in wanted]
    rests_on = digests_of(workspace, lock, plan, seen_in(facts.trial, facts.suite))
    _refuse_moving(before, rests_on, plan)
    tier = workspace.situation().tier.value
    return Report(workspace.component(), tier, checks, rests_on)


def _refuse_moving(before: Mapping[str, str], after: Mapping[str, str], plan: Plan) -> None:
    """Refuse evidence of files that were edited while it was made: nobody knows which of them ran."""
    judged = [
        each for each in before if each.endswith(CODE) or each in {plan.vector, plan.measured}
    ]
    moved = [each for each in judged if after.get(each) != before[each]]
    if moved:
        raise GateUnfinished(
            f"{moved[0]} changed while the gate ran.",
            "Expected code and evidence that stay as they are until it ends; no report was kept.",
            "Run it again: twice gate",
            moved=moved,
        )


def _silent(what: str) -> None:
    del what


def keep(report: Report, workspace: Workspace) -> Path:
    """Write a report as JSON and as Markdown among the evidence, each whole or not at all.

    Raises:
        OutputUnwritable: E-OUTPUT-002.
    """
    folder = workspace.folder / EVIDENCE
    folder.mkdir(exist_ok=True)
    write(folder / PAGE, report.to_markdown().encode())
    write(report_path(workspace), report.text().encode())
    return report_path(workspace)


def report_path(workspace: Workspace) -> Path:
    """Give where the report of a workspace is kept."""
    return workspace.folder / EVIDENCE / REPORT


def last_report(project: Path, today: date) -> Report:
    """Give the report that was kept, with what moved since and the waivers that ended; nothing is executed.

    Args:
        project: the folder in which the workspace lies.
        today: the day by which waivers are judged.

    Raises:
        GateUnfinished: E-GATE-001: there is none, or it cannot be read.
        SheetRefused and others: E-SPEC-001 to 006, when the sheets cannot be read.
    """
    project = project.resolve()
    workspace = open_workspace(project)
    path = report_path(workspace)
    shown = path.relative_to(project).as_posix()
    try:
        said = json.loads(path.read_bytes())
        report = Report.from_json(said)
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
    lock = read_lock(project / FOLDER / NAME)
    now = digests_of(workspace, lock, plan_of(workspace), report.inputs)
    over = ended(report.checks, Facts(workspace, lock, today))
    return replace(report, moved=(*over, *_moved(report.inputs, now)))


def _refuse_inconsistent(report: Report, said: Mapping[str, object], workspace: Workspace) -> None:
    """Refuse a report that is not a whole one of this specification.

    Raises:
        ValueError: with what is wrong.
    """
    numbers = tuple(each.id for each in report.checks)
    if numbers != NUMBERS:
        raise ValueError(
            f"it holds the checks {', '.join(map(str, numbers)) or 'none'}, not 1 to 17"
        )
    facts = Facts(workspace, Lock(), date.min)
    for check, each in zip(CHECKS, report.checks, strict=True):
        if each.outcome is Outcome.NA and check.precondition is always:
            raise ValueError(f"it says n/a of check {each.id}, which every system has")
        waived = check.is_waivable and waivers_of(facts, each.id)
        if each.outcome is Outcome.WAIVED and not waived:
            raise ValueError(f"it says waived of check {each.id}, and no sheet waives that")
    if said.get("result") != report.result.value:
        raise ValueError(
            f"it says {said.get('result')} over checks that come to {report.result.value}"
        )
    declared = (workspace.component(), workspace.situation().tier.value)
    if (report.component, report.tier) != declared:
        raise ValueError(f"it is of {report.component!r} at tier {report.tier}")


def _moved(then: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(path for path in sorted({*then, *now}) if then.get(path) != now.get(path))
