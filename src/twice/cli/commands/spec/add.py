"""Lay down the sheets that the tier needs and that are not there yet.

  twice spec add
  twice spec add 07 10
  twice spec add 02 --template

04 and later wait until 01, 02 and 03 say what they have to, and everything after 01 waits while 01 is
contested. At tier XS, 04 to 06 are laid down as memos of one page, unless --full. --template prints a sheet as it begins at tier XL, with all that it could say: each
key with what it is for, what it takes and an example; nothing is written.
"""

from __future__ import annotations

import click

from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    number_of,
    shown,
    workspace_options,
)
from twice.cli.commands.spec.stepping import completing
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import tell
from twice.errors import UsageError
from twice.specification.consolidate import CONSOLIDATION
from twice.specification.create import add_sheet, find_blocker, render_template
from twice.specification.front_matter import Scalar, Value
from twice.specification.schema import SHEETS
from twice.specification.tiers import Situation, Tier, may_be_memo
from twice.specification.workspace import Workspace, save


@make_command(
    click.argument("sheets", nargs=-1, metavar="[NN]..."),
    click.option(
        "--template", is_flag=True, help="print one sheet as it would begin; writes nothing"
    ),
    click.option("--full", is_flag=True, help="sheets where a memo would do"),
    workspace_options,
    json_option,
)
def command(
    sheets: tuple[str, ...], template: bool, full: bool, where: WorkspaceOptions, as_json: bool
) -> int:
    """Lay them down."""
    if template:
        return _print_template(sheets, as_json=as_json)
    before, _ = where.open()
    wanted = [*map(number_of, sheets)] or [
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
        memo = may_be_memo(number, workspace.situation().tier) and not full
        workspace = add_sheet(workspace, number, _known(workspace), memo=memo)
    written = [shown(workspace, each) for each in save(before, workspace)]
    document = {
        "format": FORMAT,
        "wrote": written,
        "waiting": [{"sheet": number, "why": why} for number, why in waiting.items()],
    }
    lines = [
        *([f"wrote {path}" for path in written] or ["wrote nothing"]),
        *(f"{number} waits: {why}" for number, why in waiting.items()),
        *next_lines(list(completing(workspace)) or ["twice spec status"]),
    ]
    return tell(document, lines, as_json=as_json, code=1 if waiting else 0)


def _print_template(sheets: tuple[str, ...], *, as_json: bool) -> int:
    if len(sheets) != 1:
        raise UsageError(
            f"--template was given with {len(sheets)} sheets.",
            "Expected the number of one.",
            "For example: twice spec add 02 --template",
        )
    number = number_of(sheets[0])
    text = render_template(SHEETS[number], "?", Situation(Tier.XL, "", {}), {}, every=True)
    document = {"format": FORMAT, "sheet": number, "template": text}
    return tell(document, [text.removesuffix("\n")], as_json=as_json)


def _known(workspace: Workspace) -> dict[str, Value]:
    owners = {each.text("owner") for each in workspace.sheets.values()} - {""}
    known: dict[str, Value] = {"owner": owners.pop()} if len(owners) == 1 else {}
    sources: list[Scalar] = [*workspace.strings("00", "sources")]
    return {**known, "audit": sources} if sources else known
