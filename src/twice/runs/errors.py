"""The errors of many runs: places where they cannot be executed."""

from __future__ import annotations

from twice.errors import UsageError


class ClusterUnreachable(UsageError, id="E-RUNS-003"):
    """The cluster that was named does not answer, or cannot execute twice."""
