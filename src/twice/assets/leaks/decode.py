"""Encodings of text undone, layer by layer.

They are UTF-16, UTF-32, percent, escapes, entities, quoted-printable, base64, hexadecimal, base 85, arrays of numbers,
tags within words, and letters and blanks that look like others. Each layer gives texts or files that are looked through
in turn; how deep is for the caller to say.

Invariant: a layer gives nothing when it undoes nothing, so that looking deeper ends.
"""

from __future__ import annotations

import base64
import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import Final
from urllib.parse import unquote_to_bytes

import numpy as np

from twice.assets.leaks.keywords import merge_spans
from twice.assets.leaks.rules import PDF_WORDS
from twice.assets.media.sniff import HEAD, Format, sniff

_IN, _OUT = b"x", b" "  # marks of bytes that belong to a run, and of those that do not


def _table(members: bytes) -> bytes:
    return bytes(_IN[0] if each in members else _OUT[0] for each in range(256))


_READABLE: Final = _table(bytes([*b"\t\n\r", *range(0x20, 0x7F)]))
_CODED: Final = _table(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-=%")
_NUMERIC: Final = _table(b"0123456789abcdefABCDEFxX, \t\n\r\x0b\f")
_WIDE: Final = bytes(
    ord("0") if not each else _READABLE[each] for each in range(256)
)  # zero bytes apart
_CODED_MIN, _NUMERIC_MIN, _READABLE_MIN = 40, 120, 6
_DISTINCT_MIN: Final = 8  # bytes in a sample of 256; a ruler of dashes is nothing encoded
_WRAPPED: Final = (
    96  # bytes: a last line is shorter, and stands behind the line end and some blanks
)
# How programs write a long text on several lines: "..." + "...", or the two side by side.
_JOIN: Final = rb"\"\s{0,24}[+\\]?\s{0,24}\"|'\s{0,24}[+\\]?\s{0,24}'"
_BASE64: Final = re.compile(
    rb"(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9_-]{4}){10,}+[A-Za-z0-9+/_-]{0,3}+(?:(?:\r?\n|\\r?\\n|\\n|%0A|" + _JOIN
    + rb")[ \t]{0,8}[A-Za-z0-9+/]{4,}+)*+[A-Za-z0-9+/]{0,3}(?:=|%3D){0,2}"
)  # fmt: skip
_BREAKS: Final = re.compile(_JOIN + rb"|\\r|\\n|%0A|%3D|\s|=")
_HEX: Final = re.compile(rb"(?:[0-9A-Fa-f]{2}(?:\r?\n)?){48,}+")
_IN_85: Final = re.compile(rb"[!-uz]*+\r?")
_NUMBERS: Final = re.compile(
    rb"(?:(?:0x[0-9a-f]{1,2}|\d{1,3})\s{0,12},?\s{0,12}){40,}+", re.IGNORECASE
)
_PERCENT: Final = re.compile(rb"%(?:u00)?[0-9A-Fa-f]{2}")
_ESCAPE: Final = re.compile(
    rb"\\(?:x([0-9A-Fa-f]{2})|u\{?(?:00)?([0-9A-Fa-f]{2})\}?(?![0-9A-Fa-f])|([0-3][0-7]{2})(?!\d)"
    rb"|'([0-9a-f]{2})|0{2,4}([0-9A-Fa-f]{2}) ?(?![0-9A-Fa-f]))"
)
_OCTAL: Final = 3  # which group of it
_ENTITY: Final = re.compile(rb"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|amp|apos|lt|gt);")
_QUOTED: Final = re.compile(rb"=(?:\r?\n|([0-9A-F]{2}))")
_STRING: Final = re.compile(
    rb"\(((?:\\.|[^\\()])*+)\)|<([0-9A-Fa-f\s]{8,100000})>", re.DOTALL
)  # of PDF
_STRING_ESCAPE: Final = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)
_TAG: Final = re.compile(rb"<[!/a-zA-Z][^<>]{0,512}+>")
_BLANKS: Final = "\u00a0\u2007\u2009\u202f\u3000"
_LOOKALIKES: Final = str.maketrans(
    dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff")
    | dict.fromkeys(_BLANKS, " ")
    | {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
)  # fmt: skip
_ODD: Final = re.compile(
    rb"\xc2[\xad\xa0]|\xe2(?:\x80[\x87\x89\x8b-\x8f\xaf]|\x81\xa0)|\xe3\x80\x80|\xef(?:\xbb\xbf|[\xbc\xbd])"
)
_ASCII: Final = bytes(range(128))
_OFTEN: Final = 4  # matches, each near the next, for a text to count as encoded
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


@dataclass(frozen=True, slots=True)
class TextWindow:
    """A stretch of text, or the readable runs of a stretch of bytes.

    Args:
        raw: the stretch.
        data: the text, runs apart by line ends.
        lowered: the same in lower case.
        controls: how many bytes of the stretch no text has.
        starts: where runs begin in ``data``; empty when it is the stretch itself.
        offsets: where they began in the stretch.
    """

    raw: bytes
    data: bytes
    lowered: bytes
    controls: int
    starts: list[int]
    offsets: list[int]

    @classmethod
    def of(cls, raw: bytes) -> TextWindow:
        """Make a window of bytes; leave out unreadable bytes if they are more than a few."""
        starts: list[int] = []
        offsets: list[int] = []
        data, controls = raw, count_controls(raw)
        if 50 * controls > len(raw):
            parts, at = [], 0
            for start, end in find_runs(raw, _READABLE, _READABLE_MIN):
                starts.append(at)
                offsets.append(start)
                parts.append(raw[start:end])
                at += end - start + 1
            data = b"\n".join(parts)
        return cls(raw, data, data.lower(), controls, starts, offsets)

    def to_offset(self, at: int) -> int:
        """Return where a byte of ``data`` stands in the stretch."""
        if not self.starts:
            return at
        run = max(bisect_right(self.starts, at) - 1, 0)
        return self.offsets[run] + at - self.starts[run]


def count_controls(data: bytes) -> int:
    """Return how many bytes there are that no text has."""
    every = np.frombuffer(data, np.uint8)
    controls = every < 32
    for allowed in b"\t\n\r\x0b\x0c\x1b":
        controls &= every != allowed
    return int(np.count_nonzero(controls))


def find_runs(data: bytes, table: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    """Yield where runs of a class of bytes begin and end.

    A regular expression looks at every byte; a search for as many marks as a run must have leaps over what is too short.
    """
    marks, needle = data.translate(table), _IN * shortest
    start = marks.find(needle)
    while start >= 0:
        end = marks.find(_OUT, start + shortest)
        end = len(marks) if end < 0 else end
        yield start, end
        start = marks.find(needle, end)


def decode_layers(window: TextWindow, places: dict[bytes, list[int]]) -> Iterator[DecodedLayer]:
    """Yield the encoded texts in a window; offsets are those of the stretch.

    Args:
        window: text or bytes.
        places: where words of technique stand in the text; around them it is read as it is shown.
    """
    yield from _decode_wide(window.raw)
    decoders = [_decode_base64, _decode_base85, _decode_numbers, _decode_escapes]
    if not places.keys().isdisjoint(PDF_WORDS):
        decoders.append(_decode_pdf)
    for decoder in decoders:
        for layer in decoder(window.data):
            yield replace(layer, offset=window.to_offset(layer.offset))
    for layer in _show(window.data, places):
        yield replace(layer, offset=window.to_offset(layer.offset))


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
            plain = _BREAKS.sub(b"", found[0]).replace(b"-", b"+").replace(b"_", b"/")
            decoded = base64.b64decode(plain[: len(plain) - (len(plain) % 4 == 1)] + b"==")
            if is_uri or is_worth(decoded):
                name = (
                    f"data URI {said.partition(b';')[0].decode('latin-1')}" if is_uri else "base64"
                )
                yield DecodedLayer(name, found.start(), decoded, is_file=True)
        for found in _HEX.finditer(data, start, end):
            digits = b"".join(found[0].split()).decode()
            decoded = bytes.fromhex(digits[: len(digits) // 2 * 2])
            if is_worth(decoded):
                yield DecodedLayer("hexadecimal", found.start(), decoded, is_file=True)


def _decode_base85(data: bytes) -> Iterator[DecodedLayer]:
    """Yield what PostScript's base 85 stands for up to its end mark, in comments too."""
    before = 0
    while (end := data.find(b"~", before)) >= 0:  # A search for one byte costs least.
        stretch, before = data[before:end], end + 1
        if data[end + 1 : end + 2] != b">":
            continue
        lines = stretch.rpartition(b"<~")[2].split(b"\n")
        last = list(takewhile(_IN_85.fullmatch, reversed(lines)))[::-1]
        plain = b"".join(each.removeprefix(b"%").rstrip() for each in last)
        with suppress(ValueError):
            decoded = base64.a85decode(plain)
            if is_worth(decoded):
                yield DecodedLayer("base 85", end - len(b"\n".join(last)), decoded, is_file=True)


def _decode_numbers(data: bytes) -> Iterator[DecodedLayer]:
    """Yield what arrays of bytes stand for, as programs write them: 0x89, 0x50, or 137, 80."""
    for start, end in find_runs(data, _NUMERIC, _NUMERIC_MIN):
        for found in _NUMBERS.finditer(data, start, end):
            said = [each for each in found[0].lower().split(b",") if each.strip()]
            with suppress(ValueError):  # Numbers of something else: too large, or apart by blanks.
                decoded = bytes(int(each, 0 if b"x" in each else 10) for each in said)
                if is_worth(decoded):
                    yield DecodedLayer("numbers", found.start(), decoded, is_file=True)


def _decode_escapes(data: bytes) -> Iterator[DecodedLayer]:
    for start, text in _find_dense(_PERCENT, b"%", data, near=1024):
        words = text.replace(b"%u00", b"%")
        yield DecodedLayer("percent", start, unquote_to_bytes(words))
    for start, text in _find_dense(_ESCAPE, b"\\", data):
        yield DecodedLayer("escapes", start, _ESCAPE.sub(_unescape, text))
    for start, text in _find_dense(_ENTITY, b"&", data):
        said = html.unescape(text.decode("utf-8", "replace")).encode("utf-8", "replace")
        yield DecodedLayer("entities", start, said)
    is_quoted = any(each in data for each in (b"=3D", b"=20", b"=\r\n"))
    for start, text in _find_dense(_QUOTED, b"=", data) if is_quoted else ():
        plain = _QUOTED.sub(lambda found: bytes.fromhex((found[1] or b"").decode()), text)
        yield DecodedLayer("quoted-printable", start, plain)


def _unescape(found: re.Match[bytes]) -> bytes:
    which = found.lastindex or 1
    number = int(found[which], 8 if which == _OCTAL else 16)
    return bytes([number]) if number < 128 else chr(number).encode("utf-8")


def _find_dense(
    pattern: re.Pattern[bytes], mark: bytes, data: bytes, near: int = 160
) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a text where a pattern is frequent: only there can it hide anything."""
    at = np.flatnonzero(np.frombuffer(data, np.uint8) == mark[0])
    if len(at) < _OFTEN:
        return
    breaks = np.flatnonzero(np.diff(at) > near)
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(at) - 1)
    are_many = lasts - firsts >= _OFTEN - 1
    for first, last in zip(
        at[firsts[are_many]].tolist(), at[lasts[are_many]].tolist(), strict=True
    ):
        start, end = max(first - near, 0), last + near
        if len(pattern.findall(data, start, end)) >= _OFTEN:
            yield start, data[start:end]


def _show(data: bytes, places: dict[bytes, list[int]]) -> Iterator[DecodedLayer]:
    """Yield text as a reader sees it: without tags, with plain blanks and letters."""
    at: Iterable[int] = (each for word in places.values() for each in word) if b"</" in data else ()
    if not data.isascii() and _ODD.search(data.translate(None, _ASCII)):
        at = chain(at, (found.start() for found in _ODD.finditer(data)))
    for start, end in merge_spans((each - _AROUND, each + _AROUND) for each in at):
        text = data[start:end]
        shown = _TAG.sub(b"", text)
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
        said = _STRING_ESCAPE.sub(_read_escape, found[1])
    if said[:2] in {b"\xfe\xff", b"\xff\xfe"}:
        return said.decode("utf-16", "replace").encode("utf-8", "replace")
    return said


def _read_escape(found: re.Match[bytes]) -> bytes:
    said = found[1]
    if said[:1] in b"01234567":  # 8 and 9 stand for themselves.
        return bytes([int(said, 8) & 255])
    return b"" if said[-1:] == b"\n" else said


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
