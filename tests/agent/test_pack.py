"""The agent pack: valid skills, links that resolve, commands that exist, and facts of this version."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import PurePosixPath

import click
import pytest
import yaml

from twice.agent.pack import LAYOUTS, SKILL, Target, render_pack, render_section
from twice.checker.rules.engine import every_rule
from twice.cli.group import main_group
from twice.diagnosis.vary.factors import FACTORS
from twice.specification.change_table import ROWS
from twice.specification.gate.checks import CHECKS
from twice.specification.schema import SHEETS

PACKS = {target: render_pack(target) for target in Target}
GENERIC = PACKS[Target.GENERIC]
SKILL_FIELDS = {
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
}


def heads(target: Target) -> Iterator[tuple[PurePosixPath, dict[str, str], str]]:
    for path, text in PACKS[target].items():
        if text.startswith("---\n"):
            _, head, body = text.split("---\n", 2)
            yield PurePosixPath(path), yaml.safe_load(head), body


def commands() -> Iterator[tuple[str, str]]:
    for path, text in GENERIC.items():
        blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        lines += re.findall(r"`(twice [^`]+)`", prose)
        yield from ((path, line) for line in lines if line.startswith("twice "))


@pytest.mark.parametrize("target", Target)
def test_skills_follow_the_rules_of_the_open_format(target: Target) -> None:
    skills = [each for each in heads(target) if each[0].name == "SKILL.md"]
    assert skills
    for path, head, body in skills:
        assert head.keys() <= SKILL_FIELDS
        assert head["name"] == path.parent.name
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", head["name"])
        assert len(head["name"]) <= 64
        assert 40 <= len(head["description"]) <= 1024
        assert "Use " in head["description"]
        assert len(head.get("compatibility", "")) <= 500
        assert len(body.splitlines()) <= 500


@pytest.mark.parametrize("target", Target)
def test_the_router_is_short(target: Target) -> None:
    text = PACKS[target][f"{LAYOUTS[target].skills}/{SKILL}/SKILL.md"]

    assert len(text.splitlines()) <= 250
    assert len(text.encode()) / 3.5 <= 3500


@pytest.mark.parametrize("target", Target)
def test_every_link_leads_to_a_file_of_the_pack(target: Target) -> None:
    pack = PACKS[target]
    links = [
        PurePosixPath(path).parent / link
        for path, text in pack.items()
        for link in re.findall(r"\]\(([^)]+)\)", text)
    ]
    assert len(links) >= 15
    assert [str(each) for each in links if str(each) not in pack] == []


def test_commands_and_agents_have_the_form_of_their_target() -> None:
    names = {"check-determinism", "verify-replay", "diagnose-divergence", "scaffold-replay-system"}
    agents = {"determinism-reviewer", "replay-debugger"}
    skills = {PurePosixPath(path).parent.name for path in GENERIC if path.endswith("SKILL.md")}
    assert skills == {SKILL, *names, *agents}
    for name in names:
        prompt = tomllib.loads(PACKS[Target.GEMINI][f".gemini/commands/{name}.toml"])
        assert "{{args}}" in prompt["prompt"]
        assert prompt["description"]
        assert "$ARGUMENTS" in PACKS[Target.CLAUDE][f".claude/commands/{name}.md"]
        assert not PACKS[Target.CURSOR][f".cursor/commands/{name}.md"].startswith("---")
    for target in (Target.CLAUDE, Target.CURSOR):
        found = {head["name"]: head for path, head, _ in heads(target) if "/agents/" in str(path)}
        assert found.keys() == agents
        assert all("Write" not in each["tools"] and "Edit" not in each["tools"] for each in found.values())  # fmt: skip


def test_the_agents_take_their_reports_from_twice() -> None:
    for name in ("determinism-reviewer", "replay-debugger"):
        text = GENERIC[f"skills/{name}/SKILL.md"]
        assert "--report`" in text
        assert "--json" not in text


def test_every_command_exists_with_its_options() -> None:
    wrong = []
    seen = 0
    for path, line in commands():
        words = shlex.split(line)[1:]
        if "--" in words:
            words = words[: words.index("--")]
        command: click.Command | None = main_group()
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.get_command(click.Context(command), words.pop(0))
        if command is None:
            wrong.append((path, line))
            continue
        known = {each: param for param in command.params for each in param.opts} | {"--help": None}
        for word, value in zip(words, [*words[1:], ""], strict=bool(words)):
            if word.startswith("-") and word not in known:
                wrong.append((path, f"{line}: {word}"))
            kind = getattr(known.get(word), "type", None)
            if isinstance(kind, click.Choice) and value not in kind.choices:
                wrong.append((path, f"{line}: {value}"))
        seen += 1
    assert wrong == []
    assert seen > 80


def test_factors_and_channels_in_commands_exist() -> None:
    factors = {str(each.name) for each in FACTORS}
    channels = {str(each.facts.channel) for each in every_rule()}
    text = "\n".join(line for _, line in commands())
    named = {one or other for one, other in re.findall(r'--factor (?:"([^"]+)"|([\w-]+))', text)}
    assert named
    assert named <= factors
    assert set(re.findall(r"--select ([\w-]+)", text)) <= channels


def test_references_contain_the_facts_of_their_sheets() -> None:
    for number, sheet in SHEETS.items():
        if number in {"00", "99"}:
            continue
        text = GENERIC[f"skills/{SKILL}/references/{sheet.file_name}"]
        facts = [f"| `{each.key}` |" for each in sheet.items]
        facts += [
            f"- `{each.name}`:" for each in every_rule() if each.facts.channel.artifact == number
        ]
        facts += [f"{each.id} {each.title}" for each in CHECKS if number in each.sheets]
        facts += [f"| {each.change} |" for each in ROWS if each.sheet == number]
        facts += ["## Decide", "## Look", "## Prove", "## Anti-patterns", "## When not to"]
        assert [each for each in facts if each not in text] == []


def test_every_fact_of_the_change_table_is_in_one_reference() -> None:
    texts = [text for path, text in GENERIC.items() if "/references/" in path]

    for row in ROWS:
        if row.sheet != "00":
            assert sum(f"| {row.change} |" in text for text in texts) >= 1, row.id


def test_the_section_names_each_skill() -> None:
    section = render_section([Target.CLAUDE, Target.CODEX])

    assert f".claude/skills/{SKILL}/SKILL.md" in section
    assert f".agents/skills/{SKILL}/SKILL.md" in section
