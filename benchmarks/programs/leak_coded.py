"""Pictures and sounds with pixels and samples in them, as the usual coders write them.

``blind_leaks.py`` is made of them. What a coder (Pillow, libsndfile) has no door for is added by the specification of its
format. Nothing here is read by the package.
"""

from __future__ import annotations

import io
import struct

import numpy as np
import soundfile
from PIL import Image, PngImagePlugin
from programs.leak_sounds import chunk

RATE = 22050


def art(number: int, width: int = 96, height: int = 64) -> Image.Image:
    """Return a picture of soft stripes, another one for each number."""
    y, x = np.mgrid[0:height, 0:width]
    red = np.sin(x / 9 + number) * 60 + 120
    green = np.cos(y / 7 + number) * 50 + 110
    blue = (x + y + 13 * number) % 200 + 20
    return Image.fromarray(np.stack([red, green, blue], -1).astype("uint8"))


def coded(image: Image.Image, form: str, **options: object) -> bytes:
    """Return a picture as Pillow writes it in a format."""
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def png_text(image: Image.Image, key: str, words: str) -> bytes:
    """Return a PNG with a text under a key."""
    said = PngImagePlugin.PngInfo()
    said.add_text(key, words)
    return coded(image, "PNG", pnginfo=said)


def user_comment(comment: bytes) -> Image.Exif:
    """Return EXIF with a user comment, which begins with the name of its letters."""
    said = Image.Exif()
    said.get_ifd(0x8769)[0x9286] = comment
    return said


def camera() -> Image.Exif:
    """Return EXIF as a camera writes it, with the photographer's own comment."""
    said = user_comment(
        b"ASCII\0\0\0Seed heads by the old model railway, forty steps down from the road"
    )
    said[0x010F], said[0x0110], said[0x0131] = "NIKON CORPORATION", "NIKON D750", "Ver.1.15"
    said[0x0132], said[0x8298], said[0x0112] = "2025:06:14 18:22:31", "Anna Holm", 1
    inner = said.get_ifd(0x8769)
    inner[0x829A], inner[0x829D], inner[0x8827], inner[0x920A] = 0.004, 5.6, 400, 85.0
    inner[0x9003], inner[0xA434] = "2025:06:14 18:22:31", "85.0 mm f/1.8"
    inner[0xA420] = "0f3c9a1b7d5e4c2288aa61b04cf0d9e7"
    return said


def photo(number: int, width: int, height: int) -> bytes:
    """Return a JPEG of a camera."""
    return coded(art(number, width, height), "JPEG", quality=88, exif=camera())


def animation(comment: str) -> bytes:
    """Return a GIF of two frames whose comment fills several blocks."""
    frames = [art(each).convert("P", palette=Image.Palette.ADAPTIVE) for each in (7, 8)]
    return coded(
        frames[0],
        "GIF",
        save_all=True,
        append_images=frames[1:],
        duration=120,
        loop=0,
        comment=comment.encode(),
    )


def layered(name: str, image: Image.Image) -> bytes:
    """Return a PSD of one layer whose name in Unicode is another than its short one."""
    width, height = image.size
    planes = [np.asarray(image)[..., each].tobytes() for each in range(3)]
    wide = struct.pack(">I", len(name)) + name.encode("utf-16-be")
    wide += bytes(-len(wide) % 4)
    extra = struct.pack(">II", 0, 0) + b"\x07Layer 1"
    extra += b"8BIMluni" + struct.pack(">I", len(wide)) + wide
    layer = struct.pack(">iiiiH", 0, 0, height, width, 3)
    layer += b"".join(struct.pack(">hI", each, 2 + width * height) for each in range(3))
    layer += b"8BIMnorm" + bytes([255, 0, 8, 0]) + struct.pack(">I", len(extra)) + extra
    info = struct.pack(">h", 1) + layer + b"".join(b"\0\0" + each for each in planes)
    info += bytes(len(info) % 2)
    layers = struct.pack(">I", len(info)) + info + bytes(4)
    head = b"8BPS" + struct.pack(">H6xHIIHH", 1, 3, height, width, 8, 3) + bytes(8)
    return head + struct.pack(">I", len(layers)) + layers + b"\0\0" + b"".join(planes)


def tone(pitch: float = 220.0) -> np.ndarray:
    """Return the samples of a tone that fades, 0.6 s long."""
    at = np.arange(int(0.6 * RATE)) / RATE
    return (0.2 * np.sin(2 * np.pi * pitch * at) * np.exp(-at)).astype("float32")


def sound(form: str, kind: str | None = None, pitch: float = 220.0) -> bytes:
    """Return a tone as libsndfile writes it in a format."""
    out = io.BytesIO()
    soundfile.write(out, tone(pitch), RATE, format=form, subtype=kind)
    return out.getvalue()


def labelled(said: str) -> bytes:
    """Return a WAV with a cue point and a label at it."""
    cue = struct.pack("<III4sIII", 1, 1, 4000, b"data", 0, 0, 4000)
    label = chunk(b"labl", struct.pack("<I", 1) + said.encode() + b"\0")
    body = sound("WAV", "PCM_16")[12:] + chunk(b"cue ", cue) + chunk(b"LIST", b"adtl" + label)
    return chunk(b"RIFF", b"WAVE" + body)


def foreign(title: str, comment: str) -> bytes:
    """Return a FLAC that keeps the chunks of the WAV it was made from, as ``--keep-foreign-metadata`` does."""
    stream, at, blocks, last = sound("FLAC", "PCM_16"), 4, [], 0
    while not last:
        size = int.from_bytes(stream[at + 1 : at + 4], "big")
        blocks.append((stream[at] & 127, stream[at + 4 : at + 4 + size]))
        last = stream[at] & 128
        at += 4 + size
    info = chunk(b"INAM", title.encode() + b"\0") + chunk(b"ICMT", comment.encode() + b"\0")
    said = chunk(b"LIST", b"INFO" + info)
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, RATE, 2 * RATE, 2, 16))
    held = len(tone()) * 2
    riff = b"RIFF" + struct.pack("<I", 4 + len(form) + len(said) + 8 + held) + b"WAVE"
    kept = (riff, form, said, b"data" + struct.pack("<I", held))
    blocks += [(2, b"riff" + each) for each in kept]
    out = b"fLaC"
    for number, (kind, body) in enumerate(blocks, start=1):
        out += bytes([kind | 128 * (number == len(blocks))]) + len(body).to_bytes(3, "big") + body
    return out + stream[at:]


def frame(name: str, body: bytes) -> bytes:
    """Return a frame of ID3v2.3."""
    return name.encode() + struct.pack(">IH", len(body), 0) + body


def words(name: str, said: str) -> bytes:
    """Return a frame of ID3v2.3 that holds a text."""
    return frame(name, b"\0" + said.encode("latin-1"))


def chapter(name: str, begin: int, end: int, title: str, picture: bytes | None = None) -> bytes:
    """Return a chapter of a tag, begin and end in ms, with its title and perhaps a picture of its own."""
    held = words("TIT2", title)
    if picture is not None:
        held += frame("APIC", b"\0image/jpeg\0\x03\0" + picture)
    times = struct.pack(">IIII", begin, end, 0xFFFFFFFF, 0xFFFFFFFF)
    return frame("CHAP", name.encode() + b"\0" + times + held)


def tagged(frames: list[bytes], pitch: float = 220.0) -> bytes:
    """Return an MP3 with a tag of such frames before it."""
    body = b"".join(frames)
    size = bytes(len(body) >> shift & 127 for shift in (21, 14, 7, 0))
    return b"ID3\x03\0\0" + size + body + sound("MP3", pitch=pitch)


def module(lines: list[str]) -> bytes:
    """Return an XM module of one sample whose instruments' names are its message."""
    out = b"Extended Module: " + b"mill run".ljust(20) + b"\x1a" + b"FastTracker v2.00   "
    out += struct.pack("<HIHHHHHHHH", 0x104, 276, 1, 0, 4, 1, len(lines), 1, 6, 125) + bytes(256)
    out += struct.pack("<IBHH", 9, 0, 64, 0)
    wave = (np.sin(np.arange(256) / 8) * 60).astype("int8")
    steps = np.diff(wave, prepend=np.int8(0)).astype("int8").tobytes()
    out += struct.pack("<I22sBHI", 263, lines[0].encode(), 0, 1, 40) + bytes(96 + 96 + 38)
    out += struct.pack("<IIIBbBBbB22s", 256, 0, 256, 48, 0, 1, 128, 0, 0, b"sine") + steps
    return out + b"".join(struct.pack("<I22sBH", 29, line.encode(), 0, 0) for line in lines[1:])
