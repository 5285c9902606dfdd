"""Sheet 99: one document that other documents cite, made from all the others.

Its text is made anew each time; only the notes at its end are a person's and are kept. It is a draft until a
gate has passed on the very sheets that it names.

Invariant: 99 names each sheet's version and digest as they are, so it cannot go stale unnoticed. It is accepted only on
a report that passed on the very sheets that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from twice.foundation.digests import digest_bytes
from twice.specification.changes import Step, compare_sheet, find_step, move_version, to_lock_entry
from twice.specification.create import FIRST_VERSION
from twice.specification.errors import GateUnfinished
from twice.specification.fill import list_unknown
from twice.specification.front_matter import Row, Value, format_entry
from twice.specification.gate.report import GateReport, GateResult
from twice.specification.gate.runner import read_report, report_path, write_report
from twice.specification.gate.staleness import digest_sheet
from twice.specification.location import FOLDER
from twice.specification.lock import NAME, Lock, read_lock, write_lock
from twice.specification.schema import COMMON, SHEETS, UNKNOWN, VERSION
from twice.specification.sheet import Sheet, read_sheet
from twice.specification.workspace import Workspace, open_workspace, save

_RULE: Final = (
    "major when the class breaks or 01 changed, minor when a listed change does not break it, patch otherwise; "
    "this sheet moves as far as the sheet that moved furthest"
)
CONSOLIDATION: Final = "99"  # made by twice, never laid down
_NOTES: Final = "## Notes"


FindsRules = Callable[[Workspace], Mapping[str, list[str]]]
"""Finds for each sheet's number the rules of the checker that found something it settles."""


@dataclass(frozen=True, slots=True)
class PassedGate:
    """A gate that passed on the sheets as they are.

    Args:
        path: its report, from the project on.
        digest: the report's.
    """

    path: str
    digest: str


def consolidate(
    workspace: Workspace, passed: PassedGate | None, findings: Mapping[str, list[str]]
) -> Sheet:
    """Return sheet 99, made from all the others.

    Args:
        workspace: all sheets.
        passed: the gate that passed; None for a draft.
        findings: for each sheet's number the rules of the checker that found something it settles.
    """
    schema, before = SHEETS[CONSOLIDATION], workspace.get(CONSOLIDATION)
    sheets = [each for number, each in workspace.sheets.items() if number != CONSOLIDATION]
    cited: list[Row] = [
        {"id": each.number, "version": each.version, "digest": str(each.digest())}
        for each in sheets
    ]
    covered: list[Row] = [
        {"sheet": number, "rules": [*rules]} for number, rules in sorted(findings.items()) if rules
    ]
    owners = sorted({each.text("owner") for each in sheets} - {""})
    values: dict[str, Value] = {
        "schema": VERSION,
        "id": CONSOLIDATION,
        "title": schema.title,
        "component": workspace.component() or UNKNOWN,
        "version": _move(before, cited),
        "status": "accepted" if passed else "draft",
        "owner": workspace.text(CONSOLIDATION, "owner") or (owners[0] if owners else UNKNOWN),
        "sheets": cited,
        "gate": passed.path if passed else UNKNOWN,
        "gate_digest": passed.digest if passed else UNKNOWN,
        "findings": covered,
        "rule": _RULE,
    }
    head = "".join(format_entry(key, value) for key, value in values.items())
    kept = before.body.partition(f"\n{_NOTES}\n") if before else ("", "", "")
    notes = kept[2] if kept[1] else "\nWhat stands here decides nothing.\n"
    text = f"---\n{head}---\n\n{_render_body(workspace, sheets)}\n{_NOTES}\n{notes}"
    return read_sheet(
        text, schema, before.path if before else f"{workspace.base}/{schema.file_name}"
    )


@dataclass(frozen=True, slots=True)
class Consolidated:
    """Workspace and lock with 99 as it is to be written, and why it is so.

    Where 99 is left as it is, ``sheet`` is None and ``why`` the reason: "" where other sheets come first.
    """

    workspace: Workspace
    lock: Lock
    sheet: Sheet | None
    why: str

    def save(self, before: Workspace, lock: Lock) -> None:
        """Write the sheets that differ from before, and the lock.

        Raises:
            OutputUnwritable: E-OUTPUT-002.
        """
        # The sheets first: a lock that is behind shows as a moved version, one that is ahead would lie.
        save(before, self.workspace)
        write_lock(before.folder / NAME, lock, self.lock)


def consolidate_locked(workspace: Workspace, lock: Lock, find_rules: FindsRules) -> Consolidated:
    """Make sheet 99 of sheets that are all there, say what they have to, and are locked as they are."""
    others = [number for number in workspace.sheets if number != CONSOLIDATION]
    first = [number for number, _, _ in list_unknown(workspace)]
    first += [*workspace.missing(), *(owed.sheet for owed in lock.owed)]
    first += [each for each in others if compare_sheet(workspace, lock, each).state != "same"]
    if {*first} - {CONSOLIDATION}:
        return Consolidated(workspace, lock, None, "")
    unmoved = find_unmoved(workspace, lock)
    if unmoved is not None:
        number = unmoved.number
        why = f"sheet {number} says something else than 99 cites as {number} {unmoved.version}"
        why += f": twice spec bump {number} --patch"
        return Consolidated(workspace, lock, None, why)
    passed, why = find_passed_gate(workspace)
    return _put_in(workspace, lock, consolidate(workspace, passed, find_rules(workspace)), why)


def _put_in(workspace: Workspace, lock: Lock, sheet: Sheet, why: str) -> Consolidated:
    after = replace(workspace, sheets={**workspace.sheets, CONSOLIDATION: sheet})
    return Consolidated(after, lock.with_sheet(CONSOLIDATION, to_lock_entry(sheet)), sheet, why)


def finish_gate(
    report: GateReport, project: Path, find_rules: FindsRules, *, base: str = FOLDER
) -> GateReport:
    """Keep the report of a whole gate; where it passed, sheet 99 is accepted on it.

    Returns:
        The report as it was kept: it rests on 99 as that is written now.
    """
    workspace = open_workspace(project, base)
    if report.result is not GateResult.PASS:
        write_report(report, workspace)
        return report
    # The findings that were judged, so that the report stands; without a 99 nothing was judged.
    is_judged = CONSOLIDATION in workspace.sheets
    findings = {} if is_judged else {**find_rules(workspace)}
    for row in workspace.rows(CONSOLIDATION, "findings"):
        rules = row.get("rules")
        findings[str(row.get("sheet"))] = [*map(str, rules)] if isinstance(rules, list) else []
    draft = consolidate(workspace, None, findings)
    inputs = {**report.inputs, draft.path: digest_sheet(draft)}
    kept = replace(report, inputs=dict(sorted(inputs.items())))
    path = write_report(kept, workspace).relative_to(project).as_posix()
    passed = PassedGate(path, str(digest_bytes(kept.to_text().encode())))
    lock = read_lock(workspace.folder / NAME)
    _put_in(workspace, lock, consolidate(workspace, passed, findings), "").save(workspace, lock)
    return kept


def find_passed_gate(workspace: Workspace) -> tuple[PassedGate | None, str]:
    """Return the gate that passed on the sheets as they are, or None, and why."""
    path = report_path(workspace)
    if not path.is_file():
        return None, "no gate has run"
    try:
        report = read_report(workspace.project, datetime.now(UTC).date(), base=workspace.base)
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


def list_last_steps(workspace: Workspace) -> list[str]:
    """Return what is left to do once every sheet is written; nothing when sheet 99 is accepted on the gate that passed."""
    passed, _ = find_passed_gate(workspace)
    if passed is None:
        return ["twice gate"]
    said = [workspace.text(CONSOLIDATION, key) for key in ("status", "gate", "gate_digest")]
    is_settled = said == ["accepted", passed.path, passed.digest]
    return [] if is_settled else ["twice spec refresh"]


def find_unmoved(workspace: Workspace, lock: Lock) -> Sheet | None:
    """Return a sheet that says something else under the version that sheet 99 cites; None where there is none.

    A draft that cites a sheet which was never locked may be made anew.
    """
    accepted = workspace.text(CONSOLIDATION, "status") == "accepted"
    for row in workspace.rows(CONSOLIDATION, "sheets"):
        number = str(row.get("id"))
        sheet, cited = workspace.get(number), row.get("digest")
        if sheet is None or sheet.version != row.get("version") or cited is None:
            continue
        if (accepted or number in lock.sheets) and cited != str(sheet.digest()):
            return sheet
    return None


def _move(before: Sheet | None, now: list[Row]) -> str:
    """Return a version that moved as far as the sheet that moved furthest."""
    if before is None:
        return FIRST_VERSION
    then = {str(row["id"]): row for row in before.rows("sheets")}
    furthest = Step.NONE if then.keys() == {str(row["id"]) for row in now} else Step.MINOR
    for row in now:
        old = then.get(str(row["id"]), {})
        if old.get("version"):
            step = find_step(str(old["version"]), str(row["version"]))
            moved = old.get("digest") != row["digest"]
            furthest = max(furthest, step, Step.PATCH if moved else Step.NONE)
    return move_version(before.version or FIRST_VERSION, furthest)


def _render_body(workspace: Workspace, sheets: list[Sheet]) -> str:
    parts = [f"# {SHEETS[CONSOLIDATION].title}: {workspace.component()}", ""]
    said = workspace.text("01", "predicate").rstrip(".")
    if said:
        parts += [f"{said[:1].upper()}{said[1:]}.", ""]
    common = {item.key for item in COMMON}
    for sheet in sheets:
        name = sheet.path.rpartition("/")[2]
        title = f"## {sheet.number} {sheet.schema.title} {sheet.version}"
        parts += [f'<a id="{sheet.number}"></a>', "", title, "", f"[{name}]({name})", ""]
        for key, entry in sheet.head.entries.items():
            if key not in common:
                anchor = f"{sheet.number}-{key.replace('_', '-')}"
                parts.append(f'- <a id="{anchor}"></a>**{key}**: {_render(entry.value)}')
        parts.append("")
    return "\n".join(parts)


def _render(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = ["; ".join(f"{key} {_render(cell)}" for key, cell in row.items()) for row in value]
        return "".join(f"\n  - {each}" for each in rows)
    if isinstance(value, list):
        return ", ".join(_render(each) for each in value) or "none"
    return f"`{value}`" if isinstance(value, str) and value and "`" not in value else str(value)
