"""Tags around MPEG audio: ID3v2 before it, APE and ID3v1 after it, and their fields.

Source: ID3 tag version 2.3.0 and 2.4.0 (id3.org), ID3v1, APEv2 (Hydrogenaudio).

Invariant: a tag's fields lie inside the tag; what is not understood is given whole, as metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.source import Source

_PICTURES: Final = {"APIC", "PIC", "GEOB", "GEO"}
_FIELDS: Final = ((3, 30, "title"), (33, 30, "artist"), (63, 30, "album"), (97, 30, "comment"))


def end_of_tags(source: Source) -> int:
    """Where the sound begins: after all ID3v2 tags."""
    offset = 0
    while source.read(offset, 3) == b"ID3" and offset < source.size:
        offset += 10 + _tag_size(source, offset)
    return min(offset, source.size)


def start_of_end_tags(source: Source, start: int = 0) -> int:
    """Where the tags after the sound begin."""
    end = source.size
    if source.read(end - 128, 3) == b"TAG" and end - 128 >= start:
        end -= 128
    foot = source.read(end - 32, 32)
    if foot[:8] == b"APETAGEX":
        size = int.from_bytes(foot[12:16], "little")
        has_head = 32 if foot[23] & 0x80 else 0
        end = max(end - size - has_head, start)
    return max(end, start)


def front_tags(source: Source) -> Iterator[Part]:
    """Yield the fields of all ID3v2 tags at the beginning."""
    offset = 0
    while source.read(offset, 3) == b"ID3":
        size = _tag_size(source, offset)
        yield from _fields(source, offset, size)
        offset += 10 + size


def end_tags(source: Source, start: int) -> Iterator[Part]:
    """Yield the fields of the APE and ID3v1 tags at the end, which begin at ``start``."""
    at = source.size - 128
    end = at if at >= start and source.read(at, 3) == b"TAG" else source.size
    if source.read(start, 8) == b"APETAGEX" or source.read(end - 32, 8) == b"APETAGEX":
        yield from _ape_items(source.sub(0, end), start)
    if at >= start and source.read(at, 3) == b"TAG":
        for place, width, key in _FIELDS:
            field = source.sub(at + place, width)
            yield Part(f"ID3v1 {key}", Kind.METADATA, field, at + place, key)


def _tag_size(source: Source, offset: int) -> int:
    data = source.read(offset + 6, 4)
    size = 0
    for byte in data:
        size = size << 7 | byte & 0x7F
    return size + (10 if source.number(offset + 5, 1) & 0x10 else 0)


def _fields(source: Source, offset: int, size: int) -> Iterator[Part]:
    version, flags = source.number(offset + 3, 1), source.number(offset + 5, 1)
    tag = source.sub(offset + 10, size)
    base = offset + 10
    if flags & 0x80 and version < 4:
        tag = Source.of_bytes(tag.read(0, 64 << 20).replace(b"\xff\0", b"\xff"))
        base = -1
    at = 0
    if flags & 0x40:
        at = _synchsafe(tag.read(0, 4)) if version >= 4 else 4 + tag.number(0, 4, big=True)
    letters, head = (3, 6) if version == 2 else (4, 10)
    while at + head <= tag.size:
        name = tag.read(at, letters)
        if not name.strip(b"\0") or not name.isalnum():
            break
        raw = tag.read(at + letters, letters)
        length = _synchsafe(raw) if version >= 4 else int.from_bytes(raw, "big")
        if version >= 4 and length >= 128 and not _ends_well(tag, at + head + length):
            length = int.from_bytes(raw, "big")  # Some writers never learnt of 7-bit sizes.
        body = tag.sub(at + head, length)
        yield from _field(name.decode("ascii"), body, base + at + head if base >= 0 else None)
        at += head + length
    rest = tag.sub(at)
    if rest.read(0, 1 << 16).strip(b"\0"):
        yield Part("ID3 padding", Kind.METADATA, rest, base + at if base >= 0 else None)


def _ends_well(tag: Source, at: int) -> bool:
    following = tag.read(at, 4)
    return at == tag.size or not following.strip(b"\0") or following.isalnum()


def _synchsafe(data: bytes) -> int:
    size = 0
    for byte in data:
        size = size << 7 | byte & 0x7F
    return size


def _field(name: str, body: Source, offset: int | None) -> Iterator[Part]:
    if name in _PICTURES:
        head = body.read(0, 4096)
        at = _picture_start(name, head)
        yield Part(f"ID3 {name}", Kind.METADATA, body.sub(0, at), offset, name)
        inner = None if offset is None else offset + at
        yield Part(f"ID3 {name} contents", Kind.FILE, body.sub(at), inner, name)
        return
    key = name
    if name in {"TXXX", "TXX", "WXXX", "PRIV", "UFID"}:
        raw = body.read(0, 256)
        text = raw[1:] if name.startswith(("TXX", "WXX")) else raw
        if name.startswith(("TXX", "WXX")) and raw[:1] in {b"\x01", b"\x02"}:
            order = "utf-16-be" if raw[:1] == b"\x02" else "utf-16"
            said = text.decode(order, "replace").partition("\0")[0]
        else:
            said = text.partition(b"\0")[0].decode("utf-8", "replace")
        key = f"{name}:{said[:80]}"
    yield Part(f"ID3 {key}", Kind.METADATA, body, offset, key)


def _picture_start(name: str, head: bytes) -> int:
    """Where the file inside a picture or object field begins."""
    wide = head[:1] in {b"\x01", b"\x02"}

    def after(at: int, *, two: bool) -> int:
        if not two:
            found = head.find(b"\0", at)
            return len(head) if found < 0 else found + 1
        while at + 1 < len(head) and head[at : at + 2] != b"\0\0":
            at += 2
        return at + 2

    if name == "PIC":
        return after(5, two=wide)
    at = after(1, two=False)
    if name == "APIC":
        return after(at + 1, two=wide)
    return after(after(at, two=wide), two=wide)


def _ape_items(source: Source, start: int) -> Iterator[Part]:
    """Yield the items of a tag with a head, a foot or both; yield a malformed rest as one part."""
    has_head = source.read(start, 8) == b"APETAGEX"
    has_foot = source.read(source.size - 32, 8) == b"APETAGEX" and source.size - 32 > start
    at, end = start + 32 * has_head, source.size - 32 * has_foot
    while at + 9 < end:
        length = source.number(at, 4)
        head = source.read(at + 8, 256)
        name, zero, _ = head.partition(b"\0")
        if not zero or not name.isascii():
            yield Part("APE", Kind.METADATA, source.sub(at, end - at), at, "APE")
            return
        body = at + 9 + len(name)
        key = name.decode("latin-1")
        value = source.sub(body, length)
        if source.number(at + 4, 4) >> 1 & 3 == 1:
            skip = value.read(0, 1024).find(b"\0") + 1
            yield Part(f"APE {key}", Kind.FILE, value.sub(skip), body + skip, key)
        else:
            yield Part(f"APE {key}", Kind.METADATA, value, body, key)
        at = body + length
