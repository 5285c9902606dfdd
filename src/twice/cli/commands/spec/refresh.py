"""Bring test vector, digests, scaffold, costs and sheet 99 up to date after a change of the code, and say what was done.

  twice spec refresh
  twice spec refresh --check

It EXECUTES the program of sheet 00 where the code is not the one that was recorded or measured: once for the vector, in
a copy of its files, and for the costs as often as they were measured before. A file of the scaffold that you changed
is listed and left; so is everything that a sheet decides. --check executes and writes nothing.

Exit code 0 when all of it is up to date; 1 when something is left for you to settle, or is stale with --check; 2 when
a run does not come to its end, or the sheets cannot be read: what was there stays.
"""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace

import click

from twice.cli.commands.spec.consolidation import SETTLED, after_passing, consolidate_locked
from twice.cli.commands.spec.opening import (
    FORMAT,
    WorkspaceOptions,
    next_lines,
    save_lock,
    workspace_options,
)
from twice.cli.commands.spec.stepping import completing
from twice.cli.console import Status
from twice.cli.group import make_command
from twice.cli.options import json_option
from twice.cli.output import align, tell
from twice.errors import TwiceError
from twice.specification.consolidate import CONSOLIDATION
from twice.specification.lock import NAME, read_lock
from twice.specification.refresh import RefreshStep, refresh
from twice.specification.workspace import Workspace, open_workspace, save


@make_command(
    click.option("--check", is_flag=True, help="only say what is stale; executes nothing"),
    workspace_options,
    json_option,
)
def command(check: bool, where: WorkspaceOptions, as_json: bool) -> int:
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
                print("\n".join(_to_lines(steps)), file=sys.stderr)
            raise
    steps.append(_consolidate(open_workspace(workspace.project), only_look=check))
    after = open_workspace(workspace.project)
    states = {each.state for each in steps}
    is_stale = "stale" in states
    following = ["twice spec refresh"] if is_stale else [*completing(after)] or after_passing(after)
    rows = [{"what": each.what, "state": each.state, "said": each.said} for each in steps]
    lines = [*_to_lines(steps), *(next_lines(following) if following else [SETTLED])]
    document = {"format": FORMAT, "steps": rows, "next": following}
    return tell(document, lines, as_json=as_json, code=1 if states & {"stale", "left"} else 0)


def _to_lines(steps: list[RefreshStep]) -> list[str]:
    return align([(each.what, each.state, each.said) for each in steps], indent="")


def _consolidate(workspace: Workspace, *, only_look: bool) -> RefreshStep:
    """Make sheet 99 anew where the sheets moved since, or the gate that it names is not the last one."""
    lock = read_lock(workspace.folder / NAME)
    before = workspace.get(CONSOLIDATION)
    whole = consolidate_locked(workspace, lock)
    if whole.sheet is None:
        first = "other sheets come first: twice spec status"
        return RefreshStep(CONSOLIDATION, "left" if whole.why else "absent", whole.why or first)
    if before is not None and before.source == whole.sheet.source:
        return RefreshStep(CONSOLIDATION, "same", f"{before.text('status')}: {whole.why}")
    if only_look:
        return RefreshStep(CONSOLIDATION, "stale", whole.lines[0])
    after, locked = whole.put_in(workspace, lock)
    save(workspace, after)
    save_lock(workspace, lock, locked)
    return RefreshStep(CONSOLIDATION, "updated", whole.lines[0])
