"""Frames of MPEG audio (MP1, MP2, MP3) and of AAC in ADTS, between whatever tags stand around them.

Source: ISO/IEC 11172-3, 13818-3, 13818-7; the Xing, LAME and VBRI headers as encoders write them.

Invariant: offsets only grow; what is between frames belongs to no frame.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.assets.containers.source import PIECE, Source

_LAYER_3: Final = 1
_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_BITRATES: Final = {
    (True, 3): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 1): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 3): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 1): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
ADTS_RATES: Final = (
    96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """What the head of a frame says; ``size`` counts the head."""

    codec: str
    size: int
    skipped: int  # bytes of head that are framing only, as in ADTS
    sample_rate: int
    channels: int
    samples: int


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame: where it lies, what it holds, and whether it only describes the others."""

    offset: int
    header: Header
    data: bytes
    is_info: bool


def header_of(head: bytes) -> Header | None:
    """Parse seven bytes as the header of a frame; return None for other bytes."""
    if len(head) < 7 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return None
    return _adts(head) if head[1] & 0xF6 == 0xF0 else _mpeg(head)


def _adts(head: bytes) -> Header | None:
    at = head[2] >> 2 & 15
    size = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
    skipped = 7 if head[1] & 1 else 9
    if at >= len(ADTS_RATES) or size <= skipped:
        return None
    channels = (head[2] & 1) << 2 | head[3] >> 6
    return Header("aac", size, skipped, ADTS_RATES[at], channels, 1024)


def _mpeg(head: bytes) -> Header | None:
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    rate_at, bitrate_at = head[2] >> 2 & 3, head[2] >> 4
    if version == 1 or not layer or rate_at == 3 or not 1 <= bitrate_at <= 14:
        return None
    is_first = version == 3
    rate = _RATES[version][rate_at]
    bitrate = 1000 * _BITRATES[is_first, layer][bitrate_at - 1]
    padding = head[2] >> 1 & 1
    if layer == 3:
        samples, size = 384, (12 * bitrate // rate + padding) * 4
    else:
        samples = 576 if layer == _LAYER_3 and not is_first else 1152
        size = samples // 8 * bitrate // rate + padding
    return Header(f"mp{4 - layer}", size, 0, rate, 1 if head[3] >> 6 == 3 else 2, samples)


class _Ahead:
    """A source read in pieces, so that looking at every byte costs no read for each."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._start, self._data = 0, b""

    def read(self, offset: int, count: int) -> bytes:
        at = offset - self._start
        if at < 0 or at + count > len(self._data):
            self._start, self._data = offset, self._source.read(offset, PIECE)
            at = 0
        return self._data[at : at + count]

    def next_sync(self, offset: int) -> int:
        """Where the next byte is that may begin a frame."""
        while offset < self._source.size:
            self.read(offset, 1)
            at = self._data.find(b"\xff", offset - self._start)
            if at >= 0:
                return self._start + at
            offset = self._start + len(self._data)
        return self._source.size


def frames(source: Source, start: int = 0) -> Iterator[Frame]:
    """Yield the frames from an offset on, all of the same codec."""
    ahead = _Ahead(source)
    offset, is_first, codec = start, True, ""
    while offset + 7 <= source.size:
        header = header_of(ahead.read(offset, 7))
        if (
            header is None
            or (codec and header.codec != codec)
            or offset + header.size > source.size
        ):
            offset = ahead.next_sync(offset + 1)
            continue
        follower = offset + header.size
        if is_first and follower + 7 <= source.size and header_of(ahead.read(follower, 7)) is None:
            offset = ahead.next_sync(offset + 1)
            continue
        data = ahead.read(offset, header.size)
        yield Frame(offset, header, data, is_first and _is_info(data))
        is_first, codec, offset = False, header.codec, follower


def _is_info(data: bytes) -> bool:
    return any(word in data[4:44] for word in (b"Xing", b"Info", b"VBRI")) and data[:1] == b"\xff"
