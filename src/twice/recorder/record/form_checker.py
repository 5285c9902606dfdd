"""The form of a record's blocks, checked as they are proved, whether or not anybody reads them.

Invariant: what passes has only entries that a writer makes, and no entry refers to what is not there.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from twice.foundation.printable import pluralize
from twice.recorder.record import payloads
from twice.recorder.record.layout import (
    PAGE_BYTES,
    Expander,
    Kind,
    MalformedError,
    StoredBlock,
    unpack_head,
)
from twice.recorder.record.payloads import SymbolTable, decode_json
from twice.recorder.record.points import PointBlock


class FormChecker:
    """Looks into every block as it is proved, and remembers the first that no writer made."""

    def __init__(self, digest: Callable[[bytes], bytes]) -> None:
        self.fault: tuple[int, str] | None = None
        self._digest = digest
        self._expander = Expander()
        self._symbols = SymbolTable()
        self._blocks = 0
        self._page_lengths = array("H")
        self._blob_lengths: list[Sequence[int]] = []
        self._entries = dict.fromkeys(Kind, 0)

    def visit(self, block: StoredBlock) -> None:
        """Check the form of one block."""
        number, self._blocks = self._blocks, self._blocks + 1
        if self.fault is None:
            try:
                self._check(Kind(block.header.kind), self._expander.expand(block))
            except MalformedError as error:
                self.fault = (number, str(error))

    def _check(self, kind: Kind, payload: bytes) -> None:
        if kind is Kind.NAMES:
            self._symbols.add(payload)
            return
        if kind in (Kind.IDENTITY, Kind.ENDING):
            decode_json(payload)
            return
        head = unpack_head(payload, kind)
        if head.first != self._entries[kind]:
            raise MalformedError(f"entry {self._entries[kind]} of its kind is missing")
        self._entries[kind] += head.entries
        if kind is Kind.POINTS:
            PointBlock(payload, self._symbols)
        elif kind is Kind.FRAMES:
            if max(payloads.decode_frames(payload)[0]) >= len(self._symbols.kinds):
                raise MalformedError("a frame has a kind that no names block says")
        elif kind is Kind.PAGES:
            for digest, content in payloads.decode_pages(payload):
                if digest != self._digest(content):
                    raise MalformedError("a page has another digest than its content")
                self._page_lengths.append(len(content))
        elif kind is Kind.TABLES:
            for data in payloads.decode_tables(payload):
                self._check_table(data)
        elif kind is Kind.SNAPSHOTS:
            payloads.decode_snapshots(payload)

    def _check_table(self, data: bytes) -> None:
        """Check that every page of a table comes before it and has the length of its place."""
        table, number = payloads.decode_table(data), len(self._blob_lengths)
        places: Sequence[int]
        if isinstance(table, payloads.FullTable):
            lengths, places = table.lengths, range(len(table.pages))
        elif table.base < number:
            lengths, places = self._blob_lengths[table.base], table.places
        else:
            raise MalformedError(f"blob {number} changes blob {table.base}, which comes later")
        self._blob_lengths.append(lengths)
        ends = list(accumulate(map(payloads.count_pages, lengths)))
        for place, page in zip(places, table.pages, strict=True):
            part = bisect_right(ends, place)
            if part == len(ends):
                raise MalformedError(f"blob {number} has no page {place}")
            before = PAGE_BYTES * (place - ends[part] + payloads.count_pages(lengths[part]))
            expected = min(PAGE_BYTES, lengths[part] - before)
            if page >= len(self._page_lengths) or self._page_lengths[page] != expected:
                raise MalformedError(
                    f"blob {number} needs page {page} with {pluralize(expected, 'byte')}, and it is not there"
                )
