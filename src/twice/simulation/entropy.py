"""Entropy of a simulated run: bytes that follow from its seed and how much was read before."""

from __future__ import annotations

from typing import Final

from twice.foundation.digests import Algorithm, raw_digest
from twice.foundation.seeds import Seed

_PROGRAM, _LIBRARIES = b"twice/entropy/1", b"twice/entropy/libraries/1"
_SIZE: Final = 32


class SeededEntropy:
    """Bytes that follow from a seed alone, instead of the kernel's.

    What libraries read has a stream of its own: how much that is may differ where the program reads the same.
    """

    def __init__(self, seed: Seed) -> None:
        self._seed = seed.value.to_bytes(_SIZE, "little")
        self._digest = raw_digest(Algorithm.SHA256)
        self.position = {_PROGRAM: 0, _LIBRARIES: 0}
        """How many blocks were read of each stream."""

    def __call__(self, size: int, flags: int = 0) -> bytes:
        """Return the program's next bytes."""
        del flags  # of ``os.getrandom``
        return self._read(_PROGRAM, size)

    def read_for_library(self, size: int) -> bytes:
        """Return the next bytes of the libraries' stream."""
        return self._read(_LIBRARIES, size)

    def _read(self, domain: bytes, size: int) -> bytes:
        found = b""
        while len(found) < size:
            number = self.position[domain].to_bytes(8, "little")
            found += self._digest(domain + self._seed + number)
            self.position[domain] += 1
        return found[:size]
