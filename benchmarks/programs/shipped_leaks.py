"""Twenty-four files as games, books and sounds are shipped, with traces of their making, and eight clean ones.

    python benchmarks/programs/shipped_leaks.py FOLDER

Written before its author had read the scanner, in containers and places of which the scanner's own tests hold none.
`leaking/` has the traces, `clean/` the same kinds of container with ordinary words. The figure that counts is how
many were found the first time; docs/guides/leaks.md tells it. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import io
import json
import pickle
import sqlite3
import struct
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import zstandard

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


def chunk(name: bytes, body: bytes, order: str = "<") -> bytes:
    """Return a chunk of RIFF (order "<") or of AIFF (order ">"), padded to even."""
    return name + struct.pack(order + "I", len(body)) + body + b"\0" * (len(body) % 2)


def wave(*more: bytes) -> bytes:
    """Return a Broadcast-less WAV of eight silent samples with further chunks."""
    form = chunk(b"fmt ", struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16))
    return chunk(b"RIFF", b"WAVE" + form + chunk(b"data", bytes(16)) + b"".join(more))


def png(*more: bytes) -> bytes:
    """Return a PNG of one grey pixel with further chunks."""

    def piece(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    head = piece(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    texts = b"".join(piece(one[:4], one[4:]) for one in more)
    return (
        b"\x89PNG\r\n\x1a\n"
        + head
        + texts
        + piece(b"IDAT", zlib.compress(b"\0\x80"))
        + piece(b"IEND", b"")
    )


def aiff(comment: str) -> bytes:
    """Return an AIFF whose ID3 chunk has one comment in UTF-16."""
    frame = b"\x02" + b"note".decode().encode("utf-16-be") + b"\0\0" + comment.encode("utf-16-be")
    body = b"TXXX" + struct.pack(">I", len(frame)) + b"\0\0" + frame
    size = len(body)
    synch = bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
    common = struct.pack(">hIh", 1, 8, 16) + b"\x40\x0b\xfa\0\0\0\0\0\0\0"
    sound = chunk(b"SSND", bytes(8 + 16), ">")
    tag = chunk(b"ID3 ", b"ID3\x03\0\0" + synch + body, ">")
    return chunk(b"FORM", b"AIFF" + chunk(b"COMM", common, ">") + sound + tag, ">")


def wav_note(note: str) -> bytes:
    """Return a WAV with a cue point and a note at it."""
    cue = struct.pack("<IIIIIII", 1, 1, 0, 0x61746164, 0, 0, 0)
    text = struct.pack("<I", 1) + note.encode("latin-1") + b"\0"
    return wave(chunk(b"cue ", cue), chunk(b"LIST", b"adtl" + chunk(b"note", text)))


def mp3_ape(comment: str) -> bytes:
    """Return frames of MPEG sound with an APEv2 tag behind them."""
    frames = (b"\xff\xfb\x90\xc0" + bytes(413)) * 3
    value = comment.encode()
    item = struct.pack("<II", len(value), 0) + b"Comment\0" + value
    end = b"APETAGEX" + struct.pack("<IIII", 2000, len(item) + 32, 1, 0) + bytes(8)
    return frames + item + end


def midi(text: str) -> bytes:
    """Return a MIDI file with a text event before its one note."""
    body = text.encode()
    size = bytes([0x80 | len(body) >> 7, len(body) & 0x7F])
    track = b"\0\xff\x01" + size + body + b"\0\x90\x3c\x40\x60\x80\x3c\0\0\xff\x2f\0"
    return (
        b"MThd"
        + struct.pack(">IHHH", 6, 0, 1, 96)
        + b"MTrk"
        + struct.pack(">I", len(track))
        + track
    )


def soundfont(comment: str) -> bytes:
    """Return the INFO and the (empty) samples of a SoundFont."""
    info = chunk(b"ifil", struct.pack("<HH", 2, 1)) + chunk(b"INAM", b"Bells\0")
    info += chunk(b"ICMT", comment.encode() + b"\0")
    return chunk(b"RIFF", b"sfbk" + chunk(b"LIST", b"INFO" + info) + chunk(b"LIST", b"sdta"))


def tracker(names: list[str]) -> bytes:
    """Return an XM module whose instruments' names are its only words, as trackers have them."""
    head = b"Extended Module: " + b"undertow".ljust(20) + b"\x1a" + b"FastTracker v2.00   "
    head += struct.pack("<HI", 0x104, 276) + struct.pack(
        "<HHHHHHHH", 1, 0, 2, 0, len(names), 1, 6, 125
    )
    head += bytes(256)
    for name in names:
        head += struct.pack("<I", 33) + name.encode().ljust(22, b"\0")[:22] + bytes(7)
    return head


def avi(comment: str) -> bytes:
    """Return the headers of an AVI with a list of INFO behind its header list."""
    top = chunk(b"LIST", b"hdrl" + chunk(b"avih", bytes(56)))
    info = chunk(b"LIST", b"INFO" + chunk(b"ISRC", comment.encode() + b"\0"))
    return chunk(b"RIFF", b"AVI " + top + info + chunk(b"LIST", b"movi"))


def gif_xmp(tool: str) -> bytes:
    """Return a GIF with XMP in an application extension, as one run of bytes with its magic trailer."""
    packet = (
        '<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
        'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:dc='
        f'"http://purl.org/dc/elements/1.1/"><dc:description>{tool}</dc:description></rdf:Description>'
        "</rdf:RDF></x:xmpmeta>"
    )
    trailer = b"\x01" + bytes(range(255, -1, -1)) + b"\0"
    head = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6)
    image = b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
    return head + b"\x21\xff\x0bXMP DataXMP" + packet.encode() + trailer + image + b"\x3b"


def icon(picture: bytes) -> bytes:
    """Return an ICO that holds one PNG."""
    entry = struct.pack("<BBBBHHII", 1, 1, 0, 0, 1, 32, len(picture), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + picture


def texture(key: str, value: str) -> bytes:
    """Return a KTX2 texture of one pixel with one pair of key and value."""
    pair = key.encode() + b"\0" + value.encode() + b"\0"
    pairs = struct.pack("<I", len(pair)) + pair
    pairs += bytes(-len(pairs) % 4)
    start = 80 + 24
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack("<9I", 37, 1, 1, 1, 0, 0, 1, 1, 0)
    head += struct.pack("<IIIIQQ", 0, 0, start, len(pairs), 0, 0)
    level = struct.pack("<QQQ", start + len(pairs), 4, 4)
    return head + level + pairs + b"\x10\x20\x30\xff"


def scene(extras: dict[str, object]) -> bytes:
    """Return a glTF scene whose one mesh has extras, as Blender writes custom properties."""
    mesh = {"name": "Bell", "primitives": [{"attributes": {"POSITION": 0}}], "extras": extras}
    return json.dumps({"asset": {"version": "2.0"}, "meshes": [mesh]}).encode()


def usdz(comment: str) -> bytes:
    """Return a USDZ: an uncompressed zip of a layer and its texture, which has a compressed text."""
    layer = b'#usda 1.0\n( upAxis = "Y" )\ndef Xform "Bell" {}\n'
    text = b"iTXtComment\0\x01\0en\0\0" + zlib.compress(comment.encode())
    return zipped({"bell.usda": layer, "textures/bell.png": png(text)}, zipfile.ZIP_STORED)


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip of files by their names."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return out.getvalue()


def photoshop(history: str) -> bytes:
    """Return a PSD of one pixel with XMP among its resources and a layer's name in UTF-16."""
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><photoshop:History xmlns:photoshop="http://ns.adobe.com/">'
        + history.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "&#xA;")
        + "</photoshop:History></x:xmpmeta>"
    ).encode()
    resource = b"8BIM" + struct.pack(">HHI", 1060, 0, len(xmp)) + xmp + bytes(len(xmp) % 2)
    head = b"8BPS" + struct.pack(">H6xHIIHH", 1, 1, 1, 1, 8, 1)
    return (
        head + struct.pack(">II", 0, len(resource)) + resource + struct.pack(">I", 0) + b"\0\0\x80"
    )


def big_tiff(description: str) -> bytes:
    """Return a BigTIFF of one pixel with a description."""
    text = description.encode() + b"\0"
    places = [(256, 3, 1, 1), (257, 3, 1, 1), (258, 3, 1, 8), (262, 3, 1, 1)]
    after = 16 + 8 + 20 * 7 + 8
    places += [(270, 2, len(text), after), (273, 16, 1, after + len(text)), (279, 4, 1, 1)]
    entries = b"".join(struct.pack("<HHQQ", *one) for one in places)
    return b"II" + struct.pack("<HHHQQ", 43, 8, 0, 16, 7) + entries + bytes(8) + text + b"\x80"


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


def jpeg(comment: str) -> bytes:
    """Return the frame of a JPEG with a user comment in its EXIF, in UTF-16."""
    value = b"UNICODE\0" + comment.encode("utf-16-be")
    exif = b"MM\0*" + struct.pack(">I", 8) + struct.pack(">HHHIII", 1, 0x8769, 4, 1, 26, 0)
    exif += struct.pack(">HHHIII", 1, 0x9286, 7, len(value), 44, 0) + value
    body = b"Exif\0\0" + exif
    return (
        b"\xff\xd8\xff\xe1"
        + struct.pack(">H", len(body) + 2)
        + body
        + b"\xff\xda\0\x08\x01\x01\0\0?\0\0\xff\xd9"
    )


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


def database(rows: list[tuple[str, bytes]]) -> bytes:
    """Return a SQLite database whose one table holds names and blobs."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "a.db")
        base = sqlite3.connect(place)
        base.execute("create table strings (name text, body blob)")
        base.executemany("insert into strings values (?, ?)", rows)
        base.commit()
        base.close()
        return place.read_bytes()


def renpy(script: dict[str, object]) -> bytes:
    """Return an RPA archive with one compiled script, whose tree is a pickle packed by zlib."""
    packed = zlib.compress(pickle.dumps(script, protocol=2))
    head = b"RENPY RPC2" + struct.pack("<III", 1, 46, len(packed)) + bytes(12) + bytes(12)
    compiled = head + packed + bytes(16)
    at, key = 51, 0x42424242
    index = {"game/script.rpyc": [(at ^ key, len(compiled) ^ key, b"")]}
    first = f"RPA-3.0 {at + len(compiled):016x} {key:08x}\n".encode()
    return first.ljust(at, b" ") + compiled + zlib.compress(pickle.dumps(index, protocol=2))


def godot(text: str) -> bytes:
    """Return a Godot pack with one compressed resource: blocks of zstd under RSCC."""
    block = zstandard.ZstdCompressor().compress(text.encode())
    held = b"RSCC" + struct.pack("<IIII", 2, 4096, len(text), len(block)) + block + b"RSCC"
    name = b"res://scenes/tower.scn".ljust(24, b"\0")
    start = 4 + 16 + 4 + 8 + 64 + 4 + 4 + len(name) + 8 + 8 + 16 + 4
    head = b"GDPC" + struct.pack("<IIII", 2, 4, 3, 0) + struct.pack("<IQ", 0, 0) + bytes(64)
    return (
        head
        + struct.pack("<II", 1, len(name))
        + name
        + struct.pack("<QQ", start, len(held))
        + bytes(20)
        + held
    )


def lz4_block(data: bytes) -> bytes:
    """Return an LZ4 block: sequences of literals and matches found greedily."""
    out, at, start, seen = bytearray(), 0, 0, {}

    def length(value: int) -> bytes:
        return b"" if value < 15 else b"\xff" * ((value - 15) // 255) + bytes([(value - 15) % 255])

    while at < len(data) - 12:
        key = data[at : at + 4]
        back = seen.get(key)
        seen[key] = at
        if back is None or at - back > 65535:
            at += 1
            continue
        more = 4
        while at + more < len(data) - 5 and data[back + more] == data[at + more]:
            more += 1
        held = data[start:at]
        out.append(min(len(held), 15) << 4 | min(more - 4, 15))
        out += length(len(held)) + held + struct.pack("<H", at - back) + length(more - 4)
        at = start = at + more
    held = data[start:]
    out.append(min(len(held), 15) << 4)
    return bytes(out + length(len(held)) + held)


def unity(text: str) -> bytes:
    """Return a UnityFS bundle: its table of blocks and its one block are packed by LZ4."""
    data = struct.pack(">I", len(text)) + text.encode()
    block = lz4_block(data)
    table = bytes(16) + struct.pack(">IIIH", 1, len(data), len(block), 3)
    table += struct.pack(">IQQI", 1, 0, len(data), 4) + b"CAB-3f2a\0"
    packed = lz4_block(table)
    head = b"UnityFS\0" + struct.pack(">I", 6) + b"5.x.x\0" + b"2021.3.5f1\0"
    total = len(head) + 20 + len(packed) + len(block)
    return head + struct.pack(">QIII", total, len(packed), len(table), 0x43) + packed + block


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
        "chapter.docx": document(jpeg(INFOTEXT), "The tide is in."),
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
        "letters.docx": document(jpeg("Photographed at the harbour by the author"), story),
        "extras.zip": zipped(
            {"determinism-log.md": log.encode(), "waves.js.map": source_map(code)}
        ),
        "lines.rpa": renpy({"label": "start", "say": ["mate", story]}),
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
