"""Measure what each rule of determinism costs on a program of yours.

  twice cost examples/swarm.py:main --seed 42 --set n=4 --set ticks=200 --rounds 2 --rule "output captured"
  twice cost a.twice --rounds 2 --rule "effects recorded"
  twice cost --list

Every rule that can be switched off is: alone, against everything as declared, and against the bare program.
Runs are made in fresh processes, round after round in another order, so the program runs many times, and does
in earnest what it does: writes, requests, mails. Without --rule every rule is switched off, which is about two
hundred short runs. Without a program, that of the record that sheet 01 names is measured.
--write keeps the figures in the specification: evidence/cost.json, and the measured cells of sheet 13.

Exit code 0 within the budget of sheet 13 or --budget, or where there is none; 1 beyond it; 2 when that could
not be told, or wrong use.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from twice.errors import UsageError
from twice.foundation.determinism_class import Predicate
from twice.recording.naming import is_record
from twice.recording.recorder import master_seed
from twice.recording.setup import Setup
from twice.recording.surroundings import for_recording
from twice.specifying.costing.costing import (
    ROUNDS,
    chosen_rules,
    making_of_record,
    measure_cost,
)
from twice.specifying.costing.evidence import NUMBER, write_evidence
from twice.specifying.costing.making import Making
from twice.specifying.costing.rules import NOT_SWITCHED, RULES
from twice.specifying.workspace import Workspace, find_workspace, open_workspace
from twice.surfaces.cli.policies import add_policies, policies_of, variables_of
from twice.surfaces.cli.showing import Doing, add_json, aligned, print_json
from twice.surfaces.cli.spec.opening import add_project, project_of
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
        "--rounds", type=int, default=ROUNDS, help=f"how often each run is made ({ROUNDS})"
    )
    parser.add_argument(
        "--rule", action="append", default=[], metavar="NAME", dest="rules",
        help="switch this one off only; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--budget", type=int, metavar="PERCENT", help="how much slower a recorded run may be"
    )
    parser.add_argument(
        "--by", choices=["wall", "cpu"], default="wall",
        help="the clock that the budget is judged by; cpu on a busy machine",
    )  # fmt: skip
    parser.add_argument(
        "--write", action="store_true", help="keep the figures in the specification"
    )
    parser.add_argument("--list", action="store_true", help="print the rules, and those that stay")
    add_policies(parser)
    add_project(parser)
    add_trust(parser, allows=False)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Measure, write down where asked to, and print."""
    with trust_records(options, records_in(options)):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    if options.list:
        print("\n".join(_listed()))
        return 0
    rules = chosen_rules(options.rules)
    workspace = _workspace(options)
    declared = _declared(options, workspace)
    budget = _budget(options, workspace)
    with Doing() as doing:
        cost = measure_cost(
            declared,
            rounds=options.rounds,
            rules=rules,
            budget_percent=budget,
            by=options.by,
            project=None if workspace is None else workspace.project,
            progress=doing,
        )
    if options.write and workspace is not None:
        paths = write_evidence(workspace.project, cost)
        print(f"written: {', '.join(paths)}", file=sys.stderr)
    if options.json:
        print_json(cost.to_json())
        return cost.judgement.exit_code
    print(cost.to_text())
    if cost.judgement.result == "unknown":
        clock = "" if options.by == "cpu" else ", or with --by cpu"
        print(f"next: the same, longer, with --rounds {options.rounds * 3}{clock}")
    elif workspace is not None and not options.write:
        print("next: the same with --write, then twice spec changed 13")
    return cost.judgement.exit_code


def _workspace(options: argparse.Namespace) -> Workspace | None:
    """Read the specification, where there is one; --write needs it, and its sheet 13."""
    if not options.write and options.project is None and find_workspace(Path()) is None:
        return None
    if options.write and options.rules:
        raise UsageError(
            "--write was given together with --rule.",
            "Expected all rules: the evidence is one measurement, and sheet 13 speaks of all of them.",
            "Leave --rule out, or --write.",
        )
    workspace = open_workspace(project_of(options))
    if options.write:
        workspace.need(NUMBER, "that is where costs are written")
    return workspace


def _budget(options: argparse.Namespace, workspace: Workspace | None) -> int | None:
    if options.budget is not None:
        if options.budget < 0:
            raise UsageError(
                f"--budget is {options.budget}.",
                "Expected percent that a recorded run may take more, 0 or more.",
                "For example: --budget 50",
            )
        return int(options.budget)
    sheet = None if workspace is None else workspace.get(NUMBER)
    said = None if sheet is None else sheet.get("budget_percent")
    return said if isinstance(said, int) else None


def _declared(options: argparse.Namespace, workspace: Workspace | None) -> Making:
    """Give the run with everything that holds in it."""
    if options.module is None:
        record = _record(options, workspace)
        if record is not None:
            _refuse_options_of_runs(options, record)
            return making_of_record(record)
    policies = policies_of(options)
    if options.classes:
        policies["predicate"] = Predicate.parse(options.classes, "host")
    program = program_of(options, "cost")
    setup = Setup(program, master_seed(seed_of(options)), config_of(options), **policies)
    return Making(setup, for_recording(os.environ, explicit=variables_of(options)))


def _record(options: argparse.Namespace, workspace: Workspace | None) -> str | None:
    """Give the record that is meant: the one named, or without a program that of sheet 01."""
    if options.program is not None:
        return str(options.program) if is_record(options.program) else None
    promise = None if workspace is None else workspace.get("01")
    if workspace is None or promise is None or not promise.said("vector"):
        return None
    return str(workspace.project / promise.said("vector"))


def _refuse_options_of_runs(options: argparse.Namespace, record: str) -> None:
    given = [
        *(["a seed"] if options.seed is not None else []),
        *(["values"] if options.settings or options.config is not None else []),
        *(["a class"] if options.classes else []),
        *(["variables"] if options.variables else []),
        *(["arguments"] if options.arguments else []),
    ]
    if given:
        raise UsageError(
            f"{record} is a record, and was given {' and '.join(given)} too.",
            "Expected them to come from the record.",
            "Leave them out, or name the program instead.",
        )


def _listed() -> list[str]:
    rows = [(each.name, each.artifact, each.what) for each in RULES]
    stay = [(each.name, each.artifact, f"not measured: {each.why}") for each in NOT_SWITCHED]
    return aligned([*rows, *stay], indent="")
