"""The one folder of a session in which scenes are saved and loaded.

Invariant: no name leads out of the folder, whatever links stand in it.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from twice.errors import SceneArgumentRefused
from twice.writing import write


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


class SessionFiles:
    """The part of a scene that keeps files: one folder, made when it is first needed.

    Args:
        folder: where the session's files lie; a private temporary folder when None.
        kind: a word for the name of the private one.
    """

    def __init__(self, folder: Path | None, kind: str) -> None:
        self._folder = folder
        self._kind = kind

    @property
    def folder(self) -> Path:
        """Where files of the session lie."""
        if self._folder is None:
            self._folder = private_folder(self._kind)
        return self._folder

    def put(self, name: str, data: bytes) -> None:
        """Writes a file in the folder, whole or not at all.

        Raises:
            SceneArgumentRefused: E-SCENE-005, the name does not stay in the folder.
            OutputUnwritable: E-OUTPUT-002, the disk does not take it.
        """
        write(inside(self.folder, name), data)


def private_folder(kind: str) -> Path:
    """A new folder that nobody else reads; it goes when the process ends."""
    folder = tempfile.mkdtemp(prefix=f"twice-{kind}-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
