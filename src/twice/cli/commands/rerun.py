"""Run a record's program afresh: same seed, configuration and surroundings, fresh effects.

  twice rerun a.twice -o again.twice

A re-run is not a replay: the world is read again, and may answer otherwise. The new record names the
run that it was made after. Exit code 0 when the program ended well, else 1.
"""

from __future__ import annotations

import sys
from pathlib import Path

from twice.cli.group import make_command
from twice.cli.options import informational_option, json_option, quiet_option, record_argument
from twice.cli.output import print_json
from twice.cli.output_file import refuse_own_source
from twice.cli.run_options import OutputOptions, TrustOptions, output_options, trust_options
from twice.replayer.rerun import rerun
from twice.report.overview import ending_text, parent_text


@make_command(
    record_argument,
    output_options("path of the new record"),
    informational_option,
    quiet_option,
    trust_options,
    json_option,
)
def command(
    record: Path,
    output: OutputOptions,
    informational: bool,
    quiet: bool,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Run afresh, and say what was recorded."""
    refuse_own_source(output.out, record)
    with (
        trust.trusting(record),
        rerun(
            record,
            out=output.out,
            force=output.force,
            informational=informational,
            show=not quiet and not as_json,
        ) as made,
    ):
        ending = made.ending or {}
        how, code = ending.get("how"), ending.get("exit_code")
        if as_json:
            told = {"record": str(output.out), "how": how, "exit_code": code}
            counts = {"ticks": made.ticks, "points": len(made.reader.points)}
            print_json({"format": "twice.recorded/1", **told, **counts, "parent": made.parent})
        else:
            ended = f"{ending_text(made)}, {parent_text(made)}"
            print(f"recorded {made.ticks} ticks: {output.out} ({ended})", file=sys.stderr)
            print(f"next: twice diagnose {record} {output.out}", file=sys.stderr)
    return 0 if how == "completed" or code == 0 else 1
