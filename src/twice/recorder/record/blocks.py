"""Blocks as bytes: sealed with a chained checksum, and opened again.

Invariant: every byte of a block is covered by its checksum, and no length in a file makes the
reader allocate more than that length's stored bytes allow.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from twice.foundation.digests import Algorithm, new_hasher, raw_digest
from twice.foundation.printable import pluralize
from twice.recorder.record.layout import BLOCK_HEADER_BYTES, Kind, MalformedError

COMPRESSED = 1
_LEVEL = 1
_COMPRESS_FROM_BYTES = 128
_EXPANSION_FLOOR_BYTES = 16 << 20
_EXPANSION_FACTOR = 64
_HEADER = struct.Struct("<IIIBBH")


def _choose_algorithm(algorithm: Algorithm) -> Algorithm:
    """Choose the hash of chains and pages: a cryptographic one, whatever the compare-points use."""
    return algorithm if algorithm.is_cryptographic else Algorithm.BLAKE3


def page_digest(algorithm: Algorithm) -> Callable[[bytes | memoryview], bytes]:
    """Return the digest of pages in a record whose compare-points use this algorithm."""
    return raw_digest(_choose_algorithm(algorithm))


class Chain:
    """The chain of checksums that binds every block to its run and to everything before it.

    Args:
        algorithm: of the record's compare-points.
        header: the 96 bytes of the file header, with the random id of the run.

    Attributes:
        start: 32 bytes, in place of the checksum before the first block.
    """

    def __init__(self, algorithm: Algorithm, header: bytes) -> None:
        self._algorithm = _choose_algorithm(algorithm)
        self.start = raw_digest(self._algorithm)(header)

    def link(self, previous: bytes, *parts: bytes) -> bytes:
        """Return the 32-byte checksum of these bytes, behind the block with the previous checksum."""
        hasher = new_hasher(self._algorithm)
        # The start is in every link: zeros or stale bytes of an older file never pass, not even
        # among themselves.
        hasher.update(self.start)
        hasher.update(previous)
        for part in parts:
            hasher.update(part)
        return hasher.digest()


class BlockHeader(NamedTuple):
    """The 16 bytes in front of a block's checksum."""

    stored: int  # payload bytes in the file
    raw: int  # payload bytes once expanded
    plain: int  # leading payload bytes that are never compressed
    kind: int  # number of a `Kind`, unchecked
    flags: int  # COMPRESSED or 0

    def pack(self) -> bytes:
        """Pack these values into 16 bytes."""
        return _HEADER.pack(*self, 0)

    def find_fault(self) -> str | None:
        """Return why no writer could have made this header, or None."""
        if self.kind not in Kind._value2member_map_:
            return f"block kind {self.kind} is not known"
        if self.plain > min(self.stored, self.raw):
            return "the plain part is longer than the payload"
        if self.flags not in (0, COMPRESSED):
            return f"block flags {self.flags} are not known"
        if self.flags == 0 and self.raw != self.stored:
            return "an uncompressed payload has two lengths"
        if self.raw > _limit_expansion(self.stored):
            return f"{self.stored} stored bytes claim to expand to {self.raw}"
        return None


def _limit_expansion(stored: int) -> int:
    """Return the most bytes that a stored payload of so many bytes may expand to."""
    return _EXPANSION_FLOOR_BYTES + _EXPANSION_FACTOR * stored


class Sealer:
    """Makes the blocks of one file, in order; ``checksum`` is that of the block before the next."""

    def __init__(self, chain: Chain, checksum: bytes) -> None:
        # Only those who write or read a record pay for the import.
        import zstandard

        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self.chain = chain
        self.checksum = checksum

    def seal(self, kind: Kind, plain: bytes, rest: bytes) -> bytes:
        """Return the next block; ``rest`` is compressed when that saves a sixteenth, ``plain`` never."""
        raw = len(plain) + len(rest)
        stored, flags = rest, 0
        if len(rest) >= _COMPRESS_FROM_BYTES:
            packed = self._compressor.compress(rest)
            # A block that shrinks so far that a reader would take it for a bomb stays as it is.
            fits = raw <= _limit_expansion(len(plain) + len(packed))
            if fits and len(packed) <= len(rest) * 15 // 16:
                stored, flags = packed, COMPRESSED
        header = BlockHeader(len(plain) + len(stored), raw, len(plain), kind, flags).pack()
        self.checksum = self.chain.link(self.checksum, header, plain, stored)
        return b"".join((header, self.checksum, plain, stored))


class StoredBlock(NamedTuple):
    """A block as it stands in the file, free of faults, its checksum not yet compared."""

    header: BlockHeader
    checksum: bytes  # the 32 bytes that it claims
    packed: bytes  # the 16 bytes of the header
    payload: bytes  # as stored
    offset: int
    end: int  # where the next block starts

    def follows(self, chain: Chain, previous: bytes) -> bool:
        """Return whether its checksum continues the chain from this one."""
        return chain.link(previous, self.packed, self.payload) == self.checksum


def find_block(data: memoryview, offset: int) -> StoredBlock | str:
    """Return the block at an offset, or the reason why there is none, in a few words."""
    start = offset + BLOCK_HEADER_BYTES
    if start > len(data):
        return "the file ends inside a block header"
    packed = bytes(data[offset : offset + _HEADER.size])
    *fields, reserved = _HEADER.unpack(packed)
    if reserved:
        return "reserved bytes of a block header are not zero"
    header = BlockHeader._make(fields)
    fault = header.find_fault()
    if fault is not None:
        return fault
    end = start + header.stored
    if end > len(data):
        return "the file ends inside a block"
    checksum, payload = data[offset + _HEADER.size : start], data[start:end]
    # Copies: the file can be unmapped while they live on.
    return StoredBlock(header, bytes(checksum), packed, bytes(payload), offset, end)


class Expander:
    """Opens the payloads of one file, one at a time."""

    def __init__(self) -> None:
        import zstandard

        self._refused = zstandard.ZstdError
        self._content_size = zstandard.frame_content_size
        self._decompressor = zstandard.ZstdDecompressor()

    def expand(self, block: StoredBlock) -> bytes:
        """Return the payload of a block, decompressed to exactly the length its header names."""
        header, payload = block.header, block.payload
        if header.flags != COMPRESSED:
            return payload
        rest, size = payload[header.plain :], header.raw - header.plain
        try:
            # Before decompressing: zstd allocates the size that its frame claims.
            if self._content_size(rest) != size:
                raise MalformedError(f"its zstd frame is not one of {pluralize(size, 'byte')}")
            opened = self._decompressor.decompress(rest, allow_extra_data=False)
        except self._refused as error:
            raise MalformedError(f"it does not expand: {error}") from error
        return payload[: header.plain] + opened
