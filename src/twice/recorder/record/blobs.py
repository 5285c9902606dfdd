"""The blobs of a record, such as the states in snapshots: stored as pages, and put together again.

A blob is compared with the blob stored before under the same key by a fast mark of every 64 KB
group and of every 4 KB page. Only pages that changed are hashed, and only content that the record
does not hold yet becomes a new page.

Invariant: reading a blob returns the bytes that were stored, or an error.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise, zip_longest
from typing import NamedTuple

from twice.errors import RecordCorrupt, RecordTooLarge
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, raw_digest
from twice.foundation.printable import pluralize
from twice.recorder.record.block_file import BlockFile, EntryIndex
from twice.recorder.record.layout import PAGE_BYTES, Kind, MalformedError
from twice.recorder.record.payloads import (
    DeltaTable,
    FullTable,
    count_pages,
    decode_pages,
    decode_table,
    decode_tables,
)

_GROUP_PAGES = 16
_GROUP_BYTES = _GROUP_PAGES * PAGE_BYTES
FULL_TABLE_EVERY = 32
_FULL_TABLE_SHARE = 16
_KNOWN_PAGES_MAX = 1 << 20


@dataclass(slots=True)
class _StoredPart:
    """One part as it was stored last: marks of its groups and pages, and its page numbers."""

    length: int
    groups: list[bytes]
    marks: list[bytes]
    pages: array[int]


class _StoredBlob(NamedTuple):
    """The blob stored last under a key; ``depth`` counts changes since its last full table."""

    number: int
    depth: int
    parts: list[_StoredPart]


class PageStore:
    """Turns blobs into new pages and tables."""

    def __init__(
        self, digest: Callable[[bytes | memoryview], bytes], on_full: Callable[[], None]
    ) -> None:
        self.begun = 0  # number of the first new page of the blob under way, if it has any
        self._on_full = on_full  # takes the fresh pages when a block of them has come together
        self._digest = digest
        # Fast rather than strong: it decides nothing but whether a page changed under one key.
        self._mark = raw_digest(Algorithm.XXH3_128)
        self._known: dict[bytes, int] = {}
        self._last: dict[str, _StoredBlob] = {}
        self._fresh: list[tuple[bytes, bytes]] = []
        self._fresh_bytes = self._first_fresh = self._blobs = 0

    def store(
        self, key: str, parts: Sequence[bytes | bytearray | memoryview], *, dedupe: bool
    ) -> tuple[int, FullTable | DeltaTable | None]:
        """Store a blob: return its number, and its table unless it equals the last one under this key.

        Without ``dedupe`` every page is written, known or not.
        """
        self.begun = self._first_fresh + len(self._fresh)
        views = [_flatten(part) for part in parts]
        lengths = [len(view) for view in views]
        if not dedupe:
            new = [page for view in views for page in _split(view, PAGE_BYTES)]
            numbers = [self._add_page(self._digest(page), page) for page in new]
            return self._number_blob(), FullTable(lengths, numbers)
        before = self._last.get(key)
        old = before.parts if before else []
        old_lengths = [part.length for part in old]
        now: list[_StoredPart] = []
        places: list[int] = []
        pages: list[int] = []
        start = 0
        for at, view in enumerate(views):
            part, changed = self._store_part(view, old[at] if at < len(old) else None)
            places.extend(start + place for place in changed)
            pages.extend(part.pages[place] for place in changed)
            start += len(part.pages)
            now.append(part)
        depth, table = 0, None
        if before is not None and lengths == old_lengths:
            if not places:
                return before.number, None
            # A full table now and then, so that the way back through changes stays short, and always where many
            # pages changed: those take far more bytes than it does.
            if before.depth < FULL_TABLE_EVERY and _FULL_TABLE_SHARE * len(places) < start:
                depth, table = before.depth + 1, DeltaTable(before.number, places, pages)
        number = self._number_blob()
        self._last[key] = _StoredBlob(number, depth, now)
        return number, table or FullTable(lengths, [page for part in now for page in part.pages])

    def _number_blob(self) -> int:
        self._blobs += 1
        return self._blobs - 1

    def take_fresh(self, before: int | None = None) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Take the new pages, all or those before this number, and the number of the first."""
        first = self._first_fresh
        count = len(self._fresh) if before is None else max(0, before - first)
        pages, self._fresh = self._fresh[:count], self._fresh[count:]
        self._first_fresh += len(pages)
        self._fresh_bytes = sum(len(page) for _, page in self._fresh)
        return first, pages

    def _store_part(
        self, view: memoryview, last: _StoredPart | None
    ) -> tuple[_StoredPart, list[int]]:
        """Return a part in its present form, and the places of the pages that changed."""
        groups = [self._mark(group) for group in _split(view, _GROUP_BYTES)]
        if last is None or last.length != len(view):
            count = count_pages(len(view))
            part = _StoredPart(len(view), [], [b""] * count, array("I", bytes(4 * count)))
            if last is not None:
                # Groups are compared anew; pages that did not move keep their mark and number.
                part.marks[: len(last.marks)] = last.marks[:count]
                part.pages[: len(last.pages)] = last.pages[:count]
        else:
            part = last
        changed = []
        for group, (before, now) in enumerate(zip_longest(part.groups, groups)):
            if before == now:
                continue
            start = group * _GROUP_BYTES
            pages = _split(view[start : start + _GROUP_BYTES], PAGE_BYTES)
            for place, page in enumerate(pages, group * _GROUP_PAGES):
                mark = self._mark(page)
                if mark != part.marks[place]:
                    part.marks[place] = mark
                    changed.append(place)
                    digest = self._digest(page)
                    number = self._known.get(digest)
                    if number is None:
                        number = self._add_page(digest, page)
                        if len(self._known) >= _KNOWN_PAGES_MAX:
                            del self._known[next(iter(self._known))]
                        self._known[digest] = number
                    part.pages[place] = number
        part.groups = groups
        return part, changed

    def _add_page(self, digest: bytes, page: memoryview) -> int:
        number = self._first_fresh + len(self._fresh)
        self._fresh.append((digest, bytes(page)))
        self._fresh_bytes += len(page)
        if self._fresh_bytes >= _GROUP_BYTES:
            self._on_full()
        return number


def _flatten(part: bytes | bytearray | memoryview) -> memoryview:
    """Return the bytes of a part in C order, without a copy where its memory allows."""
    view = memoryview(part)
    if view.nbytes == 0:
        return memoryview(b"")
    try:
        return view.cast("B")
    except TypeError:
        return memoryview(view.tobytes())


def _split(view: memoryview, size: int) -> list[memoryview]:
    """Split a view into pieces of a size; the last one may be shorter."""
    return [view[at : at + size] for at in range(0, len(view), size)]


class Blobs:
    """The blobs of one record that is read."""

    def __init__(self, file: BlockFile) -> None:
        self.bytes_max: int | None = None  # size of the largest blob that is opened; None for any
        self._file = file
        self._tables, self._pages = EntryIndex(file, Kind.TABLES), EntryIndex(file, Kind.PAGES)
        self._opened: tuple[int, list[tuple[bytes, bytes]]] = (0, [])

    def __len__(self) -> int:
        return self._tables.count

    def parts(self, number: int) -> list[bytearray]:
        """Return the parts of a blob, each in its full length; errors are those of `join`."""
        whole = self.join(number)
        bounds = pairwise(accumulate(self.read_table(number).lengths, initial=0))
        return [whole[begin:end] for begin, end in bounds]

    def join(self, number: int) -> bytearray:
        """Return the parts of a blob, joined; E-RECORD-006 where there is none, E-RECORD-007 beyond ``bytes_max``."""
        table = self.read_table(number)
        size = sum(table.lengths)
        # Repeated pages make a small file a large state.
        if self.bytes_max is not None and size > self.bytes_max:
            raise RecordTooLarge(
                f"{self._file.path} was made elsewhere and holds a state of {pluralize(size, 'byte')}.",
                f"Expected {self.bytes_max:,} bytes or less of a record that nobody trusts.",
                "If you trust who sent it, and have the memory: --trust",
                number=number,
                size=size,
            )
        whole = bytearray(size)
        view, pages = memoryview(whole), table.pages
        targets = [
            target
            for begin, end in pairwise(accumulate(table.lengths, initial=0))
            for target in _split(view[begin:end], PAGE_BYTES)
        ]
        self._pages.prefetch(pages)
        # In the order of the file, so that each block is opened once.
        for at in sorted(range(len(pages)), key=pages.__getitem__):
            page, target = pages[at], targets[at]
            first, opened = self._opened
            if not first <= page < first + len(opened):
                if page >= self._pages.count:
                    raise self._corrupt(number, f"it needs page {page}, which is not there")
                first, opened = self._opened = self._pages.decode(page, decode_pages)
            content = opened[page - first][1]
            if len(content) != len(target):
                raise self._corrupt(number, f"page {page} has another length than it has")
            target[:] = content
        return whole

    def read_table(self, number: int) -> FullTable:
        """Read the whole table of a blob, back through the tables that it changes."""
        if not 0 <= number < len(self):
            count = len(self)
            raise self._file.out_of_range("blob", number, count, number=number, count=count)
        changes: list[DeltaTable] = []
        at, table = number, self._read_stored_table(number)
        while isinstance(table, DeltaTable):
            # Only towards the start: tables that change each other in a circle have no end.
            if table.base >= at:
                raise self._corrupt(at, f"it changes blob {table.base}, which comes later")
            changes.append(table)
            at, table = table.base, self._read_stored_table(table.base)
        pages = list(table.pages)
        for change in reversed(changes):
            for place, page in zip(change.places, change.pages, strict=True):
                if place >= len(pages):
                    raise self._corrupt(number, f"it changes page {place} of {len(pages)}")
                pages[place] = page
        return FullTable(table.lengths, pages)

    def _read_stored_table(self, number: int) -> FullTable | DeltaTable:
        first, tables = self._tables.decode(number, decode_tables)
        try:
            return decode_table(tables[number - first])
        except MalformedError as error:
            raise self._corrupt(number, str(error)) from error

    def _corrupt(self, blob: int, why: str) -> RecordCorrupt:
        return self._file.corrupt(self._tables.find(blob), f"blob {blob}: {why}")
