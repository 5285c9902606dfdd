"""Write sheet 99: the versions it stands for, what each sheet says with a place to cite it, and the gate that passed.

  twice spec consolidate

Without a fresh report of a gate that passed it is a draft, and says so. After twice gate it is run once more.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final

from twice.foundation.digests import digest_bytes
from twice.specification.changes import to_lock_entry
from twice.specification.consolidate import PassedGate, consolidate, is_settled, refuse_unmoved
from twice.specification.gate.report import GateResult
from twice.specification.gate.runner import read_report, report_path
from twice.specification.workspace import Workspace, save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import (
    FORMAT,
    add_project,
    opened,
    print_next,
    save_lock,
    shown,
)
from twice.surfaces.cli.spec.reading_code import findings_by_sheet

SETTLED: Final = "settled: sheet 99 names the gate that passed"


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Write it."""
    workspace, lock = opened(options)
    refuse_unmoved(workspace, lock)
    passed, why = passed_gate(workspace)
    sheet = consolidate(workspace, passed, findings_by_sheet(workspace))
    after = replace(workspace, sheets={**workspace.sheets, "99": sheet})
    save(workspace, after)
    save_lock(workspace, lock, lock.with_sheet("99", to_lock_entry(sheet)))
    told = {
        "format": FORMAT,
        "path": shown(workspace, sheet.path),
        "version": sheet.version,
        "status": sheet.text("status"),
        "why": why,
    }
    if options.json:
        print_json(told)
    else:
        print(f"{told['path']}: {sheet.version}, {told['status']}: {why}")
        if passed is None:
            print_next(["twice gate", "twice spec consolidate"])
    return 0


def passed_gate(workspace: Workspace) -> tuple[PassedGate | None, str]:
    """Give the gate that passed on the sheets as they are, or why there is none."""
    path = report_path(workspace)
    if not path.is_file():
        return None, "no gate has run"
    report = read_report(workspace.project, datetime.now(UTC).date())
    if report.result is not GateResult.PASS:
        return None, f"the last gate said {report.result.value}"
    if report.moved:
        return None, f"the last gate is stale ({', '.join(report.moved)} moved)"
    shown = path.relative_to(workspace.project).as_posix()
    return PassedGate(
        shown, str(digest_bytes(path.read_bytes()))
    ), "a gate has passed on these sheets"


def after_passing(workspace: Workspace) -> list[str]:
    """Give what is left to do once every sheet is written: nothing when sheet 99 names the gate."""
    passed, _ = passed_gate(workspace)
    if passed is None:
        return ["twice gate"]
    return [] if is_settled(workspace, passed) else ["twice spec consolidate"]
