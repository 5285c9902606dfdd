"""Files beyond listings: contents, writes, what ``stat`` says, temporary names.

``places`` says which file a path means and whether it is an input at all, ``overlay`` keeps what a replay
writes away from the real place, ``kept`` holds contents that a record carries. ``filesystem`` joins them;
``opening``, ``asking``, ``attributes``, ``changing`` and ``temporary`` list what stands in the place of the standard library's
functions.
"""

from __future__ import annotations

from twice.recording.effects.files import (
    asking,
    attributes,
    changing,
    opening,
    temporary,
    world_tree,
)
from twice.recording.effects.files.filesystem import Files
from twice.recording.effects.patches import Patch


def file_patches(files: Files) -> list[Patch]:
    """What stands in the place of the standard library's functions on files during a session."""
    rooms = (opening, asking, attributes, changing, temporary)
    return [*(row for room in rooms for row in room.patches(files)), *world_tree.patches()]
