"""The layout of a run record: file header, chained blocks, rows of the index, trailer.

Nothing here reads or writes a file. `docs/format/run-record.md` has the same layout in words, for other languages.

Invariant: every byte is covered by a checksum, and no length in a file makes the reader allocate
more than that length's stored bytes allow.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple, Protocol

from twice.foundation.digests import Algorithm, raw_digest
from twice.foundation.printable import pluralize

MAGIC = b"\x89twice\r\n"
_TRAILER_MAGIC = b"twiceEND"
FORMAT = 1

HEADER_BYTES = 96
BLOCK_HEADER_BYTES = 48
HEAD_BYTES = 40
TRAILER_BYTES = 64
POINT_BYTES = 32
ROW_BYTES = 64
DIGEST_BYTES = 16
PAGE_BYTES = 4096
CHECKSUM_BYTES = 32

COMPRESSED = 1
_LEVEL = 1
_COMPRESS_FROM_BYTES = 128
_EXPANSION_FLOOR_BYTES = 16 << 20
_EXPANSION_FACTOR = 64

_sha256 = raw_digest(Algorithm.SHA256)
_HEADER = struct.Struct("<8sII16s16s16s")  # its SHA-256 follows
_BLOCK_HEADER = struct.Struct("<IIIBBH")  # its checksum follows
_HEAD = struct.Struct("<QIIqqQ")
_TRAILER = struct.Struct("<8sQQQ")  # its place in the chain of checksums follows
# A row of the index for numpy: the offset of a block, its head, and its last compare-point's chain.
ROW_FIELDS = [("offset", "<u8"), ("first", "<u8"), ("count", "<u4"), ("kind", "<u4")]
ROW_FIELDS += [("low", "<i8"), ("high", "<i8"), ("bits", "<u8"), ("chain", "V16")]


class ByteSource(Protocol):
    """The bytes of a record: a mapped file, or an object that is fetched slice by slice."""

    def __len__(self) -> int: ...

    def __getitem__(self, wanted: slice, /) -> memoryview: ...


class MalformedError(ValueError):
    """Bytes that no writer could have made; the reader turns it into E-RECORD-004."""


class Kind(IntEnum):
    """The content of a block; the number is the byte in the file."""

    IDENTITY = 1
    NAMES = 2
    POINTS = 3
    FRAMES = 4
    PAGES = 5
    TABLES = 6
    SNAPSHOTS = 7
    ENDING = 8
    INDEX = 9


class Header(NamedTuple):
    """The first 96 bytes of a record, the same in every format to come, so that each can be named."""

    format: int
    run_id: bytes  # 16 random bytes, from which the chain of checksums starts
    algorithm: Algorithm  # of the digests in compare-points; in the file by its label
    written_by: str  # version of twice; empty when it is not known

    def pack(self) -> bytes:
        """Pack these values into 96 bytes."""
        label, version = self.algorithm.encode(), self.written_by.encode("ascii")[:16]
        assert len(self.run_id) == 16, "a run id is 16 bytes"
        assert len(label) <= 16, "an algorithm label fits in 16 bytes"
        packed = _HEADER.pack(MAGIC, self.format, 0, self.run_id, label, version)
        return packed + _sha256(packed)


def unpack_header(data: bytes) -> tuple[int, bytes, bytes, str] | None:
    """Return format, run id, label and version from 96 bytes; None when they were changed.

    Nobody has judged the format and the label yet: they may be those of a later version.
    """
    magic, number, zero, run_id, label, version = _HEADER.unpack_from(data)
    if magic != MAGIC or zero or _sha256(data[: _HEADER.size]) != data[_HEADER.size :]:
        return None
    return number, run_id, label.rstrip(b"\0"), version.rstrip(b"\0").decode("ascii", "replace")


class Head(NamedTuple):
    """The 40 bytes that open the payload of every block that is not a JSON document."""

    first: int  # number of the first entry, counted over the whole file
    entries: int
    kind: int  # the block's once more, so that an index row is complete
    low: int = 0  # smallest tick (points, snapshots) or compare-point index (frames)
    high: int = 0  # largest of the same
    bits: int = 0  # for frames, bit min(kind, 63) of every frame kind that occurs

    def pack(self) -> bytes:
        """Pack these values into 40 bytes."""
        return _HEAD.pack(*self)


def unpack_head(payload: bytes | memoryview, kind: Kind) -> Head:
    """Unpack the head of a payload that must be of this kind."""
    if len(payload) < HEAD_BYTES:
        raise MalformedError(f"a {kind.name.lower()} block is shorter than its head")
    head = Head._make(_HEAD.unpack_from(payload))
    if head.kind != kind:
        raise MalformedError(f"a {kind.name.lower()} block names another kind in its head")
    return head


def encode_row(offset: int, kind: Kind, plain: bytes | memoryview) -> bytes:
    """Encode the index row of a block, from the plain part of its payload.

    A row follows from its block alone, so an index that is lost is made again by scanning.
    """
    head: bytes | memoryview = plain[:HEAD_BYTES]
    chain: bytes | memoryview = bytes(DIGEST_BYTES)
    if kind in (Kind.IDENTITY, Kind.NAMES, Kind.ENDING):  # JSON documents have no head
        head = Head(0, 0, kind).pack()
    else:
        entries = unpack_head(plain, kind).entries
        if kind is Kind.POINTS:
            if not entries or len(plain) != HEAD_BYTES + POINT_BYTES * entries:
                raise MalformedError("a points block is shorter than its count")
            chain = plain[-DIGEST_BYTES:]
    return b"".join((offset.to_bytes(8, "little"), head, chain))


def unpack_row(rows: bytes, number: int) -> tuple[int, int]:
    """Return the offset and the kind of a block out of the joined rows."""
    offset, _, _, kind = struct.unpack_from("<QQII", rows, number * ROW_BYTES)
    return offset, kind


def encode_index(rows: bytes | bytearray) -> bytes:
    """Encode the payload of the index block."""
    return Head(0, len(rows) // ROW_BYTES, Kind.INDEX).pack() + rows


def is_index(payload: bytes) -> bool:
    """Return whether a payload is the one of its rows; they are large, and nothing is copied."""
    blocks, rest = divmod(len(payload) - HEAD_BYTES, ROW_BYTES)
    return not rest and payload.startswith(Head(0, blocks, Kind.INDEX).pack())


class Trailer(NamedTuple):
    """The last 64 bytes of a closed record, without their checksum."""

    index_offset: int
    file_bytes: int  # of the whole file
    blocks: int  # in front of the index

    def pack(self) -> bytes:
        """Pack these values into 32 bytes."""
        return _TRAILER.pack(_TRAILER_MAGIC, *self)


def unpack_trailer(data: ByteSource, offset: int = 0) -> Trailer | None:
    """Unpack the trailer at the end of a file, behind an offset; return None when something else stands there."""
    start = len(data) - TRAILER_BYTES
    if start < offset:
        return None
    magic, *fields = _TRAILER.unpack(data[start : start + _TRAILER.size])
    return Trailer._make(fields) if magic == _TRAILER_MAGIC else None


class Chain:
    """The chain of checksums that binds every block to its run and to everything before it."""

    def __init__(self, algorithm: Algorithm, header: bytes) -> None:
        # Always a cryptographic hash, whatever the compare-points use.
        strong = algorithm if algorithm.is_cryptographic else Algorithm.BLAKE3
        self.digest = raw_digest(strong)  # of pages, too
        self.start = self.digest(header)  # in place of the checksum before the first block

    def link(self, previous: bytes, *parts: bytes) -> bytes:
        """Return the 32-byte checksum of these bytes, behind the block with the previous checksum."""
        # The start is in every link: zeros or stale bytes of an older file never pass, not even among
        # themselves. Joined, because blake3 takes half the time for 32 KB in one piece.
        return self.digest(b"".join((self.start, previous, *parts)))


class BlockHeader(NamedTuple):
    """The 16 bytes in front of a block's checksum."""

    stored: int  # payload bytes in the file
    raw: int  # payload bytes once expanded
    plain: int  # leading payload bytes that are never compressed
    kind: int  # number of a `Kind`, unchecked
    flags: int  # COMPRESSED or 0

    def pack(self) -> bytes:
        """Pack these values into 16 bytes."""
        return _BLOCK_HEADER.pack(*self, 0)


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


def find_block(data: ByteSource, offset: int) -> StoredBlock | str:
    """Return the block at an offset, or the reason why there is none, in a few words."""
    start = offset + BLOCK_HEADER_BYTES
    if start > len(data):
        return "the file ends inside a block header"
    packed = bytes(data[offset : offset + _BLOCK_HEADER.size])
    *fields, reserved = _BLOCK_HEADER.unpack(packed)
    if reserved:
        return "reserved bytes of a block header are not zero"
    header = BlockHeader._make(fields)
    stored, raw, plain, kind, flags = header
    if kind not in Kind._value2member_map_:
        return f"block kind {kind} is not known"
    if plain > min(stored, raw):
        return "the plain part is longer than the payload"
    if flags not in (0, COMPRESSED):
        return f"block flags {flags} are not known"
    if not flags and raw != stored:
        return "an uncompressed payload has two lengths"
    if raw > _limit_expansion(stored):
        return f"{stored} stored bytes claim to expand to {raw}"
    end = start + stored
    if end > len(data):
        return "the file ends inside a block"
    checksum, payload = data[offset + _BLOCK_HEADER.size : start], data[start:end]
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
