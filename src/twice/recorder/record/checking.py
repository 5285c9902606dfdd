"""Proving a whole record: every byte by the chain, every block by its form.

For `verify` and for anyone who must rule out that a record was changed. A record that was never
closed is torn and says so; it never passes.

Invariant: when this returns, each byte of the file is one that the writer wrote, in its place.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections.abc import Sequence

from twice.errors import RecordCorrupt, RecordTorn
from twice.foundation.digests import raw_digest
from twice.foundation.printable import pluralize
from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.blocks import Expander, StoredBlock
from twice.recorder.record.chain import checksum_algorithm
from twice.recorder.record.layout import PAGE_BYTES, Kind, unpack_head
from twice.recorder.record.pagetables import (
    FullTable,
    decode_pages,
    decode_table,
    decode_tables,
    page_spans,
    pages_in,
)
from twice.recorder.record.payloads import (
    MalformedError,
    decode_frames,
    decode_json,
    decode_points,
    decode_snapshots,
)
from twice.recorder.record.points import PointBlock
from twice.recorder.record.scan import Progress, Tear
from twice.recorder.record.words import Words


def check_file(file: BlockFile, progress: Progress | None = None) -> None:
    """Prove the file from its first byte to its last.

    Args:
        file: of the record.
        progress: called with bytes done and bytes in all.

    Raises:
        RecordCorrupt: E-RECORD-004, when a byte was changed; names block, offset and kind.
        RecordTorn: E-RECORD-003, when the record was never closed.
    """
    forms = _Forms(file)
    tear = file.scan(progress, forms.visit).tear
    if forms.fault is not None:
        raise file.corrupt(*forms.fault)
    if tear is not None:
        raise _stopped(file, tear)


class _Forms:
    """Looks into every block as it is proved, and remembers the first that no writer made."""

    def __init__(self, file: BlockFile) -> None:
        self.fault: tuple[int, str] | None = None
        self._digest = raw_digest(checksum_algorithm(file.header.algorithm))
        self._expander = Expander()
        self._words = Words()
        self._blocks = 0
        self._page_lengths = array("H")
        self._blob_lengths: list[Sequence[int]] = []
        self._seen = dict.fromkeys(Kind, 0)

    def visit(self, block: StoredBlock) -> None:
        number, self._blocks = self._blocks, self._blocks + 1
        if self.fault is None:
            try:
                self._look(Kind(block.header.kind), self._expander.payload(block))
            except (MalformedError, struct.error) as error:
                self.fault = (number, str(error))

    def _look(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.NAMES:
            self._words.add(payload)
        elif kind in (Kind.IDENTITY, Kind.ENDING):
            decode_json(payload)
        else:
            head = unpack_head(payload)
            if head.first != self._seen[kind]:
                raise MalformedError(f"entry {self._seen[kind]} of its kind is missing")
            self._entries(kind, payload)
            self._seen[kind] += head.count

    def _entries(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.POINTS:
            PointBlock(decode_points(payload), self._words)
        elif kind is Kind.FRAMES:
            kinds = len(self._words.kinds)
            if max(decode_frames(payload).kinds) >= kinds:
                raise MalformedError("a frame has a kind that no names block says")
        elif kind is Kind.PAGES:
            _, digests, contents = decode_pages(payload)
            if digests != [self._digest(content) for content in contents]:
                raise MalformedError("a page has another digest than its content")
            self._page_lengths.extend(map(len, contents))
        elif kind is Kind.TABLES:
            self._tables(payload)
        elif kind is Kind.SNAPSHOTS:
            decode_snapshots(payload)

    def _tables(self, payload: bytes) -> None:
        for data in decode_tables(payload):
            table, number = decode_table(data), len(self._blob_lengths)
            if isinstance(table, FullTable):
                self._blob_lengths.append(table.lengths)
                places: Sequence[int] = range(len(table.pages))
            elif table.base < number:
                self._blob_lengths.append(self._blob_lengths[table.base])
                places = table.places
            else:
                raise MalformedError(f"blob {number} changes blob {table.base}, which comes later")
            self._pages_fit(number, places, table.pages)

    def _pages_fit(self, number: int, places: Sequence[int], pages: Sequence[int]) -> None:
        """Check that every page of a table comes before it and has the length of its place."""
        lengths = self._blob_lengths[number]
        ends = [end for _, end in page_spans(lengths)]
        for place, page in zip(places, pages, strict=True):
            part = bisect_right(ends, place)
            if part == len(ends):
                raise MalformedError(f"blob {number} has no page {place}")
            begin = ends[part] - pages_in(lengths[part])
            expected = min(PAGE_BYTES, lengths[part] - PAGE_BYTES * (place - begin))
            if page >= len(self._page_lengths) or self._page_lengths[page] != expected:
                raise MalformedError(
                    f"blob {number} needs page {page} with {pluralize(expected, 'byte')}, and it is not there"
                )


def _stopped(file: BlockFile, tear: Tear) -> RecordCorrupt | RecordTorn:
    """Build the refusal for a record whose chain does not reach its trailer."""
    where = f"{file.path}: block {tear.block}, at byte {tear.offset}"
    fields = {
        "path": str(file.path),
        "block": tear.block,
        "offset": tear.offset,
        "kind": file.kind_at(tear.offset),
        "points": tear.points,
    }
    kept = f"The {pluralize(tear.points, 'compare-point')} before it can be read"
    if tear.damaged:
        return RecordCorrupt(
            f"{where} ({fields['kind']}), was changed: {tear.reason}.",
            "Expected the bytes that were written when the run was recorded.",
            f"{kept}; take another copy of the file.",
            **fields,
        )
    return RecordTorn(
        f"{where}: the record stops there, because {tear.reason}.",
        "Expected an ending, an index and a trailer; the recording process did not get there.",
        f"{kept}: `twice verify` judges them as PARTIAL, `migrate` closes the record there.",
        **fields,
    )
