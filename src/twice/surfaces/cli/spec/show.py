"""Print a sheet: as it is, as it would begin, or the lines by which other documents cite it.

  twice spec show 02
  twice spec show 02 --template
  twice spec show 99 --cite

A citation names sheet, version and key, links to the place, and carries the digest of what the sheet says, so that
whoever cites it can be told when it changed.
"""

from __future__ import annotations

import argparse

from twice.specification.create import render_template
from twice.specification.schema import COMMON, SHEETS
from twice.specification.sheet import Sheet
from twice.specification.tiers import Situation, Tier
from twice.specification.workspace import FOLDER, Workspace
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, number_of, opened, shown


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sheet", metavar="NN", help="its number")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--template",
        action="store_true",
        help="as it would begin: every key, what it takes, an example",
    )
    kind.add_argument("--cite", action="store_true", help="lines to cite it by; of 99, all sheets")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Print it."""
    number = number_of(options.sheet)
    if options.template:
        text = render_template(SHEETS[number], "?", Situation(Tier.XL, "", {}), {}, every=True)
        if options.json:
            print_json({"format": FORMAT, "sheet": number, "template": text})
        else:
            print(text, end="")
        return 0
    workspace, _ = opened(options)
    if options.cite:
        return _cite(options, workspace, number)
    sheet = workspace.require(number, "it is to be shown")
    if options.json:
        values = {key: entry.value for key, entry in sheet.head.entries.items()}
        print_json({
            "format": FORMAT, "sheet": number, "path": sheet.path, "digest": str(sheet.digest()),
            "values": values, "text": sheet.body,
        })  # fmt: skip
    else:
        print(sheet.source, end="")
    return 0


def _cite(options: argparse.Namespace, workspace: Workspace, number: str) -> int:
    workspace.require(number, "it is to be cited")
    cited = [each for each in workspace.sheets.values() if number in {"99", each.number}]
    rows = [each for sheet in cited for each in _anchors(workspace, sheet)]
    if options.json:
        print_json({"format": FORMAT, "citations": rows})
    else:
        print("\n".join(f"{each['cite']}  {each['markdown']}  {each['digest']}" for each in rows))
    return 0


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
