"""Encodings of text undone, layer by layer.

They are UTF-16, UTF-32, percent, escapes, entities, quoted-printable, base64, hexadecimal, base 85, arrays of numbers,
tags within words, and letters and blanks that look like others. Each layer gives texts or files that are looked through
in turn; how deep is for the caller to say.

Invariant: a layer gives nothing when it undoes nothing, so that looking deeper ends.
"""

from __future__ import annotations

import base64
import html
import quopri
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import Final
from urllib.parse import unquote_to_bytes

from twice.assets.leaks.rules import TEXT_WORDS
from twice.assets.leaks.text import (
    READABLE,
    Keywords,
    TextWindow,
    count_controls,
    find_runs,
    mark_bytes,
    merge_spans,
)
from twice.assets.media.sniff import HEAD, Format, sniff

_CODED: Final = mark_bytes(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=%")
_NUMERIC: Final = mark_bytes(b"0123456789abcdefABCDEFxX, \t\n\r\x0b\f")
_WIDE: Final = bytes(READABLE[each] if each else ord("0") for each in range(256))
_CODED_MIN, _NUMERIC_MIN = 40, 120  # bytes of a run
_DISTINCT_MIN: Final = 8  # bytes in a sample of 256; a ruler of dashes is nothing encoded
_WRAPPED: Final = 96  # bytes: a last line is shorter, behind the line end and some blanks
# How programs write a long text on several lines: "..." + "...", or the two side by side.
_JOIN: Final = rb"\"\s{0,24}[+\\]?\s{0,24}\"|'\s{0,24}[+\\]?\s{0,24}'"
_BASE64: Final = re.compile(
    rb"(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9_-]{4}){10,}+[A-Za-z0-9+/_-]{0,3}+(?:(?:\r?\n|\\r?\\n|\\n|%0A|" + _JOIN
    + rb")[ \t]{0,8}[A-Za-z0-9+/]{4,}+)*+[A-Za-z0-9+/]{0,3}(?:=|%3D){0,2}"
)  # fmt: skip
_BREAKS: Final = re.compile(_JOIN + rb"|\\r|\\n|%0A|%3D|\s|=")
_HEX: Final = re.compile(rb"(?:[0-9A-Fa-f]{2}(?:\r?\n)?){48,}+")
_END_85: Final = re.compile(rb"~(?=>)(?<=[!-uz\s]{20}~)")  # A search for one byte costs least.
_IN_85: Final = re.compile(rb"[!-uz]*+\r?")
_NUMBERS: Final = re.compile(
    rb"(?:(?:0x[0-9a-f]{1,2}|\d{1,3})\s{0,12},?\s{0,12}){40,}+", re.IGNORECASE
)
_ESCAPE: Final = re.compile(
    rb"\\(?:([0-3][0-7]{2})(?!\d)|x([0-9A-Fa-f]{2})|u\{?(?:00)?([0-9A-Fa-f]{2})\}?(?![0-9A-Fa-f])"
    rb"|'([0-9a-f]{2})|0{2,4}([0-9A-Fa-f]{2}) ?(?![0-9A-Fa-f]))"
)
_STRING: Final = re.compile(
    rb"\(((?:\\.|[^\\()])*+)\)|<([0-9A-Fa-f\s]{8,100000})>", re.DOTALL
)  # of PDF
_STRING_ESCAPE: Final = re.compile(rb"\\(?:([0-7]{1,3})|\r?\n|(.))", re.DOTALL)
_TAG: Final = re.compile(rb"<[!/a-zA-Z][^<>]{0,512}+>")
_ESCAPED: Final = re.compile(rb"\\+(?=[:=\"'])")  # In properties, and in texts within texts.
_LOOKALIKES: Final = str.maketrans(
    dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
    | dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000", " ")
    | {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
)  # fmt: skip
# Two bytes of the wide letters: fewer words are found faster.
_ODD: Final = tuple(
    dict.fromkeys(chr(code).encode()[: 2 if code > 0xFF00 else 3] for code in _LOOKALIKES)
)
# What a PDF has, or the instructions of one of its pages, in lower case.
_PDF: Final = (b" 0 obj", b") tj", b"] tj", b"> tj", b")tj\n", b"]tj\n")
WORDS: Final = Keywords([*TEXT_WORDS, *_PDF, *_ODD])
"""Words of technique, and those that tell which encodings there are."""
_AROUND: Final = 256  # bytes on each side of a telling word that are read as they are shown
_MANY: Final = 64  # wide texts beyond which they are joined: one costs less than many
_ZLIB: Final = (b"x\x01", b"x\x5e", b"x\x9c", b"x\xda")
_CHANCE: Final = frozenset(  # formats that a few bytes of anything may have
    {Format.BINARY, Format.TEXT, Format.ZLIB, Format.BMP, Format.MPEG, Format.AAC}
)


@dataclass(frozen=True, slots=True)
class DecodedLayer:
    """What undoing one encoding gave.

    Args:
        name: of the encoding.
        offset: where it began.
        data: what it stands for.
        is_file: whether that may be a file of any kind.
        is_last: whether nothing is looked for in it that is not as plain.
    """

    name: str
    offset: int
    data: bytes
    is_file: bool = False
    is_last: bool = False


def decode_layers(window: TextWindow, places: dict[bytes, list[int]]) -> Iterator[DecodedLayer]:
    """Yield the encoded texts in a window; offsets are those of the stretch.

    Args:
        window: text or bytes.
        places: where ``WORDS`` stand in its lower case; around those of technique it is read as it is shown.
    """
    yield from _decode_wide(window.raw)
    decoders = [_decode_base64, _decode_base85, _decode_numbers, _decode_escapes]
    if not places.keys().isdisjoint(_PDF):
        decoders.append(_decode_pdf)
    layers = chain.from_iterable(decoder(window.data) for decoder in decoders)
    for layer in chain(layers, _show(window.data, places)):
        yield replace(layer, offset=window.to_offset(layer.offset))


def is_worth(data: bytes) -> bool:
    """Return whether decoded bytes are more than chance: a known file, or text."""
    head = data[:256]
    if sniff(data[:HEAD]) not in _CHANCE or data.startswith((b"Exif\0\0", b"ID3", *_ZLIB)):
        return True
    if b"image/" in head:
        return True  # A picture block of FLAC or Ogg.
    if head[1::2].count(0) * 4 > len(head) or head[::2].count(0) * 4 > len(head):
        return True  # Text of two bytes a letter.
    if len(head) < 16 or count_controls(head):
        return False
    for cut in range(4):
        with suppress(UnicodeDecodeError):
            head[: len(head) - cut].decode("utf-8")
            return True
    return False


def _decode_wide(raw: bytes) -> Iterator[DecodedLayer]:
    """Yield texts of two and of four bytes a letter; letters beyond ASCII end a run."""
    if b"\0" not in raw:
        return
    marks = raw.translate(_WIDE)
    for name, step in (("UTF-16", 2), ("UTF-32", 4)):
        unit = b"x" + b"0" * (step - 1)
        if unit * 7 not in marks:
            continue
        runs: list[tuple[int, bytes]] = []
        for found in re.finditer(b"(?:%s){7,}+(x?)" % unit, marks):
            start, end = found.span()
            # Of big-endian text the zeros stand before; its last letter is the one behind the run.
            is_big = marks[max(start - step + 1, 0) : start] == b"0" * (step - 1)
            runs.append((start, raw[start : end if is_big else found.start(1)][::step]))
        if len(runs) > _MANY:
            runs = [(runs[0][0], b"\n".join(text for _, text in runs))]
        for start, text in runs:
            yield DecodedLayer(name, start, text)


def _decode_base64(data: bytes) -> Iterator[DecodedLayer]:
    """Yield what runs of base64, plain or for URLs, and of hexadecimal digits stand for."""
    runs = (
        (start, end + _WRAPPED)
        for start, end in find_runs(data, _CODED, _CODED_MIN)
        if len(set(data[start : min(end, start + 256)])) >= _DISTINCT_MIN
    )
    for start, end in merge_spans(runs):
        for found in _BASE64.finditer(data, start, end):
            said = data[max(found.start() - 64, 0) : found.start()].rpartition(b"data:")[2]
            is_uri = said.endswith((b";base64,", b";base64%2C"))
            plain = _BREAKS.sub(b"", found[0])
            decoded = base64.urlsafe_b64decode(plain[: len(plain) - (len(plain) % 4 == 1)] + b"==")
            if is_uri or is_worth(decoded):
                media_type = said.partition(b";")[0].decode("latin-1")
                name = f"data URI {media_type}" if is_uri else "base64"
                yield DecodedLayer(name, found.start(), decoded, is_file=True)
        for found in _HEX.finditer(data, start, end):
            decoded = bytes.fromhex(found[0].decode())
            if is_worth(decoded):
                yield DecodedLayer("hexadecimal", found.start(), decoded, is_file=True)


def _decode_base85(data: bytes) -> Iterator[DecodedLayer]:
    """Yield what PostScript's base 85 stands for up to its end mark, in comments too."""
    before = 0
    for mark in _END_85.finditer(data):
        lines = data[before : mark.start()].rpartition(b"<~")[2].split(b"\n")
        before = mark.end() + 1
        last = [*takewhile(_IN_85.fullmatch, reversed(lines))][::-1]
        with suppress(ValueError):
            decoded = base64.a85decode(b"".join(each.removeprefix(b"%").rstrip() for each in last))
            if is_worth(decoded):
                start = mark.start() - len(b"\n".join(last))
                yield DecodedLayer("base 85", start, decoded, is_file=True)


def _decode_numbers(data: bytes) -> Iterator[DecodedLayer]:
    """Yield what arrays of bytes stand for, as programs write them: 0x89, 0x50, or 137, 80."""
    for start, end in find_runs(data, _NUMERIC, _NUMERIC_MIN):
        for found in _NUMBERS.finditer(data, start, end):
            said = [each for each in found[0].lower().split(b",") if each.strip()]
            with suppress(ValueError):  # Numbers of something else: too large, or apart by blanks.
                decoded = bytes(int(each, 0 if b"x" in each else 10) for each in said)
                if is_worth(decoded):
                    yield DecodedLayer("numbers", found.start(), decoded, is_file=True)


def _unescape(found: re.Match[bytes]) -> bytes:
    number = int(found[1], 8) if found[1] else int(found[found.lastindex or 0], 16)
    return chr(number).encode()


def _cluster(escape: bytes, near: int = 160) -> re.Pattern[bytes]:
    """Compile four escapes or more, each near the next: alone they can hide nothing."""
    mark = escape[:2] if escape[:1] == b"\\" else escape[:1]
    rest = rb"[^%s]{0,%d}+" % (mark, near)
    one = rb"%s%s(?:(?!%s)%s%s){0,9}+" % (escape, rest, escape, mark, rest)
    return re.compile(one + rb"(?:%s){3,}+" % one)  # A pattern that begins plainly is quick.


_ESCAPES: Final[tuple[tuple[str, re.Pattern[bytes], Callable[[bytes], bytes]], ...]] = (
    (
        "percent", _cluster(rb"%(?:u00)?[0-9A-Fa-f]{2}", 1024),
        lambda text: unquote_to_bytes(text.replace(b"%u00", b"%")),
    ),
    # Groups in a possessive repetition make re of Python 3.11 fail.
    ("escapes", _cluster(re.sub(rb"\((?!\?)", b"(?:", _ESCAPE.pattern)), lambda text: _ESCAPE.sub(_unescape, text)),
    (
        "entities", _cluster(rb"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|amp|apos|lt|gt|colon|comma|equals|lowbar);"),
        lambda text: html.unescape(text.decode("utf-8", "replace")).encode("utf-8", "replace"),
    ),
    ("quoted-printable", _cluster(rb"=(?:\r?\n|[0-9A-F]{2})"), quopri.decodestring),
)  # fmt: skip


def _decode_escapes(data: bytes) -> Iterator[DecodedLayer]:
    for name, pattern, undo in _ESCAPES:
        for found in pattern.finditer(data):
            start = max(found.start() - _AROUND, 0)
            yield DecodedLayer(name, start, undo(data[start : found.end()]))


def _show(data: bytes, places: dict[bytes, list[int]]) -> Iterator[DecodedLayer]:
    """Yield text as a reader sees it: without tags and escapes, with plain blanks and letters."""
    words = places if b"</" in data or _ESCAPED.search(data) else _ODD
    at = chain.from_iterable(places.get(word, ()) for word in words)
    for start, end in merge_spans((each - _AROUND, each + _AROUND) for each in at):
        text = data[start:end]
        shown = _ESCAPED.sub(b"", _TAG.sub(b"", text))
        if not shown.isascii():
            shown = shown.decode("utf-8", "replace").translate(_LOOKALIKES).encode()
        if shown != text:
            yield DecodedLayer("as shown", start, shown, is_last=True)


def _decode_pdf(data: bytes) -> Iterator[DecodedLayer]:
    """Yield the strings of a PDF as a reader shows them: those that stand apart are one word."""
    shown = [_read_string(found) for found in _STRING.finditer(data)]
    if shown:
        yield DecodedLayer("PDF strings", 0, b"\n".join([b"".join(shown), *shown]))


def _read_string(found: re.Match[bytes]) -> bytes:
    if found[2] is not None:
        digits = b"".join(found[2].split()).decode()
        said = bytes.fromhex(digits + "0" * (len(digits) % 2))
    else:
        said = _STRING_ESCAPE.sub(
            lambda each: bytes([int(each[1], 8) & 255]) if each[1] else each[2] or b"", found[1]
        )
    if said[:2] in {b"\xfe\xff", b"\xff\xfe"}:
        return said.decode("utf-16", "replace").encode("utf-8", "replace")
    return said
