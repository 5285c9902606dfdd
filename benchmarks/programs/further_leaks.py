"""Twenty files more, of a third set, with traces of their making, and six clean ones.

    cd benchmarks; python -m programs.further_leaks FOLDER

Written after the scanner had been mended for what ``public_leaks.py`` had shown, again in other containers and places,
and kept in the history before the first look. The figure that counts is how many were found that first time;
docs/guides/leaks.md tells it. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import json
import plistlib
import struct
import sys
import zipfile
import zlib
from pathlib import Path

from programs.leak_games import catalogue, cbor, library, lottie, package, quake, zipped
from programs.leak_pictures import apple_icon, caption, drawing, exif, jpeg, png, webp
from programs.leak_sets import write_set
from programs.leak_sounds import field_recording, impulse, ogg, picture_comment, sampled

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
    return write_set(folder, leaking(), clean())


if __name__ == "__main__":
    build(Path(sys.argv[1]))
