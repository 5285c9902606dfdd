"""Text in the lowest bits of pixels, as some image generators hide it.

The known form is a signature, a length in 32 bits and UTF-8 text, plain or gzip, in the lowest bits of alpha or of red,
green and blue, column by column. Any long readable text in those bits is reported too, column by column or row by row.
What is scattered by a key, or encrypted, is not seen.

Invariant: a picture is decoded once, and only when its pixels are within the limit.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from twice.assets.containers.source import Source
from twice.assets.media.sniff import Damaged

MOST_PIXELS: Final = 64 << 20
_SIGNATURES: Final = {
    b"stealth_pnginfo": False, b"stealth_pngcomp": True, b"stealth_rgbinfo": False, b"stealth_rgbcomp": True,
}  # fmt: skip
_LOOKED_AT: Final = 1 << 16  # bytes of lowest bits in which readable text is looked for
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{24,}")
_LETTERS: Final = 10
_LONGEST: Final = 16 << 20


def hidden(source: Source) -> Iterator[tuple[str, bytes]]:
    """Yield the texts hidden in a picture, each with the bits that contain it.

    Raises:
        Damaged: the picture cannot be decoded, or has more pixels than the limit.
        ExtraMissing: E-EXTRA-001, pillow is not installed.
    """
    from twice.assets.media.images import open_image
    from twice.assets.media.sniff import decoding

    picture = open_image(source.as_file())
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise Damaged(f"the picture has more than {MOST_PIXELS >> 20} million pixels")
    with decoding("pillow"):
        has_alpha = picture.mode in {"RGBA", "LA", "PA"} or "transparency" in picture.info
        array = np.asarray(picture.convert("RGBA" if has_alpha else "RGB"))
    planes = [("red, green and blue", array[:, :, :3])]
    if has_alpha:
        planes.insert(0, ("alpha", array[:, :, 3:]))
    for name, plane in planes:
        for order, seen in (("columns", plane.swapaxes(0, 1)), ("rows", plane)):
            text = _text(seen)
            if text:
                yield f"lowest bits of {name}, by {order}", text
                break


def _text(plane: Any) -> bytes:
    start = _bytes(plane, 0, _LOOKED_AT)
    for signature, is_packed in _SIGNATURES.items():
        if start.startswith(signature):
            at = len(signature)
            size = min(int.from_bytes(start[at : at + 4], "big") // 8, _LONGEST)
            data = _bytes(plane, at + 4, size)
            return _unpacked(data) if is_packed else data
    found = _READABLE.match(start)
    # The lowest bits of a gradient repeat, and are readable by chance; a text has many letters.
    return found[0] if found is not None and len(set(found[0][:64])) >= _LETTERS else b""


def _bytes(plane: Any, start: int, count: int) -> bytes:
    """Return a range of the bytes that the lowest bits form, first bit highest."""
    line = plane.shape[1] * plane.shape[2]
    first, last = start * 8 // line, -(-(start + count) * 8 // line)
    bits = (plane[first:last] & 1).reshape(-1)[start * 8 - first * line :][: count * 8]
    return np.packbits(bits).tobytes()[:count]


def _unpacked(data: bytes) -> bytes:
    try:
        return zlib.decompressobj(31).decompress(data, _LONGEST)
    except zlib.error:
        return b"(a signature of hidden text, which cannot be unpacked)"
