"""Write a record anew: the intact part of a torn one, or a record of an older format.

  twice migrate a.twice -o whole.twice

The old record stays as it is. A torn record gets an ending that says so.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.recording.record import migrate
from twice.recording.runrecord import RunRecord
from twice.surfaces.cli.deriving import add_output, derived
from twice.surfaces.cli.showing import add_json, print_json

FORMAT = "twice.migrated/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    add_output(parser, "path of the new record")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Migrate to a temporary name, then rename."""
    with derived(options.out, options.record, force=options.force) as partial:
        migrate(options.record, partial)
    with RunRecord.open(options.out) as record:
        points = len(record.reader.points)
        how = str((record.ending or {}).get("how"))
    if options.json:
        paths = {"record": str(options.record), "out": str(options.out)}
        print_json({"format": FORMAT, **paths, "points": points, "ending": how})
    else:
        print(f"wrote {options.out}: {points} compare-points, {how}")
        print(f"next: twice verify {options.out}")
    return 0
