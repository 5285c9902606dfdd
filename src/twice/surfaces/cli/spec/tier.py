"""Say which tier is declared, and what forces another.

  twice spec tier
  twice spec tier --promote

A sheet that says more than its tier holds forces the tier up; that is a promotion and never waived. Exit code 0 when the
declared tier holds, 1 when it does not.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from twice.errors import WorkspaceRefused
from twice.specifying.promotion import cap, forced_tier, forces, needed_at
from twice.specifying.workspace import save
from twice.surfaces.cli.showing import add_json, print_json
from twice.surfaces.cli.spec.opening import FORMAT, add_project, opened, print_next
from twice.surfaces.cli.spec.stepping import completing


def arrange(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--promote", action="store_true", help="declare the tier that is forced")
    add_project(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Say it, and promote where asked."""
    workspace, _ = opened(options)
    declared, forced, capped = workspace.situation().tier, forced_tier(workspace), cap(workspace)
    if capped is not None and forced > capped.tier and options.promote:
        raise WorkspaceRefused(
            f"{capped.sheet}.{capped.key} caps the tier at {capped.tier}: {capped.why}.",
            f"Expected nothing that forces {forced}.",
            "Make the effect substitutable, or take back what forces the tier.",
        )
    promoted = options.promote and forced > declared
    if promoted:
        before, artifacts = workspace, dict(workspace.artifacts)
        for number in ("00", "01"):
            if number in artifacts:
                artifacts[number] = artifacts[number].with_value("tier", forced.value)
        workspace = replace(workspace, artifacts=artifacts)
        save(before, workspace)
    told = {
        "format": FORMAT,
        "tier": (forced if promoted else declared).value,
        "forced": forced.value,
        "forces": [
            {
                "tier": each.tier.value,
                "sheet": each.sheet,
                "key": each.key,
                "why": each.why,
                "caps": each.caps,
            }
            for each in forces(workspace)
        ],
        "missing": list(needed_at(workspace, forced)),
    }
    if options.json:
        print_json(told)
    else:
        print(f"tier {told['tier']}" + ("" if forced == declared else f", forced {forced}"))
        for each in forces(workspace):
            print(
                f"  {each.sheet}.{each.key} {'caps it at' if each.caps else 'needs'} {each.tier}: {each.why}"
            )
        if told["missing"]:
            print(f"missing: {', '.join(needed_at(workspace, forced))}")
        if forced > declared and not promoted:
            print("next: twice spec tier --promote")
        else:
            print_next(list(completing(workspace)) or ["twice spec status"])
    holds = promoted or forced == declared
    return 0 if holds and not (capped and declared > capped.tier) else 1
