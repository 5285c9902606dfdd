"""Move a sheet's version, and write down which sheets have to follow.

  twice spec bump 02
  twice spec bump 02 --major
  twice spec bump 06 --answer 06.capability=no

Without a step, the version moves as far as the changes need. A step that is too small for them is refused: any change
of 01 and any change that breaks the class is major.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from twice.specifying.changing import bumped
from twice.specifying.history import first_locked
from twice.specifying.versions import Step
from twice.specifying.workspace import save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import (
    FORMAT,
    add_project,
    answers_of,
    number_of,
    opened,
    save_lock,
)


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheet", metavar="NN", help="its number")
    step = parser.add_mutually_exclusive_group()
    for each in (Step.MAJOR, Step.MINOR, Step.PATCH):
        step.add_argument(
            f"--{each.word}", dest="step", action="store_const", const=each, default=Step.NONE
        )
    parser.add_argument("--answer", action="append", default=[], metavar="QUESTION=yes|no")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Move it."""
    workspace, lock = opened(options)
    number = number_of(options.sheet)
    if number in workspace.artifacts and number not in lock.sheets:
        first_locked(workspace, lock, number, "")
    sheet, after, told = bumped(workspace, lock, number, options.step, answers_of(options.answer))
    # The sheet first: a lock that is behind shows as a moved version, one that is ahead would lie.
    save(workspace, replace(workspace, artifacts={**workspace.artifacts, number: sheet}))
    save_lock(workspace, lock, after)
    due = sorted({each.sheet for each in after.owed})
    if options.json:
        print_json({
            "format": FORMAT, "sheet": number, "before": told.locked, "version": sheet.version,
            "class_breaking": told.breaks, "owed": due, "checks": list(told.checks),
        })  # fmt: skip
        return 0
    print(
        f"{number}: {told.locked or 'new'} -> {sheet.version}"
        + (", breaks the class" if told.breaks else "")
    )
    if due:
        print(f"owed: {', '.join(due)}\nnext: twice spec changed")
    elif told.checks:
        print(f"next: twice gate --only {','.join(map(str, told.checks))}")
    return 0
