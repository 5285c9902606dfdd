"""Claims about traces in disguise: odd blanks, arrays, tags, chunks that decoders pass over."""

from __future__ import annotations

import base64
import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest

pytest.importorskip("PIL")
pytest.importorskip("soundfile")

from leakfiles import INFOTEXT, SESSION, chunk, dirty_png, exif, pillow, png

from twice.assets.leaks.scan import FileScan
from twice.assets.scrub import scrub


def listed(data: bytes) -> str:
    return ", ".join(map(str, data))


def in_pixels(put: Callable[[bytes], bytes]) -> bytes:
    """Build a picture with its coded pixels changed."""
    data = png()
    at = data.index(b"IDAT")
    size = int.from_bytes(data[at - 4 : at], "big")
    coded = data[at + 4 : at + 4 + size]
    return data[: at - 4] + chunk(b"IDAT", put(coded)) + data[at + 8 + size :]


def with_extra() -> bytes:
    out, member = io.BytesIO(), zipfile.ZipInfo("page.txt")
    member.extra = b"\x99\x99" + struct.pack("<H", len(SESSION)) + SESSION.encode()
    with zipfile.ZipFile(out, "w") as packed:
        packed.writestr(member, "The tide came in.")
    return out.getvalue()


def in_jpeg(marker: int, text: bytes) -> bytes:
    data = pillow("JPEG")
    return data[:2] + bytes([0xFF, marker]) + struct.pack(">H", len(text) + 2) + text + data[2:]


DISGUISED: dict[str, Callable[[], bytes]] = {
    "decimal codes": lambda: f"f({listed(INFOTEXT.encode())})".encode(),
    "an array of hexadecimal numbers": lambda: ", ".join(map(hex, dirty_png())).encode(),
    "escapes of style sheets": lambda: "".join(f"\\{ord(c):06x}" for c in INFOTEXT).encode(),
    "entities in capital hex": lambda: "".join(f"&#X{ord(c):X};" for c in INFOTEXT).encode(),
    "a data URI in percent": lambda: (
        f'<img src="data:image/png;base64,{quote(base64.b64encode(dirty_png()).decode(), safe="")}">'
    ).encode(),
    "base64 of UTF-16": lambda: base64.b64encode(SESSION.encode("utf-16-le")),
    "blanks that do not break": lambda: b"Seed:\xc2\xa01057871485",
    "letters of no width": lambda: "Se\u200bed: 1057871485".encode(),
    "wide letters": lambda: "".join(chr(ord(c) + 0xFEE0) for c in "Seed:1057871485").encode(),
    "words in tags": lambda: b"<p><b>Seed</b>: <i>1057871485</i></p>",
    "a table": lambda: b"file,seed,sampler\na.png,7,euler\n",
    "an element": lambda: b"<made><seed>439212</seed></made>",
    "a list of seeds": lambda: b'{"seeds": [439212, 439213]}',
    "a camel's name": lambda: b'{"noiseSeed": 439212}',
    "a compressed chunk of no known name": lambda: png(
        chunk(b"prVt", zlib.compress(INFOTEXT.encode()))
    ),
    "the end of a PNG": lambda: png()[:-12] + chunk(b"IEND", INFOTEXT.encode()),
    "a palette that is suggested": lambda: png(chunk(b"sPLT", b"Seed: 1057871485\0\x08")),
    "a chunk that is too long": lambda: png(chunk(b"gAMA", b"\0\0\xb1\x8f" + INFOTEXT.encode())),
    "a profile in hexadecimal": lambda: png(
        chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n" + exif().hex().encode()))
    ),
    "behind the coded pixels": lambda: in_pixels(lambda coded: coded + INFOTEXT.encode()),
    "behind the last row": lambda: in_pixels(
        lambda coded: zlib.compress(zlib.decompress(coded) + INFOTEXT.encode())
    ),
    "a reserved segment": lambda: in_jpeg(0xF0, INFOTEXT.encode()),
    "a further field of a zip": with_extra,
    "a tag of sound that is none": lambda: b"APETAGEX" + bytes(24) + SESSION.encode(),
    "big-endian text that ends in a letter": lambda: (
        b"\0\0\0\x0d" + "storm-081.rpp".encode("utf-16-be") + b"Iloc\xff\xfe"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DISGUISED)
def test_a_trace_in_disguise_is_found(name: str) -> None:
    found = list(FileScan().scan(io.BytesIO(DISGUISED[name]()), "it"))

    assert any(getattr(each, "severity", 0) >= 3 for each in found), found


@pytest.mark.parametrize(
    "text",
    [
        b"He planted the seed, 12 steps from the door; the prompt came: none.",
        "\u201cSeed\u201d\u00a0\u2014 1900 wurde der Garten angelegt.".encode(),
        b"<p>The <b>seed</b> of it: <i>12</i> men, then 40 steps.</p>",
        f"[{listed(bytes(range(200)))}]".encode(),
        b"name,steps,height\ntower,211,40\n",
    ],
)
def test_what_only_looks_alike_is_not_accused(text: bytes) -> None:
    assert list(FileScan().scan(io.BytesIO(text), "it")) == []


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I;16"])
def test_nothing_is_behind_the_pixels_of_a_picture_of_any_depth(
    mode: str, *, interlaced: bool
) -> None:
    from PIL import Image

    out = io.BytesIO()
    Image.new(mode, (13, 7)).save(out, "PNG", interlace=int(interlaced))

    assert list(FileScan().scan(io.BytesIO(out.getvalue()), "it")) == []


@pytest.mark.parametrize(
    "name",
    [
        "the end of a PNG",
        "a palette that is suggested",
        "a chunk that is too long",
    ],
)
def test_a_copy_has_nothing_in_chunks_that_decoders_pass_over(name: str) -> None:
    made = scrub(io.BytesIO(DISGUISED[name]()), "it")

    assert made.left == ()
    assert b"1057871485" not in made.copy.read()
