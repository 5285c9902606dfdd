"""Read what sheets leave open from a record, from this environment and from the code.

  twice spec fill
  twice spec fill --record a.twice
  twice spec fill --dry-run

What somebody wrote stays. What cannot be read stays "?", and is listed. The record is the one that 01 names, unless
another is given. Traits of 00 are filled where a run or a line shows that they are there, never where
nothing shows it; what is seen though 00 denies it is told. Exit code 0 when nothing is open any more,
1 otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    workspace_options,
)
from twice.cli.commands.spec.proposing import propose_fill
from twice.cli.commands.spec.stepping import completing
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.specification.fill import FillResult
from twice.specification.workspace import save


@make_command(
    click.option("--record", type=PATH, metavar="FILE", help="the one that 01 names by default"),
    click.option("--dry-run", is_flag=True, help="write nothing"),
    workspace_options,
    json_option,
)
def command(record: Path | None, dry_run: bool, where: WorkspaceOptions, as_json: bool) -> int:
    """Read, put in, say what is still open."""
    before, _ = where.open()
    done = propose_fill(before, record)
    if not dry_run:
        save(before, done.workspace)
    document = {
        "format": FORMAT,
        "filled": [
            {"sheet": each.sheet, "key": each.key, "value": each.value, "source": each.source}
            for each in done.put_in
        ],
        "unknown": [
            {"sheet": number, "key": key, "says": says} for number, key, says in done.unknown
        ],
        "against": list(done.against),
    }
    lines = _lines(done, dry_run=dry_run)
    return tell(document, lines, as_json=as_json, code=1 if done.unknown else 0)


def _lines(done: FillResult, *, dry_run: bool) -> Iterator[str]:
    yield from (f"{each.sheet} {each.key}: {each.source}" for each in done.put_in)
    nothing = " (nothing was written)" if dry_run else ""
    yield f"{len(done.put_in)} filled{nothing}, {len(done.unknown)} open"
    yield from (f"  {said}" for said in done.against)
    yield from (f"  {number} {key}: {says}" for number, key, says in done.unknown)
    yield from next_lines(list(completing(done.workspace)) or ["twice spec status"])
