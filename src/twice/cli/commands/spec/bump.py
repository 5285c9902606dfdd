"""Move a sheet's version and write down which sheets have to follow; lock the sheets that are new; promote the tier.

  twice spec bump
  twice spec bump 02
  twice spec bump 02 --major
  twice spec bump --promote
  twice spec bump 05 --unchanged "compare-points do not depend on the cadence"

Once every sheet that the tier needs is locked as it is and nothing is owed, sheet 99 is made from all of them: a draft until a gate has passed.

Without a sheet, all that are new are locked: from now on, changes of them are noticed. A sheet that leaves something open
is not locked, and one that changed since it was locked is told. A lock belongs in version control, which tells when one
was lost. Exit code 0 when every sheet is locked as it is, 1 otherwise.

--promote declares the tier that the sheets force, in 00 and 01.

Without a step, the version of a sheet moves as far as the changes need. A step that is too small for them is refused: any
change of 01 and any change that breaks the class is major. --unchanged leaves a sheet as it is although sheets that it rests on changed, and
says why; from tier M on, that does not go for a change that breaks the class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import click

from twice.cli.commands.spec.consolidation import (
    SETTLED,
    Consolidated,
    after_passing,
    consolidate_locked,
)
from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    number_of,
    save_lock,
    workspace_options,
)
from twice.cli.commands.spec.stepping import completing
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import tell
from twice.errors import UsageError
from twice.specification.changes import (
    Step,
    acknowledge,
    bump_version,
    compare_sheet,
    to_lock_entry,
)
from twice.specification.consolidate import CONSOLIDATION
from twice.specification.errors import WorkspaceRefused
from twice.specification.lock import Lock
from twice.specification.workspace import (
    Workspace,
    find_cap,
    find_forced_tier,
    find_tier_requirements,
    save,
)

_STEPS = (Step.MAJOR, Step.MINOR, Step.PATCH)


def _step_options(function: Callable[..., Any]) -> Callable[..., Any]:
    for each in reversed(_STEPS):
        function = click.option(f"--{each.word}", is_flag=True)(function)
    return function


@make_command(
    click.argument("sheet", required=False, metavar="[NN]"),
    _step_options,
    click.option("--promote", is_flag=True, help="declare the tier that the sheets force"),
    click.option(
        "--unchanged", metavar="REASON", help="leave it as it is although what it rests on changed"
    ),
    workspace_options,
    json_option,
)
def command(
    sheet: str | None,
    promote: bool,
    unchanged: str | None,
    where: WorkspaceOptions,
    as_json: bool,
    **steps: bool,
) -> int:
    """Move it, or lock what is new."""
    chosen = [each for each in _STEPS if steps[each.word]]
    if len(chosen) + promote + (unchanged is not None) > 1:
        raise UsageError(
            "Several of --major, --minor, --patch, --promote and --unchanged were given.",
            "Expected one at most.",
            "For example: twice spec bump 02 --major",
        )
    is_of_sheet = bool(chosen) or unchanged is not None
    if (sheet is None and is_of_sheet) or (sheet is not None and promote):
        raise UsageError(
            "A step and --unchanged are for one sheet, and --promote is for none.",
            "Expected the number of the sheet with the one, and no number with the other.",
            "For example: twice spec bump 02 --major",
        )
    workspace, lock = where.open()
    if promote:
        return _promote_tier(workspace, as_json=as_json)
    if sheet is None:
        return _lock_new(workspace, lock, as_json=as_json)
    number = number_of(sheet)
    if unchanged is not None:
        return _leave_unchanged(workspace, lock, number, unchanged, as_json=as_json)
    moved, after, told = bump_version(workspace, lock, number, *(chosen or [Step.NONE]))
    after_move = replace(workspace, sheets={**workspace.sheets, number: moved})
    whole = _save(workspace, after_move, lock, after)
    due = sorted({each.sheet for each in after.owed})
    document = {
        "format": FORMAT, "sheet": number, "before": told.locked, "version": moved.version,
        "class_breaking": told.breaks, "owed": due, "checks": list(told.checks),
        "consolidated": whole.to_json(),
    }  # fmt: skip
    breaks = ", breaks the class" if told.breaks else ""
    lines = [f"{number}: {told.locked or 'new'} -> {moved.version}{breaks}", *whole.lines]
    if due:
        lines += [f"owed: {', '.join(due)}", "next: twice spec changed"]
    elif told.checks:
        lines += [f"next: twice gate --only {','.join(map(str, told.checks))}"]
    return tell(document, lines, as_json=as_json)


def _save(before: Workspace, after: Workspace, old: Lock, new: Lock) -> Consolidated:
    """Write sheets and lock, and 99 with them where the other sheets are settled."""
    whole = consolidate_locked(after, new)
    sheets, lock = whole.put_in(after, new)
    # The sheets first: a lock that is behind shows as a moved version, one that is ahead would lie.
    save(before, sheets)
    save_lock(before, old, lock)
    return whole


def _promote_tier(before: Workspace, *, as_json: bool) -> int:
    declared, forced, capped = before.situation().tier, find_forced_tier(before), find_cap(before)
    if capped is not None and forced > capped.tier:
        raise WorkspaceRefused(
            f"{capped.sheet}.{capped.key} caps the tier at {capped.tier}: {capped.why}.",
            f"Expected nothing that forces {forced}.",
            "Make the effect substitutable, or take back what forces the tier.",
        )
    after, tier = dict(before.sheets), max(declared, forced)
    for number in ("00", "01"):
        if number in after and tier > declared:
            after[number] = after[number].with_value("tier", tier.value)
    workspace = replace(before, sheets=after)
    save(before, workspace)
    because = [
        {"sheet": each.sheet, "key": each.key, "why": each.why}
        for each in find_tier_requirements(before)
    ]
    document = {"before": declared.value, "tier": tier.value, "forces": because}
    lines = [
        f"tier {tier}" + (f", was {declared}" if tier > declared else ", nothing forces another"),
        *next_lines(list(completing(workspace)) or ["twice spec status"]),
    ]
    return tell({"format": FORMAT, **document}, lines, as_json=as_json)


def _leave_unchanged(
    workspace: Workspace, lock: Lock, number: str, reason: str, *, as_json: bool
) -> int:
    after = acknowledge(workspace, lock, number, reason)
    whole = _save(workspace, workspace, lock, after)
    owed = sorted({each.sheet for each in after.owed})
    document = {"sheet": number, "reason": reason, "owed": owed, "consolidated": whole.to_json()}
    lines = [f"{number} stays as it is: {reason}", *whole.lines]
    return tell({"format": FORMAT, **document}, lines, as_json=as_json)


def _lock_new(workspace: Workspace, before: Lock, *, as_json: bool) -> int:
    situation, lock = workspace.situation(), before
    done, held, moved = list[str](), dict[str, list[str]](), dict[str, list[str]]()
    for number, sheet in workspace.sheets.items():
        if number == CONSOLIDATION:
            continue  # twice makes it, and locks it when it does
        if number in lock.sheets:
            told = compare_sheet(workspace, before, number)
            if told.state != "same":
                moved[number] = [*dict.fromkeys(each.key for each in told.found)]
        elif gaps := [gap.key for gap in sheet.gaps(situation)]:
            held[number] = gaps
        else:
            lock = lock.with_sheet(number, to_lock_entry(sheet))
            done.append(number)
    whole = _save(workspace, workspace, before, lock)
    steps = [f"twice spec bump {number}" for number in moved]
    after = [*completing(workspace), *steps] or after_passing(whole.put_in(workspace, lock)[0])
    lines = [
        f"locked {', '.join(done)}" if done else "nothing was locked",
        *(f"{number} leaves open: {', '.join(keys)}" for number, keys in held.items()),
        *(
            f"{number} changed since it was locked: {', '.join(keys)}"
            for number, keys in moved.items()
        ),
        *whole.lines,
        *(next_lines(after) if after else [SETTLED]),
    ]
    document = {"locked": done, "open": held, "changed": moved, "consolidated": whole.to_json()}
    is_left = whole.sheet is None and bool(whole.why)
    return tell(
        {"format": FORMAT, **document},
        lines,
        as_json=as_json,
        code=1 if held or moved or is_left else 0,
    )
