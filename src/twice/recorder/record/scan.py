"""Reading a record from its start: the longest prefix whose chain of checksums stands.

For records that were not closed, and for checking those that were. Nothing after the first byte
that does not fit is believed; what stands there only decides whether the record was cut short
(`torn`) or changed after it was written (`damaged`).

Invariant: the prefix depends on the bytes alone, and no block in it is unproved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from twice.foundation.dataclass import dataclass
from twice.recorder.record.blocks import StoredBlock, stored_block
from twice.recorder.record.chain import Chain
from twice.recorder.record.index import encode_index, row_of, unpack_row
from twice.recorder.record.layout import (
    BLOCK_HEADER_BYTES,
    HEADER_BYTES,
    ROW_BYTES,
    TRAILER_BYTES,
    Kind,
    Trailer,
    unpack_trailer,
)
from twice.recorder.record.payloads import MalformedError

Progress = Callable[[int, int], None]
Visit = Callable[[StoredBlock], None]


@dataclass(frozen=True, slots=True)
class Tear:
    """Where and why reading stopped.

    Attributes:
        offset: first byte that is not part of the intact prefix.
        block: number of the block that would stand there, from 0.
        reason: what is wrong there, in a few words.
        points: compare-points in the prefix.
        damaged: whether the bytes were changed after they were written, rather than never written.
    """

    offset: int
    block: int
    reason: str
    points: int
    damaged: bool


@dataclass(slots=True)
class Prefix:
    """The intact part of a file.

    Attributes:
        rows: index rows of its blocks, joined.
        end: the byte after the last of them.
        checksum: of the last of them.
        points: compare-points in it.
        ended: whether its last block says how the run ended.
        tear: what follows it, or None when the index and the trailer are right.
    """

    end: int
    checksum: bytes
    rows: bytearray = field(default_factory=bytearray)
    points: int = 0
    ended: bool = False
    tear: Tear | None = None

    @property
    def blocks(self) -> int:
        """Return how many blocks it has."""
        return len(self.rows) // ROW_BYTES

    def torn(self, reason: str, *, damaged: bool) -> Prefix:
        """Return this prefix, with the reason why it stops."""
        self.tear = Tear(self.end, self.blocks, reason, self.points, damaged)
        return self


def scan(
    data: memoryview,
    chain: Chain,
    progress: Progress | None = None,
    visit: Visit | None = None,
) -> Prefix:
    """Return the intact prefix of a file, block by block.

    Args:
        data: the whole file.
        chain: that starts from its header.
        progress: called with bytes done and bytes in all, about once per megabyte.
        visit: called with every block whose checksum stands, the index excepted.
    """
    prefix = Prefix(HEADER_BYTES, chain.start)
    told = 0
    while prefix.end < len(data):
        block = stored_block(data, prefix.end)
        if isinstance(block, str):
            return prefix.torn(block, damaged=_continues(data, chain, prefix.end))
        if not block.follows(chain, prefix.checksum):
            return prefix.torn(
                "the checksum of the block does not follow from what stands before it",
                damaged=_continues(data, chain, prefix.end),
            )
        if block.header.kind == Kind.INDEX:
            return _closed(data, chain, prefix, block)
        if prefix.ended:
            return prefix.torn("a block follows the ending", damaged=True)
        fault = _take(prefix, block, visit)
        if fault is not None:
            return prefix.torn(fault, damaged=True)
        if progress is not None and prefix.end - told >= 1 << 20:
            told = prefix.end
            progress(told, len(data))
    if prefix.ended:
        return prefix.torn("the run ended, but the index was not written", damaged=False)
    return prefix.torn("the record has no ending", damaged=False)


def _take(prefix: Prefix, block: StoredBlock, visit: Visit | None) -> str | None:
    """Add a proved block to the prefix, or return its fault."""
    kind = Kind(block.header.kind)
    if (kind is Kind.IDENTITY) != (prefix.blocks == 0):
        return "the identity is not the first block, or not the only one"
    try:
        row = row_of(block.offset, kind, block.payload[: block.header.plain])
    except MalformedError as error:
        return str(error)
    head = unpack_row(row, 0).head
    if kind is Kind.POINTS:
        if head.first != prefix.points:
            return f"compare-point {prefix.points} is missing"
        prefix.points += head.count
    if visit is not None:
        visit(block)
    prefix.rows += row
    prefix.end, prefix.checksum = block.end, block.checksum
    prefix.ended = kind is Kind.ENDING
    return None


def _closed(data: memoryview, chain: Chain, prefix: Prefix, index: StoredBlock) -> Prefix:
    """Judge the index and the trailer after it."""
    trailer = Trailer(prefix.end, index.end + TRAILER_BYTES, prefix.blocks).pack()
    expected = trailer + chain.after(index.checksum, trailer)
    if not prefix.ended:
        return prefix.torn("an index stands before the ending", damaged=True)
    if index.header.flags or index.payload != encode_index(bytes(prefix.rows)):
        return prefix.torn("the index does not say what the blocks say", damaged=True)
    found = bytes(data[index.end :])
    if found == expected:
        return prefix
    if len(found) < TRAILER_BYTES:
        return prefix.torn("the file ends before its trailer does", damaged=False)
    return prefix.torn(
        "the trailer is damaged" if len(found) == TRAILER_BYTES else "bytes follow the trailer",
        damaged=True,
    )


def _continues(data: memoryview, chain: Chain, offset: int) -> bool:
    """Return whether the file goes on in order behind a block that does not fit.

    A crash leaves nothing, zeros or stale bytes of other files there. A trailer at the end that fits
    the file, or a block of this run that follows the one before it, can only stand behind bytes
    that were whole once.
    """
    if len(data) >= offset + TRAILER_BYTES and _ends_in_trailer(data):
        return True
    before = stored_block(data, offset)
    while not isinstance(before, str):
        after = stored_block(data, before.end)
        if isinstance(after, str):
            return False
        if after.follows(chain, before.checksum):
            return True
        before = after
    return False


def _ends_in_trailer(data: memoryview) -> bool:
    trailer = unpack_trailer(bytes(data[-TRAILER_BYTES : -TRAILER_BYTES + 32]))
    if trailer is None:
        return False
    fits = BLOCK_HEADER_BYTES + TRAILER_BYTES
    return trailer.file_bytes == len(data) and trailer.index_offset + fits <= len(data)
