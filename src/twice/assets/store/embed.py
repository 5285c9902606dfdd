"""The note of a log in a hot master: the id and the payload's digest, or on request the whole log.

PNG gets an iTXt chunk, WAV a chunk of its own, FLAC an application block. Other containers are refused, and their log
stays beside them. A note that is there already is replaced.

Invariant: the payload of the file stays as it was, nothing else in it moves, and without the note it has its bytes again,
but for a byte of padding that the last chunk of a WAV file lacked.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

from twice.assets.errors import StoreRefused

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_NOTE: Final = b"iTXttwice-detlog\0"
_WAV_NOTE: Final = b"dlog"
_FLAC_NOTE: Final = b"twdl"
_FLAC_APPLICATION: Final = 2
_FLAC_BLOCK_MAX: Final = 2**24 - 5
_RIFF_MAX: Final = 2**32 - 16
_DAMAGE: Final = (struct.error, IndexError, ValueError)


def embed(data: bytes, text: bytes, name: str) -> bytes:
    """Put a text in UTF-8 into the bytes of a file of a name, in place of one that was put there before.

    Raises:
        StoreRefused: E-ASSET-STORE-001, the container is another one, or damaged.
    """
    try:
        head, *parts, rest = _split(remove_note(data))
        if head == _PNG:
            body = _PNG_NOTE + b"\0\0\0\0" + text
            note = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
            parts.insert(-1, note)
        elif head == b"fLaC":
            if len(text) > _FLAC_BLOCK_MAX:
                raise ValueError("the log is larger than a FLAC block can be")
            body = _FLAC_NOTE + text
            parts.append(bytes([_FLAC_APPLICATION]) + len(body).to_bytes(3, "big") + body)
        else:
            parts.append(_WAV_NOTE + struct.pack("<I", len(text)) + text)
        return _join(head, parts, rest)
    except _DAMAGE as error:
        raise StoreRefused(
            f"No log can be put into {name}: {error}.",
            "Expected a whole PNG, WAV or FLAC file.",
            "Seal it without --embed: its sidecar says the same.",
        ) from error


def remove_note(data: bytes) -> bytes:
    """Return a file's bytes without the text that was put into it; those that hold none as they are."""
    try:
        head, *parts, rest = _split(data)
    except _DAMAGE:
        return data
    kept = [each for each in parts if not _is_note(head, each)]
    return data if kept == parts else _join(head, kept, rest)


def read_note(data: bytes) -> bytes:
    """Return the text that was put into a file; b"" if it holds none."""
    try:
        head, *parts, _ = _split(data)
    except _DAMAGE:
        return b""
    note = next((each for each in parts if _is_note(head, each)), b"")
    if head == _PNG:
        return note[4 + len(_PNG_NOTE) + 4 : -4]
    return note[8:]


def _is_note(head: bytes, part: bytes) -> bool:
    note, at = {_PNG: (_PNG_NOTE, 4), b"fLaC": (_FLAC_NOTE, 4)}.get(head, (_WAV_NOTE, 0))
    return part.startswith(note, at)


def _split(data: bytes) -> list[bytes]:
    """Take a container apart: its head, each chunk or block, and what follows them.

    Raises:
        ValueError, IndexError, struct.error: it is another one, or damaged.
    """
    is_wav = data.startswith(b"RIFF") and data[8:12] == b"WAVE"
    head = next((each for each in (_PNG, b"fLaC") if data.startswith(each)), data[: 12 * is_wav])
    if not head:
        raise ValueError("only PNG, WAV and FLAC are written into")
    end = min(8 + struct.unpack_from("<I", data, 4)[0], len(data)) if is_wav else len(data)
    parts, at, is_last = [head], len(head), False
    while not is_last:
        if head == _PNG:
            size = 12 + struct.unpack_from(">I", data, at)[0]
            is_last = data[at + 4 : at + 8] == b"IEND"
        elif head == b"fLaC":
            size = 4 + int.from_bytes(data[at + 1 : at + 4], "big")
            is_last = bool(data[at] & 0x80)
        else:
            size = 8 + struct.unpack_from("<I", data, at + 4)[0]
            is_last = at + size + size % 2 + 8 > end
        if at + size > len(data):
            raise ValueError("it is damaged: a part is cut off")
        parts.append(data[at : at + size])
        at += size + (size % 2 if is_wav and at + size < end else 0)
    return [*parts, data[at:]]


def _join(head: bytes, parts: list[bytes], rest: bytes) -> bytes:
    """Put a container together again, with the sizes and marks that say where it ends."""
    if head.startswith(b"RIFF"):
        whole = b"".join(each + b"\0" * (len(each) % 2) for each in parts)
        if len(whole) + 4 > _RIFF_MAX:
            raise ValueError("it would be larger than RIFF can be")
        return b"RIFF" + struct.pack("<I", len(whole) + 4) + b"WAVE" + whole + rest
    if head == b"fLaC":
        kinds = [each[0] & 0x7F for each in parts]
        kinds[-1] |= 0x80
        parts = [bytes([kind]) + each[1:] for kind, each in zip(kinds, parts, strict=True)]
    return head + b"".join(parts) + rest
