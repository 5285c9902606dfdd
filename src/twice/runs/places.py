"""The place that was named for work: processes here, or a Ray cluster.

Invariant: nothing of Ray is loaded for work here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from twice.errors import UsageError

if TYPE_CHECKING:
    from twice.worker.executor import Executor


def open_executor(on: str, slots: int | None) -> Executor:
    """Open the executor of a place.

    Args:
        on: ``local``, ``ray`` for the cluster that is found (``RAY_ADDRESS``, or one of this machine, or a new one of this
            machine's processors), or the address of one: ``ray://HOST:PORT``.
        slots: how many jobs at once; None for one here, and for as many as a cluster has processors.

    Raises:
        UsageError: E-USE-001, for another place. ExtraMissing: E-EXTRA-001, without Ray.
        ClusterUnreachable: E-RUNS-003.
    """
    if on == "local":
        from twice.worker.executor import LocalExecutor  # few commands name a place

        return LocalExecutor(slots or 1)
    if on == "ray" or re.fullmatch(r"ray://\S+:\d+", on):
        from twice.runs.ray_executor import RayExecutor

        return RayExecutor(None if on == "ray" else on, slots)
    raise UsageError(
        f"{on!r} is no place where runs are executed.",
        "Expected local, ray, or the address of a cluster.",
        "For example: --on ray://head.example:10001",
        on=on,
    )
