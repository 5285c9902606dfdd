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

import argparse
from dataclasses import replace

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
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.consolidation import (
    SETTLED,
    Consolidated,
    after_passing,
    consolidate_locked,
)
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
    parser.add_argument(
        "sheet", nargs="?", metavar="NN", help="its number; locks all that are new by default"
    )
    step = parser.add_mutually_exclusive_group()
    for each in (Step.MAJOR, Step.MINOR, Step.PATCH):
        step.add_argument(
            f"--{each.word}", dest="step", action="store_const", const=each, default=Step.NONE
        )
    step.add_argument(
        "--promote", action="store_true", help="declare the tier that the sheets force"
    )
    step.add_argument(
        "--unchanged", metavar="REASON", help="leave it as it is although what it rests on changed"
    )
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Move it, or lock what is new."""
    is_of_sheet = options.step is not Step.NONE or options.unchanged is not None
    if (options.sheet is None and is_of_sheet) or (options.sheet is not None and options.promote):
        raise UsageError(
            "A step and --unchanged are for one sheet, and --promote is for none.",
            "Expected the number of the sheet with the one, and no number with the other.",
            "For example: twice spec bump 02 --major",
        )
    workspace, lock = opened(options)
    if options.promote:
        return _promote_tier(options, workspace)
    if options.sheet is None:
        return _lock_new(options, workspace, lock)
    number = number_of(options.sheet)
    if options.unchanged is not None:
        return _leave_unchanged(options, workspace, lock, number)
    sheet, after, told = bump_version(workspace, lock, number, options.step)
    moved = replace(workspace, sheets={**workspace.sheets, number: sheet})
    whole = _save(workspace, moved, lock, after)
    due = sorted({each.sheet for each in after.owed})
    if options.json:
        print_json({
            "format": FORMAT, "sheet": number, "before": told.locked, "version": sheet.version,
            "class_breaking": told.breaks, "owed": due, "checks": list(told.checks),
            "consolidated": whole.to_json(),
        })  # fmt: skip
        return 0
    breaks = ", breaks the class" if told.breaks else ""
    print(f"{number}: {told.locked or 'new'} -> {sheet.version}{breaks}")
    if whole.line:
        print(whole.line)
    if due:
        print(f"owed: {', '.join(due)}\nnext: twice spec changed")
    elif told.checks:
        print(f"next: twice gate --only {','.join(map(str, told.checks))}")
    return 0


def _save(before: Workspace, after: Workspace, old: Lock, new: Lock) -> Consolidated:
    """Write sheets and lock, and 99 with them where the other sheets are settled."""
    whole = consolidate_locked(after, new)
    sheets, lock = whole.put_in(after, new)
    # The sheets first: a lock that is behind shows as a moved version, one that is ahead would lie.
    save(before, sheets)
    save_lock(before, old, lock)
    return whole


def _promote_tier(options: argparse.Namespace, before: Workspace) -> int:
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
    if options.json:
        because = [
            {"sheet": each.sheet, "key": each.key, "why": each.why}
            for each in find_tier_requirements(before)
        ]
        print_json(
            {"format": FORMAT, "before": declared.value, "tier": tier.value, "forces": because}
        )
    else:
        print(
            f"tier {tier}"
            + (f", was {declared}" if tier > declared else ", nothing forces another")
        )
        print_next(list(completing(workspace)) or ["twice spec status"])
    return 0


def _leave_unchanged(
    options: argparse.Namespace, workspace: Workspace, lock: Lock, number: str
) -> int:
    after = acknowledge(workspace, lock, number, options.unchanged)
    whole = _save(workspace, workspace, lock, after)
    if options.json:
        owed = sorted({each.sheet for each in after.owed})
        told = {"sheet": number, "reason": options.unchanged, "owed": owed}
        print_json({"format": FORMAT, **told, "consolidated": whole.to_json()})
    else:
        print(f"{number} stays as it is: {options.unchanged}")
        if whole.line:
            print(whole.line)
    return 0


def _lock_new(options: argparse.Namespace, workspace: Workspace, before: Lock) -> int:
    situation = workspace.situation()
    lock, done, held, moved = before, [], {}, {}
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
    is_left = whole.sheet is None and bool(whole.why)
    if options.json:
        told_all = {"locked": done, "open": held, "changed": moved}
        print_json({"format": FORMAT, **told_all, "consolidated": whole.to_json()})
    else:
        print(f"locked {', '.join(done)}" if done else "nothing was locked")
        for number, keys in held.items():
            print(f"{number} leaves open: {', '.join(keys)}")
        for number, keys in moved.items():
            print(f"{number} changed since it was locked: {', '.join(keys)}")
        if whole.line:
            print(whole.line)
        steps = [f"twice spec bump {number}" for number in moved]
        after = [*completing(workspace), *steps] or after_passing(whole.put_in(workspace, lock)[0])
        print_next(after) if after else print(SETTLED)
    return 1 if held or moved or is_left else 0
