"""Leave a record at a tick, with another input, into a record of its own.

  twice branch a.twice --at 120 --input push=0.3 -o c.twice
  twice branch a.twice --at 120 --input push=0.3 --onwards --sealed -o d.twice

The value of an input is typed as TOML types it, and is text otherwise. It replaces tick T only; with
--onwards every later tick too. Past the tick, reads of the world that match come from the record;
the first that does not goes to the world, or is refused when --sealed. The parent is only read.
Exit code 0 when the program ended well, else 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from twice.cli.group import make_command
from twice.cli.options import (
    informational_option,
    json_option,
    quiet_option,
    record_argument,
    several,
    split_pairs,
)
from twice.cli.output import tell
from twice.cli.output_file import refuse_own_source
from twice.cli.run_options import OutputOptions, TrustOptions, output_options, trust_options
from twice.recording.config import parse_value
from twice.recording.runrecord import RunRecord
from twice.replayer.branch_session import branch, prefix_proof
from twice.report.overview import ending_text
from twice.report.values import as_json as to_plain
from twice.report.values import inline, mapping


@make_command(
    record_argument,
    click.option("--at", type=int, required=True, metavar="T", help="first tick to differ"),
    several(
        "--input", "inputs", metavar="NAME=VALUE",
        help="what the program gets for that input; none at all resumes the run",
    ),
    click.option("--onwards", is_flag=True, help="at every later tick too"),
    click.option("--sealed", is_flag=True, help="refuse reads that go to the world"),
    informational_option,
    quiet_option,
    output_options("path of the branch's record"),
    trust_options,
    json_option,
)  # fmt: skip
def command(
    record: Path,
    at: int,
    inputs: tuple[str, ...],
    onwards: bool,
    sealed: bool,
    informational: bool,
    quiet: bool,
    output: OutputOptions,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Branch, prove that everything before the fork is identical, and say so."""
    values = parse_inputs(inputs)
    refuse_own_source(output.out, record)
    with (
        trust.trusting(record),
        branch(
            record,
            at=at,
            inputs=values,
            onwards=onwards,
            out=output.out,
            force=output.force,
            sealed=sealed,
            informational=informational,
            show=not quiet and not as_json,
        ) as made,
        RunRecord.open(record) as parent,
    ):
        named: Mapping[str, Any] = made.parent or {}
        fork = mapping(named.get("fork"))
        told: dict[str, Any] = {
            "format": "twice.branched/1",
            "record": str(output.out),
            "parent": {"record": str(record), "run_id": parent.run_id},
            "fork": {"tick": fork.get("tick"), "point": fork.get("point")},
            "inputs": {name: to_plain(value) for name, value in values.items()},
            "onwards": onwards,
            "prefix": {
                "identical": prefix_proof(made, parent),
                "points": int(fork.get("point", -1)) + 1,
                "chain": f"{made.reader.algorithm}:{fork.get('chain')}",
            },
            "ending": made.ending,
            "ticks": made.ticks,
            "next": [f"twice diagnose {record} {output.out}"],
        }
        ending = made.ending or {}
        well = ending.get("how") == "completed" or ending.get("exit_code") == 0
        code = 0 if told["prefix"]["identical"] and well else 1
        return tell(told, _lines(told, made, at), as_json=as_json, code=code)


def parse_inputs(pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs; a value is typed as TOML types it, and is text otherwise.

    Raises:
        UsageError: E-USE-001, for a pair without a name or a ``=``, or a name given twice.
    """
    given = split_pairs(pairs, "--input", "push=0.3")
    return {name: parse_value(text.strip()) for name, text in given.items()}


def _lines(told: Mapping[str, Any], made: RunRecord, at: int) -> Iterator[str]:
    prefix = told["prefix"]
    given = inline(told["inputs"]) if told["inputs"] else "no input (resumed)"
    agrees = "identical" if prefix["identical"] else "NOT identical"
    yield f"branched {told['parent']['record']} before tick {at}: {told['record']}"
    yield f"  substituted: {given}{' onwards' if told['onwards'] else ''}"
    yield f"  before the fork: {prefix['points']} compare-points, {agrees}, chain {prefix['chain']}"
    yield f"  after it: {made.ticks - at} ticks, {ending_text(made)}"
    yield f"next: {told['next'][0]}"
