"""What the layer asks of those that plug into it: sources with lines of their own, a look at descriptors.

Invariant: the layer knows nothing of them but this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Part(Protocol):
    """A source that keeps lines of its own beside the actors', the network's connections for one.

    Attributes:
        name: what a snapshot calls it.
    """

    name: str

    def state(self) -> dict[str, object]:
        """Return the position for a snapshot, in plain values."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the position of a snapshot."""
        ...

    def finish(self) -> None:
        """Finish at the end of the run."""
        ...

    def has_written(self, path: str) -> bool:
        """Return whether the run wrote this file through this source."""
        ...


class Descriptors(Protocol):
    """Looks for descriptors that appear."""

    def look(self) -> None:
        """Ignore the descriptors that appeared since the last look: they are nobody's."""
        ...

    def name_pipe(self) -> None:
        """Name the descriptor of a pipe to a process, which the program takes."""
        ...

    def adopt(self) -> None:
        """Assign the descriptors that appeared since the last look to an effect."""
        ...
