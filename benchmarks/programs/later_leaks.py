"""Twenty further files with traces of their making, built after the scanner by somebody who had not written it.

    python benchmarks/programs/later_leaks.py FOLDER

The list of containers the scanner takes apart was known when this was written, its findings on these files were not:
the builder was kept in the history before the first look. The figure that counts is how many were found that
first time; it is told in docs/guides/leaks.md with what was missed. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import struct
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path

from programs.leak_sets import write_set

INFOTEXT = (
    "lighthouse in a storm\nNegative prompt: people, boats\nSteps: 24, Sampler: DPM++ SDE, CFG scale: 5.5, "
    "Seed: 3390127744, Size: 8x8, Model hash: 1f2e3d4c5b, Model: saltmarsh_v4"
)
SESSION = '{"log_id": "detlog-cue-081", "seed": 771043, "daw": "REAPER 7.16", "target_lufs": -16}'
PATH = "/home/mara/lighthouse/cues/storm-081.rpp"


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(*extra: bytes) -> bytes:
    """Eight by eight grey pixels, with chunks before the data."""
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(range(9 * y, 9 * y + 8)) for y in range(8))
    body = chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(extra) + body


def dirty_png() -> bytes:
    return png(chunk(b"iTXt", b"parameters\0\1\0\0\0" + zlib.compress(INFOTEXT.encode())))


def riff(form: bytes, *chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(
        name + struct.pack("<I", len(data)) + data + bytes(len(data) % 2) for name, data in chunks
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + form + body


def texture(_: Path) -> bytes:
    """KTX 2 with key and value data."""
    said = b"generator\0" + SESSION.encode() + b"\0"
    pairs = struct.pack("<I", len(said)) + said + bytes(-len(said) % 4)
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 37, 1, 8, 8, 0, 0, 1, 1, 0)
    index = struct.pack("<4I2Q", 104, 0, 104, len(pairs), 0, 0)
    level = struct.pack("<3Q", 104 + len(pairs), 256, 256)
    return head + index + level + pairs + bytes(256)


def wide_database(folder: Path) -> bytes:
    """SQLite that keeps text as UTF-16."""
    path = folder / "scratch.db"
    with sqlite3.connect(path) as base:
        base.execute("pragma encoding = 'UTF-16le'")
        base.execute("create table notes (name text, said text)")
        base.execute("insert into notes values (?, ?)", ("storm", INFOTEXT))
    base.close()
    data = path.read_bytes()
    path.unlink()
    return data


def profile(_: Path) -> bytes:
    """Build a PNG whose packed colour profile names the tool in UTF-16."""
    said = "ComfyUI 0.3.26 output".encode("utf-16-be")
    text = (
        b"mluc"
        + bytes(4)
        + struct.pack(">II", 1, 12)
        + b"enUS"
        + struct.pack(">II", len(said), 28)
        + said
    )
    tags = struct.pack(">I", 1) + b"desc" + struct.pack(">II", 144, len(text))
    body = (
        bytes(4)
        + b"lcms"
        + b"\x04\0\0\0mntrRGB XYZ "
        + bytes(12)
        + b"acsp"
        + bytes(88)
        + tags
        + text
    )
    made = struct.pack(">I", len(body)) + body[4:]
    return png(chunk(b"iCCP", b"icc\0\0" + zlib.compress(made)))


def package(_: Path) -> bytes:
    """Build a Debian package: ar around a compressed tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        info = tarfile.TarInfo("usr/share/games/lighthouse/storm.png")
        info.size = len(dirty_png())
        tar.addfile(info, io.BytesIO(dirty_png()))
    members = (("debian-binary", b"2.0\n"), ("data.tar.gz", out.getvalue()))
    return b"!<arch>\n" + b"".join(
        f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
        for name, data in members
    )  # fmt: skip


def between_scans(_: Path) -> bytes:
    """Build a progressive JPEG with a comment between two of its scans."""

    def segment(mark: int, data: bytes) -> bytes:
        return b"\xff" + bytes([mark]) + struct.pack(">H", len(data) + 2) + data

    frame = segment(0xC2, struct.pack(">BHHB", 8, 8, 8, 1) + b"\x01\x11\0")
    tables = segment(0xDB, b"\0" + bytes([1] * 64)) + segment(
        0xC4, b"\0" + b"\x01" + bytes(15) + b"\0"
    )
    first = segment(0xDA, b"\x01\x01\0\0\0\x00") + bytes(range(1, 200)) + b"\xff\0\x12"
    second = segment(0xDA, b"\x01\x01\0\x01\x3f\0") + bytes(range(1, 100))
    return (
        b"\xff\xd8"
        + frame
        + tables
        + first
        + segment(0xFE, INFOTEXT.encode())
        + second
        + b"\xff\xd9"
    )


def wrapped_midi(_: Path) -> bytes:
    """MIDI in RIFF, with a text event."""
    said = f"from {PATH}".encode()
    events = b"\0\xff\x01" + bytes([len(said)]) + said + b"\0\xff\x2f\0"
    song = (
        b"MThd"
        + struct.pack(">IHHH", 6, 0, 1, 480)
        + b"MTrk"
        + struct.pack(">I", len(events))
        + events
    )
    return riff(b"RMID", (b"data", song))


def sound_bank(_: Path) -> bytes:
    """Build a SoundFont that names its tool and its session."""
    info = b"INFO" + b"".join(
        name + struct.pack("<I", len(said)) + said
        for name, said in ((b"ifil", b"\2\0\1\0"), (b"ISFT", b"REAPER 7.16\0"), (b"ICMT", SESSION.encode()[:88]))
    )  # fmt: skip
    return riff(b"sfbk", (b"LIST", info), (b"LIST", b"sdta"), (b"LIST", b"pdta"))


def book(_: Path) -> bytes:
    """ID3 with UTF-16 in a WAV, in a zip, in an EPUB."""
    said = b"\x01" + "seed".encode("utf-16") + b"\0\0" + "771043".encode("utf-16")
    frame = b"TXXX" + struct.pack(">IH", len(said), 0) + said
    tag = b"ID3\x03\0\0" + bytes([0, 0, len(frame) >> 7, len(frame) & 127]) + frame
    form = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
    sound = riff(b"WAVE", (b"fmt ", form), (b"data", bytes(64)), (b"id3 ", tag))
    inner, outer = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("storm.wav", sound)
    with zipfile.ZipFile(outer, "w") as packed:
        packed.writestr("mimetype", "application/epub+zip")
        packed.writestr("OEBPS/extras.zip", inner.getvalue(), zipfile.ZIP_DEFLATED)
    return outer.getvalue()


def scene(_: Path) -> bytes:
    """Build a scene of a game engine that contains a picture as numbers."""
    numbers = ", ".join(str(each) for each in dirty_png())
    return (
        f'[gd_scene format=3]\n[sub_resource id="1"]\ndata = PackedByteArray({numbers})\n'.encode()
    )


def header(_: Path) -> bytes:
    """Write a picture as an array in C."""
    data = dirty_png()
    rows = (data[at : at + 12] for at in range(0, len(data), 12))
    body = ",\n".join("  " + ", ".join(f"0x{each:02x}" for each in row) for row in rows)
    return f"unsigned char storm_png[] = {{\n{body}\n}};\n".encode()


def paper(_: Path) -> bytes:
    """PDF with metadata behind two filters."""
    said = f"<x:xmpmeta><dc:description>{INFOTEXT}</dc:description></x:xmpmeta>".encode()
    packed = base64.a85encode(zlib.compress(said), adobe=False) + b"~>"
    head = (
        b"<< /Type /Metadata /Subtype /XML /Filter [ /ASCII85Decode /FlateDecode ] /Length %d >>"
        % len(packed)
    )
    return (
        b"%PDF-1.7\n4 0 obj\n"
        + head
        + b"\nstream\n"
        + packed
        + b"\nendstream\nendobj\ntrailer <<>>\n%%EOF\n"
    )


def wide_attribute(_: Path) -> bytes:
    """Base64 of UTF-16 without a mark, in a page."""
    said = base64.b64encode(SESSION.encode("utf-16-le")).decode()
    return f'<p>The light went round.</p><img src="s.png" alt="A lamp." data-state="{said}">\n'.encode()


def loose_object(_: Path) -> bytes:
    """Build an object of a repository that was published with the site."""
    said = INFOTEXT.encode()
    return zlib.compress(b"blob %d\0" % len(said) + said)


def source_map(_: Path) -> bytes:
    """Build a source map whose sources contain JSON in a string."""
    source = f"const made = JSON.parse({json.dumps(json.dumps(json.loads(SESSION)))});\n"
    said = {"version": 3, "sources": ["made.ts"], "sourcesContent": [source], "mappings": "AAAA"}
    return json.dumps(said).encode()


def pieces(_: Path) -> bytes:
    """GIF whose comment is cut into short blocks."""
    said = INFOTEXT.encode()
    blocks = b"".join(
        bytes([len(said[at : at + 7])]) + said[at : at + 7] for at in range(0, len(said), 7)
    )
    head = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return head + b"!\xfe" + blocks + b"\0" + b",\0\0\0\0\1\0\1\0\0\2\2D\1\0;"


def cover(_: Path) -> bytes:
    """M4A with a cover that has its own text."""

    def box(name: bytes, *inner: bytes) -> bytes:
        data = b"".join(inner)
        return struct.pack(">I", len(data) + 8) + name + data

    art = box(b"covr", box(b"data", struct.pack(">II", 14, 0), dirty_png()))
    handler = box(b"hdlr", bytes(8) + b"mdirappl" + bytes(9))
    meta = box(b"udta", box(b"meta", bytes(4), handler, box(b"ilst", art)))
    return box(b"ftyp", b"M4A \0\0\0\0M4A isom") + box(b"moov", meta) + box(b"mdat", bytes(32))


def named_inside(_: Path) -> bytes:
    """gzip that remembers what was packed, and nothing else of it."""
    out = io.BytesIO()
    with gzip.GzipFile("storm-081.rpp", "wb", fileobj=out, mtime=0) as packed:
        packed.write(bytes(400))
    return out.getvalue()


def folder_view(_: Path) -> bytes:
    """Build the view settings of a folder, which name its former files."""
    names = ("lamp.png", "storm-081.rpp", "storm.wav")
    records = b"".join(
        struct.pack(">I", len(name))
        + name.encode("utf-16-be")
        + b"Ilocblob"
        + struct.pack(">I", 16)
        + bytes(16)
        for name in names
    )
    return (
        b"\0\0\0\x01Bud1" + struct.pack(">III", 4096, 2048, 4096) + bytes(20) + records + bytes(512)
    )


def share_link(_: Path) -> bytes:
    """Build a page with a link that carries its state packed."""
    said = base64.urlsafe_b64encode(gzip.compress(SESSION.encode(), mtime=0)).decode().rstrip("=")
    return f'<a href="https://example.org/player#s={said}">Listen</a>\n'.encode()


def bundle(_: Path) -> bytes:
    """Build an LZ4 frame of repetitive JSON, as asset bundles of engines use."""
    said = json.dumps(
        [{"class_type": "KSampler", "inputs": {"seed": 771043 + n, "steps": 24}} for n in range(6)]
    )
    block = lz4(said.encode())
    return b"\x04\x22\x4d\x18\x60\x40\x82" + struct.pack("<I", len(block)) + block + bytes(4)


def lz4(data: bytes) -> bytes:
    """One block, greedily."""
    out, at, start, seen = bytearray(), 0, 0, {}

    def length(count: int) -> bytes:
        return b"" if count < 15 else b"\xff" * ((count - 15) // 255) + bytes([(count - 15) % 255])

    while at < len(data) - 12:
        earlier = seen.get(data[at : at + 4])
        seen[data[at : at + 4]] = at
        if earlier is None:
            at += 1
            continue
        size = 4
        while at + size < len(data) - 5 and data[earlier + size] == data[at + size]:
            size += 1
        literals = at - start
        out.append(min(literals, 15) << 4 | min(size - 4, 15))
        out += (
            length(literals) + data[start:at] + struct.pack("<H", at - earlier) + length(size - 4)
        )
        at = start = at + size
    out.append(min(len(data) - start, 15) << 4)
    return bytes(out + length(len(data) - start) + data[start:])


FILES = {
    "storm.ktx2": texture, "notes.db": wide_database, "lamp.png": profile, "lighthouse.deb": package,
    "lamp.jpg": between_scans, "storm.rmi": wrapped_midi, "storm.sf2": sound_bank, "book.epub": book,
    "storm.tscn": scene, "storm.h": header, "paper.pdf": paper, "page.html": wide_attribute,
    "2b7f0c": loose_object, "player.js.map": source_map, "lamp.gif": pieces, "storm.m4a": cover,
    "storm.gz": named_inside, "DS_Store": folder_view, "listen.html": share_link, "storm.bundle": bundle,
}  # fmt: skip


def build(folder: Path) -> list[Path]:
    """Write the twenty files."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_set(folder, {name: make(folder) for name, make in FILES.items()}, {})


if __name__ == "__main__":
    build(Path(sys.argv[1]))
