"""Small files that carry what generators embed, made byte by byte."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from twice.assets.containers.source import Source
from twice.assets.importers.imported import Imported
from twice.assets.importers.opening import import_source


def imported(data: bytes, name: str = "file") -> Imported:
    """Import the facts that bytes give about how they were made."""
    return import_source(Source.of_bytes(data), name)


def chunk(name: bytes, data: bytes) -> bytes:
    """Build a chunk of a PNG file."""
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def png(*texts: tuple[str, str], extra: bytes = b"") -> bytes:
    """Build a picture of one pixel with texts."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    said = b"".join(_text(key, text) for key, text in texts)
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + said + extra + pixels + chunk(b"IEND", b"")


def _text(key: str, text: str) -> bytes:
    try:
        return chunk(b"tEXt", key.encode("latin-1") + b"\0" + text.encode("latin-1"))
    except UnicodeEncodeError:
        head = key.encode("latin-1") + b"\0\0\0\0\0"
        return chunk(b"iTXt", head + text.encode("utf-8", "surrogatepass"))


def comfy(
    prompt: Mapping[str, Any] | None = None, workflow: Mapping[str, Any] | None = None
) -> Imported:
    """Import a picture with ComfyUI's chunks."""
    texts = [("prompt", prompt), ("workflow", workflow)]
    return imported(png(*((key, json.dumps(each)) for key, each in texts if each is not None)))


def user_comment(text: str, *, big: bool, head: bytes = b"UNICODE\0") -> bytes:
    """Build an EXIF block with a user comment."""
    order = ">" if big else "<"
    coded = (
        text.encode("utf-16-be" if big else "utf-16-le") if head[0] == 85 else text.encode("ascii")
    )
    value = head + coded
    ifd = struct.pack(order + "H", 1) + struct.pack(order + "HHII", 34665, 4, 1, 26)
    inner = struct.pack(order + "H", 1) + struct.pack(order + "HHII", 37510, 7, len(value), 44)
    start = (b"MM\0*" if big else b"II*\0") + struct.pack(order + "I", 8)
    return start + ifd + bytes(4) + inner + bytes(4) + value


def jpeg(exif: bytes) -> bytes:
    """Build a JPEG file that has EXIF and almost no picture."""
    block = b"Exif\0\0" + exif
    return b"\xff\xd8\xff\xe1" + struct.pack(">H", len(block) + 2) + block + b"\xff\xd9"


def riff(form: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    """Build a RIFF file."""
    body = form + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
        for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def wav(*chunks: tuple[bytes, bytes], rate: int = 44100) -> bytes:
    """Build a WAV file of 100 silent samples."""
    form = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    return riff(b"WAVE", (b"fmt ", form), *chunks, (b"data", bytes(200)))


def places(found: Imported) -> str:
    """Everything that was not understood, as text."""
    return "\n".join(f"{each.place}: {each.why}" for each in found.not_understood)


def doubts(found: Imported) -> dict[str, tuple[object, ...]]:
    """Candidates by pointer."""
    return {each.pointer: each.candidates for each in found.ambiguities}
