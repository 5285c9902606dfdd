"""``/dev/urandom`` and ``/dev/random`` opened as files: entropy like ``os.urandom``'s.

Covered: ``open`` for reading bytes, by the program's own code. Every read is one question of ``os.urandom``.

Not covered: the same opened by ``os.open``, which is refused: what is read from a descriptor is not seen. Libraries
read the real one.

Invariant: no byte is read ahead, so that a record holds what the program used.
"""

from __future__ import annotations

import io
import os
from typing import Any

DEVICES = frozenset({"/dev/urandom", "/dev/random"})


class RandomFile(io.RawIOBase):
    """A file of entropy.

    Args:
        name: as the program gave it.
    """

    mode = "rb"

    def __init__(self, name: Any) -> None:
        self.name = name

    def readable(self) -> bool:
        """Return True: entropy can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer."""
        view = memoryview(buffer).cast("B")
        view[:] = os.urandom(len(view))
        return len(view)

    def read1(self, size: int = -1, /) -> Any:
        """Read as a buffered file does."""
        return self.read(size)
