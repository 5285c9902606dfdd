"""Which of the loaded modules come from source files of the user's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.source_files import is_user_file


def list_user_modules(suffix: str = ".py") -> list[Path]:
    """Return the user's files among loaded modules; the suffix ``.pyc`` is that of modules without a source."""
    return sorted({Path(origin).resolve() for origin in _list_origins(suffix)})


def list_linked_modules(folder: Path) -> list[Path]:
    """Return paths below a program's folder by which user modules were imported through links that may change."""
    root = folder.resolve()
    found = set()
    for origin in _list_origins(".py"):
        name = os.path.relpath(origin, folder)
        if not name.startswith(os.pardir) and name != os.path.relpath(Path(origin).resolve(), root):
            found.add(root / name)
    return sorted(found)


def _list_origins(suffix: str) -> list[str]:
    return [
        str(origin)
        for module in list(sys.modules.values())
        if (origin := getattr(module, "__file__", None))
        and str(origin).endswith(suffix)
        and is_user_file(str(origin))
    ]


def digest_sources(paths: Iterable[Path], root: Path) -> dict[str, str]:
    """Return the digest of each source file, by its path relative to the root. Missing files are left out."""
    return {
        os.path.relpath(path, root): str(digest_bytes(path.read_bytes(), Algorithm.SHA256))
        for path in sorted(paths)
        if path.is_file()
    }
