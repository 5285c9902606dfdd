"""Run a record's program afresh: same seed, configuration and surroundings, fresh effects.

  twice rerun a.twice -o again.twice

A re-run is not a replay: the world is read again, and may answer otherwise. The new record names the
run that it was made after. Exit code 0 when the program ended well, else 1.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from twice.replayer.rerun import rerun
from twice.surfaces.cli.deriving import add_output, refuse_own_source
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records
from twice.surfaces.overview import ending_text, parent_text

FORMAT = "twice.recorded/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    add_output(parser, "path of the new record")
    parser.add_argument("--informational", action="store_true", help="go on though code differs")
    parser.add_argument("--quiet", action="store_true", help="do not pass the program's output on")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Run afresh, and say what was recorded."""
    with trust_records(options, [options.record]):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    refuse_own_source(options.out, options.record)
    with rerun(
        options.record,
        out=options.out,
        force=options.force,
        informational=options.informational,
        show=not options.quiet and not options.json,
    ) as record:
        ending = record.ending or {}
        how, code = ending.get("how"), ending.get("exit_code")
        if options.json:
            told = {"record": str(options.out), "how": how, "exit_code": code}
            counts = {"ticks": record.ticks, "points": len(record.reader.points)}
            print_json({"format": FORMAT, **told, **counts, "parent": record.parent})
        else:
            print(
                f"recorded {record.ticks} ticks: {options.out} ({ending_text(record)}, "
                f"{parent_text(record)})\n"
                f"next: twice diagnose {options.record} {options.out}",
                file=sys.stderr,
            )
    return 0 if how == "completed" or code == 0 else 1
