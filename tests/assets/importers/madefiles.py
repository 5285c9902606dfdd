"""Small files that carry what generators embed."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from PIL import Image

from twice.assets.importers.detect import import_stream
from twice.assets.importers.result import Imported

USER_COMMENT = 37510


def imported(data: bytes, name: str = "file", **chosen: Any) -> Imported:
    """Import the facts that bytes give about how they were made."""
    return import_stream(io.BytesIO(data), name, chosen)


def chunk(name: bytes, data: bytes) -> bytes:
    """Build a chunk of a PNG file."""
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def png(*texts: tuple[str, str]) -> bytes:
    """Build a picture of one pixel with texts."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    said = b"".join(_text(key, text) for key, text in texts)
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0\0\0"))
    return b"\x89PNG\r\n\x1a\n" + head + said + pixels + chunk(b"IEND", b"")


def _text(key: str, text: str) -> bytes:
    try:
        return chunk(b"tEXt", key.encode("latin-1") + b"\0" + text.encode("latin-1"))
    except UnicodeEncodeError:
        head = key.encode("latin-1") + b"\0\0\0\0\0"
        return chunk(b"iTXt", head + text.encode("utf-8", "surrogatepass"))


def comfy(prompt: Mapping[str, Any] | None = None, **beside: Any) -> Imported:
    """Import a picture with ComfyUI's chunks."""
    texts = {"prompt": prompt, **beside}
    return imported(png(*((key, json.dumps(each)) for key, each in texts.items() if each)))


def picture(form: str, tags: Mapping[int, bytes | str]) -> bytes:
    """Build a JPEG, WebP or AVIF file by Pillow, with tags of EXIF."""
    exif = Image.Exif()
    exif[305] = "a test"  # Pillow writes no AVIF tags when all are in the inner directory.
    for tag, value in tags.items():
        ifd = exif.get_ifd(0x8769) if tag == USER_COMMENT else exif
        ifd[tag] = value
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, form, exif=exif)
    return file.getvalue()


def riff(*chunks: tuple[bytes, bytes]) -> bytes:
    """Build a WAV file of 100 silent samples with chunks before them."""
    form = (b"fmt ", struct.pack("<HHIIHH", 1, 1, 44100, 88200, 2, 16))
    body = b"WAVE" + b"".join(
        name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
        for name, data in (form, *chunks, (b"data", bytes(200)))
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def as_text(found: Imported) -> str:
    """Write everything that was found as JSON."""
    return json.dumps(asdict(found))


def places(found: Imported) -> str:
    """Everything that was not understood, as text."""
    return "\n".join(f"{each.place}: {each.why}" for each in found.not_understood)


def doubts(found: Imported) -> dict[str, tuple[object, ...]]:
    """Candidates by pointer."""
    return {each.pointer: each.candidates for each in found.ambiguities}
