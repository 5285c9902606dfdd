"""Where a specification lies: the folder ``determinism-and-replay`` of a project.

Invariant: nothing of the sheets is read, so that a command may look without loading the room.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = "determinism-and-replay"


def find_workspace(start: Path) -> Path | None:
    """Return the nearest folder, here or above, that has a workspace in it."""
    start = start.resolve()
    for each in (start, *start.parents):
        if (each / FOLDER).is_dir():
            return each
    return None
