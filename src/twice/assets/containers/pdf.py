"""Streams and strings of PDF files.

It follows no references and draws nothing: every stream is unpacked as its own dictionary says.

Source: ISO 32000-1, 7.3 (objects), 7.4 (filters), 7.9.2 (text strings).

Invariant: the file is read from front to back, once for streams and once for what is around them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.source import PIECE, Source
from twice.assets.containers.unpacking import Budget, inflated, unpacked

_FILTER: Final = re.compile(rb"/F(?:ilter)?\s*(?:\[\s*((?:/[A-Za-z0-9]+\s*)+)\]|(/[A-Za-z0-9]+))")
_STREAM: Final = re.compile(rb"(?<!end)stream\r?\n")
_HEX: Final = re.compile(rb"<([0-9A-Fa-f\s]{16,100000})>")
_STRING: Final = re.compile(rb"\(((?:\\.|[^\\()])*+)\)", re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_LETTERS: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_DICTIONARY: Final = 8192  # bytes before a stream in which its dictionary is looked for


def pdf(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the streams of a PDF file, unpacked, and the strings around and inside them."""
    at, before = 0, 0
    encrypted = False
    while True:
        start = _find_stream(source, at)
        outside = source.sub(before, (start if start >= 0 else source.size) - before)
        yield from strings("objects", outside, before)
        encrypted = encrypted or _holds(outside, b"/Encrypt")
        if start < 0:
            break
        end = source_find(source, b"endstream", start)
        body = source.sub(start, (end if end >= 0 else source.size) - start)
        if end < 0:
            yield unread(f"stream at {start}", "it is cut off", start)
        head = source.read(max(start - _DICTIONARY, before), min(_DICTIONARY, start - before))
        head = head[max(head.rfind(b" obj"), 0) :]
        yield from _stream(head, body, start, budget)
        at = before = end + 9 if end >= 0 else source.size
    if encrypted:
        yield unread("objects", "the PDF is encrypted")


def source_find(source: Source, word: bytes, start: int) -> int:
    """Where a word is next; -1 when it is nowhere."""
    offset = start
    while offset < source.size:
        piece = source.read(offset, PIECE)
        at = piece.find(word)
        if at >= 0:
            return offset + at
        offset += max(len(piece) - len(word) + 1, 1)
    return -1


def _find_stream(source: Source, start: int) -> int:
    """Where the contents of the next stream begin."""
    offset = start
    while offset < source.size:
        back = min(3, offset)
        piece = source.read(offset - back, PIECE)
        found = _STREAM.search(piece, back)
        if found is not None:
            return offset - back + found.end()
        offset += max(len(piece) - back - 8, 1)
    return -1


def _holds(source: Source, word: bytes) -> bool:
    return source_find(source, word, 0) >= 0


def _stream(head: bytes, body: Source, start: int, budget: Budget) -> Iterator[Part]:
    found = _FILTER.search(head)
    filters = (found[1] or found[2]).split() if found else []
    name = f"stream at {start}"
    is_picture = b"/Subtype/Image" in head.replace(b" ", b"")
    if not filters:
        yield from _content(name, body, start, is_picture=is_picture)
        return
    source: Source | None = body
    for at, name_of_filter in enumerate(filters):
        if source is None:
            return
        each = name_of_filter.lstrip(b"/")
        if each in {b"FlateDecode", b"Fl"}:
            parts = [*unpacked(name, Kind.FILE, inflated(source), budget)]
            yield from (part for part in parts if part.kind is Kind.UNREAD and not is_picture)
            source = next((part.source for part in parts if part.kind is not Kind.UNREAD), None)
        elif each in {b"ASCIIHexDecode", b"AHx"}:
            digits = re.sub(rb"[^0-9A-Fa-f]", b"", source.read(0, 64 << 20))
            source = Source.of_bytes(binascii.unhexlify(digits[: len(digits) // 2 * 2]))
        elif each in {b"ASCII85Decode", b"A85"}:
            source = _from_85(source)
        elif each in {b"DCTDecode", b"DCT", b"JPXDecode"}:
            yield Part(f"{name} picture", Kind.FILE, source, start)
            return
        else:
            if not is_picture:
                why = f"its filter {each.decode('latin-1')} is not unpacked"
                yield unread(name, why, start)
            return
        if at == len(filters) - 1 and source is not None:
            yield from _content(name, source, None, is_picture=is_picture)


def _from_85(source: Source) -> Source | None:
    text = source.read(0, 64 << 20).partition(b"~>")[0]
    try:
        return Source.of_bytes(base64.a85decode(text))
    except ValueError:
        return None


def _content(name: str, source: Source, offset: int | None, *, is_picture: bool) -> Iterator[Part]:
    if is_picture:
        yield Part(name, Kind.PAYLOAD, source, offset)
        return
    yield Part(name, Kind.FILE, source, offset)
    for part in strings(name, source, None):
        if part.kind is Kind.METADATA or part.source.size:
            yield part


def strings(name: str, source: Source, offset: int | None) -> Iterator[Part]:
    """Yield the text itself, and its strings as a reader shows them, in one part."""
    if offset is not None:
        yield Part(name, Kind.CODE, source, offset)
    for piece in source.pieces(8 << 20):
        shown = [_text(_unescaped(each[1])) for each in _STRING.finditer(piece)]
        shown += [_text(_unhexed(each[1])) for each in _HEX.finditer(piece)]
        said = b"".join(shown)
        if said.strip():
            yield Part(f"{name} strings", Kind.TEXT, Source.of_bytes(b"\n".join([said, *shown])))


def _unescaped(data: bytes) -> bytes:
    def one(found: re.Match[bytes]) -> bytes:
        said = found[1]
        if said[:1].isdigit():
            return bytes([int(said, 8) & 255])
        return b"" if said[-1:] == b"\n" else _LETTERS.get(said, said)

    return _ESCAPE.sub(one, data)


def _unhexed(data: bytes) -> bytes:
    digits = b"".join(data.split())
    return binascii.unhexlify(digits + b"0" * (len(digits) % 2))


def _text(data: bytes) -> bytes:
    if data[:2] in {b"\xfe\xff", b"\xff\xfe"}:
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data
