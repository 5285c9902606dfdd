"""Tags of TIFF files and of EXIF blocks, which are TIFF files inside others.

Source: Adobe TIFF 6.0; CIPA DC-008 (Exif); BigTIFF.

Invariant: a directory is visited once, and a file has at most a few hundred.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget

_SIZES: Final = {
    1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8, 17: 8, 18: 8,
}  # fmt: skip
ORIENTATION: Final = 274
_NAMES: Final = {
    270: "ImageDescription", 271: "Make", 272: "CameraModel", 285: "PageName", 305: "Software", 306: "DateTime",
    315: "Artist", 316: "HostComputer", 700: "XMP", 33432: "Copyright", 33723: "IPTC", 34377: "Photoshop",
    34675: "ICC", 37510: "UserComment", 37500: "MakerNote", 40091: "XPTitle", 40092: "XPComment",
    40093: "XPAuthor", 40094: "XPKeywords", 40095: "XPSubject", 42016: "ImageUniqueID", 42036: "LensModel",
}  # fmt: skip
_DIRECTORIES: Final = frozenset({330, 34665, 34853, 40965})
_PLACES: Final = {273: 279, 324: 325, 513: 514}  # offsets -> lengths
_MOST: Final = 256


def tiff(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the tags with text or bytes, the pictures inside, and the ranges of the pixels."""
    del budget
    big = source.read(0, 2) == b"MM"
    wide = source.number(2, 2, big=big) == 43
    step = 8 if wide else 4
    waiting = [source.number(8 if wide else 4, step, big=big)]
    seen: list[int] = []
    while waiting and len(seen) < _MOST:
        offset = waiting.pop(0)
        if not 0 < offset < source.size or offset in seen:
            continue
        seen.append(offset)
        entries = dict(_entries(source, offset, big=big, wide=wide))
        for tag, (kind, value, place) in entries.items():
            if tag in _DIRECTORIES:
                waiting += _numbers(value, kind, big=big)
            elif tag in _PLACES:
                yield from _pixels(source, tag, entries, big=big)
            elif kind in {1, 2, 7} and value.size > 1:
                yield from _field(tag, value, place, big=big)
        count = source.number(offset, 8 if wide else 2, big=big)
        after = offset + (8 + 20 * count if wide else 2 + 12 * count)
        waiting.append(source.number(after, step, big=big))


def _entries(
    source: Source, offset: int, *, big: bool, wide: bool
) -> Iterator[tuple[int, tuple[int, Source, int]]]:
    count = source.number(offset, 8 if wide else 2, big=big)
    size, head, width = (20, 8, 8) if wide else (12, 2, 4)
    for at in range(min(count, 4096)):
        entry = offset + head + size * at
        if entry + size > source.size:
            return
        tag, kind = source.number(entry, 2, big=big), source.number(entry + 2, 2, big=big)
        length = source.number(entry + 4, width, big=big) * _SIZES.get(kind, 1)
        place = entry + 4 + width
        if length > width:
            place = source.number(place, width, big=big)
        yield tag, (kind, source.sub(place, length), place)


def _numbers(value: Source, kind: int, *, big: bool) -> list[int]:
    width = _SIZES.get(kind, 4)
    return [value.number(at, width, big=big) for at in range(0, min(value.size, 1 << 16), width)]


def _field(tag: int, value: Source, place: int, *, big: bool) -> Iterator[Part]:
    name = _NAMES.get(tag, f"tag {tag}")
    if tag == 37510:
        charset, text = value.read(0, 8), value.sub(8)
        if charset == b"UNICODE\0":
            order = "utf-16-be" if big else "utf-16-le"
            said = text.read(0, 16 << 20)
            if said[:2] not in {b"\xff\xfe", b"\xfe\xff"}:
                # Some writers use the other order, whatever the file's own is.
                first = sum(byte == 0 for byte in said[:64:2])
                order = "utf-16-be" if first > sum(byte == 0 for byte in said[1:64:2]) else order
                order = "utf-16-le" if not first and b"\0" in said[1:64:2] else order
            else:
                order = "utf-16"
            text = Source.of_bytes(said.decode(order, "replace").encode("utf-8", "replace"))
        yield Part(name, Kind.METADATA, text, place, name)
    elif 40091 <= tag <= 40095:
        shown = value.read(0, 1 << 20).decode("utf-16-le", "replace").rstrip("\0")
        yield Part(
            name, Kind.METADATA, Source.of_bytes(shown.encode("utf-8", "replace")), place, name
        )
    else:
        yield Part(name, Kind.METADATA, value, place, name)


def _pixels(
    source: Source, tag: int, entries: dict[int, tuple[int, Source, int]], *, big: bool
) -> Iterator[Part]:
    lengths = entries.get(_PLACES[tag])
    if lengths is None:
        return
    places = _numbers(entries[tag][1], entries[tag][0], big=big)
    sizes = _numbers(lengths[1], lengths[0], big=big)
    kind = Kind.FILE if tag == 513 else Kind.PAYLOAD
    for place, size in zip(places, sizes, strict=False):
        yield Part("thumbnail" if tag == 513 else "pixels", kind, source.sub(place, size), place)


def orientation(source: Source) -> int:
    """How the picture is to be turned, 1 to 8; 1 when nothing is said."""
    big = source.read(0, 2) == b"MM"
    start = source.number(4, 4, big=big)
    for tag, (_, value, _place) in _entries(source, start, big=big, wide=False):
        if tag == ORIENTATION:
            said = value.number(0, 2, big=big)
            return said if 1 <= said <= 8 else 1
    return 1
