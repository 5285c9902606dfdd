"""Lay down the sheets that the tier needs and that are not there yet.

  twice spec add
  twice spec add 07 10

04 and later wait until 01, 02 and 03 say what they have to, and everything after 01 waits while 01 is
contested. At tier XS, 04 to 06 are laid down as memos of one page, unless --full.
"""

from __future__ import annotations

import argparse

from twice.specification.consolidate import CONSOLIDATION
from twice.specification.create import add_sheet, find_blocker
from twice.specification.front_matter import Scalar, Value
from twice.specification.tiers import may_be_memo
from twice.specification.workspace import Workspace, save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import (
    FORMAT,
    add_project,
    number_of,
    opened,
    print_next,
    shown,
)
from twice.surfaces.cli.spec.stepping import completing


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "sheets", nargs="*", metavar="NN", help="all that the tier needs by default"
    )
    parser.add_argument("--full", action="store_true", help="sheets where a memo would do")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Lay them down."""
    before, _ = opened(options)
    wanted = [number_of(each) for each in options.sheets] or [
        each for each in before.missing() if each != CONSOLIDATION
    ]
    workspace, waiting = before, dict[str, str]()
    for number in wanted:
        if number in workspace.sheets or number == CONSOLIDATION:
            continue
        held = find_blocker(workspace, number)
        if held is not None:
            waiting[number] = held
            continue
        memo = may_be_memo(number, workspace.situation().tier) and not options.full
        workspace = add_sheet(workspace, number, _known(workspace), memo=memo)
    written = [shown(workspace, each) for each in save(before, workspace)]
    _report(options, workspace, written, waiting)
    return 1 if waiting else 0


def _known(workspace: Workspace) -> dict[str, Value]:
    owners = {each.text("owner") for each in workspace.sheets.values()} - {""}
    known: dict[str, Value] = {"owner": owners.pop()} if len(owners) == 1 else {}
    sources: list[Scalar] = [*workspace.strings("00", "sources")]
    return {**known, "audit": sources} if sources else known


def _report(
    options: argparse.Namespace, workspace: Workspace, written: list[str], waiting: dict[str, str]
) -> None:
    if options.json:
        held = [{"sheet": number, "why": why} for number, why in waiting.items()]
        print_json({"format": FORMAT, "wrote": written, "waiting": held})
        return
    print("\n".join(f"wrote {path}" for path in written) or "wrote nothing")
    for number, why in waiting.items():
        print(f"{number} waits: {why}")
    print_next(list(completing(workspace)) or ["twice spec status"])
