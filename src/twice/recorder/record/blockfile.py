"""A record as a file of blocks that are opened one at a time, each proved when it is read.

For the reader and everything that stands on it. It finds the blocks by the index, or by scanning
where there is none, and hands out payloads whose checksum follows from the block before. What a
payload means is decided by those who ask.

Invariant: no payload leaves here unproved, and nothing handed out keeps the file mapped.
"""

from __future__ import annotations

import os
import struct
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from twice.errors import RecordCorrupt, RecordTorn, SessionMisuse
from twice.recorder.record.blocks import Expander, StoredBlock, stored_block
from twice.recorder.record.chain import Chain
from twice.recorder.record.index import ROW_FIELDS, decode_index, unpack_row
from twice.recorder.record.layout import (
    HEADER_BYTES,
    ROW_BYTES,
    TRAILER_BYTES,
    Kind,
    Trailer,
    unpack_trailer,
)
from twice.recorder.record.opening import map_file, read_header
from twice.recorder.record.payloads import MalformedError
from twice.recorder.record.scan import Prefix, Progress, Visit, scan

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_CACHE_BYTES = 32 << 20
_Decoded = TypeVar("_Decoded")


class BlockFile:
    """The blocks of one record, read-only.

    Args:
        path: of the record.

    Attributes:
        header: the file header.
        chain: of checksums that starts from it.
        prefix: the blocks that stand, and the tear behind them if there is one.

    Raises:
        RecordUnreadable: E-RECORD-005, when it is missing, a folder, or not permitted.
        RecordForeign: E-RECORD-002, when it is not a run record.
        RecordVersion: E-RECORD-001, when it is of a format this version does not read.
        RecordTorn: E-RECORD-003, when it ends before anything can be read.
        RecordCorrupt: E-RECORD-004, when its header was changed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._cache: OrderedDict[int, bytes] = OrderedDict()
        self._cached_bytes = 0
        self._expander = Expander()
        self._table: npt.NDArray[np.void] | None = None
        self._map = map_file(self.path)
        self._data = memoryview(self._map)
        try:
            self.header = read_header(self.path, self._data)
            self.chain = Chain(self.header.algorithm, bytes(self._data[:HEADER_BYTES]))
            self.prefix = self._prefix()
        except BaseException:
            self.close()
            raise
        self._rows = bytes(self.prefix.rows)

    @property
    def size(self) -> int:
        """Length of the file in bytes, as it was opened."""
        return len(self._map)

    @property
    def blocks(self) -> int:
        """Return how many intact blocks there are, without the index."""
        return len(self._rows) // ROW_BYTES

    def table(self) -> npt.NDArray[np.void]:
        """Return the index as a structured array, one element per block (`ROW_FIELDS`)."""
        if self._table is None:
            import numpy as np

            self._table = np.frombuffer(self._rows, np.dtype(ROW_FIELDS))
        return self._table

    def numbers(self, kind: Kind) -> npt.NDArray[np.intp]:
        """Return the numbers of the blocks of a kind, in file order."""
        found: npt.NDArray[np.intp] = (self.table()["kind"] == kind).nonzero()[0]
        return found

    def stored(self, number: int) -> StoredBlock:
        """Return a block as it is in the file, after a check of its checksum.

        Raises:
            RecordCorrupt: E-RECORD-004, when it was changed.
        """
        self._must_be_open()
        row = unpack_row(self._rows, number)
        block = stored_block(self._data, row.offset)
        if isinstance(block, str):
            raise self.corrupt(number, block)
        if block.header.kind != row.head.kind:
            raise self.corrupt(number, "it is of another kind than the index says")
        if not block.follows(self.chain, self._checksum_before(number)):
            raise self.corrupt(number, "its checksum does not follow from what stands before it")
        return block

    def payload(self, number: int) -> bytes:
        """Return the expanded payload of a block; the last ones used are cached.

        Raises:
            RecordCorrupt: E-RECORD-004, when it was changed.
        """
        cached = self._cache.get(number)
        if cached is not None:
            self._cache.move_to_end(number)
            return cached
        try:
            payload = self._expander.payload(self.stored(number))
        except MalformedError as error:
            raise self.corrupt(number, str(error)) from error
        self._cache[number] = payload
        self._cached_bytes += len(payload)
        while self._cached_bytes > _CACHE_BYTES and len(self._cache) > 1:
            _, dropped = self._cache.popitem(last=False)
            self._cached_bytes -= len(dropped)
        return payload

    def decoded(self, number: int, decode: Callable[[bytes], _Decoded]) -> _Decoded:
        """Return a block's payload through a decoder.

        Raises:
            RecordCorrupt: E-RECORD-004, when it was changed, or no writer could have made it.
        """
        try:
            return decode(self.payload(number))
        except (MalformedError, struct.error) as error:
            raise self.corrupt(number, str(error)) from error

    def scan(self, progress: Progress | None = None, visit: Visit | None = None) -> Prefix:
        """Prove the whole file from its start."""
        self._must_be_open()
        return scan(self._data, self.chain, progress, visit)

    def intact_bytes(self, begin: int, end: int) -> bytes:
        """Return bytes of the file as they are; the caller has proved them."""
        self._must_be_open()
        return bytes(self._data[begin:end])

    def kind_at(self, offset: int) -> str:
        """Return the kind that the bytes at an offset claim; for messages only."""
        block = stored_block(self._data, offset)
        return "unknown" if isinstance(block, str) else Kind(block.header.kind).name.lower()

    def corrupt(self, number: int, why: str) -> RecordCorrupt:
        """Build the refusal for a block of this record."""
        row = unpack_row(self._rows, number)
        names = {kind.value: kind.name.lower() for kind in Kind}
        kind = names.get(row.head.kind, "unknown")
        return RecordCorrupt(
            f"{self.path}: block {number} ({kind}), at byte {row.offset}, was changed: {why}.",
            "Expected the bytes that were written when the run was recorded.",
            "Take another copy of the file; `twice show` tells what still stands before it.",
            path=str(self.path),
            block=number,
            offset=row.offset,
            kind=kind,
        )

    def close(self) -> None:
        """Unmap the file; payloads that were handed out stay."""
        self._cache.clear()
        self._data.release()
        self._map.close()

    def _checksum_before(self, number: int) -> bytes:
        if number == 0:
            return self.chain.start
        offset = unpack_row(self._rows, number - 1).offset
        return bytes(self._data[offset + 16 : offset + 48])

    def _must_be_open(self) -> None:
        if self._map.closed:
            raise SessionMisuse(
                f"{self.path} was closed.",
                "Expected an open record.",
                "Read from it inside the `with` block, or open it again.",
                path=str(self.path),
            )

    def _prefix(self) -> Prefix:
        prefix = closed_prefix(self._data, self.chain) or scan(self._data, self.chain)
        if prefix.blocks:
            return prefix
        tear = prefix.tear
        assert tear is not None, "a prefix without blocks has a tear"
        kind = RecordCorrupt if tear.damaged else RecordTorn
        raise kind(
            f"{self.path}: its first block, at byte {tear.offset}, does not stand: {tear.reason}.",
            "Expected the identity of the run there.",
            "Nothing of the run can be read; take another copy, or record it again.",
            path=str(self.path),
            offset=tear.offset,
            block=0,
            kind="identity",
        )


def closed_prefix(data: memoryview, chain: Chain) -> Prefix | None:
    """Return all blocks of a closed record, from its trailer and index alone; None if these are damaged.

    The index is proved against the block before it, the trailer against the index; the blocks
    themselves are proved when they are read.
    """
    start = len(data) - TRAILER_BYTES
    trailer = unpack_trailer(bytes(data[start : start + 32])) if start > HEADER_BYTES else None
    if trailer is None or not HEADER_BYTES < trailer.index_offset < start:
        return None
    index = stored_block(data, trailer.index_offset)
    if isinstance(index, str) or index.end != start or index.header.kind != Kind.INDEX:
        return None
    packed = Trailer(trailer.index_offset, len(data), trailer.blocks).pack()
    if bytes(data[start:]) != packed + chain.after(index.checksum, packed):
        return None
    try:
        rows = decode_index(index.payload)
    except MalformedError:
        return None
    blocks = len(rows) // ROW_BYTES
    if index.header.flags or blocks < 2 or blocks != trailer.blocks:
        return None
    last = unpack_row(rows, blocks - 1)
    if not HEADER_BYTES <= last.offset < trailer.index_offset or last.head.kind != Kind.ENDING:
        return None
    before = bytes(data[last.offset + 16 : last.offset + 48])
    if not index.follows(chain, before):
        return None
    return Prefix(trailer.index_offset, index.checksum, bytearray(rows), ended=True)
