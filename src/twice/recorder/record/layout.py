"""The fixed parts of a run record as bytes: file header, block header, block head, trailer.

For packing and reading the frame of the file; what a block says is in `payloads` and `pagetables`,
how blocks are chained in `blocks`. Nothing here reads or writes a file. The same layout, in words
for another language, is `docs/format/run-record.md`.

Invariant: the file header keeps this form in every format to come, so that any version can say
which version it would need.
"""

from __future__ import annotations

import struct
from enum import IntEnum

from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, raw_digest

MAGIC = b"\x89twice\r\n"
TRAILER_MAGIC = b"twiceEND"
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

POINTS_PER_BLOCK = 1024
FRAME_BYTES_PER_BLOCK = 64 * 1024
FRAMES_PER_BLOCK = 4096
SNAPSHOTS_PER_BLOCK = 64
WAITING_BYTES_MAX = 64 * 1024
FRAME_BYTES_MAX = 1 << 30
EXPANSION_FLOOR_BYTES = 16 << 20
EXPANSION_FACTOR = 64

COMPRESSED = 1

_sha256 = raw_digest(Algorithm.SHA256)
_HEADER = struct.Struct("<8sII16s16s16s32s")
_BLOCK = struct.Struct("<IIIBBH")
_HEAD = struct.Struct("<QIIqqQ")
_TRAILER = struct.Struct("<8sQQQ")


class Kind(IntEnum):
    """What a block holds; the number is the byte in the file."""

    IDENTITY = 1
    NAMES = 2
    POINTS = 3
    FRAMES = 4
    PAGES = 5
    TABLES = 6
    SNAPSHOTS = 7
    ENDING = 8
    INDEX = 9


JSON_KINDS = (Kind.IDENTITY, Kind.NAMES, Kind.ENDING)


@dataclass(frozen=True, slots=True)
class Header:
    """The first 96 bytes of a record.

    Attributes:
        format: format number.
        run_id: 16 random bytes; the chain of checksums starts from this header.
        algorithm: of the digests in compare-points, in the file by its label.
        written_by: version of twice that wrote the file; empty when it is not known.
    """

    format: int
    run_id: bytes
    algorithm: Algorithm
    written_by: str

    def pack(self) -> bytes:
        """Pack these values into 96 bytes."""
        assert len(self.run_id) == 16, "a run id is 16 bytes"
        label, version = self.algorithm.encode(), self.written_by.encode("ascii")[:16]
        assert len(label) <= 16, "an algorithm label fits in 16 bytes"
        body = _HEADER.pack(MAGIC, self.format, 0, self.run_id, label, version, b"")[:-32]
        return body + _sha256(body)


@dataclass(frozen=True, slots=True)
class AnyHeader:
    """A header of any format, its checksum compared, its format and label not yet judged."""

    format: int
    run_id: bytes
    label: bytes
    written_by: str


def unpack_header(data: bytes) -> AnyHeader | None:
    """Unpack the header in 96 bytes; return None when its checksum does not match."""
    magic, number, zero, run_id, label, version, checksum = _HEADER.unpack(data)
    if magic != MAGIC or zero != 0 or _sha256(data[:-32]) != checksum:
        return None
    text = version.rstrip(b"\0").decode("ascii", "replace")
    return AnyHeader(number, run_id, label.rstrip(b"\0"), text)


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """The 16 bytes in front of a block's checksum.

    Attributes:
        stored: payload bytes in the file.
        raw: payload bytes once expanded.
        plain: leading payload bytes that are never compressed.
        kind: number of a `Kind`, unchecked.
        flags: ``COMPRESSED`` or 0.
    """

    stored: int
    raw: int
    plain: int
    kind: int
    flags: int

    def pack(self) -> bytes:
        """Pack these values into 16 bytes."""
        return _BLOCK.pack(self.stored, self.raw, self.plain, self.kind, self.flags, 0)

    def fault(self) -> str | None:
        """Return why no writer could have made this header, or None."""
        if self.kind not in Kind._value2member_map_:
            return f"block kind {self.kind} is not known"
        if self.plain > min(self.stored, self.raw):
            return "the plain part is longer than the payload"
        if self.flags not in (0, COMPRESSED):
            return f"block flags {self.flags} are not known"
        if self.flags == 0 and self.raw != self.stored:
            return "an uncompressed payload has two lengths"
        if self.raw > may_expand_to(self.stored):
            return f"{self.stored} stored bytes claim to expand to {self.raw}"
        return None


def may_expand_to(stored: int) -> int:
    """Return the most bytes that a stored payload of so many bytes may expand to."""
    return EXPANSION_FLOOR_BYTES + EXPANSION_FACTOR * stored


def unpack_block_header(data: bytes) -> BlockHeader | None:
    """Unpack the block header in 16 bytes; return None when its reserved bytes are not zero."""
    stored, raw, plain, kind, flags, zero = _BLOCK.unpack(data)
    return None if zero else BlockHeader(stored, raw, plain, kind, flags)


@dataclass(frozen=True, slots=True)
class Head:
    """The 40 bytes that open the payload of every block that is not a JSON document.

    Attributes:
        first: number of the first entry in the block, counted over the whole file.
        count: entries in the block.
        kind: the block's kind once more, so that an index row is complete.
        low: smallest tick (points, snapshots) or compare-point index (frames), else 0.
        high: largest of the same.
        bits: for frames, bit min(kind id, 63) of every frame kind that occurs; else 0.
    """

    first: int
    count: int
    kind: int
    low: int = 0
    high: int = 0
    bits: int = 0

    def pack(self) -> bytes:
        """Pack these values into 40 bytes."""
        return _HEAD.pack(self.first, self.count, self.kind, self.low, self.high, self.bits)


def unpack_head(data: bytes) -> Head:
    """Unpack the head in the first 40 bytes.

    Raises:
        struct.error: when there are fewer.
    """
    return Head(*_HEAD.unpack_from(data))


@dataclass(frozen=True, slots=True)
class Trailer:
    """The last 64 bytes of a closed record, without their checksum.

    Attributes:
        index_offset: where the index block starts.
        file_bytes: length of the whole file.
        blocks: number of blocks in front of the index.
    """

    index_offset: int
    file_bytes: int
    blocks: int

    def pack(self) -> bytes:
        """Pack these values into 32 bytes; the checksum follows."""
        return _TRAILER.pack(TRAILER_MAGIC, self.index_offset, self.file_bytes, self.blocks)


def unpack_trailer(data: bytes) -> Trailer | None:
    """Unpack the trailer in 32 bytes; return None when they are something else."""
    magic, index_offset, file_bytes, blocks = _TRAILER.unpack(data)
    return Trailer(index_offset, file_bytes, blocks) if magic == TRAILER_MAGIC else None
