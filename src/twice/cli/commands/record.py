"""Record a run of a program in a fresh process with pinned surroundings.

  twice record examples/swarm.py:main --seed 42 --set n=1000 --set ticks=500 -o a.twice
  twice record package.module:main --seed 42 --config run.toml -o a.twice
  twice record script.py --seed 7 -- --lr 3e-4
  twice record -m package.module --seed 7 -- --lr 3e-4
  twice record train.py:main --seed 1 --class statistical --summary reward --epsilon 0.5 --n 30

A function of a run is recorded tick by tick. A script, or a module with -m, runs unchanged as Python
would run it; what stands after -- is its own.
The statistical class records N further runs, under seeds derived from the run's, as its sample.

Exit code 0 when the program ended well, 1 when it did not, 2 when nothing could be recorded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click

from twice.cli.console import Progress
from twice.cli.group import make_command
from twice.cli.options import PATH, gather, json_option, quiet_option
from twice.cli.output import print_json
from twice.cli.policies import PolicyOptions, policy_options
from twice.cli.run_options import ProgramOptions, StartOptions, program_options, start_options
from twice.cli.secrets import still_in
from twice.errors import ConfigKeyUnused, UsageError
from twice.foundation.determinism_class import (
    DeterminismClass,
    Predicate,
    SampleTest,
    Summary,
    parse_test,
)
from twice.recording.naming import runs_in
from twice.recording.program import Program
from twice.recording.recorder import master_seed, record_program, refuse_existing
from twice.recording.redaction.redaction import Redaction
from twice.recording.runrecord import RunRecord
from twice.recording.session_job import GO_ON
from twice.recording.setup import Setup
from twice.recording.surroundings import for_recording


@dataclass(frozen=True, slots=True)
class PredicateOptions:
    """How far a promise reaches, and what its class needs to be told."""

    scope: str = "host"
    summary: str | None = None
    test: str | None = None
    measure: str | None = None
    epsilon: float | None = None
    n: int | None = None
    alpha: float | None = None
    power: float | None = None


_PREDICATE: Final = gather(
    "promise",
    PredicateOptions,
    click.option("--scope", default="host", metavar="SCOPE", help="process, host or cross-host"),
    click.option("--summary", metavar="NAME", help="statistical: what is compared over seeds"),
    click.option("--test", metavar="TEST", help="statistical: means (default), ks or multiset"),
    click.option(
        "--measure", metavar="MEASURE",
        help="logical: how compared values are judged: exact (default), abs, rel, ulp or quantum",
    ),
    click.option(
        "--epsilon", type=float, metavar="E",
        help="logical: within how much; statistical: margin of the test",
    ),
    click.option("--n", type=int, metavar="N", help="statistical: how many seeds (30)"),
    click.option(
        "--alpha", type=float, metavar="P", help="statistical: chance of passing a difference"
    ),
    click.option(
        "--power", type=float, metavar="P", help="statistical: chance of passing equal systems"
    ),
)  # fmt: skip


@make_command(
    program_options,
    start_options("bit-exact, logical or statistical"),
    click.option("-o", "--out", type=PATH, metavar="FILE", help="path of the record"),
    click.option("--force", is_flag=True, help="replace an existing record"),
    _PREDICATE,
    policy_options,
    click.option(
        "--exit-code", is_flag=True, help="exit with the program's own exit code, not 0 or 1"
    ),
    click.option(
        "--on-full", type=click.Choice([GO_ON, "stop"]), default=GO_ON,
        help="when the record cannot be written any more: go on without it, or end the program",
    ),
    quiet_option,
    json_option,
    splits=True,
)  # fmt: skip
def command(
    program: ProgramOptions,
    start: StartOptions,
    out: Path | None,
    force: bool,
    promise: PredicateOptions,
    policies: PolicyOptions,
    exit_code: bool,
    on_full: str,
    quiet: bool,
    as_json: bool,
) -> int:
    """Record, and say what was recorded."""
    found = program.find("record")
    setup = Setup(
        program=found,
        seed=master_seed(start.master_seed()),
        config=start.values(),
        predicate=parse_predicate(start.classes, promise),
        **policies.to_setup(),
    )
    name = found.target if found.kind == "main" else Path(found.target).stem
    out = out or Path(f"{name}.twice")
    refuse_existing(out, force=force, is_record=True)
    variables = policies.environment()
    with Progress("sampling") as progress:
        ended = record_program(
            setup,
            for_recording(os.environ, explicit=variables),
            out,
            force=force,
            show=not quiet and not as_json,
            stdin=True,
            progress=progress,
            on_full=on_full,
        )
    _tell(found, ended, out, as_json=as_json)
    for place in still_in(out, {**os.environ, **variables}, Redaction(setup.redaction)):
        print(f"note: the record still contains a secret, {place}", file=sys.stderr)
    if ended["unread"] and ended["how"] == "completed":
        keys = ", ".join(ended["unread"])
        raise ConfigKeyUnused(
            f"The program never read the configuration key {keys}.",
            "Expected every key that is given to be one that the program knows.",
            f"Check the spelling. The record {out} is complete and says so.",
            keys=keys,
        )
    if setup.predicate.subsystems:
        from twice.replayer.verify import require_known

        with RunRecord.open(out) as record:
            require_known(setup.predicate, record)
    code = int(ended["exit_code"])
    return code & 0xFF if exit_code else int(code != 0)


def _little(program: Program, ended: Mapping[str, object]) -> str:
    """What to say of a record that holds less than its maker may think; empty if it does not."""
    if program.whole:
        found = runs_in(program.path()) if program.kind == "script" else []
        instead = f"; tick by tick: {program}:{found[0]}" if found else ""
        if ended["ticks"]:
            return "a plain script: steps of its libraries are ticks; the rest of its state is not seen"
        return f"a plain script: its reads, files, output and exit code count; its state is not seen{instead}"
    if ended["ticks"] == 0 and ended["how"] == "completed":
        return "run.ticks() was not used: only construction and end are compared"
    return ""


def _tell(program: Program, ended: dict[str, object], out: Path, *, as_json: bool) -> None:
    if as_json:
        print_json({"format": "twice.recorded/1", "record": str(out), **ended})
        return
    size = out.stat().st_size
    code = f", exit code {ended['exit_code']}" if ended["how"] == "exit" else ""
    done, kept = "recorded", ""
    if not ended["complete"]:
        done, kept = "ran", "the record holds a part of them, "
    print(
        f"{done} {ended['ticks']} ticks, {ended['points']} compare-points, {kept}"
        f"{size:,} bytes: {out} ({ended['how']}{code})",
        file=sys.stderr,
    )
    note = _little(program, ended)
    if note:
        print(f"note: {note}", file=sys.stderr)
    print(f"next: twice verify {out}", file=sys.stderr)


def parse_predicate(classes: Sequence[str], options: PredicateOptions) -> Predicate:
    """The class that the options state, with its tolerance, or with what the statistical one compares.

    Raises:
        ClassRefused: E-CLASS-001, for a tolerance that makes no sense. UsageError: E-USE-001, for options that belong
            to another class.
    """
    predicate = Predicate.parse(classes, options.scope)
    if options.measure is not None:
        if DeterminismClass.LOGICAL not in {
            predicate.determinism_class,
            *predicate.subsystems.values(),
        }:
            raise UsageError(
                f"--measure {options.measure} was given without a logical class.",
                "Expected --class logical beside it: other classes compare bytes, or samples.",
                "For example: --class logical --measure abs --epsilon 1e-6",
            )
        from twice.foundation.comparison import tolerance_of  # numbers alone need it

        return replace(predicate, decisions=tolerance_of(options.measure, options.epsilon))
    given = {
        name: value
        for name in ("summary", "test", "epsilon", "n", "alpha", "power")
        if (value := getattr(options, name)) is not None
    }
    if not given:
        return predicate
    if predicate.determinism_class is not DeterminismClass.STATISTICAL or "summary" not in given:
        raise UsageError(
            f"--{next(iter(given))} was given without a statistical class and a summary.",
            "Expected --class statistical --summary NAME beside it; or of a logical class --measure.",
            "For example: --class statistical --summary reward --test means --epsilon 0.5; "
            "--class logical --measure abs --epsilon 1e-6",
        )
    test = parse_test(given.pop("test", "means"))
    if test is not SampleTest.MULTISET and not given.get("epsilon", 0.0) > 0:
        raise UsageError(
            f"The test {test.value} has no margin.",
            "Expected --epsilon E with E > 0: no two samples are 0 apart but equal ones.",
            "For example: --epsilon 0.5; or --test multiset for the very same values.",
        )
    summary = Summary(given.pop("summary"), test, **given)
    return replace(predicate, sample=summary)
