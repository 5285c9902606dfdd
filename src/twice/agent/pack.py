"""The agent pack as files of a project: a skill with references, commands and agents, each in the form of its target.

The texts are templates in ``pack``. Keys of sheets, rules, checks and the table of changes are read from the code, so
the texts always describe this version. Where a target has no folder for commands or agents, each becomes a skill.

Invariant: pure; the same version and target give the same texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from twice.checker.rules.engine import every_rule
from twice.specification.change_table import ROWS
from twice.specification.gate.checks import CHECKS
from twice.specification.schema import SHEETS

SKILL: Final = "twice-determinism"
SERVER: Final = "twice"
"""The name of the server in the settings of a target."""
_FOLDER: Final = Path(__file__).with_name("pack")
_HEAD: Final = re.compile(r"---\n(.*?)---\n\n(.*)", re.DOTALL)
_SHEETS: Final = [each for number, each in SHEETS.items() if number not in {"00", "99"}]
_SECTION: Final = """\
## Determinism: twice

Runs of this project are recorded and verified with `twice`. If a bug or a test cannot be reproduced, or two runs with
one seed differ, follow the skill `{skill}` ({paths}).
Take causes and verdicts from the output of `twice verify`, `twice vary` and `twice diagnose`, and never guess them."""


class Target(StrEnum):
    """A coding agent that the pack is written for."""

    CLAUDE = "claude"
    CODEX = "codex"
    CURSOR = "cursor"
    GEMINI = "gemini"
    GENERIC = "generic"


@dataclass(frozen=True, slots=True)
class TargetLayout:
    """Where a target reads its files, relative to the project; "" for a folder or file that it does not have.

    Args:
        skills: folder of skills.
        settings: file with the entries of servers.
        commands: folder of commands.
        agents: folder of agents.
        arguments: the text that stands for the arguments of a command.
    """

    skills: str
    settings: str = ""
    commands: str = ""
    agents: str = ""
    arguments: str = "those that the user gave"


LAYOUTS: Final = {
    Target.CLAUDE: TargetLayout(".claude/skills", ".mcp.json", ".claude/commands", ".claude/agents", "$ARGUMENTS"),
    Target.CODEX: TargetLayout(".agents/skills", ".codex/config.toml"),
    Target.CURSOR: TargetLayout(".cursor/skills", ".cursor/mcp.json", ".cursor/commands", ".cursor/agents"),
    Target.GEMINI: TargetLayout(".gemini/skills", ".gemini/settings.json", ".gemini/commands", arguments="{{args}}"),
    Target.GENERIC: TargetLayout("skills"),
}  # fmt: skip


def render_pack(target: Target) -> dict[str, str]:
    """Render the files of the pack for a target.

    Returns:
        Texts by path, relative to the project; without the settings and the section of ``AGENTS.md``.
    """
    layout = LAYOUTS[target]
    texts = _render_templates(layout.arguments)
    rendered = {}
    for name, text in texts.items():
        kind, _, path = name.partition("/")
        if kind == "skills":
            rendered[f"{layout.skills}/{path}"] = text
            continue
        folder = layout.commands if kind == "commands" else layout.agents
        head, body = _split_head(text)
        word = path.removesuffix(".md")
        if not folder:
            said = json.dumps(head["description"], ensure_ascii=False)
            skill = f"---\nname: {word}\ndescription: {said}\n---\n\n{body}"
            rendered[f"{layout.skills}/{word}/SKILL.md"] = skill
        elif kind == "commands" and target is Target.GEMINI:
            said = json.dumps(head["description"], ensure_ascii=False)
            rendered[f"{folder}/{word}.toml"] = f"description = {said}\nprompt = '''\n{body}'''\n"
        elif kind == "commands" and target is Target.CURSOR:
            rendered[f"{folder}/{path}"] = body  # Cursor shows everything in a command's file.
        else:
            rendered[f"{folder}/{path}"] = text
    return rendered


def render_entry(path: str, *, allows_run: bool) -> str:
    """Render the entry of the server for a file of settings: a table of TOML with its head, or an object of JSON.

    Args:
        path: of the settings.
        allows_run: whether the server may run programs and write files.
    """
    arguments = ["mcp", "--root", ".", *(["--allow-run"] if allows_run else [])]
    if path.endswith(".toml"):
        return f'[mcp_servers.{SERVER}]\ncommand = "twice"\nargs = {json.dumps(arguments)}'
    return json.dumps({"args": arguments, "command": "twice"}, indent=1)


def render_section(targets: list[Target]) -> str:
    """Render the section of ``AGENTS.md`` for the targets that are installed."""
    paths = ", ".join(f"`{LAYOUTS[each].skills}/{SKILL}/SKILL.md`" for each in targets)
    return _SECTION.format(skill=SKILL, paths=paths)


@lru_cache(maxsize=len(Target))
def _render_templates(arguments: str) -> dict[str, str]:
    import jinja2  # other commands do without it

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  Markdown of our own, no HTML
    )
    tasks = sorted(each.stem for each in _FOLDER.glob("commands/*.md"))
    facts = {"arguments": arguments, "sheets": _SHEETS, "tasks": tasks}
    return {
        name: made.get_template(name).render(facts | dict(_list_facts(name)))
        for name in sorted(each.relative_to(_FOLDER).as_posix() for each in _FOLDER.glob("*/**/*.md"))
    }  # fmt: skip


def _list_facts(name: str) -> Iterator[tuple[str, object]]:
    """List the facts of a sheet's reference, by their names in the template."""
    sheet = next((each for each in _SHEETS if name.endswith(f"/{each.file_name}")), None)
    if sheet is not None:
        yield "sheet", sheet
        yield (
            "rules",
            [each for each in every_rule() if each.facts.channel.artifact == sheet.number],
        )
        yield "checks", [each for each in CHECKS if sheet.number in each.sheets]
        yield "changes", [each for each in ROWS if each.sheet == sheet.number]


def _split_head(text: str) -> tuple[dict[str, Any], str]:
    """Split a text into its front matter and the rest."""
    import yaml

    found = _HEAD.fullmatch(text)
    assert found is not None, "a command or an agent of the pack has front matter"
    return yaml.safe_load(found[1]), found[2]
