"""Write a record as JSON lines or Parquet, for analysis elsewhere.

  twice export a.twice --format jsonl -o a.jsonl
  twice export a.twice --format parquet -o a.parquet

JSON lines hold everything but, without --blobs, the contents of snapshots. Parquet is a folder with
points.parquet and frames.parquet; it needs the extra `parquet`.
"""

from __future__ import annotations

from pathlib import Path

import click

from twice.cli.group import make_command
from twice.cli.options import json_option, record_argument
from twice.cli.output import tell
from twice.cli.run_options import OutputOptions, output_options
from twice.recording.record.export import to_json_lines, to_parquet
from twice.recording.runrecord import RunRecord


@make_command(
    record_argument,
    click.option("--format", "form", type=click.Choice(("jsonl", "parquet")), required=True),
    click.option("--blobs", is_flag=True, help="with jsonl: snapshot contents too"),
    output_options("file for jsonl, folder for parquet"),
    json_option,
)
def command(record: Path, form: str, blobs: bool, output: OutputOptions, as_json: bool) -> int:
    """Export to a temporary name, then rename."""
    lines = None
    with RunRecord.open(record) as opened, output.writing(record) as partial:
        if form == "jsonl":
            with partial.open("x", encoding="utf-8") as out:
                lines = to_json_lines(opened.reader, out, blobs=blobs)
        else:
            to_parquet(opened.reader, partial)
    told = {"record": str(record), "out": str(output.out), "as": form, "lines": lines}
    return tell(
        {"format": "twice.exported/1", **told},
        [f"exported {record} to {output.out}"],
        as_json=as_json,
    )
