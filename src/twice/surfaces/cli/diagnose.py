"""Say where two runs part, and why: tick, field, line, both values, channel.

  twice diagnose a.twice b.twice
  twice diagnose a.twice b.twice --anyway --json
  twice diagnose a.twice b.twice --confirm
  twice diagnose a.twice b.twice --time-limit 60s

Runs of other seeds, code or configuration are refused as not-same-input, unless --anyway. Both are
executed again, each in its own recorded surroundings. --confirm swaps what differs between them, one thing
at a time, and holds still what may keep a run from reproducing itself: a channel is confirmed or refuted
by what comes of it. --traces compares the files that `twice trace`
wrote, on this machine or others, and executes nothing. --time-limit ends the executions; what was found by then
is told.

Exit code 0 same or within tolerance, 1 they part, 2 could not tell.
"""

from __future__ import annotations

import argparse
import re
import threading
from pathlib import Path
from typing import Final

from twice.diagnosis.diagnose import diagnose
from twice.diagnosis.divergence import Divergence
from twice.errors import UsageError
from twice.specification.workspace import find_workspace
from twice.surfaces.cli.showing import Doing, add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records
from twice.surfaces.line_findings import add_findings

_TIME: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(s|m|h)?")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("records", nargs="*", type=Path, metavar="RECORD", help="two records")
    parser.add_argument("--anyway", action="store_true", help="though seed, code or config differ")
    parser.add_argument("--confirm", action="store_true", help="try causes by experiment")
    parser.add_argument("--no-lines", action="store_true", help="read logs only, execute nothing")
    parser.add_argument("--time-limit", metavar="TIME", help="how long to execute: 60s, 5m")
    parser.add_argument("--traces", nargs=2, type=Path, metavar="FILE", help="two trace files")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Diagnose, and print the verdict."""
    with trust_records(options, options.records):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    found = add_findings(_diagnosed(options))
    if options.json:
        print_json(found.to_json())
    else:
        print(found.to_text(artifacts=find_workspace(Path.cwd()) is not None))
    return found.exit_code


def _diagnosed(options: argparse.Namespace) -> Divergence:
    if options.traces is not None:
        from twice.diagnosis.trace_file.compare import diagnose_traces

        if options.records:
            raise _wrong(f"records and --traces together: {options.records[0]}")
        return diagnose_traces(*options.traces)
    if len(options.records) != 2:
        raise _wrong(f"{len(options.records)} records")
    with Doing() as doing:
        return diagnose(
            *options.records,
            anyway=options.anyway,
            confirm=options.confirm,
            lines=not options.no_lines,
            progress=doing,
            time_limit_s=None if options.time_limit is None else _read_time(options.time_limit),
        )


def _read_time(given: str) -> float:
    """Seconds of a time that people write.

    Raises:
        UsageError: E-USE-001, for none.
    """
    found = _TIME.fullmatch(given)
    seconds = float(found[1]) * _SECONDS[found[2] or "s"] if found else 0.0
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise UsageError(
            f"--time-limit is {given!r}.",
            "Expected a time above zero, in seconds, minutes or hours.",
            "For example: --time-limit 60s",
        )
    return seconds


def _wrong(given: str) -> UsageError:
    return UsageError(
        f"twice diagnose was given {given}.",
        "Expected two records, or --traces and two trace files.",
        "For example: twice diagnose a.twice b.twice",
    )
