r"""Measure what each rule of determinism costs on a program of yours.

  twice cost examples/swarm.py:main --seed 42 --set n=4 --set ticks=200 \
      --rounds 2 --rule "output captured"
  twice cost a.twice --rounds 2 --rule "effects recorded"
  twice cost --list

Every rule that can be switched off is, one at a time: what the run with everything takes more is its cost.
Runs are made in fresh processes, round after round in another order, so the program runs thirty to eighty times, and
does in earnest what it does: writes, requests, mails. Without --rounds there are 2 to 5, as many as fit into a minute.
Without a program, that of the record that sheet 01 names is measured.
--replay replays what was recorded, in the same round: the ratio is what sheet 06 may promise as `throughput`.
--write keeps the figures in the specification, as evidence/cost.json; `twice spec fill` makes sheet 13 refer to them.

Exit code 0 within the budget of sheet 13 or --budget, or where there is none; 1 beyond it; 2 when that could
not be told, or wrong use.
"""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

import click

from twice.cli.commands.spec.workspace import WorkspaceOptions
from twice.cli.console import Status
from twice.cli.options import AsJson, build_command, option, refuse_together
from twice.cli.output import align, tell
from twice.cli.policies import PolicyOptions
from twice.cli.run_options import ProgramOptions, StartOptions, TrustFlag
from twice.errors import UsageError
from twice.foundation.determinism_class import Predicate
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.recorder import choose_master_seed
from twice.recorder.setup import Setup
from twice.specification.cost.measurement import measure_cost, read_variant
from twice.specification.cost.result import EVIDENCE, NUMBER, write_evidence
from twice.specification.cost.rules import NOT_SWITCHED, RULES, RunVariant, choose_rules
from twice.specification.location import find_workspace


@build_command
def command(
    program: ProgramOptions,
    start: StartOptions,
    rounds: Annotated[int | None, option(
        "--rounds N", "how often each run is made; by default as a minute allows, 2 to 5")],
    rules: Annotated[tuple[str, ...], option("--rule NAME", "switch this one off only")],
    budget: Annotated[int | None, option(
        "--budget PERCENT", "how much slower a recorded run may be", type=click.IntRange(0))],
    by: Annotated[Literal["wall", "cpu"], option(
        "--by", "the clock that the budget is judged by; cpu on a busy machine", default="wall")],
    with_replay: Annotated[bool, option("--replay", "replay each recording too, and compare how long both take")],
    writes: Annotated[bool, option("--write", "keep the figures in the specification")],
    lists: Annotated[bool, option("--list", "print the rules, and those that stay")],
    policies: PolicyOptions,
    where: WorkspaceOptions,
    trust: TrustFlag,
    as_json: AsJson,
) -> int:  # fmt: skip
    """Measure, write down where asked to, and print."""
    if lists:
        rows = [(each.name, each.artifact, each.what) for each in RULES]
        stay = [(each.name, each.artifact, f"not measured: {each.why}") for each in NOT_SWITCHED]
        document = {
            "format": "twice.cost-rules/1",
            "rules": [dict(zip(("name", "artifact", "what"), row, strict=True)) for row in rows],
            "not_measured": [asdict(each) for each in NOT_SWITCHED],
        }
        return tell(document, align([*rows, *stay], indent=""), as_json=as_json)
    chosen = choose_rules(rules)
    expected = "all rules: the evidence is one measurement of all of them"
    refuse_together({"--write": writes, "--rule": rules}, expected)
    is_specified = writes or where.is_given or find_workspace(Path()) is not None
    workspace = where.open()[0] if is_specified else None
    if writes and workspace is not None:
        workspace.require(NUMBER, "it is what names the file of costs")
    records = program.records()
    if program.program is None and program.module is None and workspace is not None:
        named = workspace.text("01", "vector")
        records = [workspace.project / named] if named else []
    if budget is None:
        said = None if workspace is None else workspace.value(NUMBER, "budget_percent")
        budget = said if isinstance(said, int) else None
    # The record that sheet 01 names is trusted like one that was typed.
    with trust.trusting(*records), Status() as status:
        declared = declare_run(records, program, start, policies)
        cost = measure_cost(
            declared,
            rounds=rounds,
            rules=chosen,
            budget_percent=budget,
            by=by,
            project=None if workspace is None else workspace.project,
            progress=status,
            with_replay=with_replay,
        )
    if writes and workspace is not None:
        write_evidence(workspace.project, cost, base=workspace.base)
        print(f"written: {workspace.base}/{EVIDENCE}", file=sys.stderr)
    lines = [cost.to_text()]
    if cost.judgement.result == "unknown":
        clock = "" if by == "cpu" else ", or with --by cpu"
        lines += [f"next: the same, longer, with --rounds {len(cost.everything) * 3}{clock}"]
    elif workspace is not None:
        lines += ["next: " + ("twice spec fill" if writes else "the same with --write")]
    return tell(cost.to_json(), lines, as_json=as_json, code=cost.judgement.exit_code)


def declare_run(
    records: list[Path], program: ProgramOptions, start: StartOptions, policies: PolicyOptions
) -> RunVariant:
    """Give the run with everything that holds in it: a record's, else the program's.

    Raises:
        UsageError: E-USE-001, when a record is given what it says itself.
    """
    if records:
        given = {
            "a seed": start.seed is not None,
            "values": start.settings or start.config is not None,
            "a class": start.classes,
            "variables": policies.variables,
            "arguments": program.arguments,
        }
        if names := [name for name, value in given.items() if value]:
            raise UsageError(
                f"{records[0]} is a record, and was given {' and '.join(names)} too.",
                "Expected them to come from the record.",
                "Leave them out, or name the program instead.",
            )
        return read_variant(str(records[0]))
    found, fields = program.find("cost"), policies.to_setup()
    if start.classes:
        fields["predicate"] = Predicate.parse(start.classes, "host")
    setup = Setup(found, choose_master_seed(start.master_seed()), start.values(), **fields)
    surroundings = for_recording(os.environ, explicit=policies.environment())
    return RunVariant(setup, setup.apply_policies(surroundings))
