"""Write a record as JSON lines or Parquet, for analysis elsewhere.

  twice export a.twice --format jsonl -o a.jsonl
  twice export a.twice --format parquet -o a.parquet

JSON lines hold everything but, without --blobs, the contents of snapshots. Parquet is a folder with
points.parquet and frames.parquet; it needs the extra `parquet`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.recording.record.export import to_json_lines, to_parquet
from twice.recording.runrecord import RunRecord
from twice.surfaces.cli.deriving import add_output, derived
from twice.surfaces.cli.showing import add_json, print_json

FORMAT = "twice.exported/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    parser.add_argument("--format", choices=("jsonl", "parquet"), required=True)
    parser.add_argument("--blobs", action="store_true", help="with jsonl: snapshot contents too")
    add_output(parser, "file for jsonl, folder for parquet")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Export to a temporary name, then rename."""
    with (
        RunRecord.open(options.record) as record,
        derived(options.out, options.record, force=options.force) as partial,
    ):
        lines = None
        if options.format == "jsonl":
            with partial.open("x", encoding="utf-8") as out:
                lines = to_json_lines(record.reader, out, blobs=options.blobs)
        else:
            to_parquet(record.reader, partial)
    if options.json:
        told = {"record": str(options.record), "out": str(options.out), "as": options.format}
        print_json({"format": FORMAT, **told, "lines": lines})
    else:
        print(f"exported {options.record} to {options.out}")
    return 0
