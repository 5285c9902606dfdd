"""Bring test vector, digests, scaffold, costs and sheet 99 up to date after a change of the code, and say what was done.

  twice spec refresh
  twice spec refresh --check

It EXECUTES the program of sheet 00 where the code is not the one that was recorded or measured: once for the vector, in
a copy of its files, and for the costs as often as they were measured before. A file of the scaffold that you changed
is listed and left; so is everything that a sheet decides. --check executes and writes nothing.

Exit code 0 when all of it is up to date; 1 when something is left for you to decide, or is stale with --check; 2 when
a run does not come to its end, or the sheets cannot be read: what was there stays.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Annotated

from twice.cli.code_facts import read_rules
from twice.cli.commands.spec.workspace import (
    WorkspaceOptions,
    describe_consolidated,
    list_steps,
    name_component,
    tell_spec,
)
from twice.cli.console import Status
from twice.cli.options import AsJson, build_command, option
from twice.cli.output import align, pick, print_beside
from twice.errors import TwiceError
from twice.specification.consolidate import CONSOLIDATION, consolidate_locked
from twice.specification.lock import NAME, read_lock
from twice.specification.refresh import RefreshStep, refresh
from twice.specification.workspace import Workspace, open_workspace


@build_command
def command(
    check: Annotated[bool, option("--check", "only say what is stale; executes nothing")],
    where: WorkspaceOptions,
    as_json: AsJson,
) -> int:
    """Look, do, and say one line for each part."""
    found, _ = where.open()
    # Programs are found from the project's folder on, wherever their records were made.
    workspace = replace(found, project=found.project.resolve())
    steps: list[RefreshStep] = []
    with Status() as status, contextlib.chdir(workspace.project):
        try:
            for step in refresh(workspace, status, only_look=check):
                steps.append(step)  # noqa: PERF402  (a refusal leaves what was done before)
        except TwiceError:
            if steps:
                print_beside(*_to_lines(steps))
            raise
    steps.append(_consolidate(open_workspace(workspace.project, workspace.base), only_look=check))
    after = open_workspace(workspace.project, workspace.base)
    states = {each.state for each in steps}
    lock = read_lock(after.folder / NAME)
    stale = name_component(after, ["twice spec refresh"])
    following = stale if "stale" in states else list_steps(after, lock)
    rows = [pick(each, "what", "state", "said") for each in steps]
    document, code = {"steps": rows, "next": following}, 1 if states & {"stale", "left"} else 0
    return tell_spec(document, _to_lines(steps), following, as_json=as_json, code=code)


def _to_lines(steps: list[RefreshStep]) -> list[str]:
    return align([(each.what, each.state, each.said) for each in steps], indent="")


def _consolidate(workspace: Workspace, *, only_look: bool) -> RefreshStep:
    """Make sheet 99 anew where the sheets moved since, or the gate that it names is not the last one."""
    lock = read_lock(workspace.folder / NAME)
    before = workspace.get(CONSOLIDATION)
    whole = consolidate_locked(workspace, lock, read_rules)
    if whole.sheet is None:
        first = "other sheets come first: twice spec status"
        return RefreshStep(CONSOLIDATION, "left" if whole.why else "absent", whole.why or first)
    if before is not None and before.source == whole.sheet.source:
        return RefreshStep(CONSOLIDATION, "same", f"{before.text('status')}: {whole.why}")
    if not only_look:
        whole.save(workspace, lock)
    _, (said,) = describe_consolidated(whole)
    return RefreshStep(CONSOLIDATION, "stale" if only_look else "updated", said)
