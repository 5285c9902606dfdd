"""Lock sheets that are new: from now on, changes of them are noticed.

  twice spec lock
  twice spec lock 04
  twice spec lock --anew "the lock was lost with a disk"

A sheet that leaves something open is not locked. One that was locked before and is in no lock is refused, unless
--anew says why; check 9 of the gate asks for a new version of it then. Exit code 0 when all that were meant are locked, 1 otherwise.
"""

from __future__ import annotations

import argparse

from twice.specifying.history import first_locked
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, number_of, opened, save_lock


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheets", nargs="*", metavar="NN", help="all that are new by default")
    parser.add_argument(
        "--anew",
        default="",
        metavar="WHY",
        help="lock sheets whose lock was lost, and say so in it",
    )
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Lock them."""
    workspace, before = opened(options)
    situation = workspace.situation()
    meant = [number_of(each) for each in options.sheets] or list(workspace.artifacts)
    lock, done, held = before, [], {}
    for number in meant:
        sheet = workspace.need(number, "it is to be locked")
        if number in lock.sheets:
            continue
        gaps = [gap.key for gap in sheet.gaps(situation)]
        if gaps:
            held[number] = gaps
        else:
            lock = first_locked(workspace, lock, number, options.anew)
            done.append(number)
    save_lock(workspace, before, lock)
    if options.json:
        print_json({"format": FORMAT, "locked": done, "open": held})
    else:
        print(f"locked {', '.join(done)}" if done else "nothing was locked")
        for number, keys in held.items():
            print(f"{number} leaves open: {', '.join(keys)}")
        print("next: twice spec fill" if held else "next: twice gate")
    return 1 if held else 0
