"""What the actions share: which project, its sheets and lock, and printing them.

Invariant: paths that are printed are as short as the person's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from twice.cli.options import PATH, gather
from twice.errors import UsageError
from twice.specification.lock import NAME, Lock, read_lock
from twice.specification.schema import SHEETS
from twice.specification.workspace import Workspace, find_workspace, open_workspace
from twice.writing import write

FORMAT = "twice.spec/1"


@dataclass(frozen=True, slots=True)
class WorkspaceOptions:
    """Which specification is meant."""

    project: Path | None

    def folder(self) -> Path:
        """Give the folder that the workspace lies in, or would."""
        if self.project is None:
            return find_workspace(Path()) or Path()
        if not self.project.is_dir():
            raise UsageError(
                f"{self.project} is no folder.",
                "Expected the project's folder.",
                "See: twice spec --help",
            )
        return self.project

    def open(self) -> tuple[Workspace, Lock]:
        """Read the sheets and the lock."""
        workspace = open_workspace(self.folder())
        return workspace, read_lock(workspace.folder / NAME)


workspace_options: Final = gather(
    "where",
    WorkspaceOptions,
    click.option(
        "--project", type=PATH, metavar="FOLDER",
        help="the nearest above that has sheets by default",
    ),
)  # fmt: skip


def save_lock(workspace: Workspace, before: Lock, after: Lock) -> None:
    """Write the lock where it differs."""
    if after.text() != before.text():
        write(workspace.folder / NAME, after.text().encode())


def shown(workspace: Workspace, path: str) -> str:
    """Give a path of the project as a person here would write it."""
    place = workspace.project / path
    try:
        return place.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return place.as_posix()


def next_lines(steps: Sequence[str]) -> Iterator[str]:
    """Say what is done now, one step a line."""
    for at, step in enumerate(steps):
        yield f"next: {step}" if at == 0 else f"      {step}"


def number_of(said: str) -> str:
    """Give a sheet's number from what was typed: ``2``, ``02``, ``02-seed-governance-spec.md``.

    Raises:
        UsageError: E-USE-001: there is no such sheet.
    """
    number = Path(said).name.partition("-")[0].zfill(2)
    if number not in SHEETS:
        names = ", ".join(f"{each} {sheet.title}" for each, sheet in SHEETS.items())
        raise UsageError(
            f"There is no sheet {said!r}.", f"Sheets: {names}.", "See: twice spec status"
        )
    return number
