"""The one folder of a session in which scenes are saved and loaded.

Invariant: no name leads out of the folder, whatever links stand in it.
"""

from __future__ import annotations

from pathlib import Path

from twice.errors import SceneArgumentRefused


def inside(folder: Path, name: str) -> Path:
    """Where a file of this name lies in the folder.

    Args:
        folder: the session's own.
        name: a relative path of plain segments, such as ``stage/room.scene``.

    Raises:
        SceneArgumentRefused: E-SCENE-005, the name is empty, absolute, climbs, or leads elsewhere.
    """
    segments = name.split("/")
    plain = all(part not in ("", ".", "..") and part.isprintable() for part in segments)
    path = folder / name
    if plain and "\\" not in name and path.resolve().is_relative_to(folder.resolve()):
        return path
    raise SceneArgumentRefused(
        f"The file name {name[:80]!r} does not stay in the session's folder.",
        "Expected a relative name such as 'room.scene', without '..'.",
        "Give such a name; the folder is that of the session.",
        name=name[:80],
    )
