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

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

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
from twice.surfaces.cli.policies import add_policies, policies_of, variables_of
from twice.surfaces.cli.showing import Progress, add_json, print_json
from twice.surfaces.cli.starting import add_program, add_starting, config_of, program_of, seed_of
from twice.surfaces.secrets import still_in

PASSES_ON = "arguments"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_program(parser, "file.py:function, package.module:function, or script.py")
    add_starting(parser, classes="bit-exact, logical or statistical")
    parser.add_argument("-o", "--out", type=Path, help="path of the record")
    parser.add_argument("--force", action="store_true", help="replace an existing record")
    parser.add_argument("--scope", default="host", help="process, host or cross-host")
    parser.add_argument(
        "--summary", metavar="NAME", help="statistical: what is compared over seeds"
    )
    parser.add_argument("--test", help="statistical: means (default), ks or multiset")
    parser.add_argument(
        "--measure",
        metavar="MEASURE",
        help="logical: how compared values are judged: exact (default), abs, rel, ulp or quantum",
    )
    parser.add_argument(
        "--epsilon", type=float, help="logical: within how much; statistical: margin of the test"
    )
    parser.add_argument("--n", type=int, help="statistical: how many seeds (30)")
    parser.add_argument("--alpha", type=float, help="statistical: chance of passing a difference")
    parser.add_argument("--power", type=float, help="statistical: chance of passing equal systems")
    add_policies(parser)
    parser.add_argument(
        "--exit-code", action="store_true", help="exit with the program's own exit code, not 0 or 1"
    )
    parser.add_argument(
        "--on-full", choices=[GO_ON, "stop"], default=GO_ON,
        help="when the record cannot be written any more: go on without it, or end the program",
    )  # fmt: skip
    parser.add_argument("--quiet", action="store_true", help="do not pass the program's output on")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Record, and say what was recorded."""
    program = program_of(options, "record")
    seed = master_seed(seed_of(options))
    setup = Setup(
        program=program,
        seed=seed,
        config=config_of(options),
        predicate=predicate_of(options),
        **policies_of(options),
    )
    name = program.target if program.kind == "main" else Path(program.target).stem
    out = options.out or Path(f"{name}.twice")
    refuse_existing(out, force=options.force, is_record=True)
    surroundings = for_recording(os.environ, explicit=variables_of(options))
    show = not options.quiet and not options.json
    with Progress("sampling") as progress:
        ended = record_program(
            setup,
            surroundings,
            out,
            force=options.force,
            show=show,
            stdin=True,
            progress=progress,
            on_full=options.on_full,
        )
    _tell(program, ended, out, as_json=options.json)
    left = still_in(out, {**os.environ, **variables_of(options)}, Redaction(setup.redaction))
    for place in left:
        print(f"note: a secret stands in the record all the same, {place}", file=sys.stderr)
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
    return code & 0xFF if options.exit_code else int(code != 0)


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


def predicate_of(options: argparse.Namespace) -> Predicate:
    """The class that the options state, with its tolerance, or with what the statistical one compares.

    Raises:
        ClassRefused: E-CLASS-001, for a tolerance that makes no sense. UsageError: E-USE-001, for options that belong
            to another class.
    """
    predicate = Predicate.parse(options.classes, options.scope)
    if options.measure is not None:
        classes = {predicate.determinism_class, *predicate.subsystems.values()}
        if DeterminismClass.LOGICAL not in classes:
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
