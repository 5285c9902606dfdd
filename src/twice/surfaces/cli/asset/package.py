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

import argparse
import os
from pathlib import Path

from twice.assets.store.packaging import package
from twice.foundation.printable import printable
from twice.surfaces.cli.asset.judging import told
from twice.surfaces.cli.asset.storing import add_store, store_of
from twice.surfaces.cli.showing import add_json, print_json


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--work-unit", required=True, metavar="NAME")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="copies, in a new folder")
    parser.add_argument(
        "--force", action="store_true", help="write into a folder that is not empty"
    )
    add_store(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Package it."""
    store = store_of(options, Path())
    done = package(store, options.work_unit, os.environ, to=options.to, force=options.force)
    if options.json:
        print_json(
            {
                "format": "twice.asset-package/1",
                "checkpoint": str(done.checkpoint),
                "folder": None if done.folder is None else str(done.folder),
                "logs": list(done.logs),
                "blanked": {name: list(at) for name, at in done.blanked.items()},
                "gate": done.report.to_json(),
            }
        )
        return done.report.exit_code
    print(printable(f"packaged: {len(done.logs)} logs, {done.checkpoint}"))
    for name, pointers in done.blanked.items():
        print(printable(f"blanked in {name}: {', '.join(pointers)}"))
    print("\n".join(told(done.report)))
    return done.report.exit_code
