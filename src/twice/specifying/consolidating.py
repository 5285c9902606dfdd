"""Sheet 99: one document that other documents cite, made from all the others.

Its text is made anew each time; only the notes at its end are a person's and are kept. It is a draft until a
gate has passed on the very sheets that it names.

Invariant: 99 names each sheet's version and digest as they are, so it cannot go stale unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from twice.errors import BumpRefused
from twice.specifying.artifact import SCHEMA, Artifact, read_artifact
from twice.specifying.changes import Step, find_step, move_version
from twice.specifying.frontmatter import Row, Value, written
from twice.specifying.kinds import UNKNOWN
from twice.specifying.lock import Lock
from twice.specifying.schema import COMMON
from twice.specifying.sheets import SHEETS
from twice.specifying.templates import FIRST_VERSION
from twice.specifying.workspace import FOLDER, Workspace

_RULE: Final = (
    "major when the class breaks or 01 changed, minor when a listed change does not break it, patch otherwise; "
    "this sheet moves as far as the sheet that moved furthest"
)
CONSOLIDATION: Final = "99"  # made by twice, never laid down
_NOTES: Final = "## Notes"


@dataclass(frozen=True, slots=True)
class Passed:
    """A gate that passed on the sheets as they are.

    Args:
        path: its report, from the project on.
        digest: the report's.
    """

    path: str
    digest: str


def consolidated(
    workspace: Workspace, passed: Passed | None, findings: Mapping[str, list[str]]
) -> Artifact:
    """Write sheet 99.

    Args:
        workspace: all sheets.
        passed: the gate that passed; None for a draft.
        findings: for each sheet's number the rules of the checker that found something it settles.
    """
    before = workspace.get("99")
    sheets = [each for number, each in workspace.artifacts.items() if number != "99"]
    named: list[Row] = [
        {"id": each.number, "version": each.version, "digest": str(each.digest())}
        for each in sheets
    ]
    covered: list[Row] = [
        {"sheet": number, "rules": list(rules)}
        for number, rules in sorted(findings.items())
        if rules
    ]
    owners = sorted({each.said("owner") for each in sheets} - {""})
    values: dict[str, Value] = {
        "schema": SCHEMA,
        "id": "99",
        "title": SHEETS["99"].title,
        "component": workspace.component() or UNKNOWN,
        "version": _version(before, named),
        "status": "accepted" if passed else "draft",
        "owner": (before.said("owner") if before else "") or (owners[0] if owners else UNKNOWN),
        "sheets": named,
        "gate": passed.path if passed else UNKNOWN,
        "gate_digest": passed.digest if passed else UNKNOWN,
        "findings": covered,
        "rule": _RULE,
    }
    if not covered:
        values["findings"] = []
    head = "".join(written(key, value) for key, value in values.items())
    text = f"---\n{head}---\n\n{_body(workspace, sheets)}\n{_notes(before)}"
    sheet = SHEETS["99"]
    return read_artifact(text, sheet, before.path if before else f"{FOLDER}/{sheet.file_name}")


def names(workspace: Workspace, passed: Passed) -> bool:
    """Whether sheet 99 is accepted on that very report: then nothing is left to do."""
    sheet = workspace.get(CONSOLIDATION)
    if sheet is None or sheet.said("status") != "accepted":
        return False
    return (sheet.get("gate"), sheet.get("gate_digest")) == (passed.path, passed.digest)


def refuse_unmoved(workspace: Workspace, lock: Lock) -> None:
    """Refuse a sheet that says something else under the version that sheet 99 cites.

    A draft that cites a sheet which was never locked may be made anew.

    Raises:
        BumpRefused: E-SPEC-004.
    """
    before = workspace.get(CONSOLIDATION)
    for row in before.rows("sheets") if before else ():
        number = str(row.get("id"))
        sheet, cited = workspace.get(number), row.get("digest")
        if sheet is None or sheet.version != row.get("version") or cited is None:
            continue
        assert before is not None, "its rows are looked at"
        settled = before.said("status") == "accepted" or number in lock.sheets
        if settled and cited != str(sheet.digest()):
            raise BumpRefused(
                f"Sheet {number} is at {sheet.version} as when it was consolidated, and says something else.",
                "Expected a version that moved: others cite that one.",
                f"Move it: twice spec bump {number}; where its lock knows of no change: "
                f"twice spec bump {number} --patch",
                sheet=number,
            )


def _version(before: Artifact | None, now: list[Row]) -> str:
    """Move as far as the sheet that moved furthest."""
    if before is None:
        return FIRST_VERSION
    then = {str(row["id"]): str(row.get("version", "")) for row in before.rows("sheets")}
    digests = {str(row["id"]): row.get("digest") for row in before.rows("sheets")}
    furthest = Step.NONE if then.keys() == {str(row["id"]) for row in now} else Step.MINOR
    for row in now:
        number, version = str(row["id"]), str(row["version"])
        if then.get(number):
            step = find_step(then[number], version)
            moved = digests.get(number) != row["digest"]
            furthest = max(furthest, step, Step.PATCH if moved else Step.NONE)
    return move_version(before.version or FIRST_VERSION, furthest)


def _body(workspace: Workspace, sheets: list[Artifact]) -> str:
    promise = workspace.get("01")
    parts = [f"# {SHEETS['99'].title}: {workspace.component()}", ""]
    if promise is not None and promise.said("predicate"):
        said = promise.said("predicate").rstrip(".")
        parts += [f"{said[:1].upper()}{said[1:]}.", ""]
    common = {item.key for item in COMMON}
    for sheet in sheets:
        name = sheet.path.rpartition("/")[2]
        parts += [
            f'<a id="{sheet.number}"></a>',
            "",
            f"## {sheet.number} {sheet.sheet.title} {sheet.version}",
            "",
        ]
        parts += [f"[{name}]({name})", ""]
        for key, entry in sheet.head.entries.items():
            if key not in common:
                anchor = f"{sheet.number}-{key.replace('_', '-')}"
                parts.append(f'- <a id="{anchor}"></a>**{key}**: {_told(entry.value)}')
        parts.append("")
    return "\n".join(parts)


def _told(value: object) -> str:
    if not isinstance(value, list):
        return _cell(value)
    rows = [each for each in value if isinstance(each, dict)]
    if rows:
        said = ["; ".join(f"{name} {_cell(cell)}" for name, cell in row.items()) for row in rows]
        return "".join(f"\n  - {each}" for each in said)
    return ", ".join(_cell(each) for each in value) or "none"


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_cell(each) for each in value)
    return f"`{value}`" if isinstance(value, str) and value and "`" not in value else str(value)


def _notes(before: Artifact | None) -> str:
    if before is not None and f"\n{_NOTES}\n" in before.text:
        return _NOTES + "\n" + before.text.split(f"\n{_NOTES}\n", 1)[1]
    return f"{_NOTES}\n\nWhat stands here decides nothing.\n"
