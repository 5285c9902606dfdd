"""Measure what each rule of determinism costs on a program of yours.

  twice cost examples/swarm.py:main --seed 42 --set n=4 --set ticks=200 --rounds 2 --rule "output captured"
  twice cost a.twice --rounds 2 --rule "effects recorded"
  twice cost --list

Every rule that can be switched off is, one at a time: what the run with everything takes more is its cost.
Runs are made in fresh processes, round after round in another order, so the program runs thirty to eighty times, and
does in earnest what it does: writes, requests, mails. Without --rounds there are 2 to 5, as many as fit into a minute.
Without a program, that of the record that sheet 01 names is measured.
--write keeps the figures in the specification, as evidence/cost.json; `twice spec fill` makes sheet 13 refer to them.

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
from twice.specification.cost.measurement import measure_cost, read_variant
from twice.specification.cost.result import EVIDENCE, NUMBER, write_evidence
from twice.specification.cost.rules import NOT_SWITCHED, RULES, CostRule, RunVariant, choose_rules
from twice.specification.workspace import Workspace, find_workspace, open_workspace
from twice.surfaces.cli.policies import add_policies, policies_of, variables_of
from twice.surfaces.cli.showing import Doing, add_json, aligned, print_json
from twice.surfaces.cli.spec.opening import add_project, project_of
from twice.surfaces.cli.starting import (
    add_program,
    add_starting,
    config_of,
    program_of,
    seed_of,
)
from twice.surfaces.cli.trusting import add_trust, trust_records

PASSES_ON = "arguments"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_program(parser, "a program as `twice record` takes it, or a record")
    add_starting(parser, classes="bit-exact or logical")
    parser.add_argument(
        "--rounds",
        type=int,
        help="how often each run is made; by default as a minute allows, 2 to 5",
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
    if options.list:
        print("\n".join(_listed()))
        return 0
    rules = choose_rules(options.rules)
    workspace = _workspace(options)
    record = _record(options, workspace) if options.module is None else None
    # The record that sheet 01 names is trusted like one that was typed.
    with trust_records(options, [] if record is None else [Path(record)]):
        return _measure(options, rules, workspace, record)


def _measure(
    options: argparse.Namespace,
    rules: list[CostRule],
    workspace: Workspace | None,
    record: str | None,
) -> int:
    if record is None:
        declared = _declared(options)
    else:
        _refuse_options_of_runs(options, record)
        declared = read_variant(record)
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
        write_evidence(workspace.project, cost)
        print(f"written: {EVIDENCE}", file=sys.stderr)
    if options.json:
        print_json(cost.to_json())
        return cost.judgement.exit_code
    print(cost.to_text())
    if cost.judgement.result == "unknown":
        clock = "" if options.by == "cpu" else ", or with --by cpu"
        print(f"next: the same, longer, with --rounds {len(cost.everything) * 3}{clock}")
    elif workspace is not None:
        print("next: " + ("twice spec fill" if options.write else "the same with --write"))
    return cost.judgement.exit_code


def _workspace(options: argparse.Namespace) -> Workspace | None:
    """Read the specification, where there is one; --write needs it, and its sheet 13."""
    if not options.write and options.project is None and find_workspace(Path()) is None:
        return None
    if options.write and options.rules:
        raise UsageError(
            "--write was given together with --rule.",
            "Expected all rules: the evidence is one measurement of all of them.",
            "Leave --rule out, or --write.",
        )
    workspace = open_workspace(project_of(options))
    if options.write:
        workspace.require(NUMBER, "it is what names the file of costs")
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


def _declared(options: argparse.Namespace) -> RunVariant:
    """Give the run with everything that holds in it."""
    policies = policies_of(options)
    if options.classes:
        policies["predicate"] = Predicate.parse(options.classes, "host")
    program = program_of(options, "cost")
    setup = Setup(program, master_seed(seed_of(options)), config_of(options), **policies)
    return RunVariant(setup, for_recording(os.environ, explicit=variables_of(options)))


def _record(options: argparse.Namespace, workspace: Workspace | None) -> str | None:
    """Give the record that is meant: the one named, or without a program that of sheet 01."""
    if options.program is not None:
        return str(options.program) if is_record(options.program) else None
    promise = None if workspace is None else workspace.get("01")
    if workspace is None or promise is None or not promise.text("vector"):
        return None
    return str(workspace.project / promise.text("vector"))


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
