"""Lock sheets that are new: from now on, changes of them are noticed.

  twice spec lock
  twice spec lock 04

A sheet that leaves something open is not locked, and one that changed since it was locked is told, with the command
that moves its version. A lock belongs in version control, which tells when one was lost. Exit code 0 when all that were meant are locked as they are, 1 otherwise.
"""

from __future__ import annotations

import argparse

from twice.specifying.changes import compare_sheet, to_lock_entry
from twice.specifying.consolidating import CONSOLIDATION
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import (
    FORMAT,
    add_project,
    number_of,
    opened,
    print_next,
    save_lock,
)
from twice.surfaces.cli.spec.stepping import completing


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheets", nargs="*", metavar="NN", help="all that are new by default")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Lock them."""
    workspace, before = opened(options)
    situation = workspace.situation()
    meant = [number_of(each) for each in options.sheets] or list(workspace.artifacts)
    lock, done, held, moved = before, [], {}, {}
    for number in meant:
        sheet = workspace.need(number, "it is to be locked")
        if number in lock.sheets:
            told = compare_sheet(workspace, before, number)
            if told.state != "same":
                moved[number] = [*dict.fromkeys(each.key for each in told.found)]
            continue
        gaps = [gap.key for gap in sheet.gaps(situation)]
        if gaps:
            held[number] = gaps
        else:
            lock = lock.with_sheet(number, to_lock_entry(sheet))
            done.append(number)
    save_lock(workspace, before, lock)
    if options.json:
        print_json({"format": FORMAT, "locked": done, "open": held, "changed": moved})
    else:
        print(f"locked {', '.join(done)}" if done else "nothing was locked")
        for number, keys in held.items():
            print(f"{number} leaves open: {', '.join(keys)}")
        for number, keys in moved.items():
            print(f"{number} changed since it was locked: {', '.join(keys)}")
        steps = [f"twice spec bump {number}" for number in moved]
        after = "twice gate" if workspace.get(CONSOLIDATION) else "twice spec consolidate"
        print_next([*completing(workspace), *steps] or [after])
    return 1 if held or moved else 0
