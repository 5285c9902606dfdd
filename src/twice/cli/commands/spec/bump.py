"""Move a sheet's version and note which sheets have to follow; lock the sheets that are new; promote the tier.

  twice spec bump
  twice spec bump 02
  twice spec bump 02 --major
  twice spec bump --promote
  twice spec bump 05 --unchanged "points do not depend on the cadence"

Without a sheet, all that are new are locked: from now on, changes of them are noticed. A sheet that leaves something
open is not locked, and one that changed since it was locked is reported. Once every sheet that the tier needs is locked
as it is and nothing is owed, sheet 99 is made from all of them: a draft until a gate has passed. A lock belongs in
version control, which shows when one was lost.

Without a step, the version of a sheet moves as far as the changes need. A step that is too small for them is refused:
any change of 01 and any change that breaks the class is major. --unchanged leaves a sheet as it is although sheets that
it rests on changed, and says why. From tier M on, a change that breaks the class does not allow that.

--promote declares the tier that the sheets force, in 00 and 01.

Exit code 0 when every sheet is locked as it is, 1 otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from twice.cli.code_facts import read_rules
from twice.cli.commands.spec.workspace import (
    WorkspaceOptions,
    describe_consolidated,
    list_steps,
    name_component,
    parse_number,
    tell_spec,
)
from twice.cli.options import (
    AsJson,
    argument,
    build_command,
    option,
    refuse_together,
    refuse_without,
)
from twice.cli.output import pick
from twice.specification.changes import (
    Step,
    acknowledge,
    bump_version,
    compare_sheet,
    to_lock_entry,
)
from twice.specification.consolidate import CONSOLIDATION, consolidate_locked
from twice.specification.errors import WorkspaceRefused
from twice.specification.lock import Lock
from twice.specification.workspace import (
    Workspace,
    find_cap,
    find_forced_tier,
    find_tier_requirements,
    save,
)


@build_command
def command(
    sheet: Annotated[str | None, argument(metavar="[NN]")],
    major: Annotated[bool, option("--major", "move it by a major step")],
    minor: Annotated[bool, option("--minor", "move it by a minor step")],
    patch: Annotated[bool, option("--patch", "move it by a patch step")],
    promote: Annotated[bool, option("--promote", "declare the tier that the sheets force")],
    unchanged: Annotated[str | None, option(
        "--unchanged REASON", "leave it as it is although what it rests on changed")],
    where: WorkspaceOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Move it, or lock what is new."""
    steps = {"--major": major, "--minor": minor, "--patch": patch}
    refuse_together({**steps, "--promote": promote, "--unchanged": unchanged}, "one at most")
    refuse_without({**steps, "--unchanged": unchanged}, {"a sheet's number": sheet})
    refuse_together({"a sheet's number": sheet, "--promote": promote}, "one: it is for all sheets")
    workspace, lock = where.open()
    if promote:
        return _promote_tier(workspace, lock, as_json=as_json)
    if sheet is None:
        return _lock_new(workspace, lock, as_json=as_json)
    number = parse_number(sheet)
    document: dict[str, Any] = {"sheet": number}
    following, moved = None, workspace
    if unchanged is not None:
        after = acknowledge(workspace, lock, number, unchanged)
        due = sorted({each.sheet for each in after.owed})
        document |= {"reason": unchanged, "owed": due}
        line = f"{number} stays as it is: {unchanged}"
    else:
        chosen = next((step for step in Step if steps.get(f"--{step.word}")), Step.NONE)
        now, after, told = bump_version(workspace, lock, number, chosen)
        moved = replace(workspace, sheets={**workspace.sheets, number: now})
        due = sorted({each.sheet for each in after.owed})
        document |= {
            "before": told.locked, "version": now.version, "class_breaking": told.breaks,
            "owed": due, "checks": list(told.checks),
        }  # fmt: skip
        breaks = ", breaks the class" if told.breaks else ""
        line = f"{number}: {told.locked or 'new'} -> {now.version}{breaks}"
        if due:
            following = name_component(workspace, ["twice spec changed"])
        elif told.checks:
            only = ",".join(map(str, told.checks))
            following = name_component(workspace, [f"twice gate --only {only}"])
    whole = consolidate_locked(moved, after, read_rules)
    whole.save(workspace, lock)
    document["consolidated"], said = describe_consolidated(whole)
    owed = [f"owed: {', '.join(due)}"] if due and following else []
    return tell_spec(document, [line, *said, *owed], following, as_json=as_json)


def _promote_tier(before: Workspace, lock: Lock, *, as_json: bool) -> int:
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
    because = [pick(each, "sheet", "key", "why") for each in find_tier_requirements(before)]
    document = {"before": declared.value, "tier": tier.value, "forces": because}
    was = f", was {declared}" if tier > declared else ", nothing forces another"
    steps = list_steps(workspace, lock)
    return tell_spec(document, [f"tier {tier}{was}"], steps, as_json=as_json)


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
    whole = consolidate_locked(workspace, lock, read_rules)
    whole.save(workspace, before)
    consolidated, said = describe_consolidated(whole)
    then = "then: twice spec bump"
    lines = [
        f"locked {', '.join(done)}" if done else "nothing was locked",
        *(f"{number} leaves open: {', '.join(keys)}" for number, keys in held.items()),
        *(
            f"{number} changed since it was locked: {', '.join(keys)}; {then} {number}"
            for number, keys in moved.items()
        ),
        *said,
    ]
    document = {"locked": done, "open": held, "changed": moved, "consolidated": consolidated}
    code = 1 if held or moved or (whole.sheet is None and whole.why) else 0
    steps = list_steps(whole.workspace, whole.lock)
    return tell_spec(document, lines, steps, as_json=as_json, code=code)
