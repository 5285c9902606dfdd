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

import os
import sys
from pathlib import Path
from typing import Literal

import click

from twice.cli.commands.spec.opening import WorkspaceOptions, workspace_options
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import json_option, several
from twice.cli.output import align, print_lines, tell
from twice.cli.policies import PolicyOptions, policy_options
from twice.cli.run_options import (
    ProgramOptions,
    StartOptions,
    TrustOptions,
    program_options,
    start_options,
    trust_alone,
)
from twice.errors import UsageError
from twice.foundation.determinism_class import Predicate
from twice.recording.naming import is_record
from twice.recording.recorder import master_seed
from twice.recording.setup import Setup
from twice.recording.surroundings import for_recording
from twice.specification.cost.measurement import measure_cost, read_variant
from twice.specification.cost.result import EVIDENCE, NUMBER, write_evidence
from twice.specification.cost.rules import NOT_SWITCHED, RULES, RunVariant, choose_rules
from twice.specification.workspace import Workspace, find_workspace, open_workspace


@make_command(
    program_options,
    start_options("bit-exact or logical"),
    click.option(
        "--rounds", type=int, metavar="N",
        help="how often each run is made; by default as a minute allows, 2 to 5",
    ),
    several("--rule", "rules", metavar="NAME", help="switch this one off only"),
    click.option(
        "--budget", type=int, metavar="PERCENT", help="how much slower a recorded run may be"
    ),
    click.option(
        "--by", type=click.Choice(["wall", "cpu"]), default="wall",
        help="the clock that the budget is judged by; cpu on a busy machine",
    ),
    click.option("--write", "writes", is_flag=True, help="keep the figures in the specification"),
    click.option("--list", "lists", is_flag=True, help="print the rules, and those that stay"),
    policy_options,
    workspace_options,
    trust_alone,
    json_option,
    splits=True,
)  # fmt: skip
def command(
    program: ProgramOptions,
    start: StartOptions,
    rounds: int | None,
    rules: tuple[str, ...],
    budget: int | None,
    by: Literal["wall", "cpu"],
    writes: bool,
    lists: bool,
    policies: PolicyOptions,
    where: WorkspaceOptions,
    trust: TrustOptions,
    as_json: bool,
) -> int:
    """Measure, write down where asked to, and print."""
    if lists:
        rows = [(each.name, each.artifact, each.what) for each in RULES]
        stay = [(each.name, each.artifact, f"not measured: {each.why}") for each in NOT_SWITCHED]
        print_lines(align([*rows, *stay], indent=""))
        return 0
    chosen = choose_rules(rules)
    if writes and rules:
        raise UsageError(
            "--write was given together with --rule.",
            "Expected all rules: the evidence is one measurement of all of them.",
            "Leave --rule out, or --write.",
        )
    is_specified = writes or where.project is not None or find_workspace(Path()) is not None
    workspace = open_workspace(where.folder()) if is_specified else None
    if writes and workspace is not None:
        workspace.require(NUMBER, "it is what names the file of costs")
    record = _find_record(program, workspace) if program.module is None else None
    # The record that sheet 01 names is trusted like one that was typed.
    with trust.trusting(*([] if record is None else [Path(record)])), Status() as status:
        if record is None:
            declared = _declare_run(program, start, policies)
        else:
            _refuse_options_of_runs(record, program, start, policies)
            declared = read_variant(record)
        cost = measure_cost(
            declared,
            rounds=rounds,
            rules=chosen,
            budget_percent=_find_budget(budget, workspace),
            by=by,
            project=None if workspace is None else workspace.project,
            progress=status,
        )
    if writes and workspace is not None:
        write_evidence(workspace.project, cost)
        print(f"written: {EVIDENCE}", file=sys.stderr)
    lines = [cost.to_text()]
    if cost.judgement.result == "unknown":
        clock = "" if by == "cpu" else ", or with --by cpu"
        lines += [f"next: the same, longer, with --rounds {len(cost.everything) * 3}{clock}"]
    elif workspace is not None:
        lines += ["next: " + ("twice spec fill" if writes else "the same with --write")]
    return tell(cost.to_json(), lines, as_json=as_json, code=cost.judgement.exit_code)


def _find_budget(given: int | None, workspace: Workspace | None) -> int | None:
    if given is not None:
        if given < 0:
            raise UsageError(
                f"--budget is {given}.",
                "Expected percent that a recorded run may take more, 0 or more.",
                "For example: --budget 50",
            )
        return given
    sheet = None if workspace is None else workspace.get(NUMBER)
    said = None if sheet is None else sheet.get("budget_percent")
    return said if isinstance(said, int) else None


def _declare_run(
    program: ProgramOptions, start: StartOptions, policies: PolicyOptions
) -> RunVariant:
    """Give the run with everything that holds in it."""
    found, fields = program.find("cost"), policies.to_setup()
    if start.classes:
        fields["predicate"] = Predicate.parse(start.classes, "host")
    seed = master_seed(start.master_seed())
    setup = Setup(found, seed, start.values(), **fields)
    return RunVariant(setup, for_recording(os.environ, explicit=policies.environment()))


def _find_record(program: ProgramOptions, workspace: Workspace | None) -> str | None:
    """Give the record that is meant: the one named, or without a program that of sheet 01."""
    if program.program is not None:
        return program.program if is_record(program.program) else None
    promise = None if workspace is None else workspace.get("01")
    if workspace is None or promise is None or not promise.text("vector"):
        return None
    return str(workspace.project / promise.text("vector"))


def _refuse_options_of_runs(
    record: str, program: ProgramOptions, start: StartOptions, policies: PolicyOptions
) -> None:
    given = {
        "a seed": start.seed is not None,
        "values": start.settings or start.config is not None,
        "a class": start.classes,
        "variables": policies.variables,
        "arguments": program.arguments,
    }
    if named := [name for name, value in given.items() if value]:
        raise UsageError(
            f"{record} is a record, and was given {' and '.join(named)} too.",
            "Expected them to come from the record.",
            "Leave them out, or name the program instead.",
        )
