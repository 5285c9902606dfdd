"""What a hot master carries of its log: the id and the payload's digest, or on request the whole log.

PNG gets an iTXt chunk, WAV a chunk of its own, FLAC an application block; other containers are refused, and
their log stays beside them. One that is there already is replaced.

Invariant: the payload of the file stays as it was; nothing else in it moves.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from twice.assets.errors import StoreRefused

KEYWORD: Final = b"twice-detlog"
WAV_CHUNK: Final = b"dlog"
FLAC_ID: Final = b"twdl"
_PNG: Final = b"\x89PNG\r\n\x1a\n"
_FLAC_APPLICATION: Final = 2
_FLAC_BLOCK_MAX: Final = 2**24 - 5
_RIFF_MAX: Final = 2**32 - 16


def embed(data: bytes, text: bytes, name: str) -> bytes:
    """Put a text into a file's bytes, in place of one that was put there before.

    Args:
        data: the whole file.
        text: UTF-8.
        name: the file's name, for messages.

    Raises:
        StoreRefused: E-ASSET-STORE-001: the container is another one, or damaged.
    """
    for beginning, put in _WRITERS.items():
        if data.startswith(beginning) and (beginning != b"RIFF" or data[8:12] == b"WAVE"):
            try:
                return put(data, text)
            except (struct.error, IndexError, ValueError) as error:
                raise _refused(name, f"it is damaged: {error}") from error
    raise _refused(name, "only PNG, WAV and FLAC are written into")


def extract_note(data: bytes) -> bytes | None:
    """Give the text that was put into a file; None where there is none."""
    try:
        if data.startswith(_PNG):
            found = [body for kind, body, _ in _png_chunks(data) if _ours(kind, body)]
            return found[0][len(KEYWORD) + 5 :] if found else None
        if data.startswith(b"RIFF"):
            return next((body for kind, body, _ in _riff_chunks(data) if kind == WAV_CHUNK), None)
        if data.startswith(b"fLaC"):
            blocks = [body for kind, body, _ in _flac_blocks(data) if _ours_flac(kind, body)]
            return blocks[0][4:] if blocks else None
    except (struct.error, IndexError, ValueError):
        return None
    return None


def _ours(kind: bytes, body: bytes) -> bool:
    return kind == b"iTXt" and body.startswith(KEYWORD + b"\0")


def _ours_flac(kind: int, body: bytes) -> bool:
    return kind == _FLAC_APPLICATION and body.startswith(FLAC_ID)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Each chunk: its name, its body, and all its bytes; then what follows the end as b""."""
    at = len(_PNG)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        end = at + 12 + size
        if end > len(data):
            raise ValueError("a chunk is cut off")
        kind = data[at + 4 : at + 8]
        yield kind, data[at + 8 : at + 8 + size], data[at:end]
        at = end
        if kind == b"IEND":
            yield b"", b"", data[at:]
            return
    raise ValueError("it has no end")


def _into_png(data: bytes, text: bytes) -> bytes:
    body = KEYWORD + b"\0\0\0\0\0" + text
    checked = b"iTXt" + body
    chunk = struct.pack(">I", len(body)) + checked + struct.pack(">I", zlib.crc32(checked))
    parts = [_PNG]
    for kind, old, whole in _png_chunks(data):
        if _ours(kind, old):
            continue
        parts += [chunk, whole] if kind == b"IEND" else [whole]
    return b"".join(parts)


def _riff_chunks(data: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    at, end = 12, min(8 + struct.unpack_from("<I", data, 4)[0], len(data))
    while at + 8 <= end:
        (size,) = struct.unpack_from("<I", data, at + 4)
        stop = at + 8 + size + size % 2
        if at + 8 + size > len(data):
            raise ValueError("a chunk is cut off")
        yield data[at : at + 4], data[at + 8 : at + 8 + size], data[at:stop]
        at = stop


def _into_wav(data: bytes, text: bytes) -> bytes:
    parts = []
    for kind, body, whole in _riff_chunks(data):
        if kind != WAV_CHUNK:
            parts.append(whole if len(body) % 2 == 0 else whole.ljust(9 + len(body), b"\0"))
    parts.append(WAV_CHUNK + struct.pack("<I", len(text)) + text + b"\0" * (len(text) % 2))
    body = b"WAVE" + b"".join(parts)
    if len(body) > _RIFF_MAX:
        raise ValueError("it would be larger than RIFF can be")
    trailing = data[8 + struct.unpack_from("<I", data, 4)[0] :]
    return b"RIFF" + struct.pack("<I", len(body)) + body + trailing


def _flac_blocks(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Each metadata block: its kind, its body, and where it ends."""
    at, last = 4, False
    while not last:
        head = data[at]
        size = int.from_bytes(data[at + 1 : at + 4], "big")
        if at + 4 + size > len(data):
            raise ValueError("a metadata block is cut off")
        last = bool(head & 0x80)
        yield head & 0x7F, data[at + 4 : at + 4 + size], at + 4 + size
        at += 4 + size


def _into_flac(data: bytes, text: bytes) -> bytes:
    if len(text) > _FLAC_BLOCK_MAX:
        raise ValueError("the log is larger than a FLAC block can be")
    blocks, end = [], 4
    for kind, body, stop in _flac_blocks(data):
        end = stop
        if not _ours_flac(kind, body):
            blocks.append((kind, body))
    blocks.append((_FLAC_APPLICATION, FLAC_ID + text))
    parts = [b"fLaC"]
    for at, (kind, body) in enumerate(blocks):
        mark = 0x80 if at == len(blocks) - 1 else 0
        parts.append(bytes([kind | mark]) + len(body).to_bytes(3, "big") + body)
    return b"".join([*parts, data[end:]])


_WRITERS: Final[dict[bytes, Callable[[bytes, bytes], bytes]]] = {
    _PNG: _into_png,
    b"RIFF": _into_wav,
    b"fLaC": _into_flac,
}


def _refused(name: str, why: str) -> StoreRefused:
    return StoreRefused(
        f"No log can be put into {name}: {why}.",
        "Expected a whole PNG, WAV or FLAC file.",
        "Seal it without --embed: its sidecar says the same.",
    )
