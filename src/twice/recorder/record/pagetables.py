"""What blocks of pages and of blob tables say: entries to bytes and back.

A blob is a list of parts, each cut into pages of 4,096 bytes from its own beginning. Its table
lists the page numbers of all parts in order, either in full or as changes to an earlier table.
Choosing pages is the work of `pages`, putting blobs together that of `blobs`.

Invariant: a page number always refers to a page earlier in the file, a table to an earlier table,
so every prefix of blocks is complete in itself.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from twice.recorder.record.layout import (
    CHECKSUM_BYTES,
    HEAD_BYTES,
    PAGE_BYTES,
    Head,
    Kind,
)
from twice.recorder.record.payloads import MalformedError, _cut, _head

_FULL, _DELTA = 0, 1
_ENTRY = struct.Struct("<II")


class FullTable(NamedTuple):
    """All pages of a blob.

    Attributes:
        lengths: bytes of every part.
        pages: page numbers of all parts, in order.
    """

    lengths: Sequence[int]
    pages: Sequence[int]


class DeltaTable(NamedTuple):
    """A blob as changes to another one with parts of the same lengths.

    Attributes:
        base: number of the other blob.
        places: positions in its list of pages.
        pages: page numbers that stand there instead.
    """

    base: int
    places: Sequence[int]
    pages: Sequence[int]


def pages_in(length: int) -> int:
    """Return how many pages a part of so many bytes takes."""
    return -(-length // PAGE_BYTES)


def encode_pages(first: int, entries: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """Encode pages given as 32-byte digest and content."""
    count = len(entries)
    digests, contents = zip(*entries, strict=True)
    head = Head(first, count, Kind.PAGES).pack()
    lengths = struct.pack(f"<{count}H", *map(len, contents))
    return head + lengths + b"".join(digests), b"".join(contents)


def decode_pages(payload: bytes) -> tuple[Head, list[bytes], list[bytes]]:
    """Decode a pages block into its head, the digests and the contents.

    Raises:
        MalformedError: when lengths and counts do not agree.
    """
    head = _head(payload, Kind.PAGES)
    n = head.count
    start = HEAD_BYTES + 2 * n
    end = start + CHECKSUM_BYTES * n
    if not n or len(payload) < end:
        raise MalformedError("a pages block is shorter than its count")
    lengths = struct.unpack_from(f"<{n}H", payload, HEAD_BYTES)
    if not 1 <= min(lengths) <= max(lengths) <= PAGE_BYTES:
        raise MalformedError(f"a page is empty or longer than {PAGE_BYTES} bytes")
    digests = [payload[at : at + CHECKSUM_BYTES] for at in range(start, end, CHECKSUM_BYTES)]
    return head, digests, _cut(payload, end, lengths)


def encode_table(table: FullTable | DeltaTable) -> bytes:
    """Encode one blob table."""
    n = len(table.pages)
    if isinstance(table, FullTable):
        parts = len(table.lengths)
        return _ENTRY.pack(_FULL, parts) + struct.pack(
            f"<{parts}Q{n}I", *table.lengths, *table.pages
        )
    return _ENTRY.pack(_DELTA, n) + struct.pack(
        f"<Q{n}I{n}I", table.base, *table.places, *table.pages
    )


def decode_table(data: bytes) -> FullTable | DeltaTable:
    """Decode one blob table.

    Raises:
        MalformedError: when its kind is not known or its lengths and counts do not agree.
    """
    if len(data) < _ENTRY.size:
        raise MalformedError("a blob table is shorter than its head")
    kind, n = _ENTRY.unpack_from(data)
    if kind == _DELTA and len(data) == _ENTRY.size + 8 + 8 * n:
        base, *numbers = struct.unpack_from(f"<Q{2 * n}I", data, _ENTRY.size)
        return DeltaTable(base, numbers[:n], numbers[n:])
    start = _ENTRY.size + 8 * n
    if kind == _FULL and len(data) >= start:
        lengths = struct.unpack_from(f"<{n}Q", data, _ENTRY.size)
        pages = sum(map(pages_in, lengths))
        if len(data) == start + 4 * pages:
            return FullTable(lengths, struct.unpack_from(f"<{pages}I", data, start))
    raise MalformedError("a blob table has another length than its counts ask for")


def encode_tables(first: int, tables: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Join blob tables, each already encoded."""
    count = len(tables)
    lengths = struct.pack(f"<{count}I", *map(len, tables))
    return Head(first, count, Kind.TABLES).pack(), lengths + b"".join(tables)


def decode_tables(payload: bytes) -> list[bytes]:
    """Return the blob tables of a block, still encoded.

    Raises:
        MalformedError: when lengths and counts do not agree.
    """
    n = _head(payload, Kind.TABLES).count
    start = HEAD_BYTES + 4 * n
    if not n or len(payload) < start:
        raise MalformedError("a tables block is shorter than its count")
    return _cut(payload, start, struct.unpack_from(f"<{n}I", payload, HEAD_BYTES))


def page_spans(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return positions in the list of pages, from and to, for every part."""
    return list(pairwise(accumulate(map(pages_in, lengths), initial=0)))
