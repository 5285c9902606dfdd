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

import re
import threading
from pathlib import Path
from typing import Final

import click

from twice.cli.console import Status
from twice.cli.group import has_wing, make_command
from twice.cli.line_findings import add_findings
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.cli.run_options import TrustOptions, trust_options
from twice.diagnosis.diagnose import diagnose
from twice.errors import UsageError

_TIME: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(s|m|h)?")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "h": 3600.0}


@make_command(
    click.argument("records", nargs=-1, type=PATH, metavar="RECORD RECORD"),
    click.option("--anyway", is_flag=True, help="though seed, code or config differ"),
    click.option("--confirm", is_flag=True, help="try causes by experiment"),
    click.option("--no-lines", is_flag=True, help="read logs only, execute nothing"),
    click.option("--time-limit", metavar="TIME", help="how long to execute: 60s, 5m"),
    click.option("--traces", nargs=2, type=PATH, metavar="FILE FILE", help="two trace files"),
    trust_options,
    json_option,
)
def command(
    records: tuple[Path, ...],
    anyway: bool,
    confirm: bool,
    no_lines: bool,
    time_limit: str | None,
    traces: tuple[Path, Path] | None,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Diagnose, and print the verdict."""
    if traces is not None:
        from twice.diagnosis.trace_file.compare import diagnose_traces

        if records:
            raise _wrong(f"records and --traces together: {records[0]}")
        found = diagnose_traces(*traces)
    else:
        if len(records) != 2:
            raise _wrong(f"{len(records)} records")
        with trust.trusting(*records), Status() as status:
            found = diagnose(
                *records,
                anyway=anyway,
                confirm=confirm,
                lines=not no_lines,
                progress=status,
                time_limit_s=None if time_limit is None else _read_time(time_limit),
            )
    found = add_findings(found)
    text = found.to_text(artifacts=_has_sheets())
    return tell(found.to_json(), [text], as_json=as_json, code=found.exit_code)


def _has_sheets() -> bool:
    """Whether there are sheets to which a verdict may refer."""
    if not has_wing("specification"):
        return False
    from twice.specification.workspace import find_workspace

    return find_workspace(Path.cwd()) is not None


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
