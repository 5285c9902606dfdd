"""Twenty files with traces of their making, in containers and packings that the scanner was not written for.

    python benchmarks/programs/hidden_leaks.py FOLDER

It was written before the scanner, and knows nothing of it. Nothing here is read by the package. The figure that
counts is how many of these were found the first time; what was missed then is told in docs/guides/leaks.md.
"""

from __future__ import annotations

import base64
import binascii
import io
import lzma
import sqlite3
import struct
import sys
import tarfile
import zipfile
import zlib
from pathlib import Path
from urllib.parse import quote

from programs.leak_sets import write_set

INFOTEXT = (
    "harbour at dusk, fog\nNegative prompt: text, watermark\nSteps: 30, Sampler: Euler a, CFG scale: 7, "
    "Seed: 2750103311, Size: 8x8, Model hash: 6ce0161689, Model: tideland_v2"
)
SESSION = '{"log_id": "detlog-cue-044", "seed": 880211, "daw": "REAPER 7.12", "target_lufs": -18}'


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(*extra: bytes) -> bytes:
    """Eight by eight grey pixels, with chunks before the data."""
    head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + bytes(range(8 * y, 8 * y + 8)) for y in range(8))
    body = chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(extra) + body


def dirty_png() -> bytes:
    return png(chunk(b"tEXt", b"parameters\0" + INFOTEXT.encode()))


def packed_png() -> bytes:
    return png(chunk(b"zTXt", b"parameters\0\0" + zlib.compress(INFOTEXT.encode())))


def database(folder: Path) -> bytes:
    path = folder / "scratch.db"
    with sqlite3.connect(path) as base:
        base.execute("create table pictures (name text, data blob)")
        base.execute("insert into pictures values (?, ?)", ("quay", dirty_png() + bytes(9000)))
    base.close()
    data = path.read_bytes()
    path.unlink()
    return data


def icon(_: Path) -> bytes:
    picture = dirty_png()
    return struct.pack("<HHHBBBBHHII", 0, 1, 1, 8, 8, 0, 0, 1, 32, len(picture), 22) + picture


def document(_: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("word/document.xml", "<w:t>The tide came in.</w:t>")
        file.writestr("word/media/image1.png", packed_png())
    return out.getvalue()


def mail(_: Path) -> bytes:
    lines = base64.encodebytes(dirty_png())
    head = (
        b"MIME-Version: 1.0\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    )
    return head + lines.replace(b"\n", b"\r\n")


def rich_text(_: Path) -> bytes:
    digits = binascii.hexlify(dirty_png())
    wrapped = b"\n".join(digits[at : at + 128] for at in range(0, len(digits), 128))
    return b"{\\rtf1\\ansi The tide came in. {\\pict\\pngblip\\picw8\\pich8\n" + wrapped + b"}}"


def midi(_: Path) -> bytes:
    said = b"rendered in REAPER, seed 880211"
    track = b"\0\xff\x01" + bytes([len(said)]) + said + b"\0\xff\x2f\0"
    return (
        b"MThd"
        + struct.pack(">IHHH", 6, 0, 1, 96)
        + b"MTrk"
        + struct.pack(">I", len(track))
        + track
    )


def core_audio(_: Path) -> bytes:
    fields = b"comments\0Ableton Live 11.3.4, seed 880211\0"
    info = struct.pack(">I", 1) + fields
    form = struct.pack(">d4sIIIII", 8000.0, b"lpcm", 0, 2, 1, 1, 16)

    def part(name: bytes, data: bytes) -> bytes:
        return name + struct.pack(">q", len(data)) + data

    body = part(b"desc", form) + part(b"info", info) + part(b"data", bytes(4) + bytes(range(200)))
    return b"caff" + struct.pack(">HH", 1, 0) + body


def layered(_: Path) -> bytes:
    xmp = (
        b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description '
        b'Iptc4xmpExt:AISystemUsed="tideland_v2" Iptc4xmpExt:AIPromptInformation="harbour at dusk"/></x:xmpmeta>'
    )
    resource = b"8BIM" + struct.pack(">HHI", 1060, 0, len(xmp)) + xmp + bytes(len(xmp) % 2)
    head = b"8BPS" + struct.pack(">H6xHIIHH", 1, 1, 8, 8, 8, 1)
    return head + bytes(4) + struct.pack(">I", len(resource)) + resource + bytes(4) + bytes(66)


def pack_file(_: Path) -> bytes:
    picture = packed_png()
    noise = bytes((at * 73 + 11) & 255 for at in range(700))
    return b"GDPC" + struct.pack("<IQ", 2, len(picture)) + noise + picture + noise


def web_assembly(_: Path) -> bytes:
    body = b"\x06detlog" + SESSION.encode()
    return b"\0asm\x01\0\0\0" + b"\0" + bytes([len(body)]) + body


def archive(_: Path) -> bytes:
    graph = b'{"3": {"class_type": "CheckpointLoaderSimple", "inputs": {"ckpt_name": "tideland_v2.safetensors"}}}'
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as file:
        entry = tarfile.TarInfo("levels/quay.json")
        entry.size = len(graph)
        file.addfile(entry, io.BytesIO(graph))
    return lzma.compress(out.getvalue())


def flash(_: Path) -> bytes:
    body = bytes(40) + b"<metadata>" + INFOTEXT.encode() + b"</metadata>" + bytes(20)
    return b"CWS\x0a" + struct.pack("<I", len(body) + 8) + zlib.compress(body)


def escaped_script(_: Path) -> bytes:
    text = "".join(f"\\x{ord(each):02x}" for each in INFOTEXT)
    return f'export const quay = {{ title: "Quay", note: "{text}" }};\n'.encode()


def percent_page(_: Path) -> bytes:
    drawing = f"<svg xmlns='http://www.w3.org/2000/svg'><desc>{INFOTEXT}</desc></svg>"
    return f'<p>The tide.</p><img alt="A quay." src="data:image/svg+xml,{quote(drawing)}">'.encode()


def bare_base64(_: Path) -> bytes:
    said = base64.b64encode(packed_png()).decode()
    return f'{{"scene": "quay", "picture": "{said}"}}'.encode()


def ogg_cover(_: Path) -> bytes:
    picture = dirty_png()
    block = struct.pack(">II", 3, 9) + b"image/png" + struct.pack(">I", 0)
    block += struct.pack(">IIIII", 8, 8, 8, 0, len(picture)) + picture
    comment = b"METADATA_BLOCK_PICTURE=" + base64.b64encode(block)
    tags = (
        b"OpusTags" + struct.pack("<I", 4) + b"none" + struct.pack("<II", 1, len(comment)) + comment
    )
    head = b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 312, 48000, 0, 0)

    def page(index: int, flags: int, packet: bytes) -> bytes:
        lacing = bytes([255] * (len(packet) // 255) + [len(packet) % 255])
        return (
            b"OggS"
            + struct.pack("<BBqIIIB", 0, flags, 0, 77, index, 0, len(lacing))
            + lacing
            + packet
        )

    return page(0, 2, head) + page(1, 0, tags) + page(2, 4, b"\xf8\xff\xfe")


def open_exr(_: Path) -> bytes:
    def attribute(name: bytes, value: bytes) -> bytes:
        return name + b"\0string\0" + struct.pack("<I", len(value)) + value

    said = attribute(b"comments", b"seed 880211, sampler euler, 30 steps")
    return b"\x76\x2f\x31\x01\x02\0\0\0" + said + b"\0" + bytes(64)


def bitmap(_: Path) -> bytes:
    pixels = bytes(range(192))
    head = b"BM" + struct.pack("<IHHI", 54 + len(pixels), 0, 0, 54)
    head += struct.pack("<IiiHHIIiiII", 40, 8, 8, 1, 24, 0, len(pixels), 0, 0, 0, 0)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("hot/quay.detlog.json", SESSION)
    return head + pixels + out.getvalue()


def portable(_: Path) -> bytes:
    title = b"\xfe\xff" + "seed 880211, model tideland_v2.safetensors".encode("utf-16-be")
    inner = b"7 0 << /Producer <" + binascii.hexlify(title) + b"> >>"
    packed = zlib.compress(inner)
    body = b"1 0 obj\n<< /Type /Catalog >>\nendobj\n6 0 obj\n"
    body += b"<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length %d >>\nstream\n" % len(
        packed
    )
    return b"%PDF-1.5\n" + body + packed + b"\nendstream\nendobj\n%%EOF\n"


def wide_strings(_: Path) -> bytes:
    said = "C:\\Users\\mira\\Music\\quay\\gate.rpp".encode("utf-16-le")
    return bytes((at * 37 + 5) & 255 for at in range(301)) + said + bytes(51)


FILES = {
    "save.sqlite": database,
    "icon.ico": icon,
    "manual.docx": document,
    "letter.mhtml": mail,
    "notes.rtf": rich_text,
    "tune.mid": midi,
    "tune.caf": core_audio,
    "layers.psd": layered,
    "assets.pck": pack_file,
    "module.wasm": web_assembly,
    "levels.tar.xz": archive,
    "intro.swf": flash,
    "strings.js": escaped_script,
    "page.html": percent_page,
    "scene.json": bare_base64,
    "theme.opus": ogg_cover,
    "light.exr": open_exr,
    "sprite.bmp": bitmap,
    "book.pdf": portable,
    "strings.bin": wide_strings,
}


def build(folder: Path) -> list[Path]:
    """Write the twenty files."""
    folder.mkdir(parents=True, exist_ok=True)
    return write_set(folder, {name: make(folder) for name, make in FILES.items()}, {})


if __name__ == "__main__":
    build(Path(sys.argv[1]))
