"""Say which sheets are there, what they leave open, what changed, what is owed, and which tier they force.

  twice spec status
  twice spec status --json

A sheet that says more than its tier holds forces the tier up; that is a promotion and never waived: twice spec bump --promote.
So do traits: what runs at once forces M, a GPU under a bit-exact class and an audit log's encoding L, unless the sheet that answers
for it (07, 09, 11) is there. What the record of 01 shows though 00 denies it is told.
Exit code 0 when every sheet that the tier needs is there and says what it has to, nothing is owed, no record contradicts 00, and the tier holds; 1 otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from twice.cli.commands.spec.consolidation import SETTLED, after_passing
from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    workspace_options,
)
from twice.cli.commands.spec.proposing import list_against
from twice.cli.commands.spec.stepping import completing
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import align, tell
from twice.specification.changes import compare_sheet
from twice.specification.fill import list_unknown
from twice.specification.lock import Lock
from twice.specification.schema import SHEETS
from twice.specification.tiers import find_required
from twice.specification.workspace import (
    Workspace,
    find_cap,
    find_forced_tier,
    find_tier_requirements,
)


@make_command(
    click.option("--open", "every", is_flag=True, help="list every key that is open"),
    workspace_options,
    json_option,
)
def command(every: bool, where: WorkspaceOptions, as_json: bool) -> int:
    """Read and say."""
    workspace, lock = where.open()
    status = _describe(workspace, lock)
    settled = all(not each["open"] and each["state"] != "absent" for each in status["sheets"])
    capped, declared = find_cap(workspace), workspace.situation().tier
    holds = (
        not status["against"]
        and find_forced_tier(workspace) == declared
        and not (capped and declared > capped.tier)
    )
    code = 0 if settled and holds and not lock.owed else 1
    return tell(status, _lines(status, every=every), as_json=as_json, code=code)


def _describe(workspace: Workspace, lock: Lock) -> dict[str, Any]:
    situation = workspace.situation()
    needed = set(find_required(situation))
    open_keys: dict[str, list[dict[str, str]]] = {}
    for number, key, says in list_unknown(workspace):
        open_keys.setdefault(number, []).append({"key": key, "says": says})
    sheets = []
    for number, sheet in SHEETS.items():
        there = workspace.get(number)
        if there is None and number not in needed:
            continue
        sheets.append({
            "sheet": number,
            "title": sheet.title,
            "version": there.version if there else "",
            "status": there.text("status") if there else "",
            "required": number in needed,
            "state": compare_sheet(workspace, lock, number).state if there else "absent",
            "open": open_keys.get(number, []),
        })  # fmt: skip
    against = list(list_against(workspace))
    first = ["say in 00.traits what the record shows"] if against else []
    return {
        "format": FORMAT,
        "component": workspace.component(),
        "tier": situation.tier.value,
        "forced": find_forced_tier(workspace).value,
        "forces": [
            {"tier": each.tier.value, "sheet": each.sheet, "key": each.key, "why": each.why, "caps": each.caps}
            for each in find_tier_requirements(workspace)
        ],
        "against": against,
        "missing": list(workspace.missing(find_forced_tier(workspace))),
        "sheets": sheets,
        "owed": [{"sheet": each.sheet, "because": each.because, "row": each.row, "what": each.what} for each in lock.owed],
        "next": [*first, *_next(workspace, sheets, lock)],
    }  # fmt: skip


def _next(workspace: Workspace, sheets: list[dict[str, Any]], lock: Lock) -> list[str]:
    steps: list[str] = []
    absent = [each["sheet"] for each in sheets if each["state"] == "absent"]
    if find_forced_tier(workspace) > workspace.situation().tier:
        steps.append("twice spec bump --promote")
    steps += completing(workspace)
    if any(each["state"] == "changed" for each in sheets):
        steps.append("twice spec changed")
    if not steps and (absent or any(each["state"] == "new" for each in sheets)):
        steps.append("twice spec bump")
    if lock.owed:
        steps.append(
            f"write sheet {lock.owed[0].sheet} anew, then: twice spec bump {lock.owed[0].sheet}"
        )
    return steps or after_passing(workspace)


def _lines(status: dict[str, Any], *, every: bool) -> Iterator[str]:
    is_forced = status["forced"] != status["tier"]
    yield (
        f"{status['component']}: tier {status['tier']}" + f", forced {status['forced']}" * is_forced
    )
    for each in status["forces"]:
        if is_forced or each["caps"]:
            how = "caps it at" if each["caps"] else "needs"
            yield f"  {each['sheet']}.{each['key']} {how} {each['tier']}: {each['why']}"
    yield from (f"  {each}" for each in status["against"])
    yield from align(
        [
            (
                each["sheet"],
                each["title"],
                each["version"] or "-",
                each["status"] or "absent",
                each["state"],
                f"{len(each['open'])} open" if each["open"] else "",
            )
            for each in status["sheets"]
        ]
    )
    for each in status["sheets"] if every else ():
        yield from (f"  {each['sheet']} {gap['key']}: {gap['says']}" for gap in each["open"])
    for owed in status["owed"]:
        because = f"{owed['because']} changed ({owed['row']}): {owed['what']}"
        yield f"  {owed['sheet']} owes a new version: {because}"
    yield from next_lines(status["next"]) if status["next"] else (SETTLED,)
