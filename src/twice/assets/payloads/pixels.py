"""Pixels as one digest: size, number of frames, and each frame as red, green, blue, alpha.

Pillow decodes. What it would round is not left to it: PNG of 16 bits is unpacked here, and modes that have no exact
RGBA form (CMYK, floats, 32 bits) are hashed as they are, with the mode's name. JPEG and AVIF leave some freedom to
decoders: the facts name the one that was used.

Invariant: pictures that differ in one pixel have different digests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from twice.assets.containers.parts import Damaged
from twice.assets.containers.sniffing import Format
from twice.assets.containers.source import Source
from twice.errors import ExtraMissing
from twice.foundation.digests import Algorithm, digest_parts

if TYPE_CHECKING:
    from twice.assets.payload import Fact

_AS_THEY_ARE = {"CMYK", "LAB", "HSV", "YCbCr", "F", "I"}
_DECODED_LOOSELY = {Format.JPEG, Format.AVIF}


def opened(source: Source) -> Any:
    """Open a picture with pillow, without decoding it.

    Raises:
        ExtraMissing: E-EXTRA-001, pillow is not installed.
        Damaged: pillow cannot open it, or it has more pixels than pillow's limit.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ExtraMissing(
            "The pixels of a picture were asked for, and pillow is not installed.",
            "Expected the extra that decodes pictures.",
            "Install it: pip install 'twice[assets]'",
        ) from error
    with guarded():
        return Image.open(source.as_file())


@contextmanager
def guarded() -> Iterator[None]:
    """Turn whatever a decoder raises of a damaged picture into ``Damaged``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (Damaged, ExtraMissing):
            raise
        except Exception as error:
            raise Damaged(f"pillow says: {str(error)[:200] or type(error).__name__}") from error


def pixels(source: Source, kind: Format) -> tuple[str, str, dict[str, Fact]]:
    """Return method, digest and facts of a picture.

    Raises:
        Damaged: it cannot be decoded to its end.
        ExtraMissing: E-EXTRA-001, pillow is not installed.
    """
    from twice.assets.payloads.png16 import is_deep, rows_of

    picture = opened(source)
    width, height = picture.size
    facts: dict[str, Fact] = {"width": width, "height": height}
    if kind is Format.PNG and is_deep(source):
        method = "pixels-rgba16/1"
        parts = rows_of(source)
        facts |= {"frames": 1, "bit_depth": 16}
    else:
        count = int(getattr(picture, "n_frames", 1))
        raw = picture.mode in _AS_THEY_ARE or picture.mode.startswith("I;")
        method = "pixels-raw/1" if raw else "pixels-rgba8/1"
        parts = _frames(picture, count, raw=raw)
        facts |= {"frames": count, "mode": picture.mode}
    if kind in _DECODED_LOOSELY:
        facts["decoder"] = _decoder()
    head = f"{method} {width} {height} {facts['frames']}\n".encode()
    with guarded():
        digest = digest_parts(_all(head, parts), Algorithm.SHA256)
    return method, str(digest), facts


def _all(head: bytes, parts: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from parts


def _frames(picture: Any, count: int, *, raw: bool) -> Iterator[bytes]:
    for at in range(count):
        picture.seek(at)
        if raw:
            yield f"{picture.mode} {picture.size}\n".encode() + picture.tobytes()
            continue
        frame = picture.convert("RGBA")
        shown_ms = int(picture.info.get("duration", 0) or 0) if count > 1 else 0
        yield f"{frame.size[0]} {frame.size[1]} {shown_ms}\n".encode()
        yield frame.tobytes()


def _decoder() -> str:
    import PIL

    return f"pillow {PIL.__version__}"
