"""The payloads of blocks: frames, snapshots, pages, tables of blobs, documents and symbols to bytes and back.

Encoding returns two byte strings: the plain part, which stays readable in place (compare-points, all
that an index needs), and the rest, which may be compressed. Compare-points are decoded in `points`.

Symbols are numbers that stand for frame kinds, layouts (lists of components) and shapes of points (a
layout and a name). A names block says the new ones before the first block that uses them.

Invariant: decoding returns the entries that were encoded, a payload that no writer could have made is
refused, and a symbol never changes its meaning within a record.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from twice.errors import EncodingRefused, EncodingTextRefused
from twice.recorder.record.layout import (
    CHECKSUM_BYTES,
    DIGEST_BYTES,
    HEAD_BYTES,
    PAGE_BYTES,
    Head,
    Kind,
    MalformedError,
    unpack_head,
)

TICK_MAX = 1 << 62
KIND_BIT_MAX = 63
_FULL, _DELTA = 0, 1
_TABLE = struct.Struct("<II")

# A compare-point on its way to the file: shape, tick, root, chain, digests. A plain tuple, because
# making it is the hot path of a recording.
PointEntry = tuple[tuple[int, str], int, bytes, bytes, bytes]
# A journal frame: kind number, actor, tick, index of the next compare-point, payload.
FrameEntry = tuple[int, int, int, int, bytes]


class SnapshotEntry(NamedTuple):
    """Where a snapshot stands."""

    number: int  # in the record, from 0
    tick: int  # before whose body it was taken
    point: int  # index of the next compare-point


class FullTable(NamedTuple):
    """All pages of a blob: a list of parts, each cut into pages from its own beginning."""

    lengths: Sequence[int]  # bytes of every part
    pages: Sequence[int]  # of all parts, in order; each number refers to a page earlier in the file


class DeltaTable(NamedTuple):
    """A blob as changes to another one with parts of the same lengths."""

    base: int  # number of the other blob, an earlier one
    places: Sequence[int]  # positions in its list of pages
    pages: Sequence[int]  # numbers of the pages that stand there instead


def count_pages(length: int) -> int:
    """Return how many pages a part of so many bytes takes."""
    return -(-length // PAGE_BYTES)


def open_payload(payload: bytes, kind: Kind, entry_bytes: int) -> tuple[Head, int]:
    """Return the head of a payload, and where its columns of so many bytes per entry end."""
    head = unpack_head(payload, kind)
    end = HEAD_BYTES + entry_bytes * head.entries
    # Before anything is unpacked: a count that lies must not cost memory.
    if not head.entries or len(payload) < end:
        raise MalformedError(f"a {kind.name.lower()} block is shorter than its count")
    return head, end


def _cut(payload: bytes, start: int, lengths: Sequence[int]) -> list[bytes]:
    """Cut the bytes behind the columns into pieces of these lengths."""
    bounds = list(accumulate(lengths, initial=start))
    if bounds[-1] != len(payload):
        raise MalformedError("the lengths in a block do not add up to its payload")
    return [payload[begin:end] for begin, end in pairwise(bounds)]


def encode_points(
    first: int, entries: Sequence[PointEntry], shapes: Sequence[int]
) -> tuple[bytes, bytes]:
    """Encode compare-points, with the shape number of each beside them."""
    count = len(entries)
    _, ticks, roots, chains, digests = zip(*entries, strict=True)
    sizes = set(map(len, roots)) | set(map(len, chains))
    assert sizes == {DIGEST_BYTES}, "a root and a chain are 16 bytes each"
    low, high = min(ticks), max(ticks)
    assert -TICK_MAX < low <= high < TICK_MAX, "a tick lies within 62 bits"
    records = b"".join([part for pair in zip(roots, chains, strict=True) for part in pair])
    # Steps between ticks are nearly all alike, so they compress to nothing.
    steps = [ticks[0], *[after - before for before, after in pairwise(ticks)]]
    columns = struct.pack(f"<{count}q{count}I", *steps, *shapes)
    head = Head(first, count, Kind.POINTS, low, high).pack()
    return head + records, columns + b"".join(digests)


def encode_frames(first: int, entries: Sequence[FrameEntry]) -> tuple[bytes, bytes]:
    """Encode journal frames as columns, payloads last."""
    n = len(entries)
    kinds, actors, ticks, points, payloads = zip(*entries, strict=True)
    bits = 0
    for kind in sorted(set(kinds)):
        bits |= 1 << min(kind, KIND_BIT_MAX)
    head = Head(first, n, Kind.FRAMES, min(points), max(points), bits).pack()
    columns = struct.pack(
        f"<{n}q{n}Q{n}I{n}I{n}H", *ticks, *points, *actors, *map(len, payloads), *kinds
    )
    return head, columns + b"".join(payloads)


def decode_frames(
    payload: bytes,
) -> tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int], list[bytes]]:
    """Decode a frames block into its columns: kinds, actors, ticks, points, payloads."""
    head, start = open_payload(payload, Kind.FRAMES, 26)
    n = head.entries
    numbers = struct.unpack_from(f"<{n}q{n}Q{n}I{n}I{n}H", payload, HEAD_BYTES)
    ticks, points, actors, lengths, kinds = (numbers[at : at + n] for at in range(0, 5 * n, n))
    # The index trusts this range and never opens a block whose range does not match.
    if (min(points), max(points)) != (head.low, head.high):
        raise MalformedError("a frames block names another range of points than it holds")
    return kinds, actors, ticks, points, _cut(payload, start, lengths)


def encode_snapshots(first: int, entries: Sequence[tuple[int, int, bytes]]) -> tuple[bytes, bytes]:
    """Encode snapshots given as tick, point and envelope."""
    n = len(entries)
    ticks, points, envelopes = zip(*entries, strict=True)
    head = Head(first, n, Kind.SNAPSHOTS, min(ticks), max(ticks)).pack()
    columns = struct.pack(f"<{n}q{n}Q{n}I", *ticks, *points, *map(len, envelopes))
    return head + columns, b"".join(envelopes)


def decode_snapshots(payload: bytes) -> list[tuple[SnapshotEntry, bytes]]:
    """Decode the snapshots of a block, each with its envelope."""
    head, start = open_payload(payload, Kind.SNAPSHOTS, 20)
    n = head.entries
    numbers = struct.unpack_from(f"<{n}q{n}Q{n}I", payload, HEAD_BYTES)
    entries = [SnapshotEntry(head.first + at, numbers[at], numbers[n + at]) for at in range(n)]
    return list(zip(entries, _cut(payload, start, numbers[2 * n :]), strict=True))


def encode_pages(first: int, entries: Sequence[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """Encode pages given as 32-byte digest and content."""
    n = len(entries)
    digests, contents = zip(*entries, strict=True)
    lengths = struct.pack(f"<{n}H", *map(len, contents))
    plain = Head(first, n, Kind.PAGES).pack() + lengths + b"".join(digests)
    return plain, b"".join(contents)


def decode_pages(payload: bytes) -> list[tuple[bytes, bytes]]:
    """Decode a pages block into pairs of digest and content."""
    head, end = open_payload(payload, Kind.PAGES, 2 + CHECKSUM_BYTES)
    n = head.entries
    lengths = struct.unpack_from(f"<{n}H", payload, HEAD_BYTES)
    if not 1 <= min(lengths) <= max(lengths) <= PAGE_BYTES:
        raise MalformedError(f"a page is empty or longer than {PAGE_BYTES} bytes")
    starts = range(HEAD_BYTES + 2 * n, end, CHECKSUM_BYTES)
    digests = [payload[at : at + CHECKSUM_BYTES] for at in starts]
    return list(zip(digests, _cut(payload, end, lengths), strict=True))


def encode_table(table: FullTable | DeltaTable) -> bytes:
    """Encode one blob table."""
    n = len(table.pages)
    if isinstance(table, FullTable):
        parts = len(table.lengths)
        numbers = struct.pack(f"<{parts}Q{n}I", *table.lengths, *table.pages)
        return _TABLE.pack(_FULL, parts) + numbers
    numbers = struct.pack(f"<Q{n}I{n}I", table.base, *table.places, *table.pages)
    return _TABLE.pack(_DELTA, n) + numbers


def decode_table(data: bytes) -> FullTable | DeltaTable:
    """Decode one blob table."""
    if len(data) < _TABLE.size:
        raise MalformedError("a blob table is shorter than its head")
    kind, n = _TABLE.unpack_from(data)
    start = _TABLE.size + 8 * n
    if kind == _DELTA and len(data) == start + 8:
        base, *numbers = struct.unpack_from(f"<Q{2 * n}I", data, _TABLE.size)
        return DeltaTable(base, numbers[:n], numbers[n:])
    if kind == _FULL and len(data) >= start:
        lengths = struct.unpack_from(f"<{n}Q", data, _TABLE.size)
        pages = sum(map(count_pages, lengths))
        if len(data) == start + 4 * pages:
            return FullTable(lengths, struct.unpack_from(f"<{pages}I", data, start))
    raise MalformedError("a blob table has another length than its counts ask for")


def encode_tables(first: int, tables: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Join blob tables, each already encoded."""
    lengths = struct.pack(f"<{len(tables)}I", *map(len, tables))
    return Head(first, len(tables), Kind.TABLES).pack(), lengths + b"".join(tables)


def decode_tables(payload: bytes) -> list[bytes]:
    """Return the blob tables of a block, still encoded."""
    head, start = open_payload(payload, Kind.TABLES, 4)
    return _cut(payload, start, struct.unpack_from(f"<{head.entries}I", payload, HEAD_BYTES))


def encode_json(document: Mapping[str, object]) -> bytes:
    """Encode a document in RFC 8785 form; E-ENCODE-001 where it has none."""
    import rfc8785

    try:
        return rfc8785.dumps(dict(document))  # type: ignore[arg-type]  # it refuses what it must
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise EncodingRefused(
            f"A document of the run record has no RFC 8785 form: {error}.",
            "Expected text, numbers up to 2**53 - 1, lists and maps with text as keys.",
            "Write large integers and other values as text.",
        ) from error


def decode_json(payload: bytes) -> dict[str, object]:
    """Decode the document in a block."""
    try:
        document = json.loads(payload)
        json.dumps(document, ensure_ascii=False).encode()  # a lone surrogate is refused here
    except (ValueError, RecursionError) as error:
        raise MalformedError(f"a document is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise MalformedError("a document is not a JSON object")
    return document


class SymbolWriter:
    """The symbols of a record that is being written, and which of them are in the file."""

    def __init__(self) -> None:
        self._kinds: dict[str, int] = {}
        self._layouts: dict[tuple[str, ...], int] = {}
        self._shapes: dict[tuple[int, str], int] = {}
        self._written = [0, 0, 0]

    def number_layout(self, components: Sequence[str]) -> int:
        """Return the number of a list of components."""
        names = tuple(_check_text(name) for name in components)
        return self._layouts.setdefault(names, len(self._layouts))

    def number_kind(self, word: str) -> int:
        """Return the number of a frame kind."""
        number = self._kinds.get(word)
        if number is None:
            number = self._kinds[_check_text(word)] = len(self._kinds)
            assert number < 1 << 16, "a record has few kinds of frames"
        return number

    def number_shapes(self, shapes: Sequence[tuple[int, str]]) -> list[int]:
        """Return the numbers of the shapes of many points."""
        known = self._shapes
        try:
            return [known[shape] for shape in shapes]
        except KeyError:
            for layout, name in shapes:
                known.setdefault((layout, _check_text(name)), len(known))
        return [known[shape] for shape in shapes]

    def take_new(self) -> dict[str, object] | None:
        """Take the content of the next names block; return None if nothing is new."""
        known: dict[str, Mapping[Any, int]] = {
            "kinds": self._kinds,
            "layouts": self._layouts,
            "shapes": self._shapes,
        }
        before, self._written = self._written, [len(each) for each in known.values()]
        if self._written == before:
            return None
        return {name: list(known[name])[at:] for name, at in zip(known, before, strict=True)}


def _check_text(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError as error:
        raise EncodingTextRefused(
            f"The name {word!r} holds a lone surrogate.",
            "Expected text that has a UTF-8 form.",
            "Give it another name.",
            name=word,
        ) from error
    return word


class Shape(NamedTuple):
    """The common part of all points of one shape."""

    name: str  # such as `tick`
    components: tuple[str, ...]  # whose digests they hold, in order

    @property
    def is_value(self) -> bool:
        """Whether they compare one value by its name, and no state."""
        return self.components == (self.name,)


class SymbolTable:
    """The symbols of a record that is read, each at its number."""

    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.shapes: list[Shape] = []
        self._layouts: list[tuple[str, ...]] = []

    def add(self, payload: bytes) -> None:
        """Add one names block."""
        document = decode_json(payload)
        if sorted(document) != ["kinds", "layouts", "shapes"]:
            raise MalformedError("a names block has other members than kinds, layouts and shapes")
        self.kinds += _check_texts(document["kinds"])
        self._layouts += [tuple(_check_texts(names)) for names in _check_list(document["layouts"])]
        for shape in _check_list(document["shapes"]):
            match shape:
                # `int(layout)` would also match true and false.
                case [layout, str(name)] if type(layout) is int:
                    if not 0 <= layout < len(self._layouts):
                        raise MalformedError("a shape has a layout that no names block says")
                    self.shapes.append(Shape(name, self._layouts[layout]))
                case _:
                    raise MalformedError("a shape is not a layout and a name")


def _check_list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise MalformedError("a names block has something else than a list")
    return value


def _check_texts(value: object) -> list[str]:
    texts = [text for text in _check_list(value) if isinstance(text, str)]
    if texts != value:
        raise MalformedError("a names block has something else than a name")
    return texts
