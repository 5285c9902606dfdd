"""Twenty more files as a public build has them, with traces of their making, and six clean ones.

    python benchmarks/programs/public_leaks.py FOLDER

Written after the scanner had been mended for what ``shipped_leaks.py`` had shown, in other containers and places, and
kept in the history before the first look. The figure that counts is how many were found that first time;
docs/guides/leaks.md tells it. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import lzma
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import zstandard

INFOTEXT = (
    "a salt road under stars, gouache\nNegative prompt: people\nSteps: 32, Sampler: DPM++ 2M Karras, "
    "CFG scale: 5, Seed: 161803398, Size: 1024x576, Model hash: c9e3e68f89, Model: juggernautXL_v9"
)
HOME = "/home/noor/saltroad"
# XMP with the same words, packed by Brotli, as JPEG XL keeps it.
PACKED_XMP = base64.b85decode(
    "8*~9cjMHT{<T1()x0NaqRgQOy-%#Js2Eikfy52&r{_j4bVrCPliZ0lcA{I#$i;(RuD#=HF*BaZTg|5d{P}NpZ@4XZ?wx)Wk0gnYc"
    "f!eH47{g8%7)YzYV>pUzwv5n-vLMTx*>QNOdvE4yOrsddV^scuE$x6xm%>1xAPW*N)xU-TkmEL<(vCtR#fZ*;)^j9Xi<+wK!Sje|"
    "V_F4@%>E<!8iCXA%`k-gCY~Nb9%dacS3<-AXppBU3W20crl=^E$zH7d6Uc`oiBRng{r}~R)=FrcUkRj29&-=k!fU$$"
)


def piece(name: bytes, body: bytes) -> bytes:
    """Return a chunk of PNG."""
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(*texts: bytes) -> bytes:
    """Return a PNG of one grey pixel with further chunks, each with its name before its contents."""
    head = piece(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    more = b"".join(piece(one[:4], one[4:]) for one in texts)
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + more
        + piece(b"IDAT", zlib.compress(b"\0\x80"))
        + piece(b"IEND", b"")
    )


def flac(picture: bytes) -> bytes:
    """Return a FLAC of no frames with a front cover."""
    info = struct.pack(">HH", 4096, 4096) + bytes(6) + bytes.fromhex("0ac44070") + bytes(4 + 16)
    cover = (
        struct.pack(">I", 3) + struct.pack(">I", 9) + b"image/png" + struct.pack(">I", 5) + b"front"
    )
    cover += struct.pack(">IIII", 1, 1, 8, 0) + struct.pack(">I", len(picture)) + picture
    return (
        b"fLaC\0"
        + len(info).to_bytes(3, "big")
        + info
        + b"\x86"
        + len(cover).to_bytes(3, "big")
        + cover
    )


def element(number: str, body: bytes) -> bytes:
    """Return an element of EBML with its size in eight bytes."""
    return bytes.fromhex(number) + (1 << 56 | len(body)).to_bytes(8, "big") + body


def webm(words: str) -> bytes:
    """Return a WebM of no clusters whose tags have a comment."""
    tag = element("67c8", element("45a3", b"COMMENT") + element("4487", words.encode()))
    tags = element("1254c367", element("7373", element("63c0", b"") + tag))
    info = element("1549a966", element("2ad7b1", b"\x0f\x42\x40"))
    return element("1a45dfa3", element("4282", b"webm")) + element("18538067", info + tags)


def wavpack(comment: str) -> bytes:
    """Return a WavPack block of silence and an APEv2 tag with a head and a foot."""
    block = (
        b"wvpk"
        + struct.pack("<IHBBIIIIII", 24 + 8, 0x410, 0, 0, 8, 0, 8, 0x04800008, 0, 0)[:28]
        + bytes(8)
    )
    value = comment.encode()
    item = struct.pack("<II", len(value), 0) + b"Comment\0" + value
    frame = struct.pack("<III", 2000, len(item) + 32, 1)
    head = b"APETAGEX" + frame + struct.pack("<I", 0xA0000000) + bytes(8)
    return block + head + item + b"APETAGEX" + frame + struct.pack("<I", 0x80000000) + bytes(8)


def dsf(comment: str) -> bytes:
    """Return a DSF of one block of silence, with an ID3 tag where its head points."""
    form = b"fmt " + struct.pack("<QIIIIIIQII", 52, 1, 0, 1, 1, 2822400, 1, 4096, 4096, 0)
    data = b"data" + struct.pack("<Q", 12 + 4096) + b"\x69" * 4096
    said = b"\x01eng" + "\ufeff\0".encode("utf-16-le") + b"\xff\xfe" + comment.encode("utf-16-le")
    frame = b"COMM" + struct.pack(">I", len(said)) + b"\0\0" + said
    tag = b"ID3\x03\0\0" + bytes((len(frame) >> shift) & 0x7F for shift in (21, 14, 7, 0)) + frame
    at = 28 + len(form) + len(data)
    return b"DSD " + struct.pack("<QQQ", 28, at + len(tag), at) + form + data + tag


def aseprite(words: str) -> bytes:
    """Return an Aseprite sprite of one pixel, whose cel has a text of its user."""
    said = words.encode()
    cel = (
        struct.pack("<HhhBHh5x", 0, 0, 0, 255, 2, 0)
        + struct.pack("<HH", 1, 1)
        + zlib.compress(b"\x10\x20\x30\xff")
    )
    user = struct.pack("<IH", 1, len(said)) + said
    chunks = b"".join(
        struct.pack("<IH", 6 + len(one), kind) + one
        for kind, one in ((0x2005, cel), (0x2020, user))
    )
    frame = struct.pack("<IHHH2xI", 16 + len(chunks), 0xF1FA, 2, 100, 2) + chunks
    head = struct.pack("<IHHHHHIH", 128 + len(frame), 0xA5E0, 1, 1, 1, 32, 1, 100)
    return head.ljust(128, b"\0") + frame


def gimp(xmp: str) -> bytes:
    """Return the head of an XCF with a parasite of metadata."""
    body = xmp.encode() + b"\0"
    parasite = struct.pack(">I", 14) + b"gimp-metadata\0" + struct.pack(">II", 1, len(body)) + body
    return (
        b"gimp xcf v011\0"
        + struct.pack(">IIII", 1, 1, 0, 150)
        + struct.pack(">II", 21, len(parasite))
        + parasite
        + bytes(16)
    )


def fbx(path: str) -> bytes:
    """Return a binary FBX whose one node tells where the scene was saved."""
    said = path.encode()
    value = (
        b"S" + struct.pack("<I", 11) + b"DocumentUrl" + b"S" + struct.pack("<I", len(said)) + said
    )
    head = b"Kaydara FBX Binary  \0\x1a\0" + struct.pack("<I", 7400)
    node = struct.pack("<IIIB", len(head) + 13 + 1 + len(value), 2, len(value), 1) + b"P" + value
    return head + node + bytes(13)


def radiance(words: str) -> bytes:
    """Return a Radiance picture of one pixel with a line of comment."""
    return (
        b"#?RADIANCE\n# "
        + words.encode()
        + b"\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n\x80\x80\x80\x81"
    )


def box(name: bytes, body: bytes) -> bytes:
    """Return a box of ISO base media."""
    return struct.pack(">I", 8 + len(body)) + name + body


def jpeg_xl() -> bytes:
    """Return a JPEG XL container with XMP in a box packed by Brotli."""
    start = box(b"JXL ", b"\r\n\x87\n") + box(b"ftyp", b"jxl \0\0\0\0jxl ")
    return start + box(b"brob", b"xml " + PACKED_XMP) + box(b"jxlc", bytes.fromhex("ff0a00100a00"))


def avif(xmp: str) -> bytes:
    """Return the boxes of an AVIF whose second item is XMP, kept among the coded data."""
    said = xmp.encode()
    entries = box(b"infe", b"\2\0\0\0\0\1\0\0av01\0") + box(
        b"infe", b"\2\0\0\1\0\2\0\0mime\0application/rdf+xml\0"
    )
    start = box(b"ftyp", b"avif\0\0\0\0avifmif1")

    def meta(first: int) -> bytes:
        places = struct.pack(">HHHII", 1, 0, 1, first, 4) + struct.pack(
            ">HHHII", 2, 0, 1, first + 4, len(said)
        )
        return box(
            b"meta",
            bytes(4)
            + box(b"hdlr", bytes(8) + b"pict" + bytes(13))
            + box(b"pitm", b"\0\0\0\0\0\1")
            + box(b"iinf", b"\0\0\0\0\0\2" + entries)
            + box(b"iloc", b"\0\0\0\0\x44\0\0\2" + places),
        )

    first = len(start) + len(meta(0)) + 8
    return start + meta(first) + box(b"mdat", b"\x12\0\x0a\0" + said)


def palmdoc(text: bytes) -> bytes:
    """Return a text packed as PalmDOC does: copies of what came before, and a blank with its letter in one byte."""
    out, at = bytearray(), 0
    while at < len(text):
        best, back = 0, 0
        for size in range(min(10, len(text) - at), 2, -1):
            place = text.rfind(text[at : at + size], max(0, at - 2047), at)
            if place >= 0:
                best, back = size, at - place
                break
        if best:
            out += struct.pack(">H", 0x8000 | back << 3 | best - 3)
            at += best
        elif text[at] == 0x20 and at + 1 < len(text) and 0x40 <= text[at + 1] < 0x80:
            out.append(text[at + 1] ^ 0x80)
            at += 2
        else:
            out.append(text[at])
            at += 1
    return bytes(out)


def mobi(text: str) -> bytes:
    """Return a Mobipocket book of one record of text."""
    body = text.encode()
    first = (
        struct.pack(">HHIHHHH", 2, 0, len(body), 1, 4096, 0, 0)
        + b"MOBI"
        + struct.pack(">III", 24, 2, 65001)
    )
    packed = palmdoc(body)
    head = (
        b"Salt_Road".ljust(32, b"\0")
        + struct.pack(">HHIIIIII", 0, 0, 0, 0, 0, 0, 0, 0)[:28]
        + b"BOOKMOBI"
        + struct.pack(">IIH", 0, 0, 2)
    )
    at = len(head) + 16 + 2
    places = struct.pack(">II", at, 0) + struct.pack(">II", at + len(first), 2)
    return head + places + bytes(2) + first + packed


def fiction_book(picture: bytes, words: str) -> bytes:
    """Return a FictionBook whose cover is base64 in lines of 72 letters."""
    coded = base64.b64encode(picture).decode()
    lines = "\n".join(coded[at : at + 72] for at in range(0, len(coded), 72))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">'
        f'<body><section><p>{words}</p></section></body>\n<binary id="cover.png" content-type="image/png">{lines}</binary></FictionBook>'
    ).encode()


def message_pack(data: object) -> bytes:
    """Return MessagePack of maps, texts, whole and broken numbers."""
    if isinstance(data, dict):
        return bytes([0x80 | len(data)]) + b"".join(
            message_pack(each) for pair in data.items() for each in pair
        )
    if isinstance(data, str):
        said = data.encode()
        return (
            bytes([0xA0 | len(said)]) if len(said) < 32 else b"\xd9" + bytes([len(said)])
        ) + said
    if isinstance(data, float):
        return b"\xcb" + struct.pack(">d", data)
    assert isinstance(data, int)
    return b"\xce" + struct.pack(">I", data)


def asar(files: dict[str, bytes]) -> bytes:
    """Return an Electron archive: a table in JSON behind four sizes, then the files."""
    table, at = {}, 0
    for name, body in files.items():
        table[name] = {"size": len(body), "offset": str(at)}
        at += len(body)
    said = json.dumps({"files": table}).encode()
    padded = said + bytes(-len(said) % 4)
    sizes = struct.pack("<IIII", 4, len(padded) + 8, len(padded) + 4, len(said))
    return sizes + padded + b"".join(files.values())


def program(more: bytes) -> bytes:
    """Return the head of a Windows program with something behind it."""
    return b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + bytes(188) + more


def fused(files: dict[str, bytes]) -> bytes:
    """Return a game as LÖVE fuses it: the player and a zip behind it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return program(out.getvalue())


def installer(text: str) -> bytes:
    """Return an installer as NSIS makes it: LZMA without a size behind a mark of its own."""
    settings = {"id": lzma.FILTER_LZMA1, "dict_size": 1 << 23, "lc": 3, "lp": 0, "pb": 2}
    packed = lzma.compress(text.encode(), lzma.FORMAT_RAW, filters=[settings])
    mark = (
        struct.pack("<I", 0)
        + b"\xef\xbe\xad\xdeNullsoftInst"
        + struct.pack("<II", len(text), len(packed) + 33)
    )
    return program(mark + b"\x5d" + struct.pack("<I", 1 << 23) + packed)


def postscript(text: str) -> bytes:
    """Return an EPS whose private data are packed by deflate and written in base 85."""
    coded = base64.a85encode(zlib.compress(text.encode()), wrapcol=72).decode()
    lines = "\n".join("%" + line for line in coded.splitlines())
    return (
        "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%AI9_PrivateDataBegin\n"
        f"{lines}~>\n%AI9_PrivateDataEnd\n0 0 moveto 10 10 lineto stroke\n%%EOF\n"
    ).encode()


def targa(comment: str) -> bytes:
    """Return a TGA 2.0 of one pixel with an author's comment in its extension area."""
    head = struct.pack("<BBBHHBHHHHBB", 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 32, 8) + b"\x10\x20\x30\xff"
    lines = b"".join(comment[at : at + 80].encode().ljust(81, b"\0") for at in range(0, 320, 80))
    area = struct.pack("<H", 495) + b"noor".ljust(41, b"\0") + lines
    return head + area.ljust(495, b"\0") + struct.pack("<II", len(head), 0) + b"TRUEVISION-XFILE.\0"


def blend(text: str) -> bytes:
    """Return a Blender file as it is saved now: frames of zstd, and a table of them in a frame that is skipped."""
    data = b"BLENDER-v403REND" + bytes(400) + text.encode() + bytes(400) + b"ENDB"
    middle = len(data) // 3
    frames = [zstandard.ZstdCompressor().compress(one) for one in (data[:middle], data[middle:])]
    sizes = ((len(frames[0]), middle), (len(frames[1]), len(data) - middle))
    table = b"".join(struct.pack("<II", *one) for one in sizes) + struct.pack(
        "<IBI", 2, 0, 0x8F92EAB1
    )
    return b"".join(frames) + struct.pack("<II", 0x184D2A5E, len(table)) + table


def pack(blobs: list[bytes]) -> bytes:
    """Return a pack of git with some blobs."""
    out = b"PACK" + struct.pack(">II", 2, len(blobs))
    for blob in blobs:
        size = len(blob)
        head = bytearray([0x30 | size & 15])
        size >>= 4
        while size:
            head[-1] |= 0x80
            head.append(size & 0x7F)
            size >>= 7
        out += bytes(head) + zlib.compress(blob)
    return out + hashlib.sha1(out).digest()


def leaking() -> dict[str, bytes]:
    """Return the files that leak, by their names."""
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/"><exif:UserComment>'
        + INFOTEXT.replace("\n", "&#10;")
        + "</exif:UserComment></rdf:Description></x:xmpmeta>"
    )
    workflow = {
        "1": {
            "class_type": "KSampler",
            "inputs": {"seed": 314159265358, "ckpt_name": "dreamshaper_8.safetensors"},
        }
    }
    voice = {
        "line": "The road is long.",
        "voice_id": "pNInz6obpgDQGcFmaJgB",
        "seed": 4242424242,
        "voice_settings": {"stability": 0.4, "similarity_boost": 0.8},
    }
    session = {"log_id": "detlog-road-0192", "seed": 55100231, "daw": "Ableton Live 12.1"}
    book = (
        "<html><body><p>The salt road runs from the sea to the sea.</p><p>The salt road has no milestones.</p>"
        f"<!-- cover: {INFOTEXT} --><p>The salt road has no end.</p></body></html>"
    )
    coded = "".join(f"\\x{each:02x}" for each in json.dumps(workflow).encode())
    return {
        "theme.flac": flac(png(b"zTXtparameters\0\0" + zlib.compress(INFOTEXT.encode()))),
        "intro.webm": webm(f"cut from {HOME}/trailer/intro_v12.blend"),
        "theme.wv": wavpack(
            "Mixed in REAPER 7.16; chain: ReaEQ, Valhalla Room 2.0; target -14 LUFS"
        ),
        "ambient.dsf": dsf("generated with stable-audio-open-1.0, seed=90210777, steps=100"),
        "hero.aseprite": aseprite(
            '{"prompt": "a courier, 32 px", "seed": 70077007, "model": "pixelart-diffusion-xl"}'
        ),
        "sheet.xcf": gimp(xmp),
        "tower.fbx": fbx("C:\\Users\\noor\\saltroad\\props\\tower_v3.fbx"),
        "sky.hdr": radiance("panorama by sd_xl_base_1.0, seed 161803398, 40 steps, cfg 7"),
        "splash.jxl": jpeg_xl(),
        "cover.avif": avif(xmp),
        "story.mobi": mobi(book),
        "tale.fb2": fiction_book(
            png(b"tEXtprompt\0" + json.dumps(workflow).encode()), "The road is long."
        ),
        "dialog.msgpack": message_pack(voice),
        "app.asar": asar(
            {"index.html": b"<p>The road is long.</p>", "main.js": f'load("{coded}")'.encode()}
        ),
        "game.exe": fused(
            {
                "main.lua": b"love.draw = nil",
                "art/sky.png": png(b"tEXtComment\0" + INFOTEXT.encode()),
            }
        ),
        "setup.exe": installer(
            'readme "Salt Road" art.ini [cover] ' + INFOTEXT + " [end] " + "The road is long. " * 20
        ),
        "logo.eps": postscript("%AI layer notes\n" + INFOTEXT),
        "tiles.tga": targa(
            "tileset from comfyui batch 12, seed 8675309111, denoise 0.45; log detlog-tiles-0007"
        ),
        "wall.blend": blend(f"//textures/wall.png {HOME}/textures/wall_src_03.kra"),
        "objects.pack": pack([b"The road is long.\n", json.dumps(session).encode()]),
    }


def clean() -> dict[str, bytes]:
    """Return files of the same kinds with ordinary words."""
    story = (
        "The model villages along the salt road were built in steps, and every seed was counted. A prompt reply "
        "came with the noise of carts; the sampler on the wall had been stitched by a reaper's daughter."
    )
    code = "const steps = 12; let seed = now(); export const model = new Model(seed, steps); // no noise at night\n"
    return {
        "song.flac": flac(png(b"tEXtDescription\0" + story.encode())),
        "road.webm": webm(story),
        "tale.mobi": mobi(f"<html><body><p>{story}</p><p>{story}</p></body></html>"),
        "lines.msgpack": message_pack(
            {"line": story[:200], "steps": 12, "seed": "barley", "model": "cart"}
        ),
        "app.asar": asar({"index.html": f"<p>{story}</p>".encode(), "main.js": code.encode()}),
        "sign.eps": postscript(story),
    }


def build(folder: Path) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    written = []
    for kind, files in (("leaking", leaking()), ("clean", clean())):
        for name, body in files.items():
            path = folder / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)
            written.append(path)
    return written


if __name__ == "__main__":
    build(Path(sys.argv[1]))
