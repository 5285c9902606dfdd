"""The one folder of a session in which scenes are saved and loaded.

It is the session's own and a part of its state: every replay makes the files anew, in a folder of
its own, so nothing of them is recorded or served. ``private`` marks what works on them.

Invariant: no name leads out of the folder, whatever links stand in it.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from twice.foundation.printable import pluralize
from twice.recorder.effects.actors import outside
from twice.tools.enforcement import pause_watch
from twice.tools.errors import SceneArgumentRefused
from twice.worker.process import NESTED
from twice.writing import write

Function = TypeVar("Function", bound=Callable[..., Any])
_FILE_BYTES_MAX: Final = 1 << 30


def private(function: Function) -> Function:
    """Mark a function that works on the session's own files: what it does is no effect of the run."""

    @functools.wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        with pause_watch():  # Whose process it is does not reach what is kept.
            return outside(function, *arguments, **named)

    return run  # type: ignore[return-value]


@private
def make_private_folder() -> Path:
    """Make a folder that goes with the process: not with its owner, which goes at any moment.

    What a collector of garbage does would otherwise be blamed on the tool that happens to run.
    """
    parent = os.environ.get(NESTED)
    if parent is not None:
        os.makedirs(parent, exist_ok=True)  # noqa: PTH103  (a text, as the launcher gave it)
    folder = Path(tempfile.mkdtemp(prefix="scene-", dir=parent))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@private
def resolve_inside(folder: Path, name: str) -> Path:
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


@private
def check_file(path: Path) -> None:
    """Check a file before a scene reads it.

    Raises:
        SceneArgumentRefused: E-SCENE-005, there is no such file, or it is larger than 1 GiB.
    """
    try:
        size = path.stat().st_size
        if path.is_file() and size <= _FILE_BYTES_MAX:
            return
        why = f"has {pluralize(size, 'byte')}" if path.is_file() else "is not a file"
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
    raise SceneArgumentRefused(
        f"{path.name} {why}.",
        f"Expected a file of at most {_FILE_BYTES_MAX} bytes in the session's folder.",
        "Save the scene under this name first, or name another file.",
    )


write_file = private(write)
"""Write a file of the session, whole or not at all: ``write``, and no effect of the run."""
