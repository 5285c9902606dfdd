"""Claims about traces in disguise: packed as games and books do, encoded, among other bytes, past what decoders read."""

from __future__ import annotations

import base64
import gzip
import io
import lzma
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from urllib.parse import quote

import pytest

pytest.importorskip("PIL")
pytest.importorskip("soundfile")

import brotli
import lz4.frame
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from leakfiles import (
    INFOTEXT,
    SESSION,
    chunk,
    dirty_png,
    exif,
    leaks,
    pillow,
    png,
    scanned,
    wav,
    zipped,
)
from PIL import Image

from twice.assets.leaks.report import NotOpened
from twice.assets.leaks.scan import ScanLimits
from twice.assets.leaks.signatures import find_inside
from twice.assets.media.archives import UnpackBudget, decompress, unpack
from twice.assets.scrub import scrub

TEXT = INFOTEXT.encode()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(data) + packer.flush()


def pdf(data: bytes) -> bytes:
    packed = zlib.compress(data)
    head = b"1 0 obj\n<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(packed)
    return b"%PDF-1.5\n" + head + packed + b"\nendstream\nendobj\n"


def ape(data: bytes) -> bytes:
    """Frames of sound, and a tag behind them that has a foot and no head."""
    item = struct.pack("<II", len(data), 0) + b"Comment\0" + data
    foot = b"APETAGEX" + struct.pack("<IIII", 2000, len(item) + 32, 1, 0) + bytes(8)
    return (b"\xff\xfb\x90\xc0" + bytes(413)) * 3 + item + foot


def listed(data: bytes) -> str:
    return ", ".join(map(str, data))


def each(form: str) -> bytes:
    return "".join(form.format(ord(letter)) for letter in INFOTEXT).encode()


def lines(data: bytes) -> list[bytes]:
    return [data[at : at + 64] for at in range(0, len(data), 64)]


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
    # packed
    "deflate without a head": lambda: raw_deflate(TEXT),
    "Brotli without a name": lambda: brotli.compress(TEXT * 3),
    "zlib among other bytes": lambda: b"\1\2\3" * 40 + zlib.compress(TEXT) + b"\5" * 9,
    "LZMA with a size": lambda: lzma.compress(TEXT, lzma.FORMAT_ALONE),
    "LZMA among other bytes": lambda: bytes(range(256)) + lzma.compress(TEXT, lzma.FORMAT_ALONE),
    "zstd among other bytes": lambda: b"\0\1\2\3" * 9 + zstandard.compress(TEXT) + b"RSCC\0\1\2\3",
    "zstd behind a frame that is skipped": lambda: (
        struct.pack("<II", 0x184D2A53, 4) + bytes(4) + zstandard.compress(TEXT)
    ),
    "in a frame of zstd that is skipped": lambda: (
        zstandard.compress(b"tide") + struct.pack("<II", 0x184D2A5E, len(TEXT)) + TEXT
    ),
    "a zip behind gzip": lambda: gzip.compress(b"tide") + zipped({"a.txt": TEXT}),
    "base64 behind gzip": lambda: gzip.compress(b"tide") + base64.b64encode(TEXT),
    "LZ4": lambda: lz4.frame.compress(TEXT),
    "a further field of a zip": with_extra,
    # encoded
    "UTF-16": lambda: INFOTEXT.encode("utf-16-le"),
    "UTF-16, marked and big-endian": lambda: b"\xfe\xff" + INFOTEXT.encode("utf-16-be"),
    "UTF-32": lambda: bytes(7) + INFOTEXT.encode("utf-32-be") + bytes(9),
    "big-endian text that ends in a letter": lambda: (
        b"\0\0\0\x0d" + "storm-081.rpp".encode("utf-16-be") + b"Iloc\xff\xfe"
    ),
    "percent": lambda: each("%{:02X}"),
    "entities": lambda: each("&#{};"),
    "entities in capital hex": lambda: each("&#X{:X};"),
    "escapes": lambda: each("\\u{:04x}"),
    "escapes in octal": lambda: each("\\{:03o}"),
    "escapes of style sheets": lambda: each("\\{:06x}"),
    "quoted-printable": lambda: each("={:02X}"),
    "hexadecimal": lambda: TEXT.hex().encode(),
    "decimal codes": lambda: f"f({listed(TEXT)})".encode(),
    "an array of hexadecimal numbers": lambda: ", ".join(map(hex, dirty_png())).encode(),
    "base64": lambda: b'{"a": "' + base64.b64encode(TEXT) + b'"}',
    "base64 for URLs": lambda: base64.urlsafe_b64encode(TEXT),
    "base64 of UTF-16": lambda: base64.b64encode(SESSION.encode("utf-16-le")),
    "base64 on several lines of a program": lambda: (
        b'const a = "' + b'" +\n    "'.join(lines(base64.b64encode(TEXT))) + b'";'
    ),
    "base 85": lambda: b"%!PS\n<~" + base64.a85encode(zlib.compress(TEXT)) + b"~>\n",
    "a data URI in percent": lambda: (
        f'<img src="data:image/png;base64,{quote(base64.b64encode(dirty_png()).decode(), safe="")}">'
    ).encode(),
    # as it is shown
    "blanks that do not break": lambda: b"Seed:\xc2\xa01057871485",
    "letters of no width": lambda: "Se\u200bed: 1057871485".encode(),
    "wide letters": lambda: "".join(chr(ord(c) + 0xFEE0) for c in "Seed:1057871485").encode(),
    "words in tags": lambda: b"<p><b>Seed</b>: <i>1057871485</i></p>",
    # past what decoders read
    "a compressed chunk of no known name": lambda: png(chunk(b"prVt", zlib.compress(TEXT))),
    "the end of a PNG": lambda: png()[:-12] + chunk(b"IEND", TEXT),
    "a palette that is suggested": lambda: png(chunk(b"sPLT", b"Seed: 1057871485\0\x08")),
    "a chunk that is too long": lambda: png(chunk(b"gAMA", b"\0\0\xb1\x8f" + TEXT)),
    "a profile in hexadecimal": lambda: png(
        chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(b"\nexif\n" + exif().hex().encode()))
    ),
    "behind the coded pixels": lambda: in_pixels(lambda coded: coded + TEXT),
    "behind the last row": lambda: in_pixels(lambda coded: zlib.compress(zlib.decompress(coded) + TEXT)),
    "a reserved segment": lambda: in_jpeg(0xF0, TEXT),
    "a tag of sound that is none": lambda: b"APETAGEX" + bytes(24) + SESSION.encode(),
    "a tag of sound without a head": lambda: ape(TEXT),
    "subtitles in a payload": lambda: wav((b"data", TEXT)),
}  # fmt: skip


@pytest.mark.parametrize("name", DISGUISED)
def test_a_trace_in_disguise_is_found(name: str) -> None:
    assert leaks(DISGUISED[name]())


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
    assert scanned(text) == []


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I;16"])
def test_nothing_is_behind_the_pixels_of_a_picture_of_any_depth(
    mode: str, *, interlaced: bool
) -> None:
    out = io.BytesIO()
    Image.new(mode, (13, 7)).save(out, "PNG", interlace=int(interlaced))

    assert scanned(out.getvalue()) == []


@pytest.mark.parametrize(
    "name",
    ["the end of a PNG", "a palette that is suggested", "a chunk that is too long", "a tag of sound without a head"],
)  # fmt: skip
def test_a_copy_has_nothing_that_decoders_pass_over(name: str) -> None:
    made = scrub(io.BytesIO(DISGUISED[name]()), "it.mp3")

    assert made.left == ()
    assert b"1057871485" not in made.copy.read()


def test_words_in_a_payload_stay_and_are_told() -> None:
    data = wav()
    at = data.index(b"data") + 8
    cold = scrub(io.BytesIO(data[:at] + TEXT + data[at + len(TEXT) :]), "walk.wav")

    assert "L101" in {found.rule for found in cold.left}


def test_without_the_extra_a_file_named_for_brotli_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "brotli", None)
    data = bytes.fromhex("1b0e00f88d94")

    (said,) = scanned(data, "a.br")
    assert isinstance(said, NotOpened)
    assert "twice[assets]" in said.why
    assert scanned(data, "a.bin") == []


@pytest.mark.parametrize(
    "pack",
    [
        zstandard.compress,
        raw_deflate,
        lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
        pdf,
        lambda data: brotli.compress(data, quality=1),
    ],
)
def test_a_bomb_stops_at_the_limit_and_says_so(pack: Callable[[bytes], bytes]) -> None:
    said = scanned(pack(b"tide " * (10 << 20)), limits=ScanLimits(unpacked=4 << 20))

    assert any(isinstance(found, NotOpened) and "limit" in found.why for found in said)


@settings(deadline=None)
@given(
    st.sampled_from(["gzip", "zlib", "deflate", "bzip2", "xz", "LZMA", "zstd", "LZ4", "Brotli"]),
    st.binary(max_size=300),
)
def test_any_bytes_are_tried_as_packed_ones(codec: str, data: bytes) -> None:
    member = unpack(codec, decompress(codec, io.BytesIO(data)), UnpackBudget(unpacked=1 << 20))

    assert member.why or member.file


@pytest.mark.parametrize(
    "start", [b"MSCF\0\0\0\0", b"ITSF\x03\0\0\0", b"MSWIM\0\0\0", b"7z\xbc\xaf\x27\x1c"]
)
def test_an_archive_that_is_not_unpacked_is_reported(start: bytes) -> None:
    assert [type(found) for found in scanned(start + bytes(90))] == [NotOpened]


def test_bytes_that_begin_like_lzma_and_are_none_are_no_stream() -> None:
    samples = b"\x5d\0\0\x20" + bytes(range(1, 240)) * 20
    stream = b"\1" + lzma.compress(TEXT, lzma.FORMAT_ALONE)

    assert find_inside(samples) == []
    assert [codec for _, codec in find_inside(stream)] == ["LZMA"]
