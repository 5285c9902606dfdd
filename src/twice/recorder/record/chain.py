"""The chain of checksums that binds every block to its run and to everything before it.

Each checksum covers the start of the chain, which is the digest of the file header with its random
run id, and the checksum of the block before. So zeros, stale bytes of an older file and blocks in
another order never pass, not even among themselves.

Invariant: the hash of a chain is a cryptographic one, whatever the compare-points use.
"""

from __future__ import annotations

from twice.foundation.digests import Algorithm, new_hasher, raw_digest


def checksum_algorithm(algorithm: Algorithm) -> Algorithm:
    """Return the algorithm that chains the blocks of a record: always a strong one."""
    return algorithm if algorithm.is_cryptographic else Algorithm.BLAKE3


class Chain:
    """Makes the checksums of one record.

    Args:
        algorithm: of the record's compare-points.
        header: the 96 bytes of the file header.

    Attributes:
        start: 32 bytes; what stands for the checksum before the first block.
    """

    def __init__(self, algorithm: Algorithm, header: bytes) -> None:
        self._algorithm = checksum_algorithm(algorithm)
        self.start = raw_digest(self._algorithm)(header)

    def after(self, previous: bytes, *parts: bytes) -> bytes:
        """Return the 32-byte checksum of these bytes, behind the block with the previous checksum."""
        hasher = new_hasher(self._algorithm)
        hasher.update(self.start)
        hasher.update(previous)
        for part in parts:
            hasher.update(part)
        return hasher.digest()
