"""Say what changed since versions were last moved, what has to be written anew, and what to check again.

  twice spec changed
  twice spec changed 02
  twice spec changed 06 --answer 06.capability=no
  twice spec changed --event 12.counterexample --cause 03

A change that no table lists breaks the class, unless 01 tolerates it by name. Questions of the tables count as yes
until they are answered. Exit code 0 nothing changed, 1 something did.
"""

from __future__ import annotations

import argparse
from typing import Any

from twice.errors import UsageError
from twice.specifying.changing import Changed, changed, ground_of
from twice.specifying.graph.changes import Change, Owed, event
from twice.specifying.graph.rows import ROWS, row_of
from twice.specifying.graph.workflows import checks_for
from twice.specifying.workspace import Workspace
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, answers_of, number_of, opened


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheets", nargs="*", metavar="NN", help="all by default")
    parser.add_argument("--answer", action="append", default=[], metavar="QUESTION=yes|no")
    parser.add_argument(
        "--event", metavar="ROW", help="something that no sheet shows: 12.counterexample"
    )
    parser.add_argument("--cause", metavar="NN", help="the sheet that an event is attributed to")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Compare and say."""
    workspace, lock = opened(options)
    answers = answers_of(options.answer)
    if options.event is not None:
        return _event(options, workspace, dict(answers))
    numbers = [number_of(each) for each in options.sheets]
    every = numbers or sorted({*workspace.artifacts, *lock.sheets})
    told = [changed(workspace, lock, number, answers) for number in every]
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


def _event(options: argparse.Namespace, workspace: Workspace, answers: dict[str, bool]) -> int:
    row = row_of(options.event)
    if row is None:
        raise UsageError(
            f"There is no row {options.event!r}.",
            f"Rows: {', '.join(each.id for each in ROWS)}.",
            "See: twice spec changed --help",
        )
    cause = number_of(options.cause) if options.cause else ""
    change = event(row.id, ground_of(workspace, row.sheet, answers, cause))
    checks = sorted({*checks_for(row.sheet, (row.id,)), *(checks_for(cause, ()) if cause else ())})
    if options.json:
        print_json({"format": FORMAT, "change": _change_as_json(change), "checks": checks})
        return 1
    print("\n".join(_change_lines(change)))
    print(f"next: twice gate --only {','.join(map(str, checks))}")
    return 1


def _print(moved: list[Changed], owed: tuple[Owed, ...]) -> None:
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
        f"twice spec lock {each.number}"
        if each.state == "new"
        else f"twice spec bump {each.number} --{each.needed.word}"
        for each in moved
        if each.state in {"new", "changed"} or not each.is_honest
    ]
    steps += [f"twice gate --only {','.join(map(str, checks))}"] if checks else []
    print("next: " + "\n      ".join(steps or ["twice spec status"]))


def _change_lines(change: Change) -> list[str]:
    word = "breaks the class" if change.breaks else "does not break the class"
    moved = (
        f"{change.key}: {_short(change.before)} -> {_short(change.after)}"
        if change.key
        else change.row
    )
    lines = [f"{moved}", f"  {word}: {change.why}"]
    if change.asks:
        lines.append(f"  open, counted as yes: {change.asks} --answer {change.row}=yes|no")
    for owed in change.owed:
        asks = f" ({owed.asks} --answer {owed.question}=yes|no)" if owed.asks else ""
        lines.append(f"  re-emit {owed.sheet}: {owed.what}{asks}")
    return lines


def _short(value: object) -> str:
    said = repr(value) if value is not None else "(nothing)"
    return said if len(said) <= 70 else f"{said[:67]}..."


def _as_json(each: Changed) -> dict[str, Any]:
    return {
        "sheet": each.number, "state": each.state, "locked": each.locked, "version": each.version,
        "class_breaking": each.breaks, "needed": each.needed.word, "honest": each.is_honest,
        "changes": [_change_as_json(change) for change in each.found],
        "checks": list(each.checks),
    }  # fmt: skip


def _change_as_json(change: Change) -> dict[str, Any]:
    return {
        "key": change.key, "before": change.before, "after": change.after, "row": change.row,
        "class_breaking": change.breaks, "why": change.why, "asks": change.asks,
        "re_emit": [_owed_as_json(each) for each in change.owed],
    }  # fmt: skip


def _owed_as_json(owed: Owed) -> dict[str, Any]:
    return {
        "sheet": owed.sheet, "because": owed.because, "row": owed.row, "what": owed.what,
        "asks": owed.asks, "class_breaking": owed.breaks,
    }  # fmt: skip
