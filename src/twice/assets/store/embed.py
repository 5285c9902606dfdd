"""The note of a log in a hot master: the id and the payload's digest, or on request the whole log.

PNG gets an iTXt chunk, WAV a chunk of its own, FLAC an application block. Other containers are refused, and their log
stays beside them. A note that is there already is replaced.

Invariant: the payload of the file stays as it was, nothing else in it moves, and without the note it has its bytes again.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final, TypeAlias

from twice.assets.errors import StoreRefused

KEYWORD: Final = b"twice-detlog"
WAV_CHUNK: Final = b"dlog"
FLAC_ID: Final = b"twdl"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_FLAC_APPLICATION: Final = b"\x02"
_FLAC_BLOCK_MAX: Final = 2**24 - 5
_RIFF_MAX: Final = 2**32 - 16

Parts: TypeAlias = list[tuple[bytes, bytes]]
"""Chunks or blocks of a container in their order: what each is, and its body; the last has no name, and is the rest."""


def embed(data: bytes, text: bytes, name: str) -> bytes:
    """Put a text into a file's bytes, in place of one that was put there before.

    Args:
        data: the whole file.
        text: UTF-8.
        name: the file's name, for messages.

    Raises:
        StoreRefused: E-ASSET-STORE-001: the container is another one, or damaged.
    """
    try:
        parts = [each for each in _split(data) if not _is_note(data, each)]
        if data.startswith(_PNG):
            parts.insert(len(parts) - 2, (b"iTXt", KEYWORD + b"\0\0\0\0\0" + text))
        elif data.startswith(b"RIFF"):
            parts.insert(len(parts) - 1, (WAV_CHUNK, text))
        else:
            parts.insert(len(parts) - 1, (_FLAC_APPLICATION, FLAC_ID + text))
        return _join(data, parts)
    except (struct.error, IndexError, ValueError) as error:
        raise StoreRefused(
            f"No log can be put into {name}: {error}.",
            "Expected a whole PNG, WAV or FLAC file.",
            "Seal it without --embed: its sidecar says the same.",
        ) from error


def extract_note(data: bytes) -> bytes | None:
    """Return the text that was put into a file; None where there is none."""
    starts = {_PNG: len(KEYWORD) + 5, b"RIFF": 0, b"fLaC": len(FLAC_ID)}
    start = next((size for magic, size in starts.items() if data.startswith(magic)), 0)
    try:
        return next(
            (body[start:] for kind, body in _split(data) if _is_note(data, (kind, body))), None
        )
    except (struct.error, IndexError, ValueError):
        return None


def remove_note(data: bytes) -> bytes:
    """Return a file's bytes without the text that was put into it; those that hold none as they are."""
    if extract_note(data) is None:
        return data
    return _join(data, [each for each in _split(data) if not _is_note(data, each)])


def _is_note(data: bytes, part: tuple[bytes, bytes]) -> bool:
    kind, body = part
    if data.startswith(_PNG):
        return kind == b"iTXt" and body.startswith(KEYWORD + b"\0")
    if data.startswith(b"RIFF"):
        return kind == WAV_CHUNK
    return kind == _FLAC_APPLICATION and body.startswith(FLAC_ID)


def _split(data: bytes) -> Parts:
    """Take a container apart.

    Raises:
        ValueError, IndexError, struct.error: it is another one, or damaged.
    """
    parts: Parts = []
    if data.startswith(_PNG):
        at, kind = len(_PNG), b""
        while kind != b"IEND":
            (size,), kind = struct.unpack_from(">I", data, at), data[at + 4 : at + 8]
            parts.append((kind, _cut(data, at + 8, size)))
            at += 12 + size
    elif data.startswith(b"RIFF") and data[8:12] == b"WAVE":
        at, end = 12, min(8 + struct.unpack_from("<I", data, 4)[0], len(data))
        while at + 8 <= end:
            (size,) = struct.unpack_from("<I", data, at + 4)
            parts.append((data[at : at + 4], _cut(data, at + 8, size)))
            at += 8 + size + size % 2
        at = min(at, max(end, at - 1))  # The last byte of padding may be left out.
    elif data.startswith(b"fLaC"):
        at, is_last = 4, False
        while not is_last:
            is_last, size = bool(data[at] & 0x80), int.from_bytes(data[at + 1 : at + 4], "big")
            parts.append((bytes([data[at] & 0x7F]), _cut(data, at + 4, size)))
            at += 4 + size
    else:
        raise ValueError("only PNG, WAV and FLAC are written into")
    return [*parts, (b"", data[at:])]


def _cut(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ValueError("it is damaged: a part is cut off")
    return data[at : at + size]


def _join(data: bytes, parts: Parts) -> bytes:
    """Put a container together again; ``data`` says which."""
    *named, (_, rest) = parts
    if data.startswith(_PNG):
        crc = (struct.pack(">I", zlib.crc32(kind + body)) for kind, body in named)
        chunks = zip(named, crc, strict=True)
        packed = (
            struct.pack(">I", len(body)) + kind + body + check for (kind, body), check in chunks
        )
        return _PNG + b"".join(packed) + rest
    if data.startswith(b"RIFF"):
        pieces = (
            kind + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
            for kind, body in named
        )
        whole = b"WAVE" + b"".join(pieces)
        if len(whole) > _RIFF_MAX:
            raise ValueError("it would be larger than RIFF can be")
        return b"RIFF" + struct.pack("<I", len(whole)) + whole + rest
    if any(len(body) > _FLAC_BLOCK_MAX for _, body in named):
        raise ValueError("the log is larger than a FLAC block can be")
    heads = [kind[0] | (0x80 if at == len(named) - 1 else 0) for at, (kind, _) in enumerate(named)]
    blocks = (
        bytes([head]) + len(body).to_bytes(3, "big") + body
        for head, (_, body) in zip(heads, named, strict=True)
    )
    return b"fLaC" + b"".join(blocks) + rest
