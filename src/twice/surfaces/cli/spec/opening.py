"""What the actions share: which project, its sheets and lock, and printing them.

Invariant: paths that are printed are as short as the person's own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from twice.errors import UsageError
from twice.specification.lock import NAME, Lock, read_lock
from twice.specification.schema import SHEETS
from twice.specification.workspace import Workspace, find_workspace, open_workspace
from twice.writing import write

FORMAT = "twice.spec/1"


def add_project(parser: argparse.ArgumentParser) -> None:
    """``--project``, the same for every action."""
    parser.add_argument(
        "--project",
        type=Path,
        metavar="FOLDER",
        help="the nearest above that has sheets by default",
    )


def project_of(options: argparse.Namespace) -> Path:
    """Give the folder that the workspace lies in, or would."""
    if options.project is not None:
        given: Path = options.project
        if not given.is_dir():
            raise UsageError(
                f"{given} is no folder.", "Expected the project's folder.", "See: twice spec --help"
            )
        return given
    return find_workspace(Path()) or Path()


def opened(options: argparse.Namespace) -> tuple[Workspace, Lock]:
    """Read the sheets and the lock."""
    workspace = open_workspace(project_of(options))
    return workspace, read_lock(workspace.folder / NAME)


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


def print_next(steps: Sequence[str]) -> None:
    """Say what is done now, one step a line."""
    print("next: " + "\n      ".join(steps))


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
