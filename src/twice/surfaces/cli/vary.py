"""Vary the surroundings of a program and name the factors that its result depends on.

  twice vary examples/swarm.py:main --seed 42 --set n=4 --set ticks=20
  twice vary train.py --seed 7 -- --lr 3e-4
  twice vary a.twice --factor "hash seed" --factor threads
  twice vary --list

The program is recorded twice as it is, then with every factor varied at once. Where that run differs
by the declared class, the factors are halved down to single ones, and each that differs comes with
its first differing operation. A factor that had no effect is unavailable, not the same. Of a record,
program, arguments, seed, configuration and class are taken. --python names another interpreter, for its version and
those of its libraries.

Exit code 0 PASS, 1 FAIL, 2 wrong use, or it could not be told.
"""

from __future__ import annotations

import argparse
from typing import Any

from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.search import vary
from twice.errors import UsageError
from twice.foundation.determinism_class import Predicate
from twice.recording.naming import is_record
from twice.recording.program import Program
from twice.surfaces.cli.showing import Doing, add_json, aligned, print_json
from twice.surfaces.cli.starting import (
    add_program,
    add_starting,
    config_of,
    program_of,
    records_in,
    seed_of,
)
from twice.surfaces.cli.trusting import add_trust, trust_records

PASSES_ON = "arguments"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_program(parser, "a program as `twice record` takes it, or a record")
    add_starting(parser, classes="bit-exact or logical")
    parser.add_argument(
        "--factor", action="append", default=[], metavar="NAME", dest="factors",
        help="vary this one only; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--python", metavar="PATH",
        help="the other interpreter to try; else the first on PATH that can import twice",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="print the factors that there are")
    add_trust(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Vary, and print what came of it."""
    with trust_records(options, records_in(options)):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(aligned([(each.name, each.what) for each in FACTORS], indent="")))
        return 0
    program = _varied(options)
    policies: dict[str, Any] = {}
    if options.classes:
        policies["predicate"] = Predicate.parse(options.classes, "host")
    with Doing() as doing:
        found = vary(
            program,
            seed=seed_of(options),
            config=config_of(options),
            factors=options.factors or None,
            python=options.python,
            progress=doing,
            **policies,
        )
    if options.json:
        print_json(found.to_json())
    else:
        print(found.to_text())
    return found.exit_code


def _varied(options: argparse.Namespace) -> str | Program:
    """The path of a record, or the program with its own arguments."""
    if options.module is not None or options.program is None or not is_record(options.program):
        return program_of(options, "vary")
    if options.arguments:
        raise UsageError(
            f"{options.program} is a record, and was given arguments: {' '.join(options.arguments)}.",
            "Expected none: the program has those that it was recorded with.",
            "Leave them out, or name the program instead.",
        )
    return str(options.program)
