"""Write a work unit's checkpoint, and copies of its logs to travel.

  twice asset package --work-unit TU-2026-01-31-IL01
  twice asset package --work-unit TU-2026-01-31-IL01 --to handover

The checkpoint goes into the store, under checkpoints, and names every log with the digest of its text: from then on
the gate turns an asset red whose log it does not name. --to writes sidecars, an index and the checkpoint into a new
folder, with secrets blanked. Both are hot: they go to makers and gatekeepers, never to players.

Exit code 0 the gate passes what was packaged, 1 it blocks it, 2 it passes it on a condition, or wrong use. It is
packaged all the same: a checkpoint says how things stand.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from twice.assets.store.packaging import package
from twice.cli.commands.asset.hot_store import StoreOptions, store_options
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.foundation.printable import printable


@make_command(
    click.option("--work-unit", required=True, metavar="NAME", help="whose logs are packaged"),
    click.option("--to", type=PATH, metavar="FOLDER", help="copies, in a new folder"),
    click.option("--force", is_flag=True, help="write into a folder that is not empty"),
    store_options,
    json_option,
)
def command(
    work_unit: str, to: Path | None, force: bool, store: StoreOptions, as_json: bool
) -> int:
    """Package it."""
    done = package(store.open(Path()), work_unit, os.environ, to=to, force=force)
    lines = [f"packaged: {len(done.logs)} logs, {done.checkpoint}"]
    lines += [f"blanked in {name}: {', '.join(at)}" for name, at in done.blanked.items()]
    lines = [*map(printable, lines), done.report.to_text()]
    return tell(done.to_json(), lines, as_json=as_json, code=done.report.exit_code)
