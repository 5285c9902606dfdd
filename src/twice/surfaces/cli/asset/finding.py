"""Which logs are meant by a path: a sidecar, the logs about an asset, or every log in a folder.

Invariant: a path that means no log is an error.
"""

from __future__ import annotations

from pathlib import Path

from twice.assets.gate.gathering import gather
from twice.assets.model.log import SUFFIX
from twice.assets.store.index import sidecars
from twice.assets.store.sealing import SUPERSEDED
from twice.errors import UsageError


def logs_of(path: Path) -> list[Path]:
    """Find the logs.

    Raises:
        UsageError: E-USE-001: there is none.
    """
    if path.name.endswith(SUFFIX):
        return [path]
    if path.is_dir():
        found = [each for each in sidecars(path) if SUPERSEDED not in each.parts]
    else:
        found = [path.parent / each.log_path for each in gather(path) if each.log_path]
    if not found:
        raise UsageError(
            f"There is no determinism log about {path}.",
            "Expected a sealed asset, its log, or a folder of them.",
            "Record one: twice asset record … -- COMMAND",
        )
    return found
