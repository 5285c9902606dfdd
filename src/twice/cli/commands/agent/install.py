"""Write the agent pack into the project in this folder, update it, or remove it.

  twice agent install
  twice agent install --for claude --for cursor
  twice agent install --for claude --allow-run
  twice agent install --dry-run --json
  twice agent install --uninstall

The pack is a skill with references, four commands, two agents, the entry of the server `twice mcp`, and a section of
AGENTS.md between marks. Without --for, twice writes it for the agents whose folders are here (.claude, .codex,
.cursor, .gemini), else for any agent: skills and AGENTS.md. Your settings stay. A file that you changed is listed and
left. --uninstall removes the content that the command wrote, and nothing else; with --for, that of one agent.

The server of the entry only reads. With --allow-run your agent can execute the programs of this project, as you, and
write files in it. A later install without --allow-run takes that back.

Exit code 0 done, 1 a file that you changed is left as it is, 2 wrong use, or nothing could be written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import click

from twice.cli.options import AsJson, build_command, option
from twice.cli.output import align, tell
from twice.foundation.printable import pluralize

if TYPE_CHECKING:
    from twice.agent.installation import InstallPlan

_TARGETS: Final = ("claude", "codex", "cursor", "gemini", "generic")


@build_command
def command(
    agents: Annotated[tuple[str, ...], option(
        "--for AGENT", f"{', '.join(_TARGETS)}", type=click.Choice(_TARGETS))],
    dry_run: Annotated[bool, option("--dry-run", "print the changes, and write nothing")],
    allow_run: Annotated[bool, option(
        "--allow-run", "let the agent's server execute the programs of this project, and write files")],
    uninstalls: Annotated[bool, option("--uninstall", "remove what the command wrote")],
    as_json: AsJson,
) -> int:  # fmt: skip
    """Plan, write, and print the changes."""
    from twice.agent.installation import InstallAction, apply_install, plan_install
    from twice.agent.pack import Target

    plan = plan_install(
        Path.cwd(), [*map(Target, agents)], uninstalls=uninstalls, allows_run=allow_run
    )
    if not dry_run:
        apply_install(plan)
    edited = [each.path for each in plan.changes if each.action is InstallAction.EDITED]
    document = {
        "format": "twice.agent/1",
        "targets": [*plan.targets],
        "changed": plan.is_changing and not dry_run,
        "files": [{"path": each.path, "action": each.action} for each in plan.changes],
    }
    lines = _to_lines(plan, edited, dry_run=dry_run)
    return tell(document, lines, as_json=as_json, code=1 if edited else 0)


def _list_rows(plan: InstallPlan, *, lists_all: bool) -> Iterator[tuple[str, str]]:
    """Name each file, or count those of a folder: they are many, and only what is left has to be read."""
    groups: dict[tuple[str, str], list[str]] = {}
    for each in plan.changes:
        action, path = each.action.value, each.path
        if action != "same":
            shown = path if lists_all or action == "edited" else path.partition("/")[0]
            groups.setdefault((action, shown), []).append(path)
    for (action, shown), paths in groups.items():
        yield action, paths[0] if len(paths) == 1 else f"{shown}: {pluralize(len(paths), 'file')}"


def _to_lines(plan: InstallPlan, edited: list[str], *, dry_run: bool) -> Iterator[str]:
    yield from align([*_list_rows(plan, lists_all=dry_run)], indent="")
    if edited:
        yield "edited: you changed these files, and they are left as they are"
    counts = Counter(each.action.value for each in plan.changes if each.before != each.after)
    said = ", ".join(f"{number} {action}" for action, number in sorted(counts.items()))
    agents = ", ".join(plan.targets) or "no agent"
    if not said:
        yield f"nothing to do: installed for {agents}"
    elif dry_run:
        yield f"would be written: {said}; for {agents}"
    else:
        yield f"written: {said}; installed for {agents}"
