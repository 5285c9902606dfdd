"""Write a record anew: the intact part of a torn one, or a record of an older format.

  twice migrate a.twice -o whole.twice

The old record stays as it is. A torn record gets an ending that says so.
"""

from __future__ import annotations

from pathlib import Path

from twice.cli.group import make_command
from twice.cli.options import json_option, record_argument
from twice.cli.output import tell
from twice.cli.run_options import OutputOptions, output_options
from twice.recording.record import migrate
from twice.recording.runrecord import RunRecord


@make_command(record_argument, output_options("path of the new record"), json_option)
def command(record: Path, output: OutputOptions, as_json: bool) -> int:
    """Migrate to a temporary name, then rename."""
    with output.writing(record) as partial:
        migrate(record, partial)
    with RunRecord.open(output.out) as made:
        points = len(made.reader.points)
        how = str((made.ending or {}).get("how"))
    told = {"record": str(record), "out": str(output.out), "points": points, "ending": how}
    lines = [
        f"wrote {output.out}: {points} compare-points, {how}",
        f"next: twice verify {output.out}",
    ]
    return tell({"format": "twice.migrated/1", **told}, lines, as_json=as_json)
