"""Where sheets stand: what they leave open, what is owed, and what changed since versions were last moved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from twice.cli.commands.spec.workspace import (
    WorkspaceOptions,
    list_steps,
    name_component,
    parse_number,
    tell_spec,
)
from twice.cli.options import AsJson, argument, build_command, option
from twice.cli.output import align, pick
from twice.specification.changes import compare_sheet
from twice.specification.fill import list_against, list_unknown
from twice.specification.lock import Lock, Owed
from twice.specification.schema import SHEETS
from twice.specification.throughput import FORMS, read_promise
from twice.specification.tiers import find_required
from twice.specification.workspace import (
    Workspace,
    find_cap,
    find_forced_tier,
    find_notes,
    find_tier_requirements,
)


@build_command
def print_status(
    every: Annotated[bool, option("--open", "list every key that is open")],
    where: WorkspaceOptions,
    as_json: AsJson,
) -> int:
    """Say which sheets are there, what they leave open, what changed, what is owed, and which tier they force.

      twice spec status
      twice spec status --json

    A sheet that says more than its tier holds forces the tier up. That is a promotion and never waived: twice spec bump
    --promote. So do traits: what runs at once forces M, a GPU under a bit-exact class and an audit log's encoding L,
    unless the sheet that answers for it (07, 09, 11) is there. What the record of 01 shows though 00 denies it is
    reported.

    Notes fail nothing: keys that are asked for at this tier and that no check needs, a class that is stronger than
    the answers of spec init need, and a throughput of 06 that is no figure.

    Exit code 0 every sheet that the tier needs is there and says what it has to, nothing is owed, no record contradicts
    00, and the tier holds; 1 otherwise.
    """
    workspace, lock = where.open()
    status = _describe(workspace, lock)
    capped, declared = find_cap(workspace), workspace.situation().tier
    holds = (
        all(not each["open"] and each["state"] != "absent" for each in status["sheets"])
        and not (status["against"] or lock.owed)
        and find_forced_tier(workspace) == declared
        and not (capped and declared > capped.tier)
    )
    lines = _list_status(status, every=every)
    return tell_spec(status, lines, status["next"], as_json=as_json, code=0 if holds else 1)


def _describe(workspace: Workspace, lock: Lock) -> dict[str, Any]:
    situation, sheets = workspace.situation(), []
    needed, unknown = set(find_required(situation)), list_unknown(workspace)
    for number, sheet in SHEETS.items():
        there = workspace.get(number)
        if there is not None or number in needed:
            sheets.append({
                "sheet": number,
                "title": sheet.title,
                "version": there.version if there else "",
                "status": there.text("status") if there else "",
                "required": number in needed,
                "state": compare_sheet(workspace, lock, number).state if there else "absent",
                "open": [{"key": key, "says": says} for of, key, says in unknown if of == number],
            })  # fmt: skip
    against, forces = list_against(workspace), find_tier_requirements(workspace)
    first = ["say in 00.traits what the record shows"] if against else []
    notes, throughput = [*find_notes(workspace)], workspace.text("06", "throughput")
    if throughput and read_promise(throughput) is None:
        notes.append(f"06 throughput says {throughput!r}, which is no figure: for example {FORMS}")
    return {
        "component": workspace.component(),
        "tier": situation.tier.value,
        "forced": find_forced_tier(workspace).value,
        "forces": [pick(each, "tier", "sheet", "key", "why", "caps") for each in forces],
        "against": against,
        "notes": notes,
        "missing": list(workspace.missing(find_forced_tier(workspace))),
        "sheets": sheets,
        "owed": [pick(each, "sheet", "because", "row", "what") for each in lock.owed],
        "next": [*first, *list_steps(workspace, lock)],
    }


def _list_status(status: dict[str, Any], *, every: bool) -> Iterator[str]:
    is_forced = status["forced"] != status["tier"]
    forced = f", forced {status['forced']}" * is_forced
    yield f"{status['component']}: tier {status['tier']}{forced}"
    for each in status["forces"]:
        if is_forced or each["caps"]:
            how = "caps it at" if each["caps"] else "needs"
            yield f"  {each['sheet']}.{each['key']} {how} {each['tier']}: {each['why']}"
    yield from (f"  {each}" for each in status["against"])
    yield from (f"  note: {each}" for each in status["notes"])
    rows = [
        (
            each["sheet"], each["title"], each["version"] or "-", each["status"] or "absent", each["state"],
            f"{len(each['open'])} open" if each["open"] else "",
        )
        for each in status["sheets"]
    ]  # fmt: skip
    yield from align(rows)
    for each in status["sheets"] if every else ():
        yield from (f"  {each['sheet']} {gap['key']}: {gap['says']}" for gap in each["open"])
    for owed in status["owed"]:
        because = f"{owed['because']} changed ({owed['row']}): {owed['what']}"
        yield f"  {owed['sheet']} owes a new version: {because}"


@build_command
def list_changes(
    sheets: Annotated[tuple[str, ...], argument(metavar="[NN]...")],
    where: WorkspaceOptions,
    as_json: AsJson,
) -> int:
    """Say what changed since versions were last moved, what you write anew, and what you check again.

      twice spec changed
      twice spec changed 02

    A change that no table lists breaks the class, unless 01 tolerates it by name. What breaks the class only sometimes
    counts as breaking it, until the sheet's own class_breaking says otherwise.

    Exit code 0 nothing changed, 1 something did.
    """
    workspace, lock = where.open()
    every = [*map(parse_number, sheets)] or sorted({*workspace.sheets, *lock.sheets})
    changes = [compare_sheet(workspace, lock, number) for number in every]
    moved = [each for each in changes if each.state != "same"]
    checks = sorted({check for each in moved for check in each.checks})
    document = {
        "sheets": [
            {
                "sheet": each.number, **pick(each, "state", "locked", "version"),
                "class_breaking": each.breaks, "needed": each.needed.word, "honest": each.is_honest,
                "changes": [
                    {
                        **pick(change, "key", "before", "after", "row"),
                        "class_breaking": change.breaks, "why": change.why,
                        "re_emit": [*map(_to_json, change.owed)],
                    }
                    for change in each.found
                ],
                "checks": list(each.checks),
            }
            for each in changes
        ],
        "owed": [*map(_to_json, lock.owed)],
        "checks": checks,
    }  # fmt: skip
    if not moved and not lock.owed:
        same = "nothing changed since versions were last moved, and nothing is owed"
        return tell_spec(document, [same], as_json=as_json)
    steps = [
        f"twice spec bump {each.number}" + (f" --{each.needed.word}" if each.state != "new" else "")
        for each in moved
        if each.state in {"new", "changed"} or not each.is_honest
    ]
    steps += [f"twice gate --only {','.join(map(str, checks))}"] if checks else []
    lines = []
    for each in moved:
        said = f"{each.locked} -> {each.version}" if each.locked != each.version else each.version
        lines.append(f"{each.number} {each.state} ({said}){', breaks the class' * each.breaks}")
        for change in each.found:
            word = "breaks the class" if change.breaks else "does not break the class"
            lines.append(f"  {change.key}: {_shorten(change.before)} -> {_shorten(change.after)}")
            lines.append(f"    {word}: {change.why}")
            lines += [f"    re-emit {due.sheet}: {due.what}" for due in change.owed]
    for due in lock.owed:
        lines.append(f"{due.sheet} owes a new version to {due.because} ({due.row}): {due.what}")
    following = name_component(workspace, steps or ["twice spec status"])
    return tell_spec(document, lines, following, as_json=as_json, code=1)


def _shorten(value: object) -> str:
    said = repr(value) if value is not None else "(nothing)"
    return said if len(said) <= 70 else f"{said[:67]}..."


def _to_json(owed: Owed) -> dict[str, Any]:
    return pick(owed, "sheet", "because", "row", "what") | {"class_breaking": owed.breaks}
