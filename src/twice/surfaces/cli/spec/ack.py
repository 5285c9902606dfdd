"""Leave a sheet as it is although one that it rests on changed, and say why.

  twice spec ack 05 --of 04 --reason "compare-points do not depend on the cadence"

From tier M on, a change that breaks the class cannot be acknowledged: the sheet is written anew.
"""

from __future__ import annotations

import argparse

from twice.errors import UsageError
from twice.specifying.changes import acknowledge
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, number_of, opened, save_lock


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheet", metavar="NN", help="the one that stays as it is")
    parser.add_argument("--of", required=True, metavar="NN", help="the one that changed")
    parser.add_argument("--reason", required=True, help="why nothing has to change")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write it down."""
    if not options.reason.strip():
        raise UsageError("The reason is empty.", "Expected why nothing has to change.", "Say it.")
    workspace, lock = opened(options)
    number, because = number_of(options.sheet), number_of(options.of)
    after = acknowledge(workspace, lock, number, because, options.reason)
    save_lock(workspace, lock, after)
    if options.json:
        left = [each.sheet for each in after.owed]
        print_json(
            {
                "format": FORMAT,
                "sheet": number,
                "because": because,
                "reason": options.reason,
                "owed": left,
            }
        )
    else:
        print(f"{number} stays as it is although {because} changed: {options.reason}")
    return 0
