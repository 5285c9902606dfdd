"""Encodings of text undone, layer by layer: UTF-16, percent, escapes, entities, quoted-printable, base64, hex.

Each layer gives texts or files that are looked through in turn; how deep is for the caller to say.

Invariant: a layer gives nothing when it undoes nothing, so that looking deeper ends.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

from twice.assets.containers.sniffing import HEAD, Format, sniff

_WIDE_LITTLE: Final = re.compile(rb"(?:[\t\n\r\x20-\x7e]\x00){8,}+")
_WIDE_BIG: Final = re.compile(rb"(?:\x00[\t\n\r\x20-\x7e]){8,}+")
_BASE64: Final = re.compile(
    rb"(?:[A-Za-z0-9+/]{4}){10,}+(?:(?:\r?\n|\\r?\\n|\\n)[ \t]{0,8}[A-Za-z0-9+/]{4,}+)*+[A-Za-z0-9+/]{0,3}={0,2}"
)
_BASE64_URL: Final = re.compile(rb"[A-Za-z0-9_-]{40,}+")
_HEX: Final = re.compile(rb"(?:[0-9A-Fa-f]{2}(?:\r?\n)?){48,}+")
_PERCENT: Final = re.compile(rb"[^\s\"'<>]{0,4096}?%[0-9A-Fa-f]{2}[^\s\"<>]{0,65536}")
_ESCAPES: Final = re.compile(
    rb"\\x([0-9A-Fa-f]{2})|\\u\{?(?:00)?([0-9A-Fa-f]{2})\}?(?![0-9A-Fa-f])|\\([0-3][0-7]{2})"
)
_QUOTED: Final = re.compile(rb"=(?:\r?\n|([0-9A-F]{2}))")
_BREAKS: Final = re.compile(rb"\\r|\\n|\s")
_LONGEST: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Layer:
    """What undoing one encoding gave: its name, where it began, the bytes, and whether they are a file."""

    name: str
    offset: int
    data: bytes
    is_file: bool


def layers(data: bytes, *, has_wide: bool = True) -> Iterator[Layer]:
    """What is encoded in a window of text or bytes."""
    if has_wide and b"\0" in data:
        yield from _wide(data)
    yield from _coded(data)
    if data.count(b"%") >= 3:
        yield from _percent(data)
    if b"\\x" in data or b"\\u" in data or b"\\1" in data:
        yield from _changed("escapes", data, _ESCAPES.sub(_character, data))
    if b"&" in data and b";" in data and (b"&#" in data or b"&quot;" in data or b"&amp;" in data):
        said = html.unescape(data.decode("utf-8", "replace")).encode("utf-8", "replace")
        yield from _changed("entities", data, said)
    if b"=3D" in data or b"=\r\n" in data or b"=20" in data:
        plain = _QUOTED.sub(lambda found: bytes.fromhex((found[1] or b"").decode()), data)
        yield from _changed("quoted-printable", data, plain)


def _changed(name: str, before: bytes, after: bytes) -> Iterator[Layer]:
    if after != before:
        yield Layer(name, 0, after, is_file=False)


def _wide(data: bytes) -> Iterator[Layer]:
    found = [(each.start(), each[0][::2]) for each in _WIDE_LITTLE.finditer(data)]
    taken = {start for start, _ in found}
    found += [
        (each.start(), each[0][1::2])
        for each in _WIDE_BIG.finditer(data)
        if each.start() + 1 not in taken and each.start() - 1 not in taken
    ]
    for start, text in found:
        yield Layer("UTF-16", start, text, is_file=False)


def _coded(data: bytes) -> Iterator[Layer]:
    seen = -1
    for found in _BASE64.finditer(data):
        plain = _BREAKS.sub(b"", found[0])
        layer = _decoded("base64", found.start(), plain, data)
        if layer is not None:
            seen = found.end()
            yield layer
    for found in _BASE64_URL.finditer(data):
        if found.start() >= seen and (b"-" in found[0] or b"_" in found[0]):
            plain = found[0].replace(b"-", b"+").replace(b"_", b"/")
            layer = _decoded("base64url", found.start(), plain, data)
            if layer is not None:
                yield layer
    for found in _HEX.finditer(data):
        digits = b"".join(found[0].split())
        decoded = binascii.unhexlify(digits[: len(digits) // 2 * 2])
        if is_worth(decoded):
            yield Layer("hexadecimal", found.start(), decoded, is_file=True)


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
    """The bytes that a run of base64 stands for, whether it was padded or not."""
    plain = plain.rstrip(b"=")
    plain = plain[: len(plain) - (len(plain) % 4 == 1)]
    return base64.b64decode(plain + b"=" * (-len(plain) % 4))


def is_worth(data: bytes) -> bool:
    """Whether decoded bytes are more than chance: a known container, or text."""
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
        said = found[0]
        if said.count(b"%") < 3:
            continue
        plain = unquote_to_bytes(said)
        if plain != said:
            yield Layer("percent", found.start(), plain, is_file=False)


def _character(found: re.Match[bytes]) -> bytes:
    octal = found[3]
    number = int(octal, 8) if octal is not None else int(found[1] or found[2], 16)
    return bytes([number & 255]) if number < 128 else chr(number).encode("utf-8")
