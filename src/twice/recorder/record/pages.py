"""Choosing pages: what of a blob is new, and which pages of the record already hold the rest.

For the writer. A blob is compared with the blob stored before under the same key by a fast mark of
every 64 KB group and of every 4 KB page; only pages that changed are hashed, and only content that
the record does not hold yet becomes a new page. What blocks look like is in `pagetables`.

Invariant: reading a blob gives the bytes that were stored. A mark only says "unchanged since last
time under this key"; across keys and times content is the same when its strong digest is.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm, raw_digest
from twice.recorder.record.chain import checksum_algorithm
from twice.recorder.record.layout import PAGE_BYTES
from twice.recorder.record.pagetables import DeltaTable, FullTable

GROUP_PAGES = 16
GROUP_BYTES = GROUP_PAGES * PAGE_BYTES
FULL_TABLE_EVERY = 32
KNOWN_PAGES_MAX = 1 << 20

Bytes = bytes | bytearray | memoryview


@dataclass(slots=True)
class _Part:
    """One part as it was stored last: marks of its groups and pages, and its page numbers."""

    length: int
    groups: list[bytes]
    marks: list[bytes]
    pages: array[int]


@dataclass(slots=True)
class _Blob:
    """The blob stored last under a key; ``depth`` counts changes since its last full table."""

    number: int
    depth: int
    parts: list[_Part]


class PageStore:
    """Turns blobs into new pages and tables.

    Args:
        algorithm: of the record's compare-points.
        full: called when a block of fresh pages has come together; it takes them.

    Attributes:
        fresh: new pages since the last `take_fresh`, digest and content.
        fresh_bytes: content bytes in them.
        first_fresh: number of the first of them.
        begun: number that the first new page of the blob stored last had, or would have had.
        blobs: how many blobs have been stored.
    """

    def __init__(self, algorithm: Algorithm, full: Callable[[], None]) -> None:
        self._full = full
        self._digest = raw_digest(checksum_algorithm(algorithm))
        self._mark = raw_digest(
            Algorithm.XXH3_128
        )  # fast, and used for nothing but whether a page changed
        self._known: dict[bytes, int] = {}
        self._last: dict[str, _Blob] = {}
        self.fresh: list[tuple[bytes, bytes]] = []
        self.fresh_bytes = 0
        self.first_fresh = self.begun = 0
        self.blobs = 0

    def store(self, key: str, parts: Sequence[Bytes]) -> tuple[int, FullTable | DeltaTable | None]:
        """Store a blob: return its number, and its table unless it equals the last one under this key."""
        self.begun = self.first_fresh + len(self.fresh)
        before = self._last.get(key)
        old = before.parts if before else []
        views = [flat_view(part) for part in parts]
        changed: list[tuple[int, int]] = []
        now: list[_Part] = []
        start = 0
        for at, view in enumerate(views):
            part, places = self._part(view, old[at] if at < len(old) else None)
            changed.extend((start + place, part.pages[place]) for place in places)
            start += len(part.pages)
            now.append(part)
        lengths = [part.length for part in now]
        same = before is not None and lengths == [part.length for part in old]
        if before is not None and same and not changed:
            return before.number, None
        number, depth, table = self.blobs, 0, None
        if before is not None and same and before.depth < FULL_TABLE_EVERY:
            depth = before.depth + 1
            table = DeltaTable(
                before.number, [place for place, _ in changed], [page for _, page in changed]
            )
        self.blobs += 1
        self._last[key] = _Blob(number, depth, now)
        return number, table or FullTable(lengths, [page for part in now for page in part.pages])

    def store_anew(self, parts: Sequence[Bytes]) -> tuple[int, FullTable]:
        """Store a blob with every page written, known or not; return its number and table."""
        self.begun = self.first_fresh + len(self.fresh)
        views = [flat_view(part) for part in parts]
        pages = [
            self._new_page(self._digest(page), page) for view in views for page in pages_of(view)
        ]
        number, self.blobs = self.blobs, self.blobs + 1
        return number, FullTable([len(view) for view in views], pages)

    def take_fresh(self, before: int | None = None) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Take the new pages and the number of the first; they are no longer fresh.

        Args:
            before: leave pages from this number on where they are; None takes all.
        """
        first = self.first_fresh
        count = len(self.fresh) if before is None else max(0, before - first)
        pages, self.fresh = self.fresh[:count], self.fresh[count:]
        self.first_fresh += len(pages)
        self.fresh_bytes = sum(len(page) for _, page in self.fresh)
        return first, pages

    def _part(self, view: memoryview, old: _Part | None) -> tuple[_Part, list[int]]:
        """Return a part in its present form, and the positions of the pages that changed."""
        length = len(view)
        groups = [self._mark(view[at : at + GROUP_BYTES]) for at in range(0, length, GROUP_BYTES)]
        if old is None or old.length != length:
            marks = [self._mark(page) for page in pages_of(view)]
            part = _Part(length, groups, marks, array("I", bytes(4 * len(marks))))
            known = min(len(marks), len(old.marks)) if old else 0
            if old:
                part.pages[:known] = old.pages[:known]
            places = [
                at
                for at, mark in enumerate(marks)
                if at >= known or not old or mark != old.marks[at]
            ]
        else:
            part, places = old, list(self._moved(view, old, groups))
            part.groups = groups
        for place in places:
            part.pages[place] = self._number(view[place * PAGE_BYTES : (place + 1) * PAGE_BYTES])
        return part, places

    def _moved(self, view: memoryview, old: _Part, groups: list[bytes]) -> Iterator[int]:
        """Yield positions of pages whose mark changed; look only into groups whose mark changed."""
        marks = old.marks
        for group, (before, now) in enumerate(zip(old.groups, groups, strict=True)):
            if before == now:
                continue
            first = group * GROUP_PAGES
            for place in range(first, min(first + GROUP_PAGES, len(marks))):
                mark = self._mark(view[place * PAGE_BYTES : (place + 1) * PAGE_BYTES])
                if mark != marks[place]:
                    marks[place] = mark
                    yield place

    def _number(self, page: memoryview) -> int:
        digest = self._digest(page)
        number = self._known.get(digest)
        if number is None:
            number = self._new_page(digest, page)
            if len(self._known) >= KNOWN_PAGES_MAX:
                del self._known[next(iter(self._known))]
            self._known[digest] = number
        return number

    def _new_page(self, digest: bytes, page: memoryview) -> int:
        number = self.first_fresh + len(self.fresh)
        self.fresh.append((digest, bytes(page)))
        self.fresh_bytes += len(page)
        if self.fresh_bytes >= GROUP_BYTES:
            self._full()
        return number


def flat_view(part: Bytes) -> memoryview:
    """Return the bytes of a part in C order, without a copy where its memory allows."""
    view = memoryview(part)
    if view.nbytes == 0:
        return memoryview(b"")
    try:
        return view.cast("B")
    except TypeError:
        return memoryview(view.tobytes())


def pages_of(view: memoryview) -> Iterable[memoryview]:
    """Return the pages of a part; the last one may be shorter."""
    return [view[at : at + PAGE_BYTES] for at in range(0, len(view), PAGE_BYTES)]
