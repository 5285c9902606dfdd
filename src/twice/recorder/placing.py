"""How a record names a path, so that what lies beside a program is found again where it moved to.

Invariant: ``found(named(path)) == path`` while the program stays where it is.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Protocol

from twice.recorder.program import Program

_PROGRAM, _FOLDER = "{program}", "{folder}"


class Names(Protocol):
    """Names of paths, both ways."""

    def named(self, path: str, /) -> str:
        """Return the name of a path in a record."""
        ...

    def found(self, name: str, /) -> str:
        """Return the path that a recorded name means here."""
        ...


class AsGiven:
    """Every path is its own name."""

    def named(self, path: str, /) -> str:
        """Return the path itself."""
        return path

    found = named


class Placing:
    """Names of paths for one program, whose folders are looked up once.

    Args:
        program: what is executed.
    """

    def __init__(self, program: Program) -> None:
        root = program.folder().resolve()
        is_file = program.kind in {"function", "script"}
        beside = (root / program.target).resolve().parent if is_file else root
        self._folders = ((_PROGRAM, str(beside)), (_FOLDER, str(root)))
        self._cached = lru_cache(maxsize=4096)(self._named)

    def named(self, path: str, /) -> str:
        """Return the name of a path in a record."""
        return self._cached(path)

    def _named(self, path: str) -> str:
        for name, folder in self._folders:
            if path == folder or path.startswith(folder + os.sep):
                return name + path[len(folder) :]
        return path

    def found(self, name: str, /) -> str:
        """Return the path that a recorded name means here."""
        for begin, folder in self._folders:
            if name == begin or name.startswith(begin + os.sep):
                return folder + name[len(begin) :]
        return name
