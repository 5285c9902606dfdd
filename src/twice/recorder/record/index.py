"""The index: one row of 64 bytes for every block, made while writing and again while scanning.

For finding a block by point, frame, page, blob or snapshot without reading the others. A row is the
block's offset, its 40-byte head, and the chain of its last compare-point.

Invariant: the rows follow from the blocks alone, so an index that is lost is rebuilt by scanning,
and one that does not equal the rebuilt one was changed.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from twice.recorder.record.layout import (
    DIGEST_BYTES,
    HEAD_BYTES,
    JSON_KINDS,
    POINT_BYTES,
    ROW_BYTES,
    Head,
    Kind,
    unpack_head,
)
from twice.recorder.record.payloads import MalformedError

_OFFSET = struct.Struct("<Q")
_NO_CHAIN = bytes(DIGEST_BYTES)
# Layout of a row as numpy reads it; `kind` stands inside the head.
ROW_FIELDS = [
    ("offset", "<u8"),
    ("first", "<u8"),
    ("count", "<u4"),
    ("kind", "<u4"),
    ("low", "<i8"),
    ("high", "<i8"),
    ("bits", "<u8"),
    ("chain", "V16"),
]


class Row(NamedTuple):
    """One row of the index."""

    offset: int
    head: Head
    chain: bytes


def row_of(offset: int, kind: Kind, plain: bytes) -> bytes:
    """Build the index row of a block, from the plain part of its payload.

    Raises:
        MalformedError: when the plain part is too short for what the block's kind needs.
    """
    if kind in JSON_KINDS:
        return _OFFSET.pack(offset) + Head(0, 0, kind).pack() + _NO_CHAIN
    if len(plain) < HEAD_BYTES:
        raise MalformedError(f"a {kind.name.lower()} block is shorter than its head")
    head = unpack_head(plain)
    if head.kind != kind:
        raise MalformedError(f"a {kind.name.lower()} block names another kind in its head")
    chain = _NO_CHAIN
    if kind is Kind.POINTS:
        end = HEAD_BYTES + POINT_BYTES * head.count
        if not head.count or len(plain) != end:
            raise MalformedError("a points block is shorter than its count")
        chain = plain[end - DIGEST_BYTES : end]
    return _OFFSET.pack(offset) + plain[:HEAD_BYTES] + chain


def unpack_row(rows: bytes, number: int) -> Row:
    """Unpack one row out of the joined rows."""
    at = number * ROW_BYTES
    row = rows[at : at + ROW_BYTES]
    (offset,) = _OFFSET.unpack_from(row)
    return Row(offset, unpack_head(row[8:]), row[-DIGEST_BYTES:])


def encode_index(rows: bytes) -> bytes:
    """Encode the payload of the index block."""
    return Head(0, len(rows) // ROW_BYTES, Kind.INDEX).pack() + rows


def decode_index(payload: bytes) -> bytes:
    """Return the joined rows in the payload of an index block.

    Raises:
        MalformedError: when the length and the count do not agree.
    """
    if len(payload) < HEAD_BYTES:
        raise MalformedError("the index is shorter than its head")
    head = unpack_head(payload)
    if head.kind != Kind.INDEX or len(payload) != HEAD_BYTES + ROW_BYTES * head.count:
        raise MalformedError("the index has another length than its count asks for")
    return payload[HEAD_BYTES:]
