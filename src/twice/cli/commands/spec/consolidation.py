"""Sheet 99 brought up to date: as a draft once every other sheet is locked, accepted at the end of a gate that passed.

Invariant: 99 is accepted only on a report that passed on the very sheets that it names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from twice.cli.commands.spec.opening import save_lock, shown
from twice.cli.commands.spec.reading_code import findings_by_sheet
from twice.foundation.digests import digest_bytes
from twice.specification.changes import compare_sheet, to_lock_entry
from twice.specification.consolidate import (
    CONSOLIDATION,
    PassedGate,
    consolidate,
    find_unmoved,
    is_settled,
)
from twice.specification.errors import GateUnfinished
from twice.specification.fill import list_unknown
from twice.specification.gate.report import GateReport, GateResult
from twice.specification.gate.runner import read_report, report_path, write_report
from twice.specification.gate.staleness import digest_sheet
from twice.specification.lock import NAME, Lock, read_lock
from twice.specification.sheet import Sheet
from twice.specification.workspace import Workspace, open_workspace, save

SETTLED: Final = "settled: sheet 99 names the gate that passed"


@dataclass(frozen=True, slots=True)
class Consolidated:
    """Sheet 99 as it is to be written, or None with the reason: "" where other sheets come first."""

    workspace: Workspace
    sheet: Sheet | None
    why: str

    def put_in(self, workspace: Workspace, lock: Lock) -> tuple[Workspace, Lock]:
        """Return a workspace and a lock in which 99 is as it is to be written."""
        if self.sheet is None:
            return workspace, lock
        after = replace(workspace, sheets={**workspace.sheets, CONSOLIDATION: self.sheet})
        return after, lock.with_sheet(CONSOLIDATION, to_lock_entry(self.sheet))

    @property
    def lines(self) -> list[str]:
        """What became of it, for people; none where other sheets come first."""
        if self.sheet is None:
            return [f"99 was left as it is: {self.why}"] if self.why else []
        place = shown(self.workspace, self.sheet.path)
        return [f"{place}: {self.sheet.version}, {self.sheet.text('status')}: {self.why}"]

    def to_json(self) -> dict[str, str] | None:
        """Return what the commands print of it; None where other sheets come first."""
        if self.sheet is None and not self.why:
            return None
        version, status = (
            (self.sheet.version, self.sheet.text("status")) if self.sheet else ("", "")
        )
        path = shown(self.workspace, self.sheet.path) if self.sheet else ""
        return {"path": path, "version": version, "status": status, "why": self.why}


def consolidate_locked(workspace: Workspace, lock: Lock) -> Consolidated:
    """Make sheet 99 of sheets that are all there, say what they have to, and are locked as they are."""
    others = [number for number in workspace.sheets if number != CONSOLIDATION]
    is_open = any(number != CONSOLIDATION for number, _, _ in list_unknown(workspace))
    is_absent = any(number != CONSOLIDATION for number in workspace.missing())
    moved = any(compare_sheet(workspace, lock, number).state != "same" for number in others)
    if is_open or is_absent or moved or lock.owed:
        return Consolidated(workspace, None, "")
    unmoved = find_unmoved(workspace, lock)
    if unmoved is not None:
        number = unmoved.number
        why = f"sheet {number} says something else than 99 cites as {number} {unmoved.version}"
        return Consolidated(workspace, None, f"{why}: twice spec bump {number} --patch")
    passed, why = passed_gate(workspace)
    sheet = consolidate(workspace, passed, findings_by_sheet(workspace))
    return Consolidated(workspace, sheet, why)


def finish_gate(report: GateReport, project: Path) -> GateReport:
    """Keep the report of a whole gate; where it passed, sheet 99 is accepted on it.

    Returns:
        The report as it was kept: it rests on 99 as that is written now.
    """
    workspace = open_workspace(project)
    lock = read_lock(workspace.folder / NAME)
    if report.result is not GateResult.PASS:
        write_report(report, workspace)
        return report
    # The findings that were judged, so that the report stands; without a 99 nothing was judged.
    findings = findings_by_sheet(workspace) if CONSOLIDATION not in workspace.sheets else {}
    for row in workspace.rows(CONSOLIDATION, "findings"):
        rules = row.get("rules")
        findings[str(row.get("sheet"))] = [*map(str, rules)] if isinstance(rules, list) else []
    draft = consolidate(workspace, None, findings)
    inputs = {**report.inputs, draft.path: digest_sheet(draft)}
    kept = replace(report, inputs=dict(sorted(inputs.items())))
    path = write_report(kept, workspace).relative_to(project).as_posix()
    passed = PassedGate(path, str(digest_bytes(kept.to_text().encode())))
    done = Consolidated(workspace, consolidate(workspace, passed, findings), "")
    after, locked = done.put_in(workspace, lock)
    save(workspace, after)
    save_lock(workspace, lock, locked)
    return kept


def passed_gate(workspace: Workspace) -> tuple[PassedGate | None, str]:
    """Give the gate that passed on the sheets as they are, or why there is none."""
    path = report_path(workspace)
    if not path.is_file():
        return None, "no gate has run"
    try:
        report = read_report(workspace.project, datetime.now(UTC).date())
    except GateUnfinished as error:  # of another tier, for example, before the sheets were promoted
        return None, error.happened.rstrip(".")
    if report.result is not GateResult.PASS:
        return None, f"the last gate said {report.result.value}"
    if report.moved:
        more = f" and {len(report.moved) - 3} more" if len(report.moved) > 3 else ""
        return None, f"the last gate is stale ({', '.join(report.moved[:3])}{more} moved)"
    named = path.relative_to(workspace.project).as_posix()
    digest = str(digest_bytes(path.read_bytes()))
    return PassedGate(named, digest), "a gate has passed on these sheets"


def after_passing(workspace: Workspace) -> list[str]:
    """Give what is left to do once every sheet is written: nothing when sheet 99 names the gate."""
    passed, _ = passed_gate(workspace)
    if passed is None:
        return ["twice gate"]
    return [] if is_settled(workspace, passed) else ["twice spec refresh"]
