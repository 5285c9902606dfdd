"""Processes that ``multiprocessing`` spawns: named, since the interpreter raises no event for them.

Covered: the ``spawn`` and ``forkserver`` methods, and the resource tracker, which share one function.

Not covered: what such a process does; it is not recorded.

Invariant: a process is started as it would be without a session, unless it is refused.
"""

from __future__ import annotations

import sys
from typing import Any

from twice.recorder.effects.patches import Patch


def patches(util: Any) -> list[Patch]:
    """Return the patches of ``multiprocessing.util``, once it is loaded."""
    real = util.spawnv_passfds

    def spawnv_passfds(path: Any, args: Any, passfds: Any) -> Any:
        sys.audit("twice.spawn", path, args)
        return real(path, args, passfds)

    return [Patch(util, "spawnv_passfds", spawnv_passfds)]
