"""What stands in the place of the standard library's functions on files during a session: all lists of it, joined.

Invariant: every function is replaced by one list.
"""

from __future__ import annotations

from twice.recorder.effects.files import (
    asking,
    attributes,
    changing,
    opening,
    temporary,
    world_tree,
)
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.patches import Patch


def file_patches(files: Files) -> list[Patch]:
    """Return the patches of the standard library's functions on files, for a session."""
    rooms = (opening, asking, attributes, changing, temporary)
    return [*(row for room in rooms for row in room.patches(files)), *world_tree.patches()]
