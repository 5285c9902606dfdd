"""Blocks as bytes: sealed with a chained checksum, and opened again.

For turning a payload into stored bytes and back. The checksum of a block covers the checksum of the
block before it, its own header and its stored payload (`chain`).

Invariant: every byte of a block is covered by its checksum, and no length in a file makes the
reader allocate more than that length's stored bytes allow.
"""

from __future__ import annotations

from twice.foundation.dataclass import dataclass
from twice.foundation.printable import pluralize
from twice.recorder.record.chain import Chain
from twice.recorder.record.layout import (
    BLOCK_HEADER_BYTES,
    COMPRESSED,
    BlockHeader,
    Kind,
    may_expand_to,
    unpack_block_header,
)
from twice.recorder.record.payloads import MalformedError

_LEVEL = 1
_COMPRESS_FROM_BYTES = 128


class Sealer:
    """Makes the blocks of one file, in order.

    Args:
        chain: of the file.
        previous: checksum of the block before the first of them, or the start of the chain.
    """

    def __init__(self, chain: Chain, previous: bytes) -> None:
        import zstandard

        self._compressor = zstandard.ZstdCompressor(level=_LEVEL)
        self._chain = chain
        self.checksum = previous

    def seal(self, kind: Kind, plain: bytes, rest: bytes) -> tuple[bytes, bytes]:
        """Return the stored bytes of the next block, and the checksum that ends the chain with it.

        The chain moves on only when the caller says that the bytes are written (`advance`).

        Args:
            kind: what the block holds.
            plain: leading bytes of the payload, stored as they are.
            rest: the bytes after them, compressed when that saves a sixteenth.
        """
        raw = len(plain) + len(rest)
        stored, flags = rest, 0
        if len(rest) >= _COMPRESS_FROM_BYTES:
            packed = self._compressor.compress(rest)
            if len(packed) <= len(rest) * 15 // 16 and raw <= may_expand_to(
                len(plain) + len(packed)
            ):
                stored, flags = packed, COMPRESSED
        header = BlockHeader(len(plain) + len(stored), raw, len(plain), kind, flags).pack()
        checksum = self._chain.after(self.checksum, header, plain, stored)
        return b"".join((header, checksum, plain, stored)), checksum

    def advance(self, checksum: bytes) -> None:
        """Move the chain on: the block that ends with this checksum is in the file."""
        self.checksum = checksum


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block as it stands in the file, its checksum not yet compared.

    Attributes:
        header: its lengths, kind and flags, free of faults.
        checksum: the 32 bytes that it claims.
        head_bytes: the 16 packed bytes of the header.
        payload: stored bytes.
        offset: where it starts.
        end: where the next one starts.
    """

    header: BlockHeader
    checksum: bytes
    head_bytes: bytes
    payload: bytes
    offset: int
    end: int

    def follows(self, chain: Chain, previous: bytes) -> bool:
        """Return whether its checksum continues the chain from this one."""
        return chain.after(previous, self.head_bytes, self.payload) == self.checksum


def stored_block(data: memoryview, offset: int) -> StoredBlock | str:
    """Return the block at an offset, or the reason why there is none, in a few words."""
    if offset + BLOCK_HEADER_BYTES > len(data):
        return "the file ends inside a block header"
    head = bytes(data[offset : offset + 16])
    header = unpack_block_header(head)
    if header is None:
        return "reserved bytes of a block header are not zero"
    fault = header.fault()
    if fault is not None:
        return fault
    start = offset + BLOCK_HEADER_BYTES
    if start + header.stored > len(data):
        return "the file ends inside a block"
    checksum = bytes(data[offset + 16 : start])
    payload = bytes(data[start : start + header.stored])
    return StoredBlock(header, checksum, head, payload, offset, start + header.stored)


class Expander:
    """Opens the payloads of one file, one at a time."""

    def __init__(self) -> None:
        import zstandard

        self._refused = zstandard.ZstdError
        self._content_size = zstandard.frame_content_size
        self._decompressor = zstandard.ZstdDecompressor()

    def payload(self, block: StoredBlock) -> bytes:
        """Return the payload of a block, decompressed.

        Raises:
            MalformedError: when it does not expand to the length its header names.
        """
        header, payload = block.header, block.payload
        if header.flags != COMPRESSED:
            return payload
        rest = payload[header.plain :]
        size = header.raw - header.plain
        try:
            if self._content_size(rest) != size:
                raise MalformedError(f"its zstd frame is not one of {pluralize(size, 'byte')}")
            opened = self._decompressor.decompress(rest, allow_extra_data=False)
        except self._refused as error:
            raise MalformedError(f"it does not expand: {error}") from error
        return payload[: header.plain] + opened
