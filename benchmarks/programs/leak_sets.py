"""How a set of files is written: those that leak, and those that do not.

Invariant: the same files give the same bytes, wherever and whenever they are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def written(folder: Path, leaking: Mapping[str, bytes], clean: Mapping[str, bytes]) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    paths = []
    for kind, files in (("leaking", leaking), ("clean", clean)):
        for name, body in files.items():
            path = folder / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            paths.append(path)
    return paths
