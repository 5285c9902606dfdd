"""Where a specification lies: the folder ``determinism-and-replay`` of a project, or one below it for each component.

Invariant: nothing of the sheets is read, so that a command may look without loading the room.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from twice.specification.errors import WorkspaceRefused

SHEET_FILE: Final = re.compile(r"(\d\d)-[\w.-]+\.md")
"""Names of sheets; a file without a number in front is left alone."""
COMPONENT: Final = re.compile(r"[A-Za-z][\w-]*")
"""Names of components that can have a folder of their own."""
FOLDER: Final = "determinism-and-replay"


def find_workspace(start: Path) -> Path | None:
    """Return the nearest folder, here or above, that has a workspace in it."""
    start = start.resolve()
    for each in (start, *start.parents):
        if (each / FOLDER).is_dir():
            return each
    return None


def list_bases(project: Path) -> list[str]:
    """Return the folders with sheets, from the project on: that of the project, and those of its components."""
    top = project / FOLDER
    if not top.is_dir():
        return []
    below = sorted(each.name for each in top.iterdir() if each.is_dir())
    bases = [FOLDER, *(f"{FOLDER}/{name}" for name in below)]
    return [each for each in bases if list_sheet_files(project, each)]


def find_base(project: Path, component: str = "") -> str:
    """Return the folder of a component's sheets, from the project on; ``FOLDER`` where there are none yet.

    Args:
        project: the folder that the workspace lies in.
        component: whose sheets are meant; "" for those of the one that the project has.

    Raises:
        WorkspaceRefused: E-SPEC-002: several components have sheets, and none of them is meant.
    """
    bases = list_bases(project)
    if component and f"{FOLDER}/{component}" in bases:
        return f"{FOLDER}/{component}"
    if len(bases) < 2:
        return bases[0] if bases else FOLDER
    if component and FOLDER in bases:
        return FOLDER
    names = [each.rpartition("/")[2] for each in bases if each != FOLDER]
    own = "its own sheets and those of " if FOLDER in bases else "sheets of "
    raise WorkspaceRefused(
        f"{FOLDER} has {own}{', '.join(names)}, and {component or 'none'} was named.",
        "Expected the name of the component that is meant.",
        f"Name it: --component {names[-1]}",
        components=names,
    )


def choose_base(project: Path, component: str) -> str:
    """Return the folder for a component's first sheets: one of its own where components have folders.

    Raises:
        WorkspaceRefused: E-SPEC-002: components have folders, and the name of this one is none.
    """
    if list_bases(project) in ([], [FOLDER]):
        return FOLDER
    if not COMPONENT.fullmatch(component):
        raise WorkspaceRefused(
            f"{component!r} is no name of a folder, and components have folders in {FOLDER}.",
            "Expected a letter, and then letters, digits, '_' and '-'.",
            "Name the component so: --component NAME",
        )
    return f"{FOLDER}/{component}"


def list_sheet_files(project: Path, base: str = FOLDER) -> list[str]:
    """Return the names of the files in a workspace that have a number; [] where there is none."""
    folder = project / base
    names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    return [name for name in names if SHEET_FILE.fullmatch(name)]
