"""Print a sheet: as it is, as it would begin, or the lines by which other documents cite it.

  twice spec show 02
  twice spec show 02 --template
  twice spec show 99 --cite

A citation names sheet, version and key, links to the place, and carries the digest of what the sheet says, so that
whoever cites it can be told when it changed.
"""

from __future__ import annotations

import click

from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    number_of,
    shown,
    workspace_options,
)
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import tell
from twice.errors import UsageError
from twice.specification.create import render_template
from twice.specification.schema import COMMON, SHEETS
from twice.specification.sheet import Sheet
from twice.specification.tiers import Situation, Tier
from twice.specification.workspace import FOLDER, Workspace


@make_command(
    click.argument("sheet", metavar="NN"),
    click.option(
        "--template", is_flag=True, help="as it would begin: every key, what it takes, an example"
    ),
    click.option("--cite", is_flag=True, help="lines to cite it by; of 99, all sheets"),
    workspace_options,
    json_option,
)
def command(sheet: str, template: bool, cite: bool, where: WorkspaceOptions, as_json: bool) -> int:
    """Print it."""
    number = number_of(sheet)
    if template and cite:
        raise UsageError(
            "--template and --cite were both given.",
            "Expected one: what a sheet would begin as is cited by nobody.",
            "Leave one of them out.",
        )
    if template:
        text = render_template(SHEETS[number], "?", Situation(Tier.XL, "", {}), {}, every=True)
        document = {"format": FORMAT, "sheet": number, "template": text}
        return tell(document, [text.removesuffix("\n")], as_json=as_json)
    workspace, _ = where.open()
    found = workspace.require(number, "it is to be cited" if cite else "it is to be shown")
    if cite:
        cited = [each for each in workspace.sheets.values() if number in {"99", each.number}]
        rows = [each for one in cited for each in _anchors(workspace, one)]
        lines = (f"{each['cite']}  {each['markdown']}  {each['digest']}" for each in rows)
        return tell({"format": FORMAT, "citations": rows}, lines, as_json=as_json)
    shows: dict[str, object] = {
        "format": FORMAT, "sheet": number, "path": found.path, "digest": str(found.digest()),
        "values": {key: entry.value for key, entry in found.head.entries.items()},
        "text": found.body,
    }  # fmt: skip
    return tell(shows, [found.source.removesuffix("\n")], as_json=as_json)


def _anchors(workspace: Workspace, sheet: Sheet) -> list[dict[str, str]]:
    """Give a sheet's citations: itself, and each of its keys, in 99 once it stands there."""
    digest, place = str(sheet.digest()), shown(workspace, sheet.path)
    whole = f"{sheet.number}@{sheet.version}"
    found = [
        {
            "cite": whole,
            "markdown": f"[{sheet.number} {sheet.schema.title} {sheet.version}]({place})",
            "digest": digest,
        }
    ]
    together = workspace.get("99")
    common = {item.key for item in COMMON}
    for key in sheet.head.entries:
        if key in common:
            continue
        anchor = f"{sheet.number}-{key.replace('_', '-')}"
        inside = together is not None and f'id="{anchor}"' in together.body
        name = SHEETS["99"].file_name
        link = f"{shown(workspace, f'{FOLDER}/{name}')}#{anchor}" if inside else place
        found.append(
            {
                "cite": f"{whole}#{key}",
                "markdown": f"[{sheet.number} {key}]({link})",
                "digest": digest,
            }
        )
    return found
