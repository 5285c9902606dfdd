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

A program that prints measured times differs from itself. The lines with them are named and left out, and
the factors are varied all the same. To PASS without those lines, name them: --ignore-output.

Exit code 0 PASS, 1 FAIL, 2 wrong use, or it could not be told.
"""

from __future__ import annotations

from typing import Annotated, Any

from twice.cli.console import Status
from twice.cli.options import AsJson, build_command, option
from twice.cli.output import align, print_lines, tell
from twice.cli.policies import ComparedOutputOptions
from twice.cli.run_options import ProgramOptions, StartOptions, TrustOptions
from twice.diagnosis.vary.factors import FACTORS
from twice.diagnosis.vary.search import vary
from twice.errors import UsageError
from twice.foundation.determinism_class import Predicate


@build_command
def command(
    program: ProgramOptions,
    start: StartOptions,
    factors: Annotated[tuple[str, ...], option("--factor NAME", "vary this one only")],
    output: ComparedOutputOptions,
    python: Annotated[str | None, option(
        "--python PATH", "the other interpreter to try; else the first on PATH that can import twice")],
    lists: Annotated[bool, option("--list", "print the factors that there are")],
    trust: TrustOptions,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Vary, and print what came of it."""
    if lists:
        print_lines(align([(each.name, each.what) for each in FACTORS], indent=""))
        return 0
    records = program.records()
    if records and program.arguments:
        raise UsageError(
            f"{records[0]} is a record, and was given arguments: {' '.join(program.arguments)}.",
            "Expected none: the program has those that it was recorded with.",
            "Leave them out, or name the program instead.",
        )
    promise: dict[str, Any] = (
        {"predicate": Predicate.parse(start.classes, "host")} if start.classes else {}
    )
    with trust.trusting(*records), Status() as status:
        found = vary(
            str(records[0]) if records else program.find("vary"),
            seed=start.master_seed(),
            config=start.values(),
            factors=[*factors] or None,
            python=python,
            progress=status,
            **promise,
            **output.to_setup(),
        )
    return tell(found.to_json(), [found.to_text()], as_json=as_json, code=found.exit_code)
