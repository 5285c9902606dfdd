"""Parts of GLB models and of fonts: TrueType, OpenType, WOFF, and collections of them.

Source: Khronos glTF 2.0, 4.4; OpenType 1.9; W3C WOFF 1.0 and 2.0.

Invariant: tables lie where the directory says, cut to the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.pictures import after
from twice.assets.containers.source import Source
from twice.assets.containers.unmarked import unbrotlied
from twice.assets.containers.unpacking import Budget, inflated, unpacked
from twice.assets.media.sniff import Damaged

_SAYING: Final = frozenset({"meta", "PfEd", "FFTM", "TeX ", "DSIG", "Debg", "Glat"})
_PICTURES: Final = frozenset({"CBDT", "sbix"})
_COLLECTION: Final = 0x74746366  # "ttcf"
_NAMES: Final = {
    0: "copyright",
    1: "family",
    3: "identifier",
    5: "version",
    8: "maker",
    10: "description",
}


def glb(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the JSON of a GLB model, and its binary data as a file, to find pictures in it."""
    del budget
    end = min(source.number(8, 4), source.size)
    at = 12
    while at + 8 <= end:
        size, kind = source.number(at, 4), source.read(at + 4, 4)
        body = source.sub(at + 8, size)
        if body.size < size:
            raise Damaged("a GLB chunk is cut off", at)
        if kind == b"JSON":
            yield Part("JSON", Kind.CODE, body, at + 8)
        else:
            yield Part("BIN", Kind.FILE, body, at + 8)
        at += 8 + size
    yield from after(source, end)


def font(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the names in a font, and its tables that contain pictures or notes."""
    yield from _tables(source, 0, budget)


def collection(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the names of every font in a collection."""
    for at in range(min(source.number(8, 4, big=True), 256)):
        yield from _tables(source, source.number(12 + 4 * at, 4, big=True), budget)


def woff(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the names and the notes of a WOFF font; unpack a WOFF 2 font as far as possible."""
    if source.read(0, 4) == b"wOF2":
        yield from _woff2(source, budget)
        return
    for at in range(source.number(12, 2, big=True)):
        entry = 44 + 20 * at
        name = source.read(entry, 4).decode("latin-1")
        place, packed, plain = (source.number(entry + each, 4, big=True) for each in (4, 8, 12))
        body = source.sub(place, packed)
        if packed < plain:
            for part in unpacked(name, Kind.PAYLOAD, inflated(body), budget):
                yield from [part] if part.kind is Kind.UNREAD else _table(name, part.source, None)
        else:
            yield from _table(name, body, place)
    place, size = source.number(24, 4, big=True), source.number(28, 4, big=True)
    if size:
        packed_note = inflated(source.sub(place, size))
        yield from unpacked("metadata", Kind.METADATA, packed_note, budget, key="metadata")
    place, size = source.number(36, 4, big=True), source.number(40, 4, big=True)
    if size:
        yield Part("private", Kind.METADATA, source.sub(place, size), place, "private")


def _woff2(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the tables of a WOFF 2 font, which are one stream, its notes and its private data."""
    at = 48
    for _ in range(source.number(12, 2, big=True)):
        flags = source.number(at, 1)
        at += 5 if flags & 63 == 63 else 1
        at = _after_number(source, at)
        is_glyphs, version = flags & 63 in {10, 11}, flags >> 6
        if (is_glyphs and version != 3) or (not is_glyphs and version):
            at = _after_number(source, at)
    if source.number(4, 4, big=True) == _COLLECTION:
        yield unread("tables", "they are those of a collection, which is not unpacked")
    else:
        tables = source.sub(at, source.number(20, 4, big=True))
        yield from unpacked("tables", Kind.CODE, unbrotlied(tables), budget)
    place, size = source.number(28, 4, big=True), source.number(32, 4, big=True)
    if size:
        note = unbrotlied(source.sub(place, size))
        yield from unpacked("metadata", Kind.METADATA, note, budget, key="metadata")
    place, size = source.number(40, 4, big=True), source.number(44, 4, big=True)
    if size:
        yield Part("private", Kind.METADATA, source.sub(place, size), place, "private")


def _after_number(source: Source, at: int) -> int:
    """Where a number of seven bits to a byte ends; it has five bytes at most."""
    for _ in range(5):
        at += 1
        if not source.number(at - 1, 1) & 0x80:
            break
    return at


def _tables(source: Source, start: int, budget: Budget) -> Iterator[Part]:
    del budget
    end = start + 12
    for at in range(source.number(start + 4, 2, big=True)):
        entry = start + 12 + 16 * at
        if entry + 16 > source.size:
            raise Damaged("the directory of the font is cut off", entry)
        name = source.read(entry, 4).decode("latin-1")
        place, size = source.number(entry + 8, 4, big=True), source.number(entry + 12, 4, big=True)
        end = max(end, place + size)
        yield from _table(name, source.sub(place, size), place)
    yield from after(source, min(end, source.size))


def _table(name: str, body: Source, place: int | None) -> Iterator[Part]:
    if name == "name":
        yield from _said(body, place)
    elif name == "SVG ":
        yield Part("SVG", Kind.FILE, body, place)
    elif name in _PICTURES:
        yield Part(name, Kind.CODE, body, place)
    elif name in _SAYING:
        yield Part(name.strip(), Kind.METADATA, body, place, name.strip())
    else:
        yield Part(name.strip(), Kind.PAYLOAD, body, place)


def _said(table: Source, place: int | None) -> Iterator[Part]:
    count, strings = table.number(2, 2, big=True), table.number(4, 2, big=True)
    for at in range(count):
        entry = 6 + 12 * at
        if entry + 12 > table.size:
            return
        platform, number = table.number(entry, 2, big=True), table.number(entry + 6, 2, big=True)
        size, start = table.number(entry + 8, 2, big=True), table.number(entry + 10, 2, big=True)
        data = table.read(strings + start, size)
        code = "utf-16-be" if platform in {0, 3} else "latin-1"
        said = Source.of_bytes(data.decode(code, "replace").encode("utf-8", "replace"))
        key = _NAMES.get(number, str(number))
        offset = None if place is None else place + strings + start
        yield Part(f"name {key}", Kind.METADATA, said, offset, key)
