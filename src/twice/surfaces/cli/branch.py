"""Leave a record at a tick, with another input, into a record of its own.

  twice branch a.twice --at 120 --input push=0.3 -o c.twice
  twice branch a.twice --at 120 --input push=0.3 --onwards --sealed -o d.twice

The value of an input is typed as TOML types it, and is text otherwise. It replaces tick T only; with
--onwards every later tick too. Past the tick, reads of the world that match come from the record;
the first that does not goes to the world, or is refused when --sealed. The parent is only read.
Exit code 0 when the program ended well, else 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from twice.errors import UsageError
from twice.recording.config import parse_value
from twice.recording.runrecord import RunRecord
from twice.replayer.branch_session import branch, prefix_proof
from twice.surfaces.cli.deriving import add_output, refuse_own_source
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.trusting import add_trust, trust_records
from twice.surfaces.overview import ending_text
from twice.surfaces.values import as_json, inline, mapping

FORMAT = "twice.branched/1"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("record", type=Path, help="path of the record")
    parser.add_argument("--at", type=int, required=True, metavar="T", help="first tick to differ")
    parser.add_argument(
        "--input", action="append", default=[], metavar="NAME=VALUE", dest="inputs",
        help="what the program gets for that input; repeatable; none at all resumes the run",
    )  # fmt: skip
    parser.add_argument("--onwards", action="store_true", help="at every later tick too")
    parser.add_argument("--sealed", action="store_true", help="refuse reads that go to the world")
    parser.add_argument("--informational", action="store_true", help="go on though code differs")
    parser.add_argument("--quiet", action="store_true", help="do not pass the program's output on")
    add_output(parser, "path of the branch's record")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Branch, prove that everything before the fork is identical, and say so."""
    with trust_records(options, [options.record]):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    inputs = parse_inputs(options.inputs)
    refuse_own_source(options.out, options.record)
    with (
        branch(
            options.record,
            at=options.at,
            inputs=inputs,
            onwards=options.onwards,
            out=options.out,
            force=options.force,
            sealed=options.sealed,
            informational=options.informational,
            show=not options.quiet and not options.json,
        ) as made,
        RunRecord.open(options.record) as parent,
    ):
        told = _told(options, made, parent, inputs)
        if options.json:
            print_json(told)
        else:
            _print(options, made, told)
        ending = made.ending or {}
        well = ending.get("how") == "completed" or ending.get("exit_code") == 0
    return 0 if told["prefix"]["identical"] and well else 1


def parse_inputs(pairs: list[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs.

    Raises:
        UsageError: E-USE-001, for a pair without a name or a ``=``, or a name given twice.
    """
    values: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name.strip() or name.strip() in values:
            twice_given = " again" if name.strip() in values else ""
            raise UsageError(
                f"--input {pair!r} is not the name of an input and a value{twice_given}.",
                "Expected NAME=VALUE, each name once.",
                "For example: --input push=0.3",
            )
        values[name.strip()] = parse_value(text.strip())
    return values


def _told(
    options: argparse.Namespace, made: RunRecord, parent: RunRecord, inputs: Mapping[str, Any]
) -> dict[str, Any]:
    named: Mapping[str, Any] = made.parent or {}
    fork = mapping(named.get("fork"))
    label = str(made.reader.algorithm)
    return {
        "format": FORMAT,
        "record": str(options.out),
        "parent": {"record": str(options.record), "run_id": parent.run_id},
        "fork": {"tick": fork.get("tick"), "point": fork.get("point")},
        "inputs": {name: as_json(value) for name, value in inputs.items()},
        "onwards": options.onwards,
        "prefix": {
            "identical": prefix_proof(made, parent),
            "points": int(fork.get("point", -1)) + 1,
            "chain": f"{label}:{fork.get('chain')}",
        },
        "ending": made.ending,
        "ticks": made.ticks,
        "next": [f"twice diagnose {options.record} {options.out}"],
    }


def _print(options: argparse.Namespace, made: RunRecord, told: Mapping[str, Any]) -> None:
    prefix = told["prefix"]
    given = inline(told["inputs"]) if told["inputs"] else "no input (resumed)"
    print(f"branched {options.record} before tick {options.at}: {options.out}")
    print(f"  substituted: {given}{' onwards' if options.onwards else ''}")
    agrees = "identical" if prefix["identical"] else "NOT identical"
    print(
        f"  before the fork: {prefix['points']} compare-points, {agrees}, chain {prefix['chain']}"
    )
    print(f"  after it: {made.ticks - options.at} ticks, {ending_text(made)}")
    print(f"next: {told['next'][0]}")
