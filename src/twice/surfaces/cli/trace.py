"""Write the trace of one tick, to be compared with one from another machine.

  twice trace a.twice --tick 120 -o a.trace

The record's program is executed up to that tick. Take both files to one place, and there run:
twice diagnose --traces a.trace b.trace
"""

from __future__ import annotations

import argparse
from pathlib import Path

from twice.surfaces.cli.deriving import add_output, derived
from twice.surfaces.cli.showing import Doing, add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records

FORMAT = "twice.traced/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    parser.add_argument("--tick", type=int, required=True, metavar="T", help="the tick to trace")
    parser.add_argument(
        "--events", type=int, metavar="N",
        help="events whose whole state is written, of a tick with more (default: 512)",
    )  # fmt: skip
    add_output(parser, "path of the trace")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Trace to a temporary name, then rename."""
    with trust_records(options, [options.record]):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    from twice.diagnosis.trace_file.write import write_trace

    with derived(options.out, options.record, force=options.force) as partial, Doing() as doing:
        limit = {} if options.events is None else {"events_max": options.events}
        write_trace(options.record, options.tick, partial, progress=doing, **limit)
    if options.json:
        told = {"record": str(options.record), "tick": options.tick, "out": str(options.out)}
        print_json({"format": FORMAT, **told})
    else:
        print(f"traced tick {options.tick} of {options.record}: {options.out}")
        print(f"next: twice diagnose --traces {options.out} OTHER")
    return 0
