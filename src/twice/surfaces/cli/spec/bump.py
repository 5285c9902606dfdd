"""Move a sheet's version, and write down which sheets have to follow.

  twice spec bump 02
  twice spec bump 02 --major

Without a step, the version moves as far as the changes need. A step that is too small for them is refused: any change
of 01 and any change that breaks the class is major.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from twice.specifying.changes import Step, bump_version
from twice.specifying.workspace import save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import (
    FORMAT,
    add_project,
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
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Move it."""
    workspace, lock = opened(options)
    number = number_of(options.sheet)
    sheet, after, told = bump_version(workspace, lock, number, options.step)
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
