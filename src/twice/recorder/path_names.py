"""How a record names a path, so that what lies beside a program is found again where it moved to.

Invariant: ``to_local(to_recorded(path)) == path`` while the program stays where it is.
"""

from __future__ import annotations

import os
from functools import lru_cache

from twice.recorder.program import Program


class PathNames:
    """Names of paths, both ways; without a program every path is its own name.

    Args:
        program: what is executed; its folders are looked up once.
    """

    def __init__(self, program: Program | None = None) -> None:
        self._folders: tuple[tuple[str, str], ...] = ()
        if program is not None:
            root = program.folder().resolve()
            is_file = program.kind in {"function", "script"}
            beside = (root / program.target).resolve().parent if is_file else root
            # The program's own folder first: it may lie within the other, and moves with the program.
            self._folders = (("{program}", str(beside)), ("{folder}", str(root)))
        self._cached = lru_cache(maxsize=4096)(self._name)

    def to_recorded(self, path: str, /) -> str:
        """Return the name of a path in a record."""
        return self._cached(path)

    def _name(self, path: str) -> str:
        for name, folder in self._folders:
            if path == folder or path.startswith(folder + os.sep):
                return name + path[len(folder) :]
        return path

    def to_local(self, name: str, /) -> str:
        """Return the path that a recorded name means here."""
        for begin, folder in self._folders:
            if name == begin or name.startswith(begin + os.sep):
                return folder + name[len(begin) :]
        return name
