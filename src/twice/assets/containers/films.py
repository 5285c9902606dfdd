"""Parts of MP4, MOV, M4A, AVIF and HEIF files, and of Matroska and WebM.

Source: ISO/IEC 14496-12 and 23008-12; Apple QuickTime metadata; RFC 9559.

Invariant: coded frames are payload; the text of subtitles is text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers import ebml
from twice.assets.containers.boxes import Box, boxes, find
from twice.assets.containers.mp4samples import tracks
from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.pictures import after
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget
from twice.assets.media.sniff import Damaged

MP4_FOLDERS: Final = frozenset(
    [
        "moov",
        "trak",
        "mdia",
        "minf",
        "stbl",
        "udta",
        "edts",
        "dinf",
        "moof",
        "traf",
        "mvex",
        "mfra",
        "iprp",
        "ipco",
        "meco",
        "tref",
        "gmhd",
    ]
)
MP4_STRUCTURE: Final = frozenset(
    [
        "ftyp",
        "styp",
        "mvhd",
        "tkhd",
        "mdhd",
        "stts",
        "stsz",
        "stz2",
        "stsc",
        "stco",
        "co64",
        "ctts",
        "stss",
        "sdtp",
        "elst",
        "dref",
        "vmhd",
        "smhd",
        "nmhd",
        "hmhd",
        "sgpd",
        "sbgp",
        "trex",
        "tfhd",
        "tfdt",
        "trun",
        "mfhd",
        "sidx",
        "ssix",
        "mfro",
        "tfra",
        "mehd",
        "iinf",
        "iloc",
        "iref",
        "ipma",
        "pitm",
        "ispe",
        "pixi",
        "av1C",
        "hvcC",
        "colr",
        "irot",
        "imir",
        "pasp",
        "clap",
        "auxC",
        "cslg",
        "gmin",
        "saiz",
        "saio",
        "grpl",
        "prft",
        "emsg",
        "subs",
        "a1op",
        "lsel",
        "avcC",
    ]
)
PADDING: Final = frozenset({"free", "skip", "wide"})
_MOST_LEVELS: Final = 12


def mp4(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the boxes of an ISO media file that carry information, items and texts apart."""
    del budget
    end = 0
    for box in boxes(source):
        end = box.offset + 8 + box.source.size
        if box.name == "mdat":
            yield Part("mdat", Kind.PAYLOAD, box.source, box.offset)
        else:
            yield from _box(box, box.offset, box.name, 0)
        if not box.is_whole:
            yield unread(box.name, "the box is cut off", box.offset)
    if end < source.size:
        yield from after(source, end)
    yield from _items(source)
    yield from _texts(source)


def _box(box: Box, base: int, path: str, level: int) -> Iterator[Part]:
    """Yield the parts of a box outside the media data; ``base`` is its offset in the file."""
    body, inside = box.source, base + 8
    if level > _MOST_LEVELS:
        yield unread(path, "boxes are nested too deep", base)
    elif box.name in MP4_FOLDERS:
        for each in boxes(body):
            yield from _box(each, inside + each.offset, f"{path}/{each.name}", level + 1)
    elif box.name == "meta":
        skip = 0 if body.read(4, 4) == b"hdlr" else 4
        names = _keys(find(body.sub(skip), "keys"))
        for each in boxes(body, skip):
            if each.name == "ilst":
                yield from _tags(each.source, inside + each.offset + 8, names)
            elif each.name != "keys":
                yield from _box(each, inside + each.offset, f"{path}/{each.name}", level + 1)
    elif box.name in PADDING:
        if any(piece.strip(b"\0") for piece in body.pieces()):
            yield Part(path, Kind.TRAILING, body, base)
    elif box.name == "hdlr":
        yield Part(path, Kind.METADATA, body.sub(24), base + 32, "hdlr")
    elif box.name in MP4_STRUCTURE:
        yield Part(path, Kind.STRUCTURE, body, base)
    else:
        key = box.name.replace("\xa9", "(c)")
        yield Part(path.replace("\xa9", "(c)"), Kind.METADATA, body, base, key)


def _keys(box: Source | None) -> list[str]:
    """Read the names that a QuickTime metadata list refers to by number."""
    names: list[str] = []
    if box is not None:
        names += [each.source.read(0, 256).decode("utf-8", "replace") for each in boxes(box, 8)]
    return names


def _tags(items: Source, base: int, names: list[str]) -> Iterator[Part]:
    for item in boxes(items):
        number = int.from_bytes(item.name.encode("latin-1"), "big")
        key = item.name.replace("\xa9", "(c)")
        if 0 < number <= len(names):
            key = names[number - 1]
        named = find(item.source, "name")
        if item.name == "----" and named is not None:
            key = f"----:{named.read(4, 80).decode('utf-8', 'replace')}"
        for each in boxes(item.source):
            if each.name != "data":
                continue
            place = base + item.offset + 8 + each.offset + 16
            kind = Kind.FILE if item.name == "covr" else Kind.METADATA
            yield Part(f"ilst {key}", kind, each.source.sub(8), place, key)


def _items(source: Source) -> Iterator[Part]:
    """Yield the items of a picture file that are not pictures: Exif and XMP."""
    meta = find(source, "meta")
    info = None if meta is None else find(meta.sub(4), "iinf")
    places = None if meta is None else find(meta.sub(4), "iloc")
    if meta is None or info is None or places is None:
        return
    located = _located(places)
    for entry in boxes(info, 6 if info.number(0, 1) == 0 else 8):
        version = entry.source.number(0, 1)
        wide = 4 if version >= 3 else 2
        number = entry.source.number(4, wide, big=True)
        kind = entry.source.read(4 + wide + 2, 4)
        for place, size in located.get(number, ()):
            if kind == b"Exif":
                skip = 4 + source.number(place, 4, big=True)
                body = source.sub(place + skip, size - skip)
                yield Part("Exif", Kind.FILE, body, place + skip, "Exif")
            elif kind in {b"mime", b"uri "}:
                yield Part("XMP", Kind.METADATA, source.sub(place, size), place, "XMP")


def _located(box: Source) -> dict[int, list[tuple[int, int]]]:
    """Where items lie: offsets and sizes in the file."""
    version, sizes = box.number(0, 1), box.number(4, 2, big=True)
    offset_w, length_w, base_w = sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15
    index_w = sizes & 15 if version in {1, 2} else 0
    wide = 4 if version == 2 else 2
    at = 6 + wide
    found: dict[int, list[tuple[int, int]]] = {}
    for _ in range(min(box.number(6, wide, big=True), 65536)):
        number = box.number(at, wide, big=True)
        at += wide
        in_file = True
        if version in {1, 2}:
            in_file = not box.number(at, 2, big=True) & 15
            at += 2
        base = box.number(at + 2, base_w, big=True)
        count = box.number(at + 2 + base_w, 2, big=True)
        at += 4 + base_w
        if at > box.size:
            break
        for _ in range(min(count, 1024)):
            start = box.number(at + index_w, offset_w, big=True)
            size = box.number(at + index_w + offset_w, length_w, big=True)
            at += index_w + offset_w + length_w
            if in_file:
                found.setdefault(number, []).append((base + start, size))
    return found


def _texts(source: Source) -> Iterator[Part]:
    """Yield samples of tracks that are neither sound nor video: subtitles, chapters."""
    if find(source, "moov") is None or find(source, "moov", "mvex") is not None:
        return
    for at, track in enumerate(tracks(source)):
        if track.handler in {"soun", "vide", "hint"}:
            continue
        try:
            data = Source.spooled(track.samples(source))
        except Damaged as damage:
            yield unread(f"track {at} {track.handler}", damage.why, damage.offset)
            continue
        yield Part(f"track {at} {track.handler}", Kind.TEXT, data)


_FOLDERS: Final = {
    ebml.SEGMENT, 0x1254C367, 0x7373, 0x67C8, 0x1941A469, 0x61A7, 0x1549A966, 0x1654AE6B, 0xAE,
    0x1043A770, 0x45B9, 0xB6, 0x80, 0x6D80,
}  # fmt: skip
_STRINGS: Final = {
    0x45A3: "TagName", 0x4487: "TagString", 0x4485: "TagBinary", 0x466E: "FileName",
    0x467E: "FileDescription", 0x7BA9: "Title", 0x4D80: "MuxingApp", 0x5741: "WritingApp",
    0x7384: "SegmentFilename", 0x536E: "TrackName", 0x85: "ChapterName",
}  # fmt: skip
_FILE_DATA, _TAG_NAME, _VOID = 0x465C, 0x45A3, 0xEC


def matroska(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the informative elements of a Matroska file, its attachments and its subtitles."""
    del budget
    end = 0
    for element in ebml.elements(source):
        end = element.offset
        yield from _element(element, "", 0, "")
        end = max(end, element.source.size)
    written = {number: each.codec for number, each in ebml.matroska_tracks(source).items()}
    subtitles = [number for number, codec in written.items() if codec.startswith("S_")]
    if subtitles:
        said = (data + b"\n" for number, data in ebml.blocks(source) if number in subtitles)
        yield Part("subtitles", Kind.TEXT, Source.spooled(said))


def _element(element: ebml.Element, tag: str, level: int, path: str) -> Iterator[Part]:
    number, body = element.number, element.source
    if not element.is_whole:
        yield unread(f"element {number:X}", "it is cut off", element.offset)
    if number == ebml.CLUSTER:
        yield Part("Cluster", Kind.PAYLOAD, body, element.offset)
    elif number in _FOLDERS and level < _MOST_LEVELS:
        name = tag
        for each in ebml.elements(body):
            if each.number == _TAG_NAME:
                name = each.source.read(0, 80).decode("utf-8", "replace")
        for each in ebml.elements(body):
            yield from _element(each, name, level + 1, path)
    elif number == _FILE_DATA:
        yield Part("attachment", Kind.FILE, body)
    elif number in _STRINGS:
        key = tag if number in {0x4487, 0x4485} else _STRINGS[number]
        yield Part(f"{_STRINGS[number]} {key}".strip(), Kind.METADATA, body, key=key)
    elif number == _VOID and any(piece.strip(b"\0") for piece in body.pieces()):
        yield Part("Void", Kind.TRAILING, body)
