"""Blobs of a record put together again from their tables and pages.

For restoring a snapshot. A table is found by the blob's number, followed back through the tables it
changes, and its pages are read block by block. How pages were chosen is in `pages`.

Invariant: a blob comes back whole, or as an error; pages are as they were proved.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, pairwise

from twice.errors import RecordOutOfRange, RecordTooLarge
from twice.foundation.printable import pluralize
from twice.recorder.record.blockfile import BlockFile
from twice.recorder.record.layout import PAGE_BYTES, Kind
from twice.recorder.record.pagetables import (
    DeltaTable,
    FullTable,
    decode_pages,
    decode_table,
    decode_tables,
    pages_in,
)
from twice.recorder.record.runs import Runs


class Blobs:
    """The blobs of one record.

    Args:
        file: of the record.

    Attributes:
        bytes_max: size of the largest blob that is opened; None for any.
    """

    def __init__(self, file: BlockFile) -> None:
        self.bytes_max: int | None = None
        self._file = file
        self._opened: tuple[int, int, list[bytes], list[bytes]] = (0, 0, [], [])

    def __len__(self) -> int:
        return self._tables.count

    def parts(self, number: int) -> list[bytearray]:
        """Return the parts of a blob, each in its full length.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is no such blob.
            RecordCorrupt: E-RECORD-004, when a block that it needs was changed.
        """
        table = self._require_bound(number)
        parts = [bytearray(length) for length in table.lengths]
        self._fill(number, table, [memoryview(part) for part in parts])
        return parts

    def joined(self, number: int) -> bytearray:
        """Return the parts of a blob, joined.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is no such blob.
            RecordCorrupt: E-RECORD-004, when a block that it needs was changed.
        """
        table = self._require_bound(number)
        whole = bytearray(sum(table.lengths))
        view = memoryview(whole)
        bounds = pairwise(accumulate(table.lengths, initial=0))
        self._fill(number, table, [view[begin:end] for begin, end in bounds])
        return whole

    def _require_bound(self, number: int) -> FullTable:
        """Return a blob's table if its size is allowed: repeated pages make a small file a large state."""
        table = self.table(number)
        size = sum(table.lengths)
        if self.bytes_max is not None and size > self.bytes_max:
            raise RecordTooLarge(
                f"{self._file.path} was made elsewhere and holds a state of {pluralize(size, 'byte')}.",
                f"Expected {self.bytes_max:,} bytes or less of a record that nobody trusts.",
                "If you trust who sent it, and have the memory: --trust",
                number=number,
                size=size,
            )
        return table

    def _fill(self, number: int, table: FullTable, parts: list[memoryview]) -> None:
        """Copy every page to its place, in the order of the file."""
        places = [(part, PAGE_BYTES * at) for part in parts for at in range(pages_in(len(part)))]
        for at in sorted(range(len(places)), key=table.pages.__getitem__):
            view, start = places[at]
            _, content = self._page(number, table.pages[at])
            if len(content) != min(PAGE_BYTES, len(view) - start):
                raise self._broken(number, f"page {table.pages[at]} has another length than it has")
            view[start : start + len(content)] = content

    def table(self, number: int) -> FullTable:
        """Return the whole table of a blob: lengths of its parts, and its page numbers.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is no such blob.
            RecordCorrupt: E-RECORD-004, when a block that it needs was changed.
        """
        if not 0 <= number < len(self):
            raise RecordOutOfRange(
                f"Blob {number} was asked for.",
                f"{self._file.path} holds {pluralize(len(self), 'blob')}, from 0.",
                "Ask for one of those.",
                number=number,
                count=len(self),
            )
        changes: list[DeltaTable] = []
        at, table = number, self._stored_table(number)
        while isinstance(table, DeltaTable):
            if table.base >= at:
                raise self._broken(at, f"it changes blob {table.base}, which comes later")
            changes.append(table)
            at = table.base
            table = self._stored_table(at)
        pages = list(table.pages)
        for change in reversed(changes):
            for place, page in zip(change.places, change.pages, strict=True):
                if place >= len(pages):
                    raise self._broken(number, f"it changes page {place} of {len(pages)}")
                pages[place] = page
        return FullTable(table.lengths, pages)

    def digests(self, number: int) -> list[bytes]:
        """Return the 32-byte digest of every page of a blob, so that equal pages need not be compared.

        Raises:
            RecordOutOfRange: E-RECORD-006, when there is no such blob.
            RecordCorrupt: E-RECORD-004, when a block that it needs was changed.
        """
        return [self._page(number, page)[0] for page in self.table(number).pages]

    @cached_property
    def _tables(self) -> Runs:
        return Runs(self._file, Kind.TABLES)

    @cached_property
    def _pages(self) -> Runs:
        return Runs(self._file, Kind.PAGES)

    def _stored_table(self, number: int) -> FullTable | DeltaTable:
        block, first, _ = self._tables.find(number)
        tables = self._file.decoded(block, decode_tables)
        if number - first >= len(tables):
            raise self._broken(number, "its block holds fewer blobs than the index says")
        return self._file.decoded(block, lambda _: decode_table(tables[number - first]))

    def _page(self, blob: int, number: int) -> tuple[bytes, bytes]:
        """Digest and content of a page; the block opened last is kept."""
        first, end, digests, contents = self._opened
        if not first <= number < end:
            if number >= self._pages.count:
                raise self._broken(blob, f"it needs page {number}, which is not there")
            block, first, end = self._pages.find(number)
            _, digests, contents = self._file.decoded(block, decode_pages)
            if len(contents) != end - first:
                raise self._file.corrupt(block, "it holds fewer pages than the index says")
            self._opened = (first, end, digests, contents)
        return digests[number - first], contents[number - first]

    def _broken(self, blob: int, why: str) -> Exception:
        return self._file.corrupt(self._tables.find(blob)[0], f"blob {blob}: {why}")
