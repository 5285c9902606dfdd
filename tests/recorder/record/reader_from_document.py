"""A reader of run records written from `docs/format/run-record.md` alone.

It imports nothing of twice: if it reads what twice writes, so can another language.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import dataclass, field

import blake3
import zstandard


@dataclass
class Document:
    """Everything in a record, in plain values."""

    run_id: bytes
    label: str
    written_by: str
    identity: dict = field(default_factory=dict)
    ending: dict | None = None
    kinds: list[str] = field(default_factory=list)
    layouts: list[list[str]] = field(default_factory=list)
    shapes: list[list] = field(default_factory=list)
    points: list[tuple] = field(default_factory=list)
    frames: list[tuple] = field(default_factory=list)
    pages: list[bytes] = field(default_factory=list)
    tables: list[tuple[list[int], list[int]]] = field(default_factory=list)
    snapshots: list[tuple] = field(default_factory=list)
    closed: bool = False

    def blob(self, number: int) -> list[bytes]:
        lengths, pages = self.tables[number]
        parts, at = [], 0
        for length in lengths:
            n = -(-length // 4096)
            parts.append(b"".join(self.pages[page] for page in pages[at : at + n]))
            assert len(parts[-1]) == length
            at += n
        return parts


def read(data: bytes) -> Document:
    assert data[:8] == bytes.fromhex("8974776963650d0a")
    number, zero = struct.unpack_from("<II", data, 8)
    assert (number, zero) == (1, 0)
    assert hashlib.sha256(data[:64]).digest() == data[64:96]
    document = Document(
        data[16:32], data[32:48].rstrip(b"\0").decode(), data[48:64].rstrip(b"\0").decode()
    )
    h = hash_of(document.label)
    start = previous = h(data[:96])
    at, rows = 96, b""
    while at + 48 <= len(data):
        stored, raw, plain, kind, flags, zero = struct.unpack_from("<IIIBBH", data, at)
        payload = data[at + 48 : at + 48 + stored]
        if len(payload) < stored or zero:
            break
        if h(start + previous + data[at : at + 16] + payload) != data[at + 16 : at + 48]:
            break
        previous = data[at + 16 : at + 48]
        if flags:
            rest = zstandard.ZstdDecompressor().decompress(payload[plain:])
            payload = payload[:plain] + rest
        assert len(payload) == raw
        if kind == 9:
            assert payload[40:] == rows
            trailer = b"twiceEND" + struct.pack("<QQQ", at, len(data), len(rows) // 64)
            document.closed = data[at + 48 + stored :] == trailer + h(start + previous + trailer)
            break
        take(document, kind, payload)
        json_kind = kind in (1, 2, 8)
        head = bytes(12) + struct.pack("<I", kind) + bytes(24) if json_kind else payload[:40]
        rows += (
            struct.pack("<Q", at) + head + (payload[plain - 16 : plain] if kind == 3 else bytes(16))
        )
        at += 48 + stored
    return document


def hash_of(label: str):
    if label == "sha256":
        return lambda data: hashlib.sha256(data).digest()
    return lambda data: blake3.blake3(data).digest()


def take(document: Document, kind: int, payload: bytes) -> None:
    if kind == 1:
        document.identity = json.loads(payload)
    elif kind == 2:
        names = json.loads(payload)
        document.kinds += names["kinds"]
        document.layouts += names["layouts"]
        document.shapes += names["shapes"]
    elif kind == 8:
        document.ending = json.loads(payload)
    else:
        first, n, again, *_ = struct.unpack_from("<QIIqqQ", payload)
        assert again == kind
        {3: points, 4: frames, 5: pages, 6: tables, 7: snapshots}[kind](document, first, n, payload)


def points(document: Document, first: int, n: int, payload: bytes) -> None:
    assert first == len(document.points)
    at = 40 + 32 * n
    steps = struct.unpack_from(f"<{n}q", payload, at)
    shapes = struct.unpack_from(f"<{n}I", payload, at + 8 * n)
    digests, tick = at + 12 * n, 0
    for i in range(n):
        tick += steps[i]
        layout, name = document.shapes[shapes[i]]
        columns = {}
        for component in document.layouts[layout]:
            columns[component] = payload[digests : digests + 16]
            digests += 16
        record = payload[40 + 32 * i : 72 + 32 * i]
        document.points.append((first + i, tick, name, record[:16], record[16:], columns))
    assert digests == len(payload)


def frames(document: Document, first: int, n: int, payload: bytes) -> None:
    assert first == len(document.frames)
    ticks = struct.unpack_from(f"<{n}q", payload, 40)
    following = struct.unpack_from(f"<{n}Q", payload, 40 + 8 * n)
    actors = struct.unpack_from(f"<{n}I", payload, 40 + 16 * n)
    lengths = struct.unpack_from(f"<{n}I", payload, 40 + 20 * n)
    kinds = struct.unpack_from(f"<{n}H", payload, 40 + 24 * n)
    at = 40 + 26 * n
    for i in range(n):
        body = payload[at : at + lengths[i]]
        document.frames.append((document.kinds[kinds[i]], actors[i], ticks[i], following[i], body))
        at += lengths[i]
    assert at == len(payload)


def pages(document: Document, first: int, n: int, payload: bytes) -> None:
    assert first == len(document.pages)
    h = hash_of(document.label)
    at = 40 + 34 * n
    for i, length in enumerate(struct.unpack_from(f"<{n}H", payload, 40)):
        digest = payload[40 + 2 * n + 32 * i : 72 + 2 * n + 32 * i]
        page = payload[at : at + length]
        assert h(page) == digest
        document.pages.append(page)
        at += length
    assert at == len(payload)


def tables(document: Document, first: int, n: int, payload: bytes) -> None:
    assert first == len(document.tables)
    at = 40 + 4 * n
    for length in struct.unpack_from(f"<{n}I", payload, 40):
        table = payload[at : at + length]
        at += length
        kind, m = struct.unpack_from("<II", table)
        if kind == 0:
            lengths = list(struct.unpack_from(f"<{m}Q", table, 8))
            numbers = list(struct.unpack(f"<{(length - 8 - 8 * m) // 4}I", table[8 + 8 * m :]))
        else:
            (base,) = struct.unpack_from("<Q", table, 8)
            lengths, numbers = document.tables[base][0], list(document.tables[base][1])
            places = struct.unpack_from(f"<{m}I", table, 16)
            for place, page in zip(places, struct.unpack_from(f"<{m}I", table, 16 + 4 * m)):
                numbers[place] = page
        document.tables.append((lengths, numbers))
    assert at == len(payload)


def snapshots(document: Document, first: int, n: int, payload: bytes) -> None:
    assert first == len(document.snapshots)
    ticks = struct.unpack_from(f"<{n}q", payload, 40)
    following = struct.unpack_from(f"<{n}Q", payload, 40 + 8 * n)
    at = 40 + 20 * n
    for i, length in enumerate(struct.unpack_from(f"<{n}I", payload, 40 + 16 * n)):
        document.snapshots.append((ticks[i], following[i], payload[at : at + length]))
        at += length
    assert at == len(payload)
