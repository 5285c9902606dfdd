"""Files with planted traces, built by code: what the claims about leaks are tried on."""

from __future__ import annotations

import base64
import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import soundfile
from mediafiles import box, remux
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from twice.assets.leaks.report import LeakFinding, NotOpened
from twice.assets.leaks.scan import FileScan
from twice.foundation.severity import Severity

INFOTEXT = (
    "alley in the rain\nNegative prompt: text\nSteps: 28, Sampler: DPM++ 2M, CFG scale: 6.5, "
    "Seed: 1057871485, Size: 64x64, Model hash: 6ce0161689, Model: noir_v3"
)
SESSION = '{"seed": 439212, "daw": "REAPER 7.03", "lufs": -16}'
SAMPLES = (np.sin(np.arange(24000) / 9) * 9000).astype("<i2").reshape(-1, 2)
PIXELS = np.random.default_rng(7).integers(0, 256, (64, 64, 3), np.uint8)


def scanned(data: bytes, name: str = "it", **options: Any) -> list[LeakFinding | NotOpened]:
    return list(FileScan(**options).scan(io.BytesIO(data), name))


def leaks(data: bytes, name: str = "it", **options: Any) -> list[LeakFinding]:
    found = [each for each in scanned(data, name, **options) if isinstance(each, LeakFinding)]
    return [each for each in found if each.severity >= Severity.HIGH]


def png(*chunks: bytes, image: Any = None, after: bytes = b"") -> bytes:
    out = io.BytesIO()
    (image or Image.fromarray(PIXELS)).save(out, "PNG")
    data = out.getvalue()
    return data[:33] + b"".join(chunks) + data[33:] + after


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def dirty_png() -> bytes:
    return png(chunk(b"tEXt", b"parameters\0" + INFOTEXT.encode()))


def exif() -> bytes:
    block = Image.Exif()
    block[305] = "ComfyUI"
    block.get_ifd(34665)[37510] = b"UNICODE\0" + INFOTEXT.encode("utf-16-be")
    return block.tobytes()


def pillow(form: str, **options: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(PIXELS).save(out, form, **options)
    return out.getvalue()


def sound(form: str, subtype: str | None = None) -> bytes:
    out = io.BytesIO()
    soundfile.write(out, SAMPLES, 48000, format=form, subtype=subtype)
    return out.getvalue()


def wav(*extra: tuple[bytes, bytes]) -> bytes:
    data = sound("WAV", "PCM_16")[12:]
    for name, body in extra:
        data += name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)
    return b"RIFF" + struct.pack("<I", len(data) + 4) + b"WAVE" + data


def id3(*frames: tuple[bytes, bytes]) -> bytes:
    body = b"".join(name + struct.pack(">I", len(data)) + b"\0\0" + data for name, data in frames)
    size = len(body)
    return b"ID3\3\0\0" + bytes(size >> shift & 127 for shift in (21, 14, 7, 0)) + body


def picture_flac() -> bytes:
    """Build a FLAC file with a picture behind its first block, which is not the last."""
    data, picture = sound("FLAC", "PCM_16"), dirty_png()
    body = (
        struct.pack(">II", 3, 9)
        + b"image/png"
        + bytes(20)
        + struct.pack(">I", len(picture))
        + picture
    )
    return data[:42] + struct.pack(">I", 6 << 24 | len(body)) + body + data[42:]


def stealth() -> bytes:
    packed = gzip.compress(INFOTEXT.encode())
    data = b"stealth_pngcomp" + struct.pack(">I", 8 * len(packed)) + packed
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    alpha = np.full(128 * 128, 255, np.uint8)
    alpha[: len(bits)] = 254 | bits
    array = np.zeros((128, 128, 4), np.uint8)
    array[:, :, 3] = alpha.reshape(128, 128).T
    return png(image=Image.fromarray(array))


def zipped(members: dict[str, bytes], comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.comment = comment
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def book() -> bytes:
    page = b"<html><body><p>The lamp burned low.</p></body></html>"
    return zipped(
        {"mimetype": b"application/epub+zip", "OEBPS/a.png": dirty_png(), "c1.xhtml": page}
    )


def page(picture: bytes, alt: str) -> bytes:
    said = base64.b64encode(picture).decode()
    return (
        f'<html><body><img src="data:image/png;base64,{said}" alt="{alt}"></body></html>'.encode()
    )


def cover_mp3() -> bytes:
    return id3((b"APIC", b"\0image/png\0\3Cover\0" + dirty_png())) + sound("MP3", "MPEG_LAYER_III")


def bext() -> bytes:
    head = b"cue seed 439212".ljust(256, b"\0") + b"REAPER 7.03".ljust(32, b"\0")
    return (head + b"TU-2025-11-05-AP01".ljust(32, b"\0")).ljust(
        602, b"\0"
    ) + b"A=PCM,F=48000,T=ReaEQ 7.03"


def manifest() -> bytes:
    return box(b"jumb", box(b"jumd", b"c2pa"), box(b"cbor", b"jlog_sha256x@" + b"0" * 64))


def xmp() -> bytes:
    said = '<x:xmpmeta><rdf:Description Iptc4xmpExt:AIPromptInformation="rain"/></x:xmpmeta>'
    return png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + said.encode()))


def workflow() -> bytes:
    said = b'{"nodes": [{"type": "KSampler", "widgets_values": [156680208700286]}]}'
    return png(chunk(b"zTXt", b"workflow\0\0" + zlib.compress(said)))


LEAKING: dict[str, Callable[[], bytes]] = {
    "book.epub": book,
    "bundle.zip": lambda: zipped(
        {"inner/book.epub": book(), "a/cue.mp3": cover_mp3()}, b"Seed: 1057871485"
    ),
    "vc.flac": lambda: remux(sound("FLAC", "PCM_16"), "flac", {"DETERMINISM_LOG": SESSION}),
    "picture.flac": picture_flac,
    "alt.html": lambda: page(png(), "plate_A2 render, SDXL seed 1234"),
    "image.html": lambda: page(dirty_png(), "A lamp over wet stone."),
    "com.jpg": lambda: pillow("JPEG", comment=INFOTEXT.encode()),
    "exif.jpg": lambda: pillow("JPEG", exif=exif()),
    "exif.webp": lambda: pillow("WEBP", exif=exif()),
    "exif.png": lambda: pillow("PNG", exif=exif()),
    "tags.m4a": lambda: remux(
        sound("MP3", "MPEG_LAYER_III"), "mp4", {"comment": "seed 439212", "album": "REAPER 7.03"}
    ),
    "cover.mp3": cover_mp3,
    "inherited.mp3": lambda: (
        id3((b"TENC", b"\0REAPER 7.03"), (b"PRIV", b"x.detlog\0" + SESSION.encode()))
        + sound("MP3", "MPEG_LAYER_III")
    ),
    "vc.ogg": lambda: remux(sound("OGG", "VORBIS"), "ogg", {"DETERMINISM_LOG": SESSION}),
    "vc.opus": lambda: remux(sound("OGG", "OPUS"), "ogg", {"ENCODER_SETTINGS": "seed 439212"}),
    "after.png": lambda: png(after=b"\nSeed: 1057871485, Sampler: DPM++"),
    "c2pa.png": lambda: png(chunk(b"caBX", manifest())),
    "stealth.png": stealth,
    "text.png": dirty_png,
    "xmp.png": xmp,
    "ztxt.png": workflow,
    "comment.svg": lambda: b"<svg><metadata>Seed: 1057871485, Sampler: euler</metadata></svg>",
    "bext.wav": lambda: wav((b"bext", bext()), (b"LIST", b"INFOISFT\x07\0\0\0REAPER\0\0")),
    "c2pa.wav": lambda: wav((b"C2PA", manifest())),
}
CLEAN: dict[str, Callable[[], bytes]] = {"clean.png": png, "clean.wav": wav}
TITLED: dict[str, Callable[[], bytes]] = {
    "titled.gif": lambda: pillow("GIF", comment=b"Seed: 1057871485, Sampler: euler"),
    "named.aiff": lambda: sound("AIFF", "PCM_16"),
    "texts.png": lambda: pillow("PNG", pnginfo=_texts()),
}


def _texts() -> PngInfo:
    info = PngInfo()
    info.add_itxt("parameters", INFOTEXT, zip=True)
    return info
