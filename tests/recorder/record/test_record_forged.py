"""A record that somebody made up, its chain in order, is refused by name and costs nothing.

Whoever writes a file can give it a right chain. Then only the form of each block stands between the
reader and nonsense: lengths that would fill the memory, numbers that point nowhere, tables that go
in circles.
"""

from __future__ import annotations

import contextlib
import json
import random
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from record_samples import RUN_ID

from twice.errors import RecordCorrupt, TwiceError
from twice.foundation.digests import Algorithm, raw_digest
from twice.recorder.record import RecordReader, payloads
from twice.recorder.record.layout import (
    COMPRESSED,
    BlockHeader,
    Chain,
    Head,
    Header,
    Kind,
    MalformedError,
    Sealer,
    Trailer,
    encode_index,
    encode_row,
)
from twice.recorder.record.points import PointBlock

HEADER = Header(1, RUN_ID, Algorithm.BLAKE3, "")
NAMES = {"kinds": ["effects"], "layouts": [["a"]], "shapes": [[0, "tick"]]}
Block = tuple[Kind, bytes, bytes]


def forge(
    path: Path, blocks: list[Block], *, identity: bytes = b"{}", ending: bytes = b"{}"
) -> Path:
    """Write a closed record with these blocks between its identity and its ending."""
    chain = Chain(HEADER.algorithm, HEADER.pack())
    sealer, data, rows = Sealer(chain, chain.start), HEADER.pack(), b""
    for kind, plain, rest in [(Kind.IDENTITY, b"", identity), *blocks, (Kind.ENDING, b"", ending)]:
        block = sealer.seal(kind, plain, rest)
        rows += (
            len(data).to_bytes(8, "little")
            + (plain or bytes(12) + bytes([kind])).ljust(40, b"\0")[:40]
            + bytes(16)
        )
        data += block
    block = sealer.seal(Kind.INDEX, encode_index(rows), b"")
    trailer = Trailer(len(data), len(data) + len(block) + 64, len(rows) // 64).pack()
    path.write_bytes(data + block + trailer + chain.link(sealer.checksum, trailer))
    return path


def forge_header(path: Path, header: BlockHeader, payload: bytes) -> Path:
    """Write a record whose second block has this header, however wrong, and a right checksum."""
    chain = Chain(HEADER.algorithm, HEADER.pack())
    identity = BlockHeader(2, 2, 0, Kind.IDENTITY, 0).pack()
    first = chain.link(chain.start, identity, b"{}")
    packed = header.pack()
    second = chain.link(first, packed, payload)
    data = HEADER.pack() + identity + first + b"{}" + packed + second + payload
    path.write_bytes(data)
    return path


def read_everything(path: Path) -> None:
    with RecordReader.open(path) as reader:
        len(reader.points)
        list(reader.points.iterate())
        reader.points.index_of_tick(3)
        reader.points.chains()
        list(reader.frames(["effects"]))
        list(reader.frames())
        [reader.envelope(entry.number) for entry in reader.snapshots]
        [reader.blob(number) for number in range(len(reader.blobs))]
        reader.summary()


def refused(path: Path, *, reading: bool = True) -> str:
    """Both reading and checking raise errors of ours; returns what the check says."""
    if reading:
        with pytest.raises(TwiceError):
            read_everything(path)
    with pytest.raises(TwiceError) as caught, RecordReader.open(path) as reader:
        reader.check()
    return str(caught.value)


def names(document: object = NAMES) -> Block:
    return Kind.NAMES, b"", json.dumps(document).encode()


def points(n: int, steps: list[int], shapes: list[int], digests: bytes, **head: int) -> Block:
    low, high = head.pop("low", 0), head.pop("high", 0)
    plain = Head(head.pop("first", 0), n, Kind.POINTS, low, high).pack() + bytes(32 * n)
    return Kind.POINTS, plain, struct.pack(f"<{n}q{n}I", *steps, *shapes) + digests


def frames(n: int, lengths: list[int], payload: bytes, *, kind: int = 0, high: int = 0) -> Block:
    head = Head(0, n, Kind.FRAMES, 0, high, 1).pack()
    columns = struct.pack(
        f"<{n}q{n}Q{n}I{n}I{n}H", *[0] * n, *[0] * n, *[0] * n, *lengths, *[kind] * n
    )
    return Kind.FRAMES, head, columns + payload


def pages(*contents: bytes, first: int = 0, lie: bool = False) -> Block:
    digest = raw_digest(Algorithm.BLAKE3)
    n = len(contents)
    plain = Head(first, n, Kind.PAGES).pack() + struct.pack(f"<{n}H", *map(len, contents))
    digests = b"".join(bytes(32) if lie else digest(content) for content in contents)
    return Kind.PAGES, plain + digests, b"".join(contents)


def tables(*entries: bytes) -> Block:
    n = len(entries)
    lengths = struct.pack(f"<{n}I", *map(len, entries))
    return Kind.TABLES, Head(0, n, Kind.TABLES).pack(), lengths + b"".join(entries)


def full(lengths: list[int], page_numbers: list[int]) -> bytes:
    n, m = len(lengths), len(page_numbers)
    return struct.pack(f"<II{n}Q{m}I", 0, n, *lengths, *page_numbers)


def changes(base: int, places: list[int], page_numbers: list[int]) -> bytes:
    n = len(places)
    return struct.pack(f"<IIQ{n}I{n}I", 1, n, base, *places, *page_numbers)


ROOT = bytes(16)
NONSENSE: dict[str, Callable[[], list[Block]]] = {
    "points before names": lambda: [points(1, [0], [0], ROOT)],
    "a shape that is not named": lambda: [names(), points(1, [0], [7], ROOT)],
    "digests that do not add up": lambda: [names(), points(2, [0, 0], [0, 0], ROOT)],
    "another range of ticks": lambda: [names(), points(1, [5], [0], ROOT)],
    "points that start at another index": lambda: [names(), points(1, [0], [0], ROOT, first=3)],
    "points without columns": lambda: [
        names(),
        (Kind.POINTS, Head(0, 1, Kind.POINTS).pack() + bytes(32), b""),
    ],
    "no points at all": lambda: [names(), (Kind.POINTS, Head(0, 0, Kind.POINTS).pack(), b"")],
    "four billion points": lambda: [
        names(),
        (Kind.POINTS, Head(0, 2**32 - 1, Kind.POINTS).pack() + bytes(64), b""),
    ],
    "a head of another kind": lambda: [(Kind.FRAMES, Head(0, 1, Kind.POINTS).pack(), b"x" * 30)],
    "a head that is cut": lambda: [(Kind.FRAMES, b"", b"x" * 30)],
    "frames longer than their block": lambda: [names(), frames(1, [2**32 - 1], b"abc")],
    "frames shorter than their block": lambda: [names(), frames(2, [1, 1], b"abc")],
    "a frame of no kind": lambda: [names(), frames(1, [1], b"a", kind=9)],
    "another range of points": lambda: [names(), frames(1, [1], b"a", high=5)],
    "four billion frames": lambda: [
        names(),
        (Kind.FRAMES, Head(0, 2**32 - 1, Kind.FRAMES, 0, 0, 1).pack(), b"x" * 100),
    ],
    "a page that lies about its digest": lambda: [pages(b"abc", lie=True), tables(full([3], [0]))],
    "a page that is too long": lambda: [pages(b"a" * 5000), tables(full([5000], [0, 0]))],
    "a page that is empty": lambda: [pages(b"", b"a"), tables(full([1], [1]))],
    "a page that is not there": lambda: [pages(b"abc"), tables(full([3], [4]))],
    "a page that is shorter than its place": lambda: [pages(b"abc"), tables(full([4], [0]))],
    "fewer pages than the parts need": lambda: [pages(b"abc"), tables(full([9000], [0]))],
    "a part of all the memory there is": lambda: [pages(b"abc"), tables(full([2**63], [0]))],
    "a table that changes itself": lambda: [pages(b"a"), tables(changes(0, [0], [0]))],
    "tables in a circle": lambda: [pages(b"a"), tables(changes(1, [0], [0]), changes(0, [0], [0]))],
    "a change to a page that is not there": lambda: [
        pages(b"a"),
        tables(full([1], [0]), changes(0, [9], [0])),
    ],
    "a table of an unknown type": lambda: [pages(b"a"), tables(struct.pack("<II", 7, 0))],
    "a table that is cut": lambda: [pages(b"a"), tables(b"\0\0")],
    "snapshots longer than their block": lambda: [
        (
            Kind.SNAPSHOTS,
            Head(0, 1, Kind.SNAPSHOTS).pack() + struct.pack("<qQI", 0, 0, 2**31),
            b"abc",
        )
    ],
    "four billion snapshots": lambda: [
        (Kind.SNAPSHOTS, Head(0, 2**32 - 1, Kind.SNAPSHOTS).pack(), b"abc")
    ],
}


@pytest.mark.parametrize("what", sorted(NONSENSE))
def test_nonsense_in_a_right_chain_is_refused(tmp_path: Path, what: str) -> None:
    path = forge(tmp_path / "a.twice", NONSENSE[what]())
    reading = what not in ("a page that lies about its digest", "no points at all")
    assert refused(path, reading=reading).startswith("E-RECORD-004")


@pytest.mark.parametrize(
    "document",
    [
        {},
        [],
        {"kinds": 1, "layouts": [], "shapes": []},
        {"kinds": [1], "layouts": [], "shapes": []},
        {"kinds": [], "layouts": [["a", 2]], "shapes": []},
        {"kinds": [], "layouts": [], "shapes": [[0, "tick"]]},
        {"kinds": [], "layouts": [[]], "shapes": [[True, "tick"]]},
        {"kinds": [], "layouts": [[]], "shapes": [[0]]},
    ],
)
def test_names_of_another_form_are_refused(tmp_path: Path, document: object) -> None:
    path = forge(tmp_path / "a.twice", [names(document), points(1, [0], [0], ROOT)])
    assert refused(path).startswith("E-RECORD-004")


@pytest.mark.parametrize(
    "text", [b"[]", b"nonsense", b"", b'"\xff"', b'{"a": "\\ud800"}', b"[" * 100_000, b"1" * 5000]
)
def test_documents_of_another_form_are_refused(tmp_path: Path, text: bytes) -> None:
    for path in (
        forge(tmp_path / "a.twice", [], identity=text),
        forge(tmp_path / "b.twice", [], ending=text),
    ):
        assert refused(path).startswith("E-RECORD-004")


def test_payloads_of_any_bytes_are_read_or_malformed() -> None:
    draw = random.Random(5)
    symbols = payloads.SymbolTable()
    symbols.add(json.dumps(NAMES).encode())
    decoders: list[tuple[Kind, Callable[[bytes], object]]] = [
        (Kind.POINTS, lambda payload: PointBlock(payload, symbols)),
        (Kind.FRAMES, payloads.decode_frames),
        (Kind.PAGES, payloads.decode_pages),
        (
            Kind.TABLES,
            lambda payload: [*map(payloads.decode_table, payloads.decode_tables(payload))],
        ),
        (Kind.SNAPSHOTS, payloads.decode_snapshots),
        (Kind.NAMES, payloads.SymbolTable().add),
    ]
    refused = 0
    for _ in range(6000):
        kind, decode = draw.choice(decoders)
        count = draw.choice([0, 1, 2, 5, 2**32 - 1])
        head = Head(draw.choice([0, 2**64 - 1]), count, kind, draw.choice([0, -5]), 0).pack()
        body = draw.choices([0, 0, 0, 0, 1, 255], k=draw.randrange(200))
        try:
            decode(head[: draw.choice([7, 40, 40, 40])] + bytes(body))
        except MalformedError:
            refused += 1
    assert 3000 < refused < 6000


MEBIBYTE = 1 << 20
BOMB = zstandard.ZstdCompressor().compress(bytes(64 * MEBIBYTE))
CLAIM = zstandard.ZstdCompressor(write_content_size=False).compress(b"abc")


@pytest.mark.parametrize(
    ("header", "payload"),
    [
        (BlockHeader(len(BOMB), 64 * MEBIBYTE, 0, Kind.FRAMES, COMPRESSED), BOMB),
        (BlockHeader(len(BOMB), 5, 0, Kind.FRAMES, COMPRESSED), BOMB),
        (BlockHeader(len(CLAIM), 3, 0, Kind.FRAMES, COMPRESSED), CLAIM),
        (BlockHeader(2**32 - 1, 2**32 - 1, 0, Kind.FRAMES, 0), b"abc"),
        (BlockHeader(3, 2**32 - 1, 0, Kind.FRAMES, COMPRESSED), b"abc"),
        (BlockHeader(3, 100, 0, Kind.FRAMES, COMPRESSED), b"abc"),
        (BlockHeader(3, 100, 0, Kind.FRAMES, 0), b"abc"),
        (BlockHeader(3, 3, 9, Kind.FRAMES, 0), b"abc"),
        (BlockHeader(3, 3, 0, 77, 0), b"abc"),
        (BlockHeader(3, 3, 0, Kind.FRAMES, 2), b"abc"),
        (BlockHeader(0, 0, 0, Kind.POINTS, 0), b""),
        (BlockHeader(2, 2, 0, Kind.IDENTITY, 0), b"{}"),
    ],
)
def test_lengths_that_lie_are_refused_before_memory_is_asked_for(
    tmp_path: Path, header: BlockHeader, payload: bytes
) -> None:
    path = forge_header(tmp_path / "a.twice", header, payload)
    tracemalloc.start()
    try:
        with pytest.raises(TwiceError), RecordReader.open(path) as reader:
            reader.check()
        assert tracemalloc.get_traced_memory()[1] < 8 * MEBIBYTE
    finally:
        tracemalloc.stop()


def forge_index(path: Path, rows: bytes, *, blocks: int | None = None) -> Path:
    """Write a closed record of two blocks with an arbitrary index."""
    chain = Chain(HEADER.algorithm, HEADER.pack())
    data, checksum = HEADER.pack(), chain.start
    for kind, payload in (
        (Kind.IDENTITY, b"{}"),
        (Kind.ENDING, b"{}"),
        (Kind.INDEX, encode_index(rows)),
    ):
        plain = len(payload) if kind is Kind.INDEX else 0
        head = BlockHeader(len(payload), len(payload), plain, kind, 0).pack()
        checksum = chain.link(checksum, head, payload)
        offset, data = len(data), data + head + checksum + payload
    trailer = Trailer(offset, len(data) + 64, len(rows) // 64 if blocks is None else blocks).pack()
    path.write_bytes(data + trailer + chain.link(checksum, trailer))
    return path


IDENTITY_ROW = encode_row(96, Kind.IDENTITY, b"")
ENDING_ROW = encode_row(96 + 50, Kind.ENDING, b"")


def test_a_right_index_passes(tmp_path: Path) -> None:
    path = forge_index(tmp_path / "a.twice", IDENTITY_ROW + ENDING_ROW)
    read_everything(path)
    with RecordReader.open(path) as reader:
        reader.check()
        assert reader.complete


@pytest.mark.parametrize(
    "rows",
    [
        b"",
        IDENTITY_ROW,
        ENDING_ROW + ENDING_ROW,
        encode_row(2**60, Kind.IDENTITY, b"") + ENDING_ROW,
        IDENTITY_ROW + encode_row(2**60, Kind.ENDING, b""),
        IDENTITY_ROW + encode_row(97, Kind.ENDING, b""),
        encode_row(146, Kind.IDENTITY, b"") + ENDING_ROW,
        IDENTITY_ROW + IDENTITY_ROW + ENDING_ROW,
        IDENTITY_ROW + encode_row(96, Kind.FRAMES, Head(0, 9, Kind.FRAMES).pack()) + ENDING_ROW,
        IDENTITY_ROW + encode_row(2**63, Kind.NAMES, b"") + ENDING_ROW,
        IDENTITY_ROW
        + encode_row(96, Kind.POINTS, Head(0, 4, Kind.POINTS).pack() + bytes(32 * 4))
        + ENDING_ROW,
        IDENTITY_ROW + encode_row(96, Kind.TABLES, Head(0, 4, Kind.TABLES).pack()) + ENDING_ROW,
    ],
)
def test_an_index_that_lies_never_passes_a_check(tmp_path: Path, rows: bytes) -> None:
    path = forge_index(tmp_path / "a.twice", rows)
    with contextlib.suppress(RecordCorrupt):  # what is not looked at cannot be refused yet
        read_everything(path)
    assert refused(path, reading=False).startswith("E-RECORD-004")


def test_a_trailer_that_counts_wrong_never_passes(tmp_path: Path) -> None:
    path = forge_index(tmp_path / "a.twice", IDENTITY_ROW + ENDING_ROW, blocks=3)
    assert refused(path, reading=False).startswith("E-RECORD-004")
