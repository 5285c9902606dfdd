"""Sounds and films, encoded and put into containers by FFmpeg through PyAV: what claims about payloads are tried on."""

from __future__ import annotations

import io
import struct
from functools import cache
from typing import Any

import av
import numpy as np
import soundfile

RATE = 48000
FILM = {"mpeg4", "libx264", "libx265", "libvpx", "libvpx-vp9", "libsvtav1", "ffv1", "mjpeg"}


def _frames(codec: str, seed: int) -> list[Any]:
    """Half a second whose last third the seed decides."""
    chances = [np.random.default_rng(1 if at < 16 else seed) for at in range(24)]
    if codec in FILM:
        pixels = (chance.integers(0, 256, (48, 64, 3), np.uint8) for chance in chances)
        made = [av.VideoFrame.from_ndarray(each, "rgb24") for each in pixels]
        return [frame.reformat(format="yuv420p") for frame in made]
    waves = (chance.normal(0, 3000, (1, 1152)).astype("<i2") for chance in chances)
    made = [av.AudioFrame.from_ndarray(each, "s16", "mono") for each in waves]
    for at, frame in enumerate(made):
        frame.sample_rate, frame.pts = RATE, at * 1152
    return made


@cache
def encode(form: str, *codecs: str, seed: int = 1, **options: str) -> bytes:
    """Encode noise into a container of FFmpeg's name ``form``, one stream for each codec."""
    out = io.BytesIO()
    options = {"fflags": "+bitexact"} | options
    with av.open(out, "w", format=form, container_options=options) as target:
        streams = []
        for codec in codecs:
            is_film = codec in FILM
            extra = {} if is_film else {"layout": "mono"}
            rate = 24 if is_film else RATE
            stream = target.add_stream(codec, rate=rate, options={"strict": "-2"}, **extra)
            if is_film:
                stream.width, stream.height = 64, 48
                stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
                stream.codec_context.thread_count = 1
            streams.append(stream)
        for stream, codec in zip(streams, codecs, strict=True):
            frames, wanted = _frames(codec, seed), stream.codec_context
            if codec not in FILM:
                form = wanted.format or "fltp"
                resampler = av.AudioResampler(form, "mono", RATE, wanted.frame_size or None)
                frames = [ready for frame in frames for ready in resampler.resample(frame)]
            for frame in [*frames, None]:
                target.mux(stream.encode(frame))
    return out.getvalue()


def remux(data: bytes, form: str, tags: dict[str, str] | None = None, **options: str) -> bytes:
    """Put the packets of a file into another container, with tags."""
    out = io.BytesIO()
    options = {"fflags": "+bitexact"} | options
    with (
        av.open(io.BytesIO(data)) as source,
        av.open(out, "w", format=form, container_options=options) as target,
    ):
        target.metadata.update(tags or {})
        streams = {}
        for stream in source.streams:
            streams[stream.index] = target.add_stream_from_template(stream, opaque=True)
            streams[stream.index].metadata.update(tags or {})
        for packet in source.demux():
            if packet.size:
                packet.stream = streams[packet.stream_index]
                target.mux(packet)
    return out.getvalue()


def unsize_clusters(data: bytes) -> bytes:
    """Write that each cluster of a Matroska file goes on to the next, as a browser does while it records."""
    made, mark = bytearray(data), b"\x1f\x43\xb6\x75"
    at = made.find(mark)
    while at >= 0:
        width = 9 - made[at + 4].bit_length()
        made[at + 4 : at + 4 + width] = bytes([0xFF >> width - 1]) + b"\xff" * (width - 1)
        at = made.find(mark, at + 4)
    return bytes(made)


def widen_last_box(data: bytes) -> bytes:
    """Give the last box of an MP4 file a length of 64 bits; its contents must not be pointed at."""
    at, size = 0, 0
    while at + size < len(data):
        at, size = at + size, int.from_bytes(data[at + size : at + size + 4])
    wide = struct.pack(">I4sQ", 1, data[at + 4 : at + 8], size + 8)
    return data[:at] + wide + data[at + 8 :]


def box(name: bytes, *bodies: bytes) -> bytes:
    body = b"".join(bodies)
    return struct.pack(">I", len(body) + 8) + name + body


def numbers(*values: int) -> bytes:
    return struct.pack(f">{len(values)}I", *values)


def promise_samples(count: int, *, fragmented: bool) -> bytes:
    """Build a film of a few hundred bytes that says it has a number of frames of four bytes."""
    entry = box(b"avc1", bytes(6), b"\0\1", bytes(16), struct.pack(">HH", 64, 48), bytes(50))
    many = 0 if fragmented else count
    tables = [
        box(b"stsd", numbers(0, 1), entry),
        box(b"stts", numbers(0, 1, many, 1)),
        box(b"stsc", numbers(0, 1, 1, many, 1)),
        box(b"stsz", numbers(0, 4 if many else 0, many)),
        box(b"stco", numbers(0, 1, 32)),
    ]
    media = box(
        b"mdia",
        box(b"mdhd", numbers(0, 0, 0, 1000, 1000, 0)),
        box(b"hdlr", bytes(8), b"vide", bytes(13)),
        box(b"minf", box(b"vmhd", bytes(12)), box(b"stbl", *tables)),
    )
    track = box(b"trak", box(b"tkhd", bytes(12), numbers(1), bytes(68)), media)
    movie = [box(b"mvhd", bytes(100)), track]
    run = box(b"traf", box(b"tfhd", numbers(0, 1)), box(b"trun", numbers(0, count)))
    moof = b""
    if fragmented:
        movie.append(box(b"mvex", box(b"trex", numbers(0, 1, 1, 1, 4, 0))))
        moof = box(b"moof", box(b"mfhd", numbers(0, 1)), run)
    head, samples = box(b"ftyp", b"isom\0\0\0\0isom"), box(b"mdat", b"abcd" * 99)
    return head + box(b"moov", *movie) + moof + samples


def sound(form: str, samples: Any, subtype: str = "PCM_16", rate: int = RATE) -> bytes:
    """Write samples with libsndfile: (frames,) or (frames, channels)."""
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=form, subtype=subtype)
    return out.getvalue()
