"""Pictures as arrays of pixels, frame by frame, without rounding.

Pillow decodes, in the plugin that belongs to the first bytes and in no other. PNG and TIFF of 16 bits a channel, which
Pillow would round to 8, are decoded by FFmpeg. AVIF of more than 8 bits is rounded to 8.

Invariant: every frame of a reader has all its pixels, or ``Damaged`` is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from twice.assets.media.av import open_media
from twice.assets.media.sniff import HEAD, Damaged, Format, decoding, load_library, sniff

PLUGINS: Final = {
    Format.PNG: "PNG", Format.JPEG: "JPEG", Format.GIF: "GIF", Format.WEBP: "WEBP", Format.TIFF: "TIFF", Format.BMP: "BMP",
    Format.AVIF: "AVIF",
}  # fmt: skip
"""The formats of pictures, and Pillow's names for them."""

PIXELS_MAX: Final = 1 << 32
"""Pixels of all frames together; an animation of more is refused. Pillow refuses single frames of 2 ** 27.4."""

_KEPT_MODES: Final = frozenset({"CMYK", "LAB", "HSV", "YCbCr", "F", "I"})
_DEEP_MODES: Final = frozenset({"RGB", "RGBA", "RGBX", "LA"})


def open_image(file: BinaryIO) -> Any:
    """Open a picture with Pillow, without decoding it.

    Raises:
        Damaged: it is no picture that Pillow opens, or has more pixels than Pillow's limit.
        ExtraMissing: E-EXTRA-001, Pillow is not installed.
    """
    image = load_library("PIL.Image")
    file.seek(0)
    kind = sniff(file.read(HEAD))
    if kind not in PLUGINS:
        raise Damaged(f"{kind} is not a picture that is decoded")
    file.seek(0)
    with decoding("pillow"):
        return image.open(file, formats=[PLUGINS[kind]])


class ImageReader:
    """A picture and its frames; the file is read when these are asked for.

    Attributes:
        mode: Pillow's name for the form of its pixels.
        width, height, count: of the canvas, in pixels; of the frames.
        is_deep: whether it has 16 bits in each of several channels, or is a PNG of 16 bits.
        is_raw: whether frames keep the mode, because it has no exact form in red, green, blue and alpha.

    Raises:
        Damaged: it is no picture that Pillow opens.
        ExtraMissing: E-EXTRA-001, Pillow is not installed.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._picture = picture = open_image(file)
        self.mode = str(picture.mode)
        self.width, self.height = picture.size
        with decoding("pillow"):
            self.count = int(getattr(picture, "n_frames", 1))
        if self.count * self.width * self.height > PIXELS_MAX:
            raise Damaged(f"its frames have more than {PIXELS_MAX:,} pixels together")
        file.seek(24)  # of a PNG, its bits
        bits = picture.tag_v2.get(258, ()) if picture.format == "TIFF" else ()
        self.is_deep = (picture.format == "PNG" and file.read(1) == b"\x10") or (
            len(bits) > 1 and set(bits) == {16} and self.mode in _DEEP_MODES
        )
        self.is_raw = not self.is_deep and (self.mode in _KEPT_MODES or self.mode.startswith("I;"))

    def frames(self) -> Iterator[tuple[NDArray[Any], int]]:
        """Yield the pixels of each frame, and how many milliseconds it is shown (0 for a single one).

        Pixels are (rows, columns, channels): red, green, blue, alpha in 8 or 16 bits, or the channels of a kept mode.

        Raises:
            Damaged: a frame cannot be decoded to its end.
            ExtraMissing: E-EXTRA-001, PyAV is needed for 16 bits and not installed.
        """
        for at in range(self.count):
            with decoding("pillow"):
                self._picture.seek(at)
                self._picture.load()
                if self.is_deep:  # Pillow, which rounds, says that it is damaged; FFmpeg would not.
                    continue
                frame = self._picture if self.is_raw else self._picture.convert("RGBA")
                pixels = np.atleast_3d(np.asarray(frame))
                shown_ms = int(self._picture.info.get("duration", 0) or 0) if self.count > 1 else 0
            yield pixels, shown_ms
        if not self.is_deep:
            return
        png = "apng" if self.count > 1 else "png_pipe"
        done = 0
        with open_media(
            self._file, "tiff_pipe" if self._picture.format == "TIFF" else png
        ) as media:
            for frame in media.container.decode(video=0):
                shown_s = (frame.duration or 0) * frame.time_base if self.count > 1 else 0
                yield _to_rgba16(frame), round(1000 * shown_s)
                done += 1
        if done != self.count:
            raise Damaged(f"{done} of {self.count} frames are there")


def _to_rgba16(frame: Any) -> NDArray[np.uint16]:
    """Return the pixels of a frame of FFmpeg as red, green, blue and alpha; grey is repeated, no alpha is opaque."""
    name, channels = str(frame.format.name), len(frame.format.components)
    if name[-4:-2] not in {"16", "48", "64"} or len(frame.planes) != 1:
        raise Damaged(f"its pixels are {name}, and not of 16 bits in one plane")
    plane = frame.planes[0]
    rows = np.frombuffer(plane, ">u2" if name.endswith("be") else "<u2")
    rows = rows.reshape(frame.height, plane.line_size // 2)[:, : frame.width * channels]
    pixels = rows.reshape(frame.height, frame.width, channels)
    full = np.full((frame.height, frame.width, 4), 0xFFFF, np.uint16)
    full[:, :, :3] = pixels[:, :, : 1 if channels <= 2 else 3]
    if channels in {2, 4}:
        full[:, :, 3] = pixels[:, :, -1]
    return full
