"""Whether a sheet has a past: then a lock without it has lost something, and is not simply the first.

A lock that is deleted and laid anew forgets what was owed and how far versions had to move. What shows it
without version control: a version that moved, a sheet 99 that was accepted, a report whose check 9 passed.

Invariant: a sheet that was laid down and never locked has none.
"""

from __future__ import annotations

import json
from typing import Final

from twice.errors import BumpRefused
from twice.specifying.changing import locked_as
from twice.specifying.lock import NAME, Lock
from twice.specifying.templates import FIRST_VERSION
from twice.specifying.workspace import FOLDER, Workspace

WHOLE: Final = "99"
_REPORT: Final = ("evidence", "gate.json")
_VERSIONING: Final = 9


def history_of(workspace: Workspace, number: str) -> str:
    """Give what shows that a sheet was locked before, as a clause; "" when nothing does."""
    sheet, whole = workspace.need(number, "its past is asked for"), workspace.get(WHOLE)
    if number == WHOLE:
        return ""  # made by twice, and locked as it is made
    if sheet.version not in {"", FIRST_VERSION}:
        return f"its version is {sheet.version}"
    cited = {row.get("id") for row in whole.rows("sheets")} if whole is not None else set()
    if whole is not None and whole.said("status") == "accepted" and number in cited:
        return "sheet 99 was accepted with it"
    return "a gate has passed its versions" if _gate_passed(workspace, sheet.path) else ""


def first_locked(workspace: Workspace, lock: Lock, number: str, anew: str) -> Lock:
    """Lock a sheet that is in no lock.

    Args:
        workspace: the sheets.
        lock: the lock.
        number: the sheet.
        anew: why a sheet with a past is locked anew; "" for nobody said.

    Raises:
        BumpRefused: E-SPEC-004: it has a past, and nobody said why it is in no lock.
    """
    sheet = workspace.need(number, "it is to be locked")
    shown = history_of(workspace, number)
    locked = lock.with_sheet(number, locked_as(sheet))
    if not shown:
        return locked
    if not anew:
        raise BumpRefused(
            f"Sheet {number} is in no lock, and it was locked before: {shown}.",
            "Expected the lock in which its version was moved: what is owed stands there and nowhere else.",
            f"Take it from version control: git checkout -- {FOLDER}/{NAME}; where there is none: "
            'twice spec lock --anew "why"',
            sheet=number,
        )
    return locked.laid_anew(number, anew)


def _gate_passed(workspace: Workspace, path: str) -> bool:
    """Whether the kept report rests on a sheet and its check of versions passed."""
    try:
        said = json.loads(workspace.folder.joinpath(*_REPORT).read_bytes())
        passed = any(
            each["id"] == _VERSIONING and each["outcome"] == "pass" for each in said["checks"]
        )
        return passed and path in said["inputs"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False
