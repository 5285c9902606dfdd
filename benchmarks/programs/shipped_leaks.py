"""Twenty-four files as games, books and sounds are shipped, with traces of their making, and eight clean ones.

    cd benchmarks; python -m programs.shipped_leaks FOLDER

Written before its author had read the scanner, in containers and places of which the scanner's own tests hold none.
`leaking/` has the traces, `clean/` the same kinds of container with ordinary words. The figure that counts is how
many were found the first time; docs/guides/leaks.md tells it. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from pathlib import Path

from programs.leak_games import database, godot, renpy, scene, unity, usdz, zipped
from programs.leak_pictures import avi, big_tiff, gif_xmp, icon, jpeg_exif, photoshop, png, texture
from programs.leak_sets import write_set
from programs.leak_sounds import aiff, midi, mp3_ape, soundfont, tracker, wav_note

INFOTEXT = (
    "a drowned bell tower at dusk, oil on board\nNegative prompt: text, frame\nSteps: 28, Sampler: Euler a, "
    "CFG scale: 6, Seed: 2718281828, Size: 832x1216, Model hash: 31e35c80fc, Model: sd_xl_base_1.0"
)
COMFY = json.dumps(
    {
        "3": {
            "class_type": "KSampler",
            "inputs": {"seed": 156680208700286, "steps": 20, "cfg": 8.0},
        },
        "4": {
            "class_type": "CheckpointLoaderSimple",
            "inputs": {"ckpt_name": "sd_xl_base_1.0.safetensors"},
        },
    }
)
HOME = "/home/iris/renders/belltower"


def woff(words: str) -> bytes:
    """Return a WOFF with an empty table and compressed extended metadata."""
    xml = (
        '<?xml version="1.0" encoding="UTF-8"?><metadata version="1.0"><description><text lang="en">'
        f"{words}</text></description></metadata>"
    ).encode()
    packed = zlib.compress(xml, 9)
    table = struct.pack(">4sIIII", b"head", 64, 4, 4, 0)
    head = struct.pack(
        ">4sIIHHIHHIIIII",
        b"wOFF",
        0x10000,
        68 + len(packed),
        1,
        0,
        32,
        1,
        0,
        68,
        len(packed),
        len(xml),
        0,
        0,
    )
    return head + table + bytes(4) + packed


def pdf(objects: list[bytes], attached: bytes) -> bytes:
    """Return a PDF 1.5 with objects in an object stream, one file attached and a cross-reference stream."""
    starts, body = [], b""
    for number, one in enumerate(objects, start=4):
        starts.append(b"%d %d" % (number, len(body)))
        body += one + b" "
    table = b" ".join(starts) + b" "
    count = len(objects)
    out, places = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n"), [b"\0\0\0\0\0\xff\xff"]

    def put(number: int, words: bytes, data: bytes | None = None) -> None:
        places.append(struct.pack(">BIH", 1, len(out), 0))
        out.extend(b"%d 0 obj\n<<%s" % (number, words))
        if data is None:
            out.extend(b">>\nendobj\n")
            return
        packed = zlib.compress(data)
        out.extend(b"/Filter/FlateDecode/Length %d>>\nstream\n" % len(packed))
        out.extend(packed + b"\nendstream\nendobj\n")

    put(1, b"/Type/Catalog/Pages 4 0 R/Names 6 0 R")
    put(2, b"/Type/ObjStm/N %d/First %d" % (count, len(table)), table + body)
    put(3, b"/Type/EmbeddedFile", attached)
    places += [struct.pack(">BIH", 2, 2, one) for one in range(count)]
    start = len(out)
    rows = b"".join(places) + struct.pack(">BIH", 1, start, 0)
    put(4 + count, b"/Type/XRef/Size %d/W[1 4 2]/Root 1 0 R/Info 5 0 R" % (5 + count), rows)
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % start


def document(picture: bytes, words: str) -> bytes:
    """Return a DOCX with one paragraph and one picture."""
    body = f'<w:document xmlns:w="http://schemas.openxmlformats.org/w"><w:p><w:r><w:t>{words}</w:t></w:r></w:p></w:document>'
    return zipped(
        {
            "[Content_Types].xml": b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "word/document.xml": body.encode(),
            "word/media/image1.jpeg": picture,
        }
    )


def source_map(source: str) -> bytes:
    """Return a source map that carries the source it was made from."""
    return json.dumps(
        {"version": 3, "sources": ["tower.ts"], "sourcesContent": [source], "mappings": "AAAA"}
    ).encode()


# A minified script packed by Brotli for the web, and a WOFF2 whose description is in its name table.
BUNDLE = base64.b85decode(
    "8;1cP<Wje3{rjn@I^xS9n$*BQ1s}Z0GaUfFU)jR<=v)dkqR3NCxA_D?eW6I=$_PB9zGF)QNZ#wc#7t3Gr~BPs&LqLe3w7q-ny0vbM%1@"
    "=*<14|c2^!a=3C%*z|cJrzcqQvTRPxhpQF6B+jl|Kt!1(jz)qn)2W;N(zsxKZH0d<A^pJuZ>u*7Z?kP;#W3R(#I*ZPP6he_81Q+fiCwA"
    "jO>sgUcDG*=3j%&=eYsa)fwU9w*R7%a6?WR-F|7rY)I$bhr-syB|&N83uw|9xm$zn3e$Lt^VRk+3p>L6pC6jsZQF8"
)
FONT = base64.b85decode(
    "cTYw#009610004y015yA000A20003-00961000000000000000000000000024Daz3IQqsHUcCA1PcTJ1Rw>1ZU-bA#R32>2Y9l9mxPX"
    "voILhVjwf}YuJy4aE}sAXV&}g1XPdteGz(b^5^!Km#3AKY<Le#GZDMU?(nauzWwaB@^nNDySQP*UK=Iht0A&8xe_8JMEqe*9MVM0E7I0"
    "P=U=+lbaP)wICjlj%Zj*hUqNpIOE~7f7&LL(HdN>GDI{}5pMiy)oSAtUThbtl=pn!)bf^feX>r5N^$9J<0NVWo@cae}o0096b$}!T9Sv"
    "*A@a~b7i3Rt~XWEoRjB)%<Y@4EUtUgtL`u8nG*-G8bG_=@QsEeNa^f{{&oz-5X*?)MfV&rmex0}vL?g21wD$31{+4du2MF4%Q^{NnP$^"
    "4+D&v-?jK0luU;7Jw~d4;CB>TnLN|RB431AG7B5P{tqE38f4<4m2)w00^-Ffq=zgbGQzG%L0hwL=pua0RR91"
)


def leaking() -> dict[str, bytes]:
    """Return the files that leak, by their names."""
    session = {
        "prompt": "a quay in rain",
        "negative_prompt": "people",
        "sampler_name": "dpmpp_2m",
        "seed": 80081351,
    }
    invoke = {
        "app_version": "5.4.2",
        "generation_mode": "sdxl_txt2img",
        "positive_prompt": "a bell under water",
        "seed": 3141592653,
        "scheduler": "dpmpp_2m",
    }
    info = (
        b"<</Title(The Bell)/Subject<"
        + b"\xfe\xff".hex().encode()
        + INFOTEXT.encode("utf-16-be").hex().encode()
        + b">>>"
    )
    pages = [
        b"<</Type/Pages/Kids[]/Count 0>>",
        info,
        b"<</EmbeddedFiles<</Names[(notes.txt)7 0 R]>>>>",
        b"<</F(notes.txt)/EF<</F 3 0 R>>>>",
    ]
    source = 'export const art = "C:\\\\Users\\\\iris\\\\renders\\\\belltower\\\\tower_v7.psd";\n'
    script = {
        "label": "start",
        "say": ["iris", "The tide is in."],
        "image": f"{HOME}/export/quay_rain_04.png",
    }
    node = "Resource scene tower metadata/prompt = " + json.dumps(COMFY) + " node sprite"
    clip = "MonoBehaviour bell_ring m_Name bell_ring userData voice_id=EXAVITQu4vr4xnSDxMaL model_id=eleven_multilingual_v2 end"
    return {
        "storm.aif": aiff("seed: 2094417733, steps: 40, model: stable-audio-open-1.0"),
        "voice_03.wav": wav_note(
            "voice_id=EXAVITQu4vr4xnSDxMaL stability=0.35 model_id=eleven_multilingual_v2"
        ),
        "walk.mp3": mp3_ape(f"{HOME}/cues/walk-004.rpp"),
        "cue.mid": midi("Chain: Diva.vst3 > ValhallaVintageVerb.vst3 > Pro-L 2, seed 88121"),
        "bells.sf2": soundfont(
            "Generated with musicgen-large, seed=4412907731, guidance_scale=3.0"
        ),
        "undertow.xm": tracker(
            ["undertow", "for the quay scene", "seed: 4412907731", "greets to all"]
        ),
        "trailer.avi": avi(f"{HOME}/trailer_v3.blend"),
        "loop.gif": gif_xmp(INFOTEXT.replace("\n", "&#xA;")),
        "favicon.ico": icon(png(b"tEXtprompt\0" + COMFY.encode())),
        "wall.ktx2": texture("source", "flux1-dev.safetensors seed 90210441"),
        "bell.gltf": scene(
            {"generator": "TRELLIS", "seed": 1290041, "steps": 12, "cfg_strength": 7.5}
        ),
        "bell.usdz": usdz(json.dumps(invoke)),
        "cover.psd": photoshop(INFOTEXT),
        "map.tif": big_tiff("determinism log detlog-map-0147, render 3 of 9"),
        "title.woff": woff(
            "Glyphs traced from renders of handwriting_v3.safetensors, seed 6600123"
        ),
        "title.woff2": FONT,
        "main.js.br": BUNDLE,
        "book.pdf": pdf(pages, b"Thank you for reading. The tide tables are on the last page."),
        "chapter.docx": document(jpeg_exif(INFOTEXT), "The tide is in."),
        "strings.sqlite": database(
            [("greeting", b"Good evening."), ("quay", zlib.compress(json.dumps(session).encode()))]
        ),
        "game.rpa": renpy(script),
        "game.pck": godot(node),
        "data.unity3d": unity(clip),
        "app.js.map": source_map(source),
    }


def clean() -> dict[str, bytes]:
    """Return files of the same kinds with ordinary words."""
    story = (
        "The model of the ship stood nine steps above the noise of the quay. She had no seed left to sow, "
        "and the sampler her mother sewed hung crooked; a prompt answer was all he asked for."
    )
    log = f"# Determinism log\n\nA diary of a philosopher. Day 12.\n\n{story} All is fixed, he wrote, and went to bed.\n"
    code = "export function seed(value) { return (value * 16807) % 2147483647; } // one step of noise for the waves\n"
    pages = [
        b"<</Type/Pages/Kids[]/Count 0>>",
        b"<</Title(The Bell)/Subject(" + story.encode() + b")>>",
        b"<<>>",
        b"<<>>",
    ]
    return {
        "market.aif": aiff(story),
        "gravel.wav": wav_note(
            "nine steps on gravel, then noise of wind; take 3, the best model of a storm we have"
        ),
        "dance.mid": midi("To be played with a steady hand, as a seed falls."),
        "wave.gif": gif_xmp(story),
        "tales.pdf": pdf(pages, story.encode()),
        "letters.docx": document(jpeg_exif("Photographed at the harbour by the author"), story),
        "extras.zip": zipped(
            {"determinism-log.md": log.encode(), "waves.js.map": source_map(code)}
        ),
        "lines.rpa": renpy({"label": "start", "say": ["mate", story]}),
    }


def build(folder: Path) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    return write_set(folder, leaking(), clean())


if __name__ == "__main__":
    build(Path(sys.argv[1]))
