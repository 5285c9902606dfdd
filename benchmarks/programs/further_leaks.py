"""Twenty files more, of a third set, with traces of their making, and six clean ones.

    python benchmarks/programs/further_leaks.py FOLDER

Written after the scanner had been mended for what ``public_leaks.py`` had shown, again in other containers and places,
and kept in the history before the first look. The figure that counts is how many were found that first time;
docs/guides/leaks.md tells it. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import gzip
import io
import json
import plistlib
import struct
import sys
import zipfile
import zlib
from pathlib import Path

INFOTEXT = (
    "a pier in fog, ink wash\nNegative prompt: boats, gulls\nSteps: 36, Sampler: Euler a, CFG scale: 6.5, "
    "Seed: 6283185307, Size: 896x1152, Model hash: 6ce0161689, Model: realvisxlV40"
)
HOME = "/home/tove/pier"
# A list of levels in an LZ4 frame, as a packer writes it.
LEVELS = base64.b85decode(
    "1R_lsXh7})00000005v^0RRB=5qlzRWp-t3b0Ruhdm?UOZDk@lB5-MCav(4wEFxiYbPoXf1Ya;PE^uyVA}k_wX=G(0Ixu}KF8~`c"
    "F8~=aF8~}dF8~`dF8~=bF8~}eF8~`eF8~=cF8~dV02?$f02wqd01b@*8#ONg88t5e4UGUBHZK4fHZK4TjQ|@rF8~=gF8~dV02??j"
    "02w$h01b@*8#ylk896Ti4UGUBG1mbaG1mbNjsP1m*Z~?b*a2`deO)XfZDA4u@F064V`yb#YjAIAZge6#B64M6Y<6jLcx+ZQFfMap"
    "W@U6`ZgX#Pb0RDvaB^>La3laBVIXP(^$2NhAZBl8EFfuaYa%QnZe?d-bZK^FUnc-SVsBw|H~{ktb7f^@B04rQI5ROgH8U_bEFyDZ"
    "ZE$R5a$mRtAZ2w80PqcAZewM0baG*AA}k_fW@le>V_|G%B04rMHGO>m0000"
)


def png(*texts: bytes) -> bytes:
    """Return a PNG of one grey pixel with further chunks, each with its name before its contents."""

    def piece(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = piece(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    more = b"".join(piece(one[:4], one[4:]) for one in texts)
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + more
        + piece(b"IDAT", zlib.compress(b"\0\x80"))
        + piece(b"IEND", b"")
    )


def jpeg(marker: int, body: bytes) -> bytes:
    """Return the frame of a JPEG with one segment."""
    return (
        b"\xff\xd8\xff" + bytes([marker]) + struct.pack(">H", len(body) + 2) + body
        + b"\xff\xda\0\x08\x01\x01\0\0?\0\0\xff\xd9"
    )  # fmt: skip


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of files by their names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return out.getvalue()


def exif(comment: str) -> bytes:
    """Return EXIF whose user comment is in ASCII."""
    value = b"ASCII\0\0\0" + comment.encode()
    tags = struct.pack("<HHHIII", 1, 0x8769, 4, 1, 26, 0) + struct.pack(
        "<HHHIII", 1, 0x9286, 7, len(value), 44, 0
    )
    return b"II*\0" + struct.pack("<I", 8) + tags + value


def drawing(place: str) -> bytes:
    """Return a compressed SVG as Inkscape exports it."""
    return gzip.compress(
        (
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:inkscape="http://www.inkscape.org/namespaces/inkscape">'
            f'<path d="M0 0h9v9z" inkscape:export-filename="{place}"/></svg>'
        ).encode(),
        mtime=0,
    )


def webp(exif_block: bytes) -> bytes:
    """Return a WebP container with EXIF."""
    pixels = bytes.fromhex("2f00000000071011fd0f4444ff03")

    def chunk(name: bytes, body: bytes) -> bytes:
        return name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)

    body = (
        b"WEBP"
        + chunk(b"VP8X", b"\x08" + bytes(9))
        + chunk(b"VP8L", pixels)
        + chunk(b"EXIF", exif_block)
    )
    return b"RIFF" + struct.pack("<I", len(body)) + body


def style(picture: bytes) -> bytes:
    """Return a style sheet with a picture in it."""
    coded = base64.b64encode(picture).decode()
    return f"body{{margin:0}}.pier{{background:#fff url('data:image/webp;base64,{coded}') no-repeat}}".encode()


def open_document(picture: bytes, words: str) -> bytes:
    """Return an ODT with one picture."""
    return zipped(
        {
            "mimetype": b"application/vnd.oasis.opendocument.text",
            "content.xml": f"<office:document-content><text:p>{words}</text:p></office:document-content>".encode(),
            "Pictures/100000000000000100000001.png": picture,
        }
    )


def ogg(comment: bytes) -> bytes:
    """Return the first pages of an Ogg Vorbis stream."""

    def page(kind: int, number: int, packets: list[bytes]) -> bytes:
        lacing = b"".join(b"\xff" * (len(one) // 255) + bytes([len(one) % 255]) for one in packets)
        head = b"OggS\0" + struct.pack("<BQIIIB", kind, 0, 7, number, 0, len(lacing)) + lacing
        whole = head + b"".join(packets)
        total = 0
        for each in whole:
            total ^= each << 24
            for _ in range(8):
                total = (total << 1 ^ (0x04C11DB7 if total & 0x80000000 else 0)) & 0xFFFFFFFF
        return whole[:22] + struct.pack("<I", total) + whole[26:]

    first = b"\x01vorbis" + struct.pack("<IBIIIIBB", 0, 1, 44100, 0, 80000, 0, 0xB8, 1)
    second = (
        b"\x03vorbis"
        + struct.pack("<I", 4)
        + b"Xiph"
        + struct.pack("<II", 1, len(comment))
        + comment
        + b"\1"
    )
    return page(2, 0, [first]) + page(4, 1, [second, b"\x05vorbis" + bytes(32)])


def picture_comment(picture: bytes) -> bytes:
    """Return a comment that holds a front cover in base64."""
    block = struct.pack(">II", 3, 10) + b"image/jpeg" + struct.pack(">I", 0)
    block += struct.pack(">IIIII", 1, 1, 24, 0, len(picture)) + picture
    return b"METADATA_BLOCK_PICTURE=" + base64.b64encode(block)


def field_recording(note: str) -> bytes:
    """Return a WAV with iXML."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return name + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)

    said = (
        f'<?xml version="1.0"?><BWFXML><PROJECT>pier</PROJECT><NOTE>{note}</NOTE></BWFXML>'.encode()
    )
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))
    return chunk(b"RIFF", b"WAVE" + form + chunk(b"data", bytes(16)) + chunk(b"iXML", said))


def impulse(message: str) -> bytes:
    """Return an Impulse Tracker module without notes, with its message."""
    said = message.encode() + b"\0"
    head = (
        b"IMPM"
        + b"pier at night".ljust(26, b"\0")
        + bytes(2)
        + struct.pack("<HHHHHHHH", 1, 0, 0, 0, 0x214, 0x200, 9, 1)
    )
    head += bytes([128, 48, 6, 125, 128, 0]) + struct.pack("<HI", len(said), 193) + bytes(4)
    return head.ljust(192, b"\0") + b"\xff" + said


def raster(thumbnail: bytes) -> bytes:
    """Return an OpenRaster picture."""
    return zipped(
        {
            "mimetype": b"image/openraster",
            "stack.xml": b'<image version="0.0.3" w="1" h="1"><stack><layer src="data/0.png"/></stack></image>',
            "data/0.png": png(),
            "Thumbnails/thumbnail.png": thumbnail,
        }
    )


def package(texts: list[str]) -> bytes:
    """Return an APK whose table of resources has its texts in UTF-16."""
    body, places = b"", []
    for text in texts:
        places.append(len(body))
        body += struct.pack("<H", len(text)) + text.encode("utf-16-le") + b"\0\0"
    body += bytes(-len(body) % 4)
    size = 28 + 4 * len(texts) + len(body)
    pool = struct.pack("<HHIIIIII", 1, 28, size, len(texts), 0, 0, 28 + 4 * len(texts), 0)
    pool += b"".join(struct.pack("<I", at) for at in places) + body
    table = struct.pack("<HHII", 2, 12, 12 + len(pool), 0) + pool
    return zipped({"classes.dex": b"dex\n035\0" + bytes(104), "resources.arsc": table})


def library(path: str) -> bytes:
    """Return the head of an ELF library and the text of an assertion in it."""
    head = (
        b"\x7fELF\x02\x01\x01"
        + bytes(9)
        + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 0, 64, 0, 0)
    )
    return (
        head
        + bytes(range(256))
        + b"\0waves >= 0\0"
        + path.encode()
        + b"\0"
        + bytes(range(255, -1, -1))
    )


def quake(files: dict[str, bytes]) -> bytes:
    """Return a Quake PAK."""
    body, table = b"", b""
    for name, data in files.items():
        table += name.encode().ljust(56, b"\0") + struct.pack("<II", 12 + len(body), len(data))
        body += data
    return b"PACK" + struct.pack("<II", 12 + len(body), len(table)) + body + table


def sampled(tool: str) -> bytes:
    """Return a WAV with a list of INFO that names a tool."""
    said = tool.encode() + b"\0"
    said += bytes(len(said) % 2)
    info = (
        b"LIST"
        + struct.pack("<I", 12 + len(said))
        + b"INFOISFT"
        + struct.pack("<I", len(said))
        + said
    )
    form = b"fmt " + struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + b"data" + struct.pack("<I", 8) + b"\x80" * 8 + info
    return b"RIFF" + struct.pack("<I", len(body)) + body


def lottie(picture: bytes) -> bytes:
    """Return a Lottie animation with a picture in it."""
    uri = "data:image/png;base64," + base64.b64encode(picture).decode()
    return json.dumps(
        {
            "v": "5.7.4",
            "fr": 30,
            "layers": [],
            "assets": [{"id": "pier", "u": "", "p": uri, "e": 1}],
        }
    ).encode()


def cbor(data: object) -> bytes:
    """Return CBOR of maps, texts, whole and broken numbers."""

    def head(kind: int, size: int) -> bytes:
        if size < 24:
            return bytes([kind << 5 | size])
        return (
            bytes([kind << 5 | 24, size])
            if size < 256
            else bytes([kind << 5 | 27]) + struct.pack(">Q", size)
        )

    if isinstance(data, dict):
        return head(5, len(data)) + b"".join(cbor(each) for pair in data.items() for each in pair)
    if isinstance(data, str):
        return head(3, len(data.encode())) + data.encode()
    if isinstance(data, float):
        return b"\xfb" + struct.pack(">d", data)
    assert isinstance(data, int)
    return head(0, data)


def catalogue(words: dict[str, str]) -> bytes:
    """Return a compiled gettext catalogue."""
    pairs = sorted((key.encode(), value.encode()) for key, value in words.items())
    at = 28 + 16 * len(pairs)
    tables, body = [b"", b""], b""
    for which in range(2):
        for pair in pairs:
            tables[which] += struct.pack("<II", len(pair[which]), at + len(body))
            body += pair[which] + b"\0"
    return (
        struct.pack("<7I", 0x950412DE, 0, len(pairs), 28, 28 + 8 * len(pairs), 0, 0)
        + b"".join(tables)
        + body
    )


def font(description: str) -> bytes:
    """Return a TrueType font of one table, that of names."""
    said = description.encode("utf-16-be")
    table = (
        struct.pack(">HHH", 0, 1, 18) + struct.pack(">HHHHHH", 3, 1, 0x409, 10, len(said), 0) + said
    )
    return (
        b"\0\1\0\0"
        + struct.pack(">HHHH", 1, 16, 0, 0)
        + b"name"
        + struct.pack(">III", 0, 28, len(table))
        + table
    )


def feed(summary: str) -> bytes:
    """Return a feed of a podcast whose description is markup in entities."""
    marked = (
        f"<p>{summary}</p>".replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace(":", "&#58;")
        .replace("_", "&#95;")
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><item><title>The pier</title><description>{marked}</description></item></channel></rss>'.encode()


def apple_icon(picture: bytes) -> bytes:
    """Return an ICNS of one PNG."""
    entry = b"ic08" + struct.pack(">I", 8 + len(picture)) + picture
    return b"icns" + struct.pack(">I", 8 + len(entry)) + entry


def caption(words: str) -> bytes:
    """Return the segment in which IPTC keeps a caption."""
    said = words.encode()
    record = b"\x1c\x02\x78" + struct.pack(">H", len(said)) + said
    return (
        b"Photoshop 3.0\x008BIM\x04\x04\0\0"
        + struct.pack(">I", len(record))
        + record
        + bytes(len(record) % 2)
    )


def leaking() -> dict[str, bytes]:
    """Return the files that leak, by their names."""
    graph = {
        "7": {
            "class_type": "KSamplerAdvanced",
            "inputs": {"noise_seed": 27182818284590, "scheduler": "karras"},
        }
    }
    speech = {
        "text": "Mind the gap.",
        "voice_id": "EXAVITQu4vr4xnSDxMaL",
        "voice_settings": {"stability": 0.31, "similarity_boost": 0.77},
    }
    invoke = json.dumps(
        {
            "positive_prompt": "a pier",
            "negative_prompt": "gulls",
            "seed": 141421356,
            "steps": 30,
            "scheduler": "euler_a",
        }
    )
    return {
        "logo.svgz": drawing(f"{HOME}/renders/logo_64.png"),
        "style.css": style(webp(exif(INFOTEXT))),
        "guide.odt": open_document(png(b"eXIf" + exif(INFOTEXT)), "The pier is open."),
        "theme.ogg": ogg(picture_comment(jpeg(0xFE, INFOTEXT.encode()))),
        "steps.wav": field_recording(
            "bounced from REAPER 7.16, ReaComp into Pro-L 2, target -16 LUFS"
        ),
        "night.it": impulse(
            "pier at night\r\rsamples from musicgen-medium\rseed 141421356\rthanks for listening"
        ),
        "cover.ora": raster(
            png(b"iTXtinvokeai_metadata\0\1\0\0\0" + zlib.compress(invoke.encode()))
        ),
        "game.apk": package(["Pier", "Start", "art/cover.png", INFOTEXT.replace("\n", " ")]),
        "libgame.so": library(f"{HOME}/engine/src/waves.cpp"),
        "pak0.pak": quake(
            {
                "sound/gull.wav": sampled("Ableton Live 12.1.5"),
                "gfx/readme.txt": b"The pier is open.",
            }
        ),
        "intro.json": lottie(png(b"zTXtworkflow\0\0" + zlib.compress(json.dumps(graph).encode()))),
        "lines.cbor": cbor(speech),
        "de.mo": catalogue(
            {"": f"Language: de\nX-Poedit-Basepath: {HOME}/game/locale\n", "Start": "Anfang"}
        ),
        "title.ttf": font("Drawn over renders of handwriting_v3.safetensors with seed 141421356"),
        "levels.bin": LEVELS,
        "feed.xml": feed("Read by ElevenLabs, model eleven_multilingual_v2, seed: 31415926"),
        "Info.plist": plistlib.dumps(
            {"CFBundleName": "Pier", "Notes": f"Café wall. {INFOTEXT}"}, fmt=plistlib.FMT_BINARY
        ),
        "icon.icns": apple_icon(png(b"tEXtparameters\0" + INFOTEXT.encode())),
        "tower.mtl": b"newmtl planks\nKd 0.8 0.8 0.8\nmap_Kd C:\\Users\\tove\\pier\\renders\\planks_03.png\n",
        "comic.cbz": zipped({"001.jpg": jpeg(0xED, caption(INFOTEXT))}, zipfile.ZIP_STORED),
    }


def clean() -> dict[str, bytes]:
    """Return files of the same kinds with ordinary words."""
    story = (
        "The keeper sowed the seed of doubt in three steps. Her model of a ship gave no noise, and the prompt of the "
        "harbour bell came late; waves, ozone and a blender were all that the audacity of the cook had left."
    )
    return {
        "map.svgz": drawing("map.svg"),
        "waltz.ogg": ogg(b"DESCRIPTION=" + story.encode()),
        "shop.apk": package(["Pier", "Steps to the sea", story]),
        "words.cbor": cbor({"text": story[:220], "voice": "keeper", "steps": 12, "seed": "rye"}),
        "hand.ttf": font(story),
        "news.xml": feed(story),
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
