"""Text in the lowest bits of pixels, as some image generators hide it.

The known form is a signature, a length in 32 bits and UTF-8 text, plain or gzip, in the lowest bits of alpha or of red,
green and blue, column by column. Any long readable text in those bits is found too, column by column or row by row.
What is scattered by a key, or encrypted, is not seen.

Invariant: a picture is decoded once, and only when its pixels are within the limit.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import numpy as np

from twice.assets.media.images import open_image
from twice.assets.media.sniff import Damaged, decoding

_PIXELS_MAX: Final = 64 << 20
_SIGNATURES: Final = {
    b"stealth_pnginfo": False, b"stealth_pngcomp": True, b"stealth_rgbinfo": False, b"stealth_rgbcomp": True,
}  # fmt: skip
_START: Final = 1 << 16  # bytes of lowest bits in which readable text is looked for
_READABLE: Final = re.compile(rb"[\t\n\r\x20-\x7e]{24,}")
_LETTERS_MIN: Final = 10
_TEXT_MAX: Final = 16 << 20


def extract_pixel_text(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    """Yield the texts hidden in a picture, each after the name of the bits that contain it.

    Raises:
        Damaged: the picture cannot be decoded, or has more pixels than the limit.
        ExtraMissing: E-EXTRA-001, Pillow is not installed.
    """
    picture = open_image(file)
    width, height = picture.size
    if width * height > _PIXELS_MAX:
        raise Damaged(f"the picture has more than {_PIXELS_MAX >> 20} million pixels")
    with decoding("pillow"):
        has_alpha = picture.mode in {"RGBA", "LA", "PA"} or "transparency" in picture.info
        array = np.asarray(picture.convert("RGBA" if has_alpha else "RGB"))
    planes = {"alpha": array[:, :, 3:], "red, green and blue": array[:, :, :3]}
    for name, plane in planes.items():
        for order, seen in (("columns", plane.swapaxes(0, 1)), ("rows", plane)):
            if plane.size and (text := _read_text(seen)):
                yield f"lowest bits of {name}, by {order}", text
                break


def _read_text(plane: Any) -> bytes:
    start = _pack_bits(plane, 0, _START)
    for signature, is_packed in _SIGNATURES.items():
        if start.startswith(signature):
            at = len(signature)
            size = min(int.from_bytes(start[at : at + 4]) // 8, _TEXT_MAX)
            data = _pack_bits(plane, at + 4, size)
            try:
                return zlib.decompressobj(31).decompress(data, _TEXT_MAX) if is_packed else data
            except zlib.error:
                return b"(a signature of hidden text, which cannot be unpacked)"
    found = _READABLE.match(start)
    # The lowest bits of a gradient repeat, and are readable by chance; a text has many letters.
    return found[0] if found is not None and len(set(found[0][:64])) >= _LETTERS_MIN else b""


def _pack_bits(plane: Any, start: int, count: int) -> bytes:
    """Return a range of the bytes that the lowest bits form, first bit highest."""
    line = plane.shape[1] * plane.shape[2]
    first, last = start * 8 // line, -(-(start + count) * 8 // line)
    bits = (plane[first:last] & 1).reshape(-1)[start * 8 - first * line :][: count * 8]
    return np.packbits(bits).tobytes()[:count]
