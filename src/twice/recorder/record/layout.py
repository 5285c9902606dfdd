"""The fixed parts of a run record as bytes: file header, head of a payload, index row, trailer.

Nothing here reads or writes a file. `docs/format/run-record.md` has the same layout in words, for other languages.

Invariant: the file header keeps this form in every format to come, so that any version can say
which version it would need.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from twice.foundation.digests import Algorithm, raw_digest

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

_sha256 = raw_digest(Algorithm.SHA256)
_HEADER = struct.Struct("<8sII16s16s16s")  # its SHA-256 follows
_HEAD = struct.Struct("<QIIqqQ")
_TRAILER = struct.Struct("<8sQQQ")  # its place in the chain of checksums follows
# A row of the index for numpy: the offset of a block, its head, and its last compare-point's chain.
ROW_FIELDS = [("offset", "<u8"), ("first", "<u8"), ("count", "<u4"), ("kind", "<u4")]
ROW_FIELDS += [("low", "<i8"), ("high", "<i8"), ("bits", "<u8"), ("chain", "V16")]


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
    """The first 96 bytes of a record."""

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


def unpack_head(payload: bytes, kind: Kind) -> Head:
    """Unpack the head of a payload that must be of this kind."""
    if len(payload) < HEAD_BYTES:
        raise MalformedError(f"a {kind.name.lower()} block is shorter than its head")
    head = Head._make(_HEAD.unpack_from(payload))
    if head.kind != kind:
        raise MalformedError(f"a {kind.name.lower()} block names another kind in its head")
    return head


def encode_row(offset: int, kind: Kind, plain: bytes) -> bytes:
    """Encode the index row of a block, from the plain part of its payload.

    A row follows from its block alone, so an index that is lost is made again by scanning.
    """
    head, chain = plain[:HEAD_BYTES], bytes(DIGEST_BYTES)
    if kind in (Kind.IDENTITY, Kind.NAMES, Kind.ENDING):  # JSON documents have no head
        head = Head(0, 0, kind).pack()
    else:
        entries = unpack_head(plain, kind).entries
        if kind is Kind.POINTS:
            if not entries or len(plain) != HEAD_BYTES + POINT_BYTES * entries:
                raise MalformedError("a points block is shorter than its count")
            chain = plain[-DIGEST_BYTES:]
    return offset.to_bytes(8, "little") + head + chain


def unpack_row(rows: bytes, number: int) -> tuple[int, int]:
    """Return the offset and the kind of a block out of the joined rows."""
    offset, _, _, kind = struct.unpack_from("<QQII", rows, number * ROW_BYTES)
    return offset, kind


def encode_index(rows: bytes) -> bytes:
    """Encode the payload of the index block."""
    return Head(0, len(rows) // ROW_BYTES, Kind.INDEX).pack() + rows


class Trailer(NamedTuple):
    """The last 64 bytes of a closed record, without their checksum."""

    index_offset: int
    file_bytes: int  # of the whole file
    blocks: int  # in front of the index

    def pack(self) -> bytes:
        """Pack these values into 32 bytes."""
        return _TRAILER.pack(_TRAILER_MAGIC, *self)


def unpack_trailer(data: memoryview) -> Trailer | None:
    """Unpack the trailer at the end of a file; return None when something else stands there."""
    if len(data) < TRAILER_BYTES:
        return None
    magic, *fields = _TRAILER.unpack_from(data, len(data) - TRAILER_BYTES)
    return Trailer._make(fields) if magic == _TRAILER_MAGIC else None
