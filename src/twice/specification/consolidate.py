"""Sheet 99: one document that other documents cite, made from all the others.

Its text is made anew each time; only the notes at its end are a person's and are kept. It is a draft until a
gate has passed on the very sheets that it names.

Invariant: 99 names each sheet's version and digest as they are, so it cannot go stale unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from twice.specification.changes import Step, find_step, move_version
from twice.specification.create import FIRST_VERSION
from twice.specification.front_matter import Row, Value, format_entry
from twice.specification.lock import Lock
from twice.specification.schema import COMMON, SHEETS, UNKNOWN, VERSION
from twice.specification.sheet import Sheet, read_sheet
from twice.specification.workspace import FOLDER, Workspace

_RULE: Final = (
    "major when the class breaks or 01 changed, minor when a listed change does not break it, patch otherwise; "
    "this sheet moves as far as the sheet that moved furthest"
)
CONSOLIDATION: Final = "99"  # made by twice, never laid down
_NOTES: Final = "## Notes"


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
    return read_sheet(text, schema, before.path if before else f"{FOLDER}/{schema.file_name}")


def is_settled(workspace: Workspace, passed: PassedGate) -> bool:
    """Whether sheet 99 is accepted on that very report: then nothing is left to do."""
    said = [workspace.text(CONSOLIDATION, key) for key in ("status", "gate", "gate_digest")]
    return said == ["accepted", passed.path, passed.digest]


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
