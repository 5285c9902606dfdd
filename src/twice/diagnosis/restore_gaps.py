"""What a snapshot leaves out: explain a failed restore by the state that no ``state()`` holds.

The tracked objects are opened leaf by leaf, in a run that came to the tick by itself and in one that
was put back there. Leaves that differ are state that the snapshot does not hold; whether they matter
was shown by the restore that failed.

Invariant: a path is named because its contents differ; nothing is inferred from names.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from twice.diagnosis.executions import Side
from twice.diagnosis.object_digest.leaves import paths_apart
from twice.recorder.runrecord import RunRecord
from twice.replayer.restore_test import restores

Progress = Callable[[int, int], None]
_MISSING_MAX = 64


def missing_state(path: str | os.PathLike[str], tick: int) -> list[str]:
    """Paths that differ right after a restore although every declared state was put back.

    The tracked objects of a run that came to this tick by itself are held against those of a run
    that was put back there.

    Returns:
        Paths under the components' names, sorted; the declared state itself agrees.
    """
    with RunRecord.open(path) as record:
        number = record.snapshot_before(tick)
        side = Side("a", record)
        straight, restored = side.inspect(tick, None), side.inspect(tick, number)
    return paths_apart(straight, restored)


def explained_restores(
    path: str | os.PathLike[str],
    *,
    every: bool = False,
    informational: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Run the restore test, and explain the first failure.

    Returns:
        As ``restores``; the first entry of ``failed`` also has ``missing``: paths that no
        ``state()`` contains and that restoring did not bring back.
    """
    result = restores(path, every=every, informational=informational, progress=progress)
    if result["failed"] and result["failed"][0]["point"] >= 0:
        first = result["failed"][0]
        first["missing"] = missing_state(path, first["tick"])[:_MISSING_MAX]
    return result
