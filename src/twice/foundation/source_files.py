"""Which source files are the user's own: not the interpreter's, not installed, not twice."""

from __future__ import annotations

import functools
import os
import stat
import sys
import sysconfig
from pathlib import Path

_FOREIGN = tuple(
    os.path.realpath(path) + os.sep
    for path in (
        *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
        f"{os.path.realpath(sys.prefix)}/lib",
        f"{os.path.realpath(sys.base_prefix)}/lib",
    )
)
# By both names: code bears the path by which it was imported, and a link may lead there.
_OURS = tuple(
    f"{each}/" for each in (Path(__file__).parents[1], Path(__file__).resolve().parents[1])
)
# Programs that come with twice, and what they do: in a run they are the user's code. How their state
# is read is not among it: thousands of lines that change nothing.
_SHIPPED = tuple(
    folder + name
    for folder in _OURS
    for name in (
        "tools/worker/program.py",
        "tools/scenes/tools/",
        "tools/scenes/memory.py",
        "tools/scenes/blender/scene.py",
        "tools/scenes/blender/data.py",
    )
)


def is_user_file(path: str) -> bool:
    """Return whether a source path is the user's own: not the interpreter's, not installed, not twice.

    A program that comes with twice is executed like one of the user's, and counts as one.
    """
    if path.startswith("<"):
        return False
    return _is_user_path(path if os.path.isabs(path) else os.path.abspath(path))  # noqa: PTH100, PTH117


def is_ours(path: str) -> bool:
    """Return whether a source path is one of twice's own."""
    return path.startswith(_OURS) and not path.startswith(_SHIPPED)


# Both are asked several times for every loaded module. Hundreds of modules lie in a few folders, and each part of
# a path is a question to the system.
_real_folder = functools.cache(os.path.realpath)
_lstat = os.lstat  # the real one: bound before anything is patched


@functools.cache
def _is_user_path(path: str) -> bool:
    folder, name = os.path.split(path)
    try:
        is_link = stat.S_ISLNK(_lstat(path).st_mode)
    except (OSError, ValueError):
        is_link = False
    if is_link or name in {"", ".", ".."}:
        real = os.path.realpath(path)
    else:
        real = f"{_real_folder(folder).rstrip(os.sep)}{os.sep}{name}"
    return real.startswith(_SHIPPED) or (
        not real.startswith((*_FOREIGN, *_OURS)) and f"{os.sep}site-packages{os.sep}" not in real
    )
