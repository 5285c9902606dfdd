"""Encodings of text undone, layer by layer.

They are UTF-16, UTF-32, percent, escapes, entities, quoted-printable, base64, hex, arrays of numbers, tags within words, and
letters and blanks that look like others.
Each layer gives texts or files that are looked through in turn; how deep is for the caller to say.

Invariant: a layer gives nothing when it undoes nothing, so that looking deeper ends.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import Final
from urllib.parse import unquote_to_bytes

from twice.assets.leaks.runs import Class
from twice.assets.leaks.wide import is_wide, wide_texts
from twice.assets.leaks.words import Words
from twice.assets.media.sniff import HEAD, Format, sniff

_RUN: Final = Class(bytes([*b"\t\n\r", *range(0x20, 0x7F)]), 6)
_CONTROLS: Final = bytes(sorted(frozenset(range(32)) - frozenset(b"\t\n\r\x0b\x0c\x1b")))
_CODED: Final = Class(b"%s+/_-" % (string.ascii_letters + string.digits).encode(), 40)
_SAMPLE: Final = 256
_DISTINCT: Final = 8  # bytes in a sample; a ruler of dashes is nothing encoded
_WRAPPED: Final = (
    96  # bytes: a last line is shorter, and stands behind the line end and some blanks
)
# How programs write a long text on several lines: "..." + "...", or the two side by side.
_JOINED_BY: Final = rb"\"\s{0,24}[+\\]?\s{0,24}\"|'\s{0,24}[+\\]?\s{0,24}'"
_BASE64: Final = re.compile(
    rb"(?:[A-Za-z0-9+/]{4}){10,}+[A-Za-z0-9+/]{0,3}+(?:(?:\r?\n|\\r?\\n|\\n|"
    + _JOINED_BY
    + rb")[ \t]{0,8}[A-Za-z0-9+/]{4,}+)*+[A-Za-z0-9+/]{0,3}={0,2}"
)
_BASE64_URL: Final = re.compile(rb"[A-Za-z0-9_-]{40,}+")
_HEX: Final = re.compile(rb"(?:[0-9A-Fa-f]{2}(?:\r?\n)?){48,}+")
_PERCENT: Final = re.compile(rb"%[0-9A-Fa-f]{2}[^\s\"<>]*+")
_WORD_END: Final = re.compile(rb"[^\s\"<>]*+\Z")
_ESCAPES: Final = re.compile(
    rb"\\x([0-9A-Fa-f]{2})|\\u\{?(?:00)?([0-9A-Fa-f]{2})\}?(?![0-9A-Fa-f])|\\([0-3][0-7]{2})(?!\d)"
    rb"|\\'([0-9a-f]{2})|%u00([0-9A-Fa-f]{2})|\\0{2,4}([0-9A-Fa-f]{2}) ?(?![0-9A-Fa-f])"
)
_ESCAPED: Final = (b"\\x", b"\\u", b"\\1", b"\\00", b"\\'", b"%u00")
_OCTAL: Final = 3  # which group of it
_QUOTED: Final = re.compile(rb"=(?:\r?\n|([0-9A-F]{2}))")
_ENTITY: Final = re.compile(rb"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|quot|amp|apos|lt|gt);")
_LONGEST_LEAD: Final = 1 << 12  # bytes of a word before its first percent sign
_IN_85: Final = re.compile(rb"[!-uz]*+\r?")
_FEWEST: Final = 40  # numbers that an array has
_DECIMAL: Final = Class(b"0123456789, \t\n\r\x0b\f", 120)
_HEXADECIMAL: Final = Class(b"0123456789abcdefABCDEFxX, \t\n\r\x0b\f", 160)
_NUMBERS: Final = re.compile(
    rb"(?:(?:0x[0-9a-f]{1,2}|\d{1,3})\s{0,12},?\s{0,12}){40,}+", re.IGNORECASE
)
_TAG: Final = re.compile(rb"<[!/a-zA-Z][^<>]{0,512}+>")
_TELLING: Final = Words(
    (
        b"seed", b"sampler", b"steps", b"cfg", b"prompt", b"model", b"diffusion", b"comfyui",
        b"reaper", b"ableton", b"lufs",
    )
)  # fmt: skip
_AROUND: Final = 256  # bytes on each side of a telling word that are read as they are shown
_UNSEEN: Final = (
    b"\xc2\xad", b"\xe2\x80\x8b", b"\xe2\x80\x8c", b"\xe2\x80\x8d", b"\xe2\x80\x8e", b"\xe2\x80\x8f",
    b"\xe2\x81\xa0", b"\xef\xbb\xbf",
)  # fmt: skip
_BLANKS: Final = (b"\xc2\xa0", b"\xe2\x80\x87", b"\xe2\x80\x89", b"\xe2\x80\xaf", b"\xe3\x80\x80")
_FULL_WIDTH: Final = re.compile(rb"\xef(?:\xbc[\x81-\xbf]|\xbd[\x80-\x9e])")
_ASCII: Final = bytes(range(128))
_OFTEN: Final = 4  # times, each within ...
_NEAR: Final = 96  # ... so many bytes of the next, for a text to count as encoded
_BREAKS: Final = re.compile(_JOINED_BY + rb"|\\r|\\n|\s")
_LONGEST: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Layer:
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
    is_file: bool
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of text, or the readable runs of a stretch of bytes.

    Args:
        data: the text, runs apart by line ends.
        lowered: the same in lower case.
        starts: where runs begin in ``data``; empty when it is the stretch itself.
        offsets: where they began in the stretch.
        raw: the stretch.
    """

    data: bytes
    lowered: bytes
    starts: list[int]
    offsets: list[int]
    raw: bytes

    @classmethod
    def of(cls, raw: bytes) -> Window:
        """Make a window of bytes; leave out unreadable bytes if they are more than a few."""
        starts: list[int] = []
        offsets: list[int] = []
        data = raw
        if 50 * (len(raw) - len(raw.translate(None, _CONTROLS))) > len(raw):
            parts, at = [], 0
            for start, end in _RUN.runs(raw):
                starts.append(at)
                offsets.append(start)
                parts.append(raw[start:end])
                at += end - start + 1
            data = b"\n".join(parts)
        lowered = data.lower()
        return cls(data, lowered, starts, offsets, raw)

    def offset(self, at: int) -> int:
        """Where a byte of ``data`` stands in the stretch."""
        if not self.starts:
            return at
        run = max(bisect_right(self.starts, at) - 1, 0)
        return self.offsets[run] + at - self.starts[run]


def has_controls(data: bytes) -> bool:
    """Whether there are bytes that no text has."""
    return len(data.translate(None, _CONTROLS)) < len(data)


def layers(window: Window) -> Iterator[Layer]:
    """Yield the encoded texts in a window of text or bytes; offsets are those of the stretch."""
    for name, start, text in wide_texts(window.raw):
        yield Layer(name, start, text, is_file=False)
    data = window.data
    for layer in chain(_coded(data), _base85(data), _numbers(data), _plain(data), _as_shown(data)):
        yield replace(layer, offset=window.offset(layer.offset))


def _plain(data: bytes) -> Iterator[Layer]:
    if data.count(b"%") >= 3:
        yield from _percent(data)
    if any(each in data for each in _ESCAPED):
        for start, text in _stretches(_ESCAPES, data):
            yield Layer("escapes", start, _ESCAPES.sub(_character, text), is_file=False)
    if b"&" in data and b";" in data:
        for start, text in _stretches(_ENTITY, data):
            said = html.unescape(text.decode("utf-8", "replace")).encode("utf-8", "replace")
            yield Layer("entities", start, said, is_file=False)
    if b"=3D" in data or b"=\r\n" in data or b"=20" in data:
        for start, text in _stretches(_QUOTED, data):
            plain = _QUOTED.sub(lambda found: bytes.fromhex((found[1] or b"").decode()), text)
            yield Layer("quoted-printable", start, plain, is_file=False)


def _as_shown(data: bytes) -> Iterator[Layer]:
    """Yield text as a reader sees it: without tags, with plain blanks and letters.

    Yield only the text around telling words: the rest would be scanned twice for nothing.
    """
    plain = _plain_letters(data)
    is_tagged = b"</" in plain
    if not is_tagged and plain == data:
        return
    lowered = plain.lower()
    places = chain.from_iterable(_TELLING.places(lowered).values())
    for start, end in joined((each - _AROUND, each + _AROUND) for each in places):
        text = plain[start:end]
        shown = _TAG.sub(b"", text) if is_tagged and b"<" in text else text
        if shown != text or plain != data:
            yield Layer("as shown", start, shown, is_file=False, is_last=True)


def _plain_letters(data: bytes) -> bytes:
    beyond = b"" if data.isascii() else data.translate(None, _ASCII)
    if not any(each in beyond for each in (*_UNSEEN, *_BLANKS, b"\xef\xbc", b"\xef\xbd")):
        return data
    for each in _UNSEEN:
        data = data.replace(each, b"")
    for each in _BLANKS:
        data = data.replace(each, b" ")
    if b"\xef\xbc" in data or b"\xef\xbd" in data:
        data = _FULL_WIDTH.sub(lambda found: bytes([ord(found[0].decode()) - 0xFEE0]), data)
    return data


def joined(stretches: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Stretches in their order, joined where they meet."""
    start = end = -1
    for first, last in sorted(stretches):
        if start >= 0 and first > end:
            yield start, end
            start = -1
        start, end = max(first, 0) if start < 0 else start, last
    if start >= 0:
        yield start, end


def _stretches(pattern: re.Pattern[bytes], data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the parts of a text where a pattern is frequent: only there can it hide anything."""
    first = last = -1
    count = 0
    for found in pattern.finditer(data):
        if count and found.start() - last > _NEAR:
            if count >= _OFTEN:
                start = max(first - _NEAR, 0)
                yield start, data[start : last + _NEAR]
            count = 0
        first = first if count else found.start()
        count, last = count + 1, found.end()
    if count >= _OFTEN:
        start = max(first - _NEAR, 0)
        yield start, data[start : last + _NEAR]


def _coded(data: bytes) -> Iterator[Layer]:
    for start, end in _long_stretches(data):
        seen = -1
        for found in _BASE64.finditer(data, start, end):
            layer = _decoded("base64", found.start(), _BREAKS.sub(b"", found[0]), data)
            if layer is not None:
                seen = found.end()
                yield layer
        for found in _BASE64_URL.finditer(data, start, end):
            if found.start() >= seen and (b"-" in found[0] or b"_" in found[0]):
                plain = found[0].replace(b"-", b"+").replace(b"_", b"/")
                layer = _decoded("base64url", found.start(), plain, data)
                if layer is not None:
                    yield layer
        for found in _HEX.finditer(data, start, end):
            digits = b"".join(found[0].split())
            decoded = binascii.unhexlify(digits[: len(digits) // 2 * 2])
            if is_worth(decoded):
                yield Layer("hexadecimal", found.start(), decoded, is_file=True)


def _base85(data: bytes) -> Iterator[Layer]:
    """Decode PostScript's base 85 up to its end mark, with or without a comment's percent signs."""
    before = 0
    while (end := data.find(b"~>", before)) >= 0:
        stretch, before = data[before:end], end + 2
        if len(stretch) < _FEWEST:
            continue
        lines = stretch.rpartition(b"<~")[2].split(b"\n")
        few = list(takewhile(_IN_85.fullmatch, reversed(lines)))[::-1]
        is_comment = all(each[:1] == b"%" for each in few)
        plain = b"".join(each[is_comment:].rstrip() for each in few)
        with suppress(ValueError):
            decoded = base64.a85decode(plain)
            if is_worth(decoded):
                yield Layer("base 85", end - len(b"\n".join(few)), decoded, is_file=True)


def _numbers(data: bytes) -> Iterator[Layer]:
    """Arrays of bytes as programs write them: 0x89, 0x50, or 137, 80."""
    if data.count(b",") < _FEWEST:
        return
    digits = _HEXADECIMAL if data.lower().count(b"0x") >= _FEWEST else _DECIMAL
    for start, end in digits.runs(data):
        for found in _NUMBERS.finditer(data, start, end):
            said = [each for each in found[0].lower().split(b",") if each.strip()]
            try:
                decoded = bytes(int(each, 0 if b"x" in each else 10) for each in said)
            except ValueError:  # Numbers of something else: too large, or apart by blanks.
                continue
            if is_worth(decoded):
                yield Layer("numbers", found.start(), decoded, is_file=True)


def _long_stretches(data: bytes) -> Iterator[tuple[int, int]]:
    """Where runs are long enough to be something encoded; lines of one that was wrapped are together."""
    return joined(
        (start, end + _WRAPPED)
        for start, end in _CODED.runs(data)
        if len(set(data[start : min(end, start + _SAMPLE)])) >= _DISTINCT
    )


def _decoded(name: str, start: int, plain: bytes, data: bytes) -> Layer | None:
    plain = plain[:_LONGEST]
    said = data[max(start - 64, 0) : start].rpartition(b"data:")[2]
    is_uri = said.endswith(b";base64,")
    if not is_uri and not is_worth(from_base64(plain[: HEAD // 3 * 4])):
        return None
    if is_uri:
        name = f"data URI {said[:-8].decode('latin-1')}"
    return Layer(name, start, from_base64(plain), is_file=True)


def from_base64(plain: bytes) -> bytes:
    """Decode a run of base64, padded or not."""
    plain = plain.rstrip(b"=")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return base64.b64decode(plain + b"=" * (-len(plain) % 4))


def is_worth(data: bytes) -> bool:
    """Whether decoded bytes are more than chance: a known container, or text."""
    if data[:6] == b"Exif\0\0" or is_wide(data[:HEAD]):
        return True
    kind = sniff(data[:HEAD])
    if kind is Format.TEXT:
        return all(each >= 32 or each in b"\t\n\r" for each in data[:256]) and _is_utf8(data[:256])
    weak = {Format.BINARY, Format.ZLIB, Format.BMP, Format.MPEG, Format.AAC}
    return kind not in weak or (kind in {Format.ZLIB, Format.MPEG} and _is_strong(kind, data))


def _is_strong(kind: Format, data: bytes) -> bool:
    if kind is Format.MPEG:
        return data[:3] == b"ID3"
    return data[1] in {0x01, 0x9C, 0xDA, 0x5E}


def _is_utf8(data: bytes) -> bool:
    for cut in range(4):
        try:
            data[: len(data) - cut].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return True
    return False


def _percent(data: bytes) -> Iterator[Layer]:
    for found in _PERCENT.finditer(data):
        if found[0].count(b"%") < 3:
            continue
        start = found.start()
        before = _WORD_END.search(data[max(start - _LONGEST_LEAD, 0) : start])
        start -= len(before[0]) if before is not None else 0
        said = data[start : found.end()]
        plain = unquote_to_bytes(said)
        if plain != said:
            yield Layer("percent", start, plain, is_file=False)


def _character(found: re.Match[bytes]) -> bytes:
    which = found.lastindex or 1
    number = int(found[which], 8 if which == _OCTAL else 16)
    return bytes([number & 255]) if number < 128 else chr(number).encode("utf-8")
