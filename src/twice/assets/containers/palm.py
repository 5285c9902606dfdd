"""Parts of Palm databases: Mobipocket and Kindle books, whose text is packed in records.

Source: the Palm OS database format and PalmDOC compression (MobileRead).

Invariant: records lie where their table says, cut to the file; one record unpacks to a few kilobytes at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget, unpacked
from twice.assets.media.sniff import Damaged

_HEAD: Final = 78
_PLAIN, _PALMDOC, _HUFFMAN = 1, 2, 17480
_SMALLEST: Final = 16  # bytes of a record that says anything
_LARGEST_RECORD: Final = 1 << 17


def palm(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the header of a book, its text unpacked, and its other records: pictures and notes."""
    starts = [
        source.number(_HEAD + 8 * at, 4, big=True)
        for at in range(source.number(76, 2, big=True))
        if _HEAD + 8 * at < source.size
    ]
    if not starts or starts != sorted(starts):
        raise Damaged("the table of records does not hold together")
    ends = [*starts[1:], source.size]
    records = [source.sub(start, end - start) for start, end in zip(starts, ends, strict=True)]
    first = records[0]
    packing, count = first.number(0, 2, big=True), first.number(8, 2, big=True)
    yield Part("name", Kind.METADATA, source.sub(0, 32), 0, "name")
    yield Part("head", Kind.CODE, first, starts[0])
    texts = records[1 : 1 + count]
    if packing == _PALMDOC:
        yield from unpacked("text", Kind.FILE, (_undone(each) for each in texts), budget)
    elif packing == _PLAIN:
        yield from unpacked("text", Kind.FILE, (each.read() for each in texts), budget)
    else:
        how = "Huffman codes" if packing == _HUFFMAN else f"a way of number {packing}"
        yield unread("text", f"it is packed by {how}, which is not unpacked")
    for at, record in enumerate(records[1 + count :], 1 + count):
        if record.size >= _SMALLEST:
            yield Part(f"record {at}", Kind.FILE, record, starts[at])


def _undone(record: Source) -> bytes:
    """Unpack a record in PalmDOC compression."""
    data, out, at = record.read(0, _LARGEST_RECORD), bytearray(), 0
    while at < len(data):
        byte = data[at]
        at += 1
        if 1 <= byte <= 8:
            out += data[at : at + byte]
            at += byte
        elif byte < 0x80:
            out.append(byte)
        elif byte >= 0xC0:
            out += bytes((0x20, byte ^ 0x80))
        else:
            pair = byte << 8 | (data[at] if at < len(data) else 0)
            at += 1
            back, count = pair >> 3 & 0x7FF, (pair & 7) + 3
            if not 0 < back <= len(out):
                break  # What follows the text in a record is no text.
            for _ in range(count):
                out.append(out[-back])
    return bytes(out)
