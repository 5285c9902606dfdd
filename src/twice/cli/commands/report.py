"""Write a page about one or two records: one HTML file, no network, no script.

  twice report a.twice -o a.html
  twice report a.twice b.twice -o both.html

One record: identity, a timeline of its ticks, changes of state, streams, reads of the world, output.
Two records: the verdict of `twice diagnose`, then the line, the fields, the cause and what to do.
"""

from __future__ import annotations

from pathlib import Path

import click

from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import PATH, json_option
from twice.cli.output import tell
from twice.cli.run_options import OutputOptions, TrustOptions, output_options, trust_options
from twice.errors import UsageError
from twice.recording.runrecord import RunRecord


@make_command(
    click.argument("records", nargs=-1, required=True, type=PATH, metavar="RECORD..."),
    click.option("--anyway", is_flag=True, help="though seed, code or config differ"),
    click.option("--no-lines", is_flag=True, help="read logs only, execute nothing"),
    output_options("path of the page"),
    trust_options,
    json_option,
)
def command(
    records: tuple[Path, ...],
    anyway: bool,
    no_lines: bool,
    output: OutputOptions,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Write the page to a temporary name, then rename."""
    if len(records) > 2:
        raise UsageError(
            f"twice report was given {len(records)} records.",
            "Expected one or two.",
            "For example: twice report a.twice b.twice -o both.html",
        )
    with trust.trusting(*records), output.writing(*records) as partial:
        if len(records) == 1:
            page, result = _describe_one(*records), None
        else:
            page, result = _compare(*records, anyway=anyway, lines=not no_lines)
        partial.write_text(page, encoding="utf-8")
    told = {"out": str(output.out), "records": [*map(str, records)], "result": result}
    said = "" if result is None else f" ({result})"
    return tell(
        {"format": "twice.reported/1", **told}, [f"wrote {output.out}{said}"], as_json=as_json
    )


def _describe_one(path: Path) -> str:
    from twice.report.record_pages import page_of_one

    with RunRecord.open(path) as record:
        return page_of_one(record)


def _compare(first: Path, second: Path, *, anyway: bool, lines: bool) -> tuple[str, str]:
    from twice.diagnosis.diagnose import diagnose
    from twice.report.record_pages import page_of_two

    with Status() as status:
        found = diagnose(first, second, anyway=anyway, lines=lines, progress=status)
    with RunRecord.open(first) as a, RunRecord.open(second) as b:
        return page_of_two(a, b, found), found.result
