"""Say what changed since versions were last moved, what has to be written anew, and what to check again.

  twice spec changed
  twice spec changed 02

A change that no table lists breaks the class, unless 01 tolerates it by name. What breaks the class only sometimes
counts as breaking it, until the sheet's own class_breaking says otherwise. Exit code 0 nothing changed, 1 something did.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    number_of,
    workspace_options,
)
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import tell
from twice.specification.changes import Change, SheetChange, compare_sheet
from twice.specification.lock import Owed


@make_command(click.argument("sheets", nargs=-1, metavar="[NN]..."), workspace_options, json_option)
def command(sheets: tuple[str, ...], where: WorkspaceOptions, as_json: bool) -> int:
    """Compare and say."""
    workspace, lock = where.open()
    every = [*map(number_of, sheets)] or sorted({*workspace.sheets, *lock.sheets})
    changes = [compare_sheet(workspace, lock, number) for number in every]
    moved = [each for each in changes if each.state != "same"]
    checks = sorted({check for each in moved for check in each.checks})
    document = {
        "format": FORMAT,
        "sheets": [_to_json(each) for each in changes],
        "owed": [_owed_to_json(each) for each in lock.owed],
        "checks": checks,
    }
    lines = _lines(moved, lock.owed, checks)
    return tell(document, lines, as_json=as_json, code=1 if moved or lock.owed else 0)


def _lines(moved: list[SheetChange], owed: tuple[Owed, ...], checks: list[int]) -> Iterator[str]:
    if not moved and not owed:
        yield "nothing changed since versions were last moved, and nothing is owed"
        return
    for each in moved:
        said = f"{each.locked} -> {each.version}" if each.locked != each.version else each.version
        breaks = ", breaks the class" if each.breaks else ""
        yield f"{each.number} {each.state} ({said}){breaks}"
        for change in each.found:
            word = "breaks the class" if change.breaks else "does not break the class"
            yield f"  {change.key}: {_short(change.before)} -> {_short(change.after)}"
            yield f"    {word}: {change.why}"
            yield from (f"    re-emit {due.sheet}: {due.what}" for due in change.owed)
    for due in owed:
        yield f"{due.sheet} owes a new version to {due.because} ({due.row}): {due.what}"
    steps = [
        f"twice spec bump {each.number}" + (f" --{each.needed.word}" if each.state != "new" else "")
        for each in moved
        if each.state in {"new", "changed"} or not each.is_honest
    ]
    steps += [f"twice gate --only {','.join(map(str, checks))}"] if checks else []
    yield from next_lines(steps or ["twice spec status"])


def _short(value: object) -> str:
    said = repr(value) if value is not None else "(nothing)"
    return said if len(said) <= 70 else f"{said[:67]}..."


def _to_json(each: SheetChange) -> dict[str, Any]:
    return {
        "sheet": each.number, "state": each.state, "locked": each.locked, "version": each.version,
        "class_breaking": each.breaks, "needed": each.needed.word, "honest": each.is_honest,
        "changes": [_change_to_json(change) for change in each.found],
        "checks": list(each.checks),
    }  # fmt: skip


def _change_to_json(change: Change) -> dict[str, Any]:
    return {
        "key": change.key, "before": change.before, "after": change.after, "row": change.row,
        "class_breaking": change.breaks, "why": change.why,
        "re_emit": [_owed_to_json(each) for each in change.owed],
    }  # fmt: skip


def _owed_to_json(owed: Owed) -> dict[str, Any]:
    return {
        "sheet": owed.sheet, "because": owed.because, "row": owed.row, "what": owed.what,
        "class_breaking": owed.breaks,
    }  # fmt: skip
