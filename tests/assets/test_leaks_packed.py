"""Claims about what is packed in ways of games and books: undone, within limits, and cut off without a crash."""

from __future__ import annotations

import io
import lzma
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("PIL")

import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from leakfiles import INFOTEXT, png, zipped

from twice.assets.leaks.folders import scan_paths
from twice.assets.leaks.report import LeakFinding, NotOpened
from twice.assets.leaks.scan import FileScan, ScanLimits
from twice.assets.leaks.signatures import find_inside
from twice.assets.media.archives import UnpackBudget, decompress, unpack
from twice.assets.scrub import scrub
from twice.foundation.severity import Severity

TEXT = INFOTEXT.encode()


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(data) + packer.flush()


def pdf(data: bytes) -> bytes:
    packed = zlib.compress(data)
    head = b"1 0 obj\n<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(packed)
    return b"%PDF-1.5\n" + head + packed + b"\nendstream\nendobj\n"


def lz4_frame(data: bytes) -> bytes:
    """Build a frame of one block that is all letters."""
    count = len(data) - 15
    lengths = b"\xff" * (count // 255) + bytes([count % 255])
    block = b"\xf0" + lengths + data
    return b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", len(block)) + block + bytes(4)


def ape(data: bytes) -> bytes:
    """Frames of sound, and a tag behind them that has a foot and no head."""
    item = struct.pack("<II", len(data), 0) + b"Comment\0" + data
    foot = b"APETAGEX" + struct.pack("<IIII", 2000, len(item) + 32, 1, 0) + bytes(8)
    return (b"\xff\xfb\x90\xc0" + bytes(413)) * 3 + item + foot


PACKED: dict[str, Callable[[], bytes]] = {
    "deflate without a head": lambda: raw_deflate(TEXT),
    "LZMA with a size": lambda: lzma.compress(TEXT, lzma.FORMAT_ALONE),
    "LZMA among other bytes": lambda: bytes(range(256)) + lzma.compress(TEXT, lzma.FORMAT_ALONE),
    "zstd among other bytes": lambda: b"\0\1\2\3" * 9 + zstandard.compress(TEXT) + b"RSCC\0\1\2\3",
    "zstd behind a frame that is skipped": lambda: (
        struct.pack("<II", 0x184D2A53, 4) + bytes(4) + zstandard.compress(TEXT)
    ),
    "in a frame of zstd that is skipped": lambda: (
        zstandard.compress(b"tide") + struct.pack("<II", 0x184D2A5E, len(TEXT)) + TEXT
    ),
    "LZ4": lambda: lz4_frame(TEXT),
    "a tag without a head": lambda: ape(TEXT),
    "UTF-32": lambda: bytes(7) + INFOTEXT.encode("utf-32-be") + bytes(9),
    "base 85": lambda: b"%!PS\n<~" + __import__("base64").a85encode(zlib.compress(TEXT)) + b"~>\n",
    "base64 on several lines of a program": lambda: (
        b'const a = "' + b'" +\n    "'.join(_lines(__import__("base64").b64encode(TEXT))) + b'";'
    ),
    "subtitles in a payload": lambda: (
        b"RIFF" + struct.pack("<I", 36 + len(TEXT)) + b"WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data"
        + struct.pack("<I", len(TEXT)) + TEXT
    ),
}  # fmt: skip


def _lines(data: bytes) -> list[bytes]:
    return [data[at : at + 64] for at in range(0, len(data), 64)]


def found(data: bytes, name: str = "it", **options: object) -> list[LeakFinding | NotOpened]:
    return list(FileScan(**options).scan(io.BytesIO(data), name))


@pytest.mark.parametrize("name", PACKED)
def test_what_is_packed_is_found(name: str) -> None:
    rules = {each.rule for each in found(PACKED[name]()) if isinstance(each, LeakFinding)}

    assert "L101" in rules


def test_a_tag_without_a_head_is_scrubbed() -> None:
    cold = scrub(io.BytesIO(ape(TEXT)), "walk.mp3")

    assert [each.name for each in cold.removed] == ["bytes around the frames"]
    assert cold.left == ()


def test_words_in_a_payload_stay_and_are_told() -> None:
    cold = scrub(io.BytesIO(PACKED["subtitles in a payload"]()), "walk.wav")

    assert "L101" in {each.rule for each in cold.left}


def test_brotli_is_unpacked_with_the_extra(tmp_path: Path) -> None:
    brotli = pytest.importorskip("brotli")
    path = tmp_path / "page.bin"
    path.write_bytes(brotli.compress(TEXT * 3))

    assert scan_paths([path]).result == "leaks"


def test_without_the_extra_a_file_named_for_brotli_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "brotli", None)
    data = bytes.fromhex("1b0e00f88d94")

    assert any(
        isinstance(each, NotOpened) and "twice[assets]" in each.why for each in found(data, "a.br")
    )
    assert found(data, "a.bin") == []


@pytest.mark.parametrize(
    "pack",
    [
        zstandard.compress,
        raw_deflate,
        lambda data: lzma.compress(data, lzma.FORMAT_ALONE),
        pdf,
        lambda data: pytest.importorskip("brotli").compress(data, quality=1),
    ],
)
def test_a_bomb_stops_at_the_limit_and_says_so(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(b"tide " * (10 << 20))

    said = found(bomb, limits=ScanLimits(unpacked=4 << 20))

    assert any(isinstance(each, NotOpened) and "limit" in each.why for each in said)


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
    assert [type(each) for each in found(start + bytes(90))] == [NotOpened]


def test_a_name_alone_is_a_low_finding() -> None:
    said = found(zipped({"determinism-log.md": b"A diary. Nothing was left to chance."}))

    assert [each.severity for each in said] == [Severity.LOW]


def test_what_is_said_in_a_file_counts_although_its_name_said_it() -> None:
    said = found(b'{"kind": "determinism-log"}', "determinism-log.json")

    assert [each.severity for each in said] == [Severity.LOW, Severity.CRITICAL]


def test_the_mark_of_captions_names_no_tool() -> None:
    caption = b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0a\x1c\x02\x78\0\5Tides\0"
    data = b"\xff\xd8\xff\xed" + struct.pack(">H", len(caption) + 2) + caption + b"\xff\xd9"

    assert [
        each for each in found(data) if isinstance(each, LeakFinding) and each.severity >= 3
    ] == []


@pytest.mark.parametrize("words", ["Reaper", "Blender 4.1", "Serum", "Kontakt 7"])
def test_a_field_that_is_a_tools_name_is_a_trace_and_prose_with_the_word_is_not(words: str) -> None:
    prose = f"When the tide had gone, the {words.split(maxsplit=1)[0].lower()} stood in the corner as before."

    def accused(text: str) -> bool:
        said = found(png(_chunk(b"tEXt", b"Source\0" + text.encode())))
        return any(isinstance(each, LeakFinding) and each.severity >= 3 for each in said)

    assert accused(words)
    assert not accused(prose)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


@pytest.mark.parametrize(
    "text",
    [
        '<property name="seed" type="int" value="8675309"/>', "<key>seed</key>\n<integer>8675309</integer>",
        "seed: 0x9E3779B97F4A7C15", "Seed\t8675309", "Massive.nksf", "D:\\work\\quay\\gate_v3.psd",
        "https://cdn.midjourney.com/8f3a/0_0.png", "voice_id=EXAVITQu4vr4xnSDxMaL",
        "negative_prompt\xa6people\xa9cfg_scale", "sd_xl_base_1.0",
    ],
)  # fmt: skip
def test_a_form_of_technique_is_accused(text: str) -> None:
    assert any(isinstance(each, LeakFinding) for each in found(text.encode("latin-1")))


def test_bytes_that_begin_like_lzma_and_are_none_are_no_stream() -> None:
    samples = b"\x5d\0\0\x20" + bytes(range(1, 240)) * 20
    assert find_inside(samples) == []
    assert [codec for _, codec in find_inside(b"\1" + lzma.compress(TEXT, lzma.FORMAT_ALONE))] == [
        "LZMA"
    ]
