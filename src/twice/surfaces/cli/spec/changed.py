"""Say what changed since versions were last moved, what has to be written anew, and what to check again.

  twice spec changed
  twice spec changed 02

A change that no table lists breaks the class, unless 01 tolerates it by name. What breaks the class only sometimes
counts as breaking it, until the sheet's own class_breaking says otherwise. Exit code 0 nothing changed, 1 something did.
"""

from __future__ import annotations

import argparse
from typing import Any

from twice.specification.changes import Change, SheetChange, compare_sheet
from twice.specification.lock import Owed
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, number_of, opened


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheets", nargs="*", metavar="NN", help="all by default")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Compare and say."""
    workspace, lock = opened(options)
    numbers = [number_of(each) for each in options.sheets]
    every = numbers or sorted({*workspace.sheets, *lock.sheets})
    told = [compare_sheet(workspace, lock, number) for number in every]
    moved = [each for each in told if each.state != "same"]
    if options.json:
        print_json({
            "format": FORMAT,
            "sheets": [_as_json(each) for each in told],
            "owed": [_owed_as_json(each) for each in lock.owed],
            "checks": sorted({check for each in moved for check in each.checks}),
        })  # fmt: skip
    else:
        _print(moved, lock.owed)
    return 1 if moved or lock.owed else 0


def _print(moved: list[SheetChange], owed: tuple[Owed, ...]) -> None:
    if not moved and not owed:
        print("nothing changed since versions were last moved, and nothing is owed")
        return
    for each in moved:
        said = f"{each.locked} -> {each.version}" if each.locked != each.version else each.version
        breaks = ", breaks the class" if each.breaks else ""
        print(f"{each.number} {each.state} ({said}){breaks}")
        for change in each.found:
            print("\n".join(f"  {line}" for line in _change_lines(change)))
    for due in owed:
        print(f"{due.sheet} owes a new version to {due.because} ({due.row}): {due.what}")
    checks = sorted({check for each in moved for check in each.checks})
    steps = [
        f"twice spec bump {each.number}" + (f" --{each.needed.word}" if each.state != "new" else "")
        for each in moved
        if each.state in {"new", "changed"} or not each.is_honest
    ]
    steps += [f"twice gate --only {','.join(map(str, checks))}"] if checks else []
    print("next: " + "\n      ".join(steps or ["twice spec status"]))


def _change_lines(change: Change) -> list[str]:
    word = "breaks the class" if change.breaks else "does not break the class"
    moved = f"{change.key}: {_short(change.before)} -> {_short(change.after)}"
    emits = (f"  re-emit {owed.sheet}: {owed.what}" for owed in change.owed)
    return [moved, f"  {word}: {change.why}", *emits]


def _short(value: object) -> str:
    said = repr(value) if value is not None else "(nothing)"
    return said if len(said) <= 70 else f"{said[:67]}..."


def _as_json(each: SheetChange) -> dict[str, Any]:
    return {
        "sheet": each.number, "state": each.state, "locked": each.locked, "version": each.version,
        "class_breaking": each.breaks, "needed": each.needed.word, "honest": each.is_honest,
        "changes": [_change_as_json(change) for change in each.found],
        "checks": list(each.checks),
    }  # fmt: skip


def _change_as_json(change: Change) -> dict[str, Any]:
    return {
        "key": change.key, "before": change.before, "after": change.after, "row": change.row,
        "class_breaking": change.breaks, "why": change.why,
        "re_emit": [_owed_as_json(each) for each in change.owed],
    }  # fmt: skip


def _owed_as_json(owed: Owed) -> dict[str, Any]:
    return {
        "sheet": owed.sheet, "because": owed.because, "row": owed.row, "what": owed.what,
        "class_breaking": owed.breaks,
    }  # fmt: skip
