"""Twenty more files as a public build has them, with traces of their making, and six clean ones.

    cd benchmarks; python -m programs.public_leaks FOLDER

Written after the scanner had been mended for what ``shipped_leaks.py`` had shown, in other containers and places, and
kept in the history before the first look. The figure that counts is how many were found that first time;
docs/guides/leaks.md tells it. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from pathlib import Path

from programs.leak_games import asar, blend, fbx, fused, installer, message_pack, pack
from programs.leak_pictures import aseprite, avif, gimp, jpeg_xl, png, radiance, targa, webm
from programs.leak_sets import write_set
from programs.leak_sounds import dsf, flac, wavpack

INFOTEXT = (
    "a salt road under stars, gouache\nNegative prompt: people\nSteps: 32, Sampler: DPM++ 2M Karras, "
    "CFG scale: 5, Seed: 161803398, Size: 1024x576, Model hash: c9e3e68f89, Model: juggernautXL_v9"
)
HOME = "/home/noor/saltroad"


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


def postscript(text: str) -> bytes:
    """Return an EPS whose private data are packed by deflate and written in base 85."""
    coded = base64.a85encode(zlib.compress(text.encode()), wrapcol=72).decode()
    lines = "\n".join("%" + line for line in coded.splitlines())
    return (
        "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%AI9_PrivateDataBegin\n"
        f"{lines}~>\n%AI9_PrivateDataEnd\n0 0 moveto 10 10 lineto stroke\n%%EOF\n"
    ).encode()


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
    return write_set(folder, leaking(), clean())


if __name__ == "__main__":
    build(Path(sys.argv[1]))
