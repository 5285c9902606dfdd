"""Write the trace of one tick, to be compared with one from another machine.

  twice trace a.twice --tick 120 -o a.trace

The record's program is executed up to that tick. Take both files to one place, and there run:
twice diagnose --traces a.trace b.trace
"""

from __future__ import annotations

from pathlib import Path

import click

from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import json_option, record_argument
from twice.cli.output import tell
from twice.cli.run_options import OutputOptions, TrustOptions, output_options, trust_options


@make_command(
    record_argument,
    click.option("--tick", type=int, required=True, metavar="T", help="the tick to trace"),
    click.option(
        "--events", type=int, metavar="N",
        help="events whose whole state is written, of a tick with more (default: 512)",
    ),
    output_options("path of the trace"),
    trust_options,
    json_option,
)  # fmt: skip
def command(
    record: Path,
    tick: int,
    events: int | None,
    output: OutputOptions,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Trace to a temporary name, then rename."""
    from twice.diagnosis.trace_file.write import write_trace

    with trust.trusting(record), output.writing(record) as partial, Status() as status:
        limit = {} if events is None else {"events_max": events}
        write_trace(record, tick, partial, progress=status, **limit)
    told = {"record": str(record), "tick": tick, "out": str(output.out)}
    lines = [
        f"traced tick {tick} of {record}: {output.out}",
        f"next: twice diagnose --traces {output.out} OTHER",
    ]
    return tell({"format": "twice.traced/1", **told}, lines, as_json=as_json)
