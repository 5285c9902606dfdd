"""The intact part of a record: the longest prefix whose chain of checksums stands.

For records that were not closed, and for checking those that were. Nothing after the first byte
that does not fit is believed; what stands there only decides whether the record was cut short
(`torn`) or changed after it was written (`damaged`).

Invariant: the prefix depends on the bytes alone, and no block in it is unproved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from twice.foundation.dataclass import dataclass
from twice.recorder.record import layout
from twice.recorder.record.layout import ByteSource, Chain, Kind, StoredBlock, find_block
from twice.recorder.record.object_store import AHEAD_BYTES

Progress = Callable[[int, int], None]
Visit = Callable[[StoredBlock], None]


@dataclass(frozen=True, slots=True)
class Tear:
    """Where and why reading stopped."""

    offset: int  # first byte that is not part of the intact prefix
    block: int  # number of the block that would stand there, from 0
    reason: str  # in a few words
    points: int  # compare-points in the prefix
    damaged: bool  # the bytes were changed after they were written, rather than never written


@dataclass(slots=True)
class Prefix:
    """The intact part of a file."""

    end: int  # the byte after the last of its blocks
    checksum: bytes  # of that block
    rows: bytes | bytearray = field(default_factory=bytearray)  # of the index, joined
    points: int = 0  # compare-points, counted by `scan` alone
    ended: bool = False  # whether its last block says how the run ended
    tear: Tear | None = None  # None when the index and the trailer are right

    @property
    def blocks(self) -> int:
        """Return how many blocks it has."""
        return len(self.rows) // layout.ROW_BYTES

    def stop(self, reason: str, *, damaged: bool) -> Prefix:
        """Return this prefix, with the reason why it stops."""
        self.tear = Tear(self.end, self.blocks, reason, self.points, damaged)
        return self


def scan(
    data: ByteSource, chain: Chain, progress: Progress | None = None, visit: Visit | None = None
) -> Prefix:
    """Return the intact prefix of a file, block by block.

    ``progress`` is called with bytes done and bytes in all, about once per megabyte; ``visit`` with
    every block whose checksum stands, the index excepted.
    """
    prefix = Prefix(layout.HEADER_BYTES, chain.start)
    reported = 0
    while prefix.end < len(data):
        block = find_block(data, prefix.end)
        if isinstance(block, str):
            return prefix.stop(block, damaged=_goes_on(data, chain, prefix.end))
        if not block.follows(chain, prefix.checksum):
            reason = "the checksum of the block does not follow from what stands before it"
            return prefix.stop(reason, damaged=_goes_on(data, chain, prefix.end))
        if block.header.kind == Kind.INDEX:
            return _close(data, chain, prefix, block)
        fault = _add_block(prefix, block, visit)
        if fault is not None:
            return prefix.stop(fault, damaged=True)
        if progress is not None and prefix.end - reported >= 1 << 20:
            reported = prefix.end
            progress(reported, len(data))
    lost_index = "the run ended, but the index was not written"
    return prefix.stop(lost_index if prefix.ended else "the record has no ending", damaged=False)


def _add_block(prefix: Prefix, block: StoredBlock, visit: Visit | None) -> str | None:
    """Add a proved block to the prefix, or return its fault."""
    if prefix.ended:
        return "a block follows the ending"
    kind = Kind(block.header.kind)
    if (kind is Kind.IDENTITY) != (prefix.blocks == 0):
        return "the identity is not the first block, or not the only one"
    try:
        plain = memoryview(block.payload)[: block.header.plain]
        row = layout.encode_row(block.offset, kind, plain)
    except layout.MalformedError as error:
        return str(error)
    if kind is Kind.POINTS:
        head = layout.unpack_head(block.payload, kind)
        if head.first != prefix.points:
            return f"compare-point {prefix.points} is missing"
        prefix.points += head.entries
    if visit is not None:
        visit(block)
    prefix.rows += row
    prefix.end, prefix.checksum = block.end, block.checksum
    prefix.ended = kind is Kind.ENDING
    return None


def _close(data: ByteSource, chain: Chain, prefix: Prefix, index: StoredBlock) -> Prefix:
    """Judge the index and the trailer after it."""
    if not prefix.ended:
        return prefix.stop("an index stands before the ending", damaged=True)
    if index.header.flags or index.payload != layout.encode_index(prefix.rows):
        return prefix.stop("the index does not say what the blocks say", damaged=True)
    return _judge_trailer(data, chain, prefix, index)


def _judge_trailer(data: ByteSource, chain: Chain, prefix: Prefix, index: StoredBlock) -> Prefix:
    """Judge what stands behind the index."""
    trailer = layout.Trailer(prefix.end, index.end + layout.TRAILER_BYTES, prefix.blocks).pack()
    found = bytes(data[index.end : index.end + layout.TRAILER_BYTES + 1])
    if found == trailer + chain.link(index.checksum, trailer):
        return prefix
    if len(found) < layout.TRAILER_BYTES:
        return prefix.stop("the file ends before its trailer does", damaged=False)
    is_whole = len(found) == layout.TRAILER_BYTES
    reason = "the trailer is damaged" if is_whole else "bytes follow the trailer"
    return prefix.stop(reason, damaged=True)


def _goes_on(data: ByteSource, chain: Chain, offset: int) -> bool:
    """Return whether the file goes on in order behind a block that does not fit.

    A crash leaves nothing, zeros or stale bytes of other files there. A trailer at the end that fits
    the file, or a block of this run that follows the one before it, can only stand behind bytes
    that were whole once.
    """
    trailer = layout.unpack_trailer(data, offset)
    fits = layout.BLOCK_HEADER_BYTES + layout.TRAILER_BYTES
    if trailer and trailer.file_bytes == len(data) >= trailer.index_offset + fits:
        return True
    before = find_block(data, offset)
    while not isinstance(before, str):
        after = find_block(data, before.end)
        if isinstance(after, str):
            return False
        if after.follows(chain, before.checksum):
            return True
        before = after
    return False


def read_closed(data: ByteSource, chain: Chain) -> Prefix | None:
    """Return all blocks of a closed record, from its trailer and index alone; None if these are damaged.

    The index is proved against the block before it, the trailer against the index; the blocks
    themselves are proved when they are read.
    """
    trailer = layout.unpack_trailer(data)
    if (
        trailer is None
        or not layout.HEADER_BYTES < trailer.index_offset < len(data) - layout.TRAILER_BYTES
    ):
        return None
    if len(data) - trailer.index_offset <= AHEAD_BYTES:
        data[trailer.index_offset :]  # of an object, one request for header and payload
    index = find_block(data, trailer.index_offset)
    if isinstance(index, str) or index.header.kind != Kind.INDEX or index.header.flags:
        return None
    rows = index.payload[layout.HEAD_BYTES :]
    # Those of an identity and an ending at least.
    if len(rows) < 2 * layout.ROW_BYTES or not layout.is_index(index.payload):
        return None
    offset, kind = layout.unpack_row(rows, len(rows) // layout.ROW_BYTES - 1)
    if kind != Kind.ENDING or not layout.HEADER_BYTES <= offset < trailer.index_offset:
        return None
    last = bytes(data[offset + 16 : offset + layout.BLOCK_HEADER_BYTES])
    if not index.follows(chain, last):
        return None
    prefix = Prefix(trailer.index_offset, last, rows, ended=True)
    return None if _judge_trailer(data, chain, prefix, index).tear else prefix
