"""The part of a branch that must equal its parent.

Invariant: every compare-point before the fork is compared, none after it.
"""

from __future__ import annotations

from collections.abc import Mapping

from twice.recording.comparepoints import Taken
from twice.recording.sink import Sink
from twice.recording.snapshots import Captured


class PrefixSink:
    """Hands points on to a checking sink while they lie before the fork.

    Args:
        checking: compares with the parent.
        fork: first tick that may differ.
    """

    def __init__(self, checking: Sink, fork: int) -> None:
        self._checking = checking
        self._fork = fork

    def point(self, taken: Taken) -> None:
        """Compare a point of the prefix."""
        if taken.tick < self._fork and taken.name != "end":
            self._checking.point(taken)

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Compare a value of the prefix."""
        if tick < self._fork:
            self._checking.value(column, payload, tick)

    def frame(self, kind: str, payload: bytes, tick: int, actor: int = 0) -> None:
        """Journal frames are not compared here."""

    def snapshot(self, captured: Captured) -> None:
        """Snapshots are not compared here."""

    def wants_snapshots(self) -> bool:
        """No."""
        return False

    def flush(self) -> None:
        """Nothing was opened."""

    def close(self, ending: Mapping[str, object]) -> None:
        """Nothing was opened."""

    def disown(self) -> None:
        """Nothing was opened."""
