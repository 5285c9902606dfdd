"""Workspaces for tests: sheets written whole, from values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from twice.specification.create import render_template
from twice.specification.front_matter import Value
from twice.specification.location import FOLDER
from twice.specification.schema import SHEETS
from twice.specification.sheet import Sheet, read_sheet
from twice.specification.tiers import Situation, Tier, Trait
from twice.specification.workspace import Workspace

NOTHING = Situation(Tier.XL, "bit-exact", dict.fromkeys(Trait, True))


def artifact(number: str, values: Mapping[str, Value] | None = None, *, tier: str = "XL") -> Sheet:
    """One sheet from its template, with some values said."""
    sheet = SHEETS[number]
    situation = Situation(Tier(tier), "bit-exact", dict.fromkeys(Trait, True))
    text = render_template(sheet, "swarm", situation, values or {})
    return read_sheet(text, sheet, f"{FOLDER}/{sheet.file_name}")


def workspace(project: Path, said: Mapping[str, Mapping[str, Value]]) -> Workspace:
    """Sheets in memory."""
    return Workspace(project, {number: artifact(number, values) for number, values in said.items()})


def write(project: Path, said: Mapping[str, Mapping[str, Value]]) -> Path:
    """Sheets on disk; the project."""
    (project / FOLDER).mkdir(parents=True, exist_ok=True)
    for number, values in said.items():
        sheet = artifact(number, values)
        (project / sheet.path).write_text(sheet.source, encoding="utf-8")
    return project
