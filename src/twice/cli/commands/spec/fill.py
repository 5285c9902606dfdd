"""Adding sheets, and filling what they leave open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from twice.cli.code_facts import read_sources
from twice.cli.commands.spec.workspace import (
    WorkspaceOptions,
    list_steps,
    parse_number,
    shorten_path,
    tell_spec,
)
from twice.cli.options import AsJson, argument, build_command, option
from twice.cli.output import pick
from twice.errors import UsageError
from twice.foundation.printable import pluralize
from twice.specification.consolidate import CONSOLIDATION
from twice.specification.create import add_sheet, find_blocker, render_template
from twice.specification.fill import fill_workspace
from twice.specification.front_matter import Scalar, Value
from twice.specification.schema import SHEETS
from twice.specification.tiers import Situation, Tier, may_be_memo
from twice.specification.workspace import save


@build_command
def add_sheets(
    sheets: Annotated[tuple[str, ...], argument(metavar="[NN]...")],
    template: Annotated[bool, option("--template", "print one sheet as it would begin; writes nothing")],
    full: Annotated[bool, option("--full", "sheets where a memo would do")],
    where: WorkspaceOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Add the sheets that the tier needs and that are not there yet.

      twice spec add
      twice spec add 07 10
      twice spec add 02 --template

    04 and later wait until 01, 02 and 03 say what they have to, and everything after 01 waits while 01 is contested. At
    tier XS, 04 to 06 are memos of one page, unless you say --full. --template prints a sheet as it begins at tier XL,
    with all that it could say: each key with what it is for, what it takes and an example. It writes nothing.
    """
    if template:
        if len(sheets) != 1:
            raise UsageError(
                f"--template was given with {pluralize(len(sheets), 'sheet')}.",
                "Expected the number of one.",
                "For example: twice spec add 02 --template",
            )
        number = parse_number(sheets[0])
        text = render_template(SHEETS[number], "?", Situation(Tier.XL, "", {}), {}, every=True)
        return tell_spec(
            {"sheet": number, "template": text}, [text.removesuffix("\n")], as_json=as_json
        )
    before, lock = where.open()
    wanted = [*map(parse_number, sheets)] or [*before.missing()]
    workspace, waiting = before, dict[str, str]()
    for number in wanted:
        if number in workspace.sheets or number == CONSOLIDATION:
            continue
        held = find_blocker(workspace, number)
        if held is not None:
            waiting[number] = held
            continue
        memo = may_be_memo(number, workspace.situation().tier) and not full
        # It takes over the owner and the sources of those that are there.
        owners = {each.text("owner") for each in workspace.sheets.values()} - {""}
        known: dict[str, Value] = {"owner": owners.pop()} if len(owners) == 1 else {}
        if sources := list[Scalar](workspace.strings("00", "sources")):
            known["audit"] = sources
        workspace = add_sheet(workspace, number, known, memo=memo)
    written = [shorten_path(workspace, each) for each in save(before, workspace)]
    document: dict[str, object] = {
        "wrote": written,
        "waiting": [{"sheet": number, "why": why} for number, why in waiting.items()],
    }
    lines = [f"wrote {path}" for path in written] or ["wrote nothing"]
    lines += [f"{number} waits: {why}" for number, why in waiting.items()]
    steps, code = list_steps(workspace, lock), 1 if waiting else 0
    return tell_spec(document, lines, steps, as_json=as_json, code=code)


@build_command
def fill_sheets(
    record: Annotated[Path | None, option("--record FILE", "the one that 01 names by default")],
    dry_run: Annotated[bool, option("--dry-run", "write nothing")],
    where: WorkspaceOptions,
    as_json: AsJson,
) -> int:
    """Read what sheets leave open from a record, from this environment and from the code.

      twice spec fill
      twice spec fill --record a.twice
      twice spec fill --dry-run

    A value that somebody wrote stays. A value that cannot be read stays "?", and is listed. The record is the one that
    01 names, unless you give another. Traits of 00 are filled where a run or a line shows that they are there, never
    where nothing shows it. What is seen though 00 denies it is reported.

    Exit code 0 nothing is open any more, 1 something is.
    """
    before, lock = where.open()
    done = fill_workspace(before, record, read_sources=read_sources)
    if not dry_run:
        save(before, done.workspace)
    document = {
        "filled": [pick(each, "sheet", "key", "value", "source") for each in done.put_in],
        "unknown": [
            dict(zip(("sheet", "key", "says"), each, strict=True)) for each in done.unknown
        ],
        "against": list(done.against),
    }
    nothing = " (nothing was written)" if dry_run else ""
    lines = [
        *(f"{each.sheet} {each.key}: {each.source}" for each in done.put_in),
        f"{len(done.put_in)} filled{nothing}, {len(done.unknown)} open",
        *(f"  {said}" for said in done.against),
        *(f"  {number} {key}: {says}" for number, key, says in done.unknown),
    ]
    steps, code = list_steps(done.workspace, lock), 1 if done.unknown else 0
    return tell_spec(document, lines, steps, as_json=as_json, code=code)
