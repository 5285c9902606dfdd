"""Lay down the sheets that the tier needs and that are not there yet.

  twice spec add
  twice spec add 07 10

04 and later wait until 01, 02 and 03 say what they have to, and everything after 01 waits while 01 is
contested. At tier XS, 04 to 06 are laid down as memos of one page, unless --full.
"""

from __future__ import annotations

import argparse

from twice.specifying.consolidating import CONSOLIDATION
from twice.specifying.frontmatter import Value, values
from twice.specifying.laying import Waiting, laid, waits, wants_memo
from twice.specifying.workspace import Workspace, save
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
    workspace, waiting = before, []
    for number in wanted:
        if number in workspace.artifacts or number == CONSOLIDATION:
            continue
        held = waits(workspace, number)
        if held is not None:
            waiting.append(held)
            continue
        memo = wants_memo(workspace, number) and not options.full
        workspace = laid(workspace, number, _known(workspace), memo=memo)
    written = [shown(workspace, each) for each in save(before, workspace)]
    _report(options, workspace, written, waiting)
    return 1 if waiting else 0


def _known(workspace: Workspace) -> dict[str, Value]:
    owners = {each.said("owner") for each in workspace.artifacts.values()} - {""}
    known: dict[str, Value] = {"owner": owners.pop()} if len(owners) == 1 else {}
    scope = workspace.get("00")
    sources = scope.listed("sources") if scope else []
    return {**known, "audit": values(sources)} if sources else known


def _report(
    options: argparse.Namespace, workspace: Workspace, written: list[str], waiting: list[Waiting]
) -> None:
    if options.json:
        held = [{"sheet": each.number, "why": each.why} for each in waiting]
        print_json({"format": FORMAT, "wrote": written, "waiting": held})
        return
    print("\n".join(f"wrote {path}" for path in written) or "wrote nothing")
    for each in waiting:
        print(f"{each.number} waits: {each.why}")
    print_next(list(completing(workspace)) or ["twice spec status"])
