"""A third blind set for the scanner of published files: sixty that leak, forty that do not.

Run from benchmarks/:  python -m programs.third_blind_leaks FOLDER

It writes FOLDER/leaking/NAME and FOLDER/clean/NAME. Each leaking file holds one trace of its
making in one hiding place, among things that players may see. LEAKING says for each name what is
hidden, where, and what a scan has to answer: `leaks`, or `unread` where the guide promises no more
than a report that the file was not looked into. CLEAN (in third_blind_clean) says why a file is
clean, although some of its words resemble traces. `third_blind_makers` makes the containers.

The author of these files knew the guides on leaks and on logs, so the list of formats and limits
and what earlier sets had found, and a research note on an early prototype. The author had not
looked at the scanner, its tests or the earlier sets. Persons, keys and tokens are invented. Two
runs write equal bytes with the same versions of Python and the libraries.
"""

import base64
import bz2
import gzip
import importlib.util
import io
import json
import lzma
import marshal
import os
import plistlib
import quopri
import sqlite3
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import brotli
import lz4.frame
import py7zr
import zstandard
from PIL import Image
from programs.leak_sets import write_set
from pypdf import PdfWriter

from programs import third_blind_clean as clean
from programs import third_blind_makers as make

LEAKING = {
    # pictures
    "cover-plate.png": "leaks: a web UI's settings, in a packed zTXt chunk",
    "lantern.png": "leaks: a negative prompt, in a packed iTXt chunk in German",
    "harbour.jpg": "leaks: settings with seed and model, in EXIF UserComment as UTF-16",
    "keeper.jpg": "leaks: the field for a prompt of IPTC 2025.1, in XMP",
    "gull.jpg": "leaks: a prompt with the switches of Midjourney, in a JPEG comment",
    "banner.webp": "leaks: a ComfyUI graph, in the EXIF field for the camera's model",
    "dunes.avif": "leaks: a lone seed, at the end of EXIF ImageDescription",
    "lamp-spin.gif": "leaks: the file name of a checkpoint, in a GIF comment",
    "chart.tif": "leaks: a path in a home, in the TIFF tag DocumentName",
    "favicon.ico": "leaks: NovelAI's JSON, in a text chunk of the PNG within an icon",
    "medal.png": "leaks: seed and steps, in EXIF as hexadecimal digits in a packed zTXt chunk",
    "crest.png": "leaks: InvokeAI's metadata, in a second PNG after the end of the first",
    "frost.png": "leaks: settings packed into the lowest bits of alpha (stealth_pngcomp)",
    "panel.tga": "leaks: model and seed, in the author's comment of a Targa 2.0 extension area",
    # sounds and films
    "foghorn.mp3": "leaks: the path of a Logic project, in an ID3 PRIV frame",
    "keeper-line.mp3": "leaks: a speech service's voice id, in an ID3 comment as UTF-16",
    "theme.mp3": "leaks: SwarmUI's settings, in the cover's text chunk in an ID3v2.2 PIC frame",
    "rain.opus": "leaks: model and seed of a music generator, in an Opus comment",
    "surf.flac": "leaks: the path of a REAPER project, in bext kept in a FLAC application block",
    "bell.wav": "leaks: the id of a work unit (form of the guide), as bext's originator reference",
    "steps.wav": "leaks: a plugin with its version, in a note of iXML",
    "wind.aiff": "leaks: a DAW with its version, in an AIFF annotation",
    "drone.caf": "leaks: a model with its version, in the info chunk of a Core Audio file",
    "waltz.m4a": "leaks: a prompt named as one, in the MP4 comment",
    "ending.mp4": "leaks: the path of a Premiere project, in XMP in a uuid box at the end",
    "trailer.mkv": "leaks: a ComfyUI graph, as a Matroska attachment",
    "cellar.mod": "leaks: a path in a home, as the name of a tracker's sample",
    # documents
    "book.epub": "leaks: model and seed, in a picture's alternative text in a chapter",
    "handbook.docx": "leaks: a setting and a seed in deleted text, the word split over two runs",
    "pitch.pptx": "leaks: a path in a home, as a picture's description in a slide",
    "strings.xlsx": "leaks: the file name of a checkpoint, among a sheet's shared strings",
    "artbook.pdf": "leaks: the file name of a checkpoint, among the keywords as UTF-16",
    "rulebook.pdf": "leaks: a web UI's params.txt, as a packed attachment",
    "poster.pdf": "leaks: a seed in a page's text, split by kerning in a packed stream",
    "issue-one.cbz": "leaks: model, guidance and seed, in the comment of the archive",
    "Keeper.woff2": "leaks: a path in a home, in the description of a WOFF 2's name table",
    "compass.svgz": "leaks: a path in a home, as Inkscape's export name in gzip",
    # the web
    "gallery.html": "leaks: a seed in a title attribute, its colon an entity",
    "about.html": "leaks: a generator and its version, in two keys of JSON-LD",
    "game.js": "leaks: a path in a home, as root of an inline source map in base64",
    "theme.css": "leaks: model and seed, in a comment of an SVG in a percent-encoded data URI",
    "site.webmanifest": "leaks: the key of a service, in a web app's manifest",
    "app.js.br": "leaks: a GitHub token, in minified code packed by Brotli",
    "chapter1.vtt": "leaks: a voice model and a seed, in a NOTE of captions",
    "opening.ass": "leaks: a path in a home, in the head of subtitles that Aegisub wrote",
    "saved.mhtml": "leaks: sampler and seed, in quoted-printable, a soft line end in the number",
    # packings and data
    "extras.tar.gz": "leaks: the home of a user, in a member's name only, without a first slash",
    "soundtrack.tar.bz2": "leaks: paths in a home, in a playlist in a packed tar",
    "manual.txt.xz": "leaks: a console's line on a loaded checkpoint with its hash, in xz",
    "bonus.7z": "unread: a seed in a text; the guide says that 7z is not looked into",
    "de.po.lz4": "leaks: the name of a speech model, in a translator's hint in an LZ4 frame",
    "level1.tmx.zst": "leaks: a path in a home, as Tiled's export target in zstd",
    "press-kit.zip": "leaks: the link of a download from a generator, in an AppleDouble's plist",
    "stems.zip": "leaks: a DAW with its version, in a DAWproject within a zip",
    "lamp.db": "leaks: seed and steps as JSON, in a column of SQLite",
    "crate.glb": "leaks: a prompt with a seed, in a material's extras",
    "keeper.pyc": "leaks: a path in a home, as the file name of compiled Python",
    "credits.json": "leaks: the file name of a determinism log (form of the guide), as a value",
    "LIESMICH.txt": "leaks: model and seed in a German sentence, in UTF-16 with a mark",
    ".DS_Store": "leaks: a seed in a Spotlight comment, as UTF-16 in a Finder record (shortened)",
}

SETTINGS = (
    "a keeper on the stairs, ink wash\nNegative prompt: blurry\nSteps: 28, Sampler: DPM++ 2M "
    "Karras, CFG scale: 6.5, Seed: 1893317720, Size: 768x512, Model: dreamshaper_8"
)
GRAPH = {
    "3": {
        "class_type": "KSampler",
        "inputs": {"seed": 580117330921, "steps": 24, "cfg": 7.0, "model": ["4", 0]},
    },
    "4": {
        "class_type": "CheckpointLoaderSimple",
        "inputs": {"ckpt_name": "sd_xl_base_1.0.safetensors"},
    },
}


def pictures() -> Iterator[tuple[str, bytes]]:
    plain = make.picture()
    yield "cover-plate.png", make.png({"parameters": SETTINGS}, packed=True)
    hint = "Negative prompt: blurry, watermark, extra fingers"
    yield "lantern.png", make.png({"Comment": hint}, packed=True, language="de")
    comment = b"UNICODE\0" + SETTINGS.encode("utf-16-be")
    yield "harbour.jpg", make.saved(plain, "JPEG", exif=make.exif({}, {0x9286: comment}))
    field = "Iptc4xmpExt:AIPromptInformation"
    packet = make.xmp(f"<{field}>a keeper on a gallery rail, cold light</{field}>")
    yield "keeper.jpg", make.saved(plain, "JPEG", xmp=packet)
    switches = b"keeper feeding gulls, woodcut --ar 3:2 --stylize 250 --seed 902107 --v 6.1"
    yield "gull.jpg", make.saved(plain, "JPEG", comment=switches)
    graph = make.exif({0x0110: "prompt:" + json.dumps(GRAPH)})
    yield "banner.webp", make.saved(plain, "WEBP", exif=graph)
    lone = make.exif({0x010E: "Dunes at dusk, third draft, seed 401177"})
    yield "dunes.avif", make.saved(plain, "AVIF", exif=lone, max_threads=1)
    yield "lamp-spin.gif", make.saved(plain, "GIF", comment=b"lamp, flux1-dev-fp8.safetensors")
    yield "chart.tif", make.saved(plain, "TIFF", tiffinfo={269: "/Users/mira/Renders/chart_v3.psd"})
    novel = {"steps": 28, "sampler": "k_euler_ancestral", "seed": 2950718833, "uc": "lowres"}
    small = make.png({"Comment": json.dumps(novel)})
    entry = struct.pack("<3H4B2H2I", 0, 1, 1, 64, 48, 0, 0, 1, 24, len(small), 22)
    yield "favicon.ico", entry + small
    digits = make.exif({0x010E: "Medal. Seed: 77120933, Steps: 30"}).hex()
    lines = "\n".join(digits[at : at + 72] for at in range(0, len(digits), 72))
    profile = f"\nexif\n{len(digits) // 2:8}\n{lines}\n"
    yield "medal.png", make.png({"Raw profile type exif": profile}, packed=True)
    invoked = {"positive_prompt": "a crest", "seed": 3310047, "scheduler": "euler", "steps": 30}
    yield "crest.png", make.png({}) + make.png({"invokeai_metadata": json.dumps(invoked)})
    yield "frost.png", stealthy(SETTINGS)
    yield "panel.tga", targa("Base: SDXL 1.0, seed 5512")


def stealthy(text: str) -> bytes:
    """Write as Stealth PNGInfo does: down the columns, a name, a length in bits, gzip."""
    packed = gzip.compress(text.encode(), mtime=0)
    body = b"stealth_pngcomp" + struct.pack(">I", len(packed) * 8) + packed
    bits = "".join(f"{byte:08b}" for byte in body)
    image = make.picture((64, 64), "RGBA")
    alpha = Image.new("L", image.size, 255)
    for at, bit in enumerate(bits):
        alpha.putpixel(divmod(at, 64), 254 + int(bit))
    image.putalpha(alpha)
    return make.saved(image, "PNG")


def targa(comment: str) -> bytes:
    image = make.saved(make.picture(), "TGA")[:-26]
    area = struct.pack("<H41s324s128x", 495, b"Lamp Studio", comment.encode())
    return image + area + struct.pack("<II", len(image), 0) + b"TRUEVISION-XFILE.\0"


def sounds() -> Iterator[tuple[str, bytes]]:
    mp3, wave = make.sound("MP3"), make.sound("WAV")
    private = b"com.apple.logic\0file:///Users/mira/Music/Logic/foghorn.logicx"
    yield "foghorn.mp3", make.id3({"TIT2": b"\0Foghorn", "PRIV": private}) + mp3
    spoken = "voice_id: 21m00Tcm4TlvDq8ikWAM, stability 0.45".encode("utf-16")
    comment = b"\1eng\xff\xfe\0\0" + spoken
    yield "keeper-line.mp3", make.id3({"TIT2": b"\0Line 14", "COMM": comment}) + mp3
    swarm = {
        "sui_image_params": {"prompt": "a brass lamp", "seed": 118204, "model": "OfficialFlux"}
    }
    cover = b"\0PNG\3Cover\0" + make.png({"parameters": json.dumps(swarm)})
    yield "theme.mp3", make.id3({"TT2": b"\0Theme", "PIC": cover}, 2) + mp3
    made = "facebook/musicgen-large, seed 20240"
    yield "rain.opus", make.coded("ogg", "libopus", title="Rain", comment=made)
    kept = make.bext(r"Project: C:\Users\mira\Documents\REAPER Media\surf\surf.rpp")
    kept = b"riffbext" + struct.pack("<I", len(kept)) + kept
    flac = make.sound("FLAC")
    block = struct.pack(">I", 2 << 24 | len(kept)) + kept
    yield "surf.flac", flac[:42] + block + flac[42:]
    unit = make.bext("Bell, far off, wet", "TU-2026-01-31-AD07")
    yield "bell.wav", make.with_chunk(wave, b"bext", unit)
    note = "<NOTE>EQ: FabFilter Pro-Q 3 v3.24, gentle shelf</NOTE>"
    fields = f'<?xml version="1.0"?><BWFXML><SCENE>12</SCENE><TAKE>3</TAKE>{note}</BWFXML>'
    yield "steps.wav", make.with_chunk(wave, b"iXML", fields.encode())
    yield "wind.aiff", make.sound("AIFF", comment="Bounced from Logic Pro 11.0.1")
    yield "drone.caf", make.sound("CAF", comment="Stable Audio Open 1.0, second take")
    prompt = "prompt: slow harmonium waltz, tape hiss, 92 bpm"
    yield "waltz.m4a", make.coded("ipod", "aac", 44100, title="Waltz", comment=prompt)
    atom = '<creatorAtom:macAtom creatorAtom:posixProjectPath="/Users/mira/Movies/ending.prproj"/>'
    box = bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + make.xmp(atom)
    box = struct.pack(">I", len(box) + 8) + b"uuid" + box
    yield "ending.mp4", make.film("mp4", "mpeg4", title="Ending") + box
    workflow = {"workflow.json": json.dumps(GRAPH, indent=1).encode()}
    yield "trailer.mkv", make.film("matroska", "mpeg4", workflow, title="Trailer")
    names = [rb"C:\Users\mira\bell.wav", b"organ low"] + [b""] * 29
    slots = b"".join(struct.pack(">22sHBBHH", n, 8 * bool(n), 0, 64, 0, 1) for n in names)
    song = struct.pack("20s", b"cellar") + slots + b"\1\x7f" + bytes(128) + b"M.K." + bytes(1024)
    yield "cellar.mod", song + bytes(range(16)) * 2


def documents() -> Iterator[tuple[str, bytes]]:
    alt = "Lighthouse in fog. Midjourney v6.1, seed 4410772"
    chapter = f'<h1>Fog</h1><p>It came at four.</p><img src="plate.png" alt="{alt}"/>'
    yield "book.epub", make.epub("Fog", chapter)
    word = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    runs = ("(cfg scale 7, se", "ed 552190)")
    cut = "".join(f"<w:r><w:delText>{run}</w:delText></w:r>" for run in runs)
    body = f'<w:p><w:r><w:t>The keeper.</w:t></w:r><w:del w:id="4" w:author="M">{cut}</w:del></w:p>'
    text = f"<w:document {word}><w:body>{body}</w:body></w:document>"
    yield "handbook.docx", make.office("word/document.xml", {"word/document.xml": text})
    draw = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
    place = r'<p:cNvPr id="4" name="Picture 3" descr="C:\Users\mira\Pictures\keeper_00042_.png"/>'
    slide = f"<p:sld {draw}><p:cSld><p:spTree><p:pic>{place}</p:pic></p:spTree></p:cSld></p:sld>"
    parts = {"ppt/presentation.xml": f"<p:presentation {draw}/>", "ppt/slides/slide1.xml": slide}
    yield "pitch.pptx", make.office("ppt/presentation.xml", parts)
    sheet = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    cells = ("key", "menu.start", "Begin", "juggernautXL_v9.safetensors")
    shared = "".join(f"<si><t>{cell}</t></si>" for cell in cells)
    parts = {"xl/workbook.xml": f"<workbook {sheet}/>"}
    parts["xl/sharedStrings.xml"] = f'<sst {sheet} count="4">{shared}</sst>'
    yield "strings.xlsx", make.office("xl/workbook.xml", parts)
    art = PdfWriter()
    make.pdf_page(art, "(Plates of the north light) Tj")
    yield "artbook.pdf", make.pdf(art, Keywords="灯台, fog, dreamshaper_8.safetensors")
    rules = PdfWriter()
    make.pdf_page(rules, "(Each player takes five cards.) Tj")
    attached = rules.add_attachment("params.txt", SETTINGS.encode())
    stream = attached.pdf_object["/EF"]["/F"]
    rules._replace_object(stream.indirect_reference, stream.flate_encode())
    yield "rulebook.pdf", make.pdf(rules)
    poster = PdfWriter()
    make.pdf_page(poster, "[(Fog, plate 4: Flux.1 se) -15 (ed 77) 8 (1204)] TJ")
    yield "poster.pdf", make.pdf(poster)
    comic = "Inks by hand over Flux.1-dev, guidance 3.5, seed 90114"
    yield "issue-one.cbz", make.zipped({"01.png": make.png({})}, comic)
    source = "Autotraced from /home/mira/fonts/keeper/keeper.glyphs"
    yield "Keeper.woff2", make.font({"familyName": "Keeper", "description": source}, "woff2")
    drawn = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" xmlns:inkscape='
        '"http://www.inkscape.org/namespaces/inkscape" inkscape:export-filename='
        '"/home/mira/art/compass.png"><path d="M4 0 9 9H0z"/></svg>'
    )
    yield "compass.svgz", gzip.compress(drawn.encode(), mtime=0)


def web() -> Iterator[tuple[str, bytes]]:
    page = '<!doctype html><html lang="en"><title>Gallery</title><body>{}</body></html>\n'
    image = '<img src="frost.webp" alt="Frost on a pane" title="Take 3. Seed&#58; 77104418">'
    yield "gallery.html", page.format(image).encode()
    tool = {"@type": "SoftwareApplication", "name": "Midjourney", "softwareVersion": "6.1"}
    linked = {"@context": "https://schema.org", "@type": "ImageObject", "creator": tool}
    script = f'<script type="application/ld+json">{json.dumps(linked)}</script>'
    yield "about.html", page.format(script).encode()
    mapping = {"version": 3, "sources": ["lamp.ts"], "names": [], "mappings": "AAAA"}
    mapping["sourceRoot"] = "/home/mira/games/lamp/src/"
    inline = base64.b64encode(json.dumps(mapping).encode()).decode()
    link = "//# sourceMappingURL=data:application/json;charset=utf-8;base64,"
    yield "game.js", f"let oil=3;function light(){{return--oil>0}}\n{link}{inline}\n".encode()
    tile = '<svg xmlns="http://www.w3.org/2000/svg"><!-- fog tile: SDXL, seed 4815162 --><g/></svg>'
    rule = f'body{{background:#123 url("data:image/svg+xml,{quote(tile)}") repeat-x}}\n'
    yield "theme.css", rule.encode()
    settings = {"name": "Lamp", "start_url": "/", "display": "standalone", "lang": "en"}
    settings["voice_api_key"] = "sk-proj-" + make.token("voices", 64)
    yield "site.webmanifest", json.dumps(settings, indent=2).encode()
    code = (
        f'const t="{make.github_token()}";fetch("/n",{{headers:{{Authorization:`token ${{t}}`}}}})'
    )
    yield "app.js.br", brotli.compress(code.encode())
    note = "NOTE\nNarration: XTTS v2, seed 4410, second take"
    cue = "00:00:01.000 --> 00:00:03.000\nThe lamp went out at four."
    yield "chapter1.vtt", f"WEBVTT\n\n{note}\n\n{cue}\n".encode()
    head = "[Script Info]\nTitle: Opening\nScriptType: v4.00+\n\n[Aegisub Project Garbage]\n"
    head += "Audio File: C:/Users/mira/Videos/opening_mix.wav\nScroll Position: 3\n\n[Events]\n"
    spoken = "Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,Who goes there?\n"
    yield "opening.ass", (head + spoken).encode("utf-8-sig")
    words = "A note under the picture of the stairs, on deck. Sampler: DPM++ SDE Karras, "
    yield "saved.mhtml", saved_page(page.format(f"<p>{words}Seed: 33041187</p>"))


def saved_page(page: str) -> bytes:
    """Return the page as browsers save it: one part, as quoted-printable."""
    head = (
        'From: <Saved by Blink>\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary="b"'
        "\n\n--b\nContent-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n"
        "Content-Location: https://lamp.example/stairs.html\n\n"
    )
    return head.encode() + quopri.encodestring(page.encode()) + b"\n--b--\n"


def packings() -> Iterator[tuple[str, bytes]]:
    named = {"home/mira/projects/lamp/extras/wallpaper.png": make.png({})}
    yield "extras.tar.gz", gzip.compress(make.tarred(named), mtime=0)
    songs = "#EXTM3U\n#EXTINF:184,Theme\n/home/mira/Music/renders/01 Theme.flac\n"
    inside = {"soundtrack/play.m3u": songs.encode(), "soundtrack/01.mp3": make.sound("MP3")}
    yield "soundtrack.tar.bz2", bz2.compress(make.tarred(inside))
    line = "Press F1 for help.\nLoading weights [6ce0161689] from v1-5-pruned-emaonly.safetensors\n"
    yield "manual.txt.xz", lzma.compress(line.encode())
    seven = io.BytesIO()
    with tempfile.TemporaryDirectory() as room, py7zr.SevenZipFile(seven, "w") as archive:
        text = Path(room, "bonus.txt")
        text.write_bytes(b"Wallpaper: SDXL 1.0, seed 6620411\n")
        text.chmod(0o644)
        os.utime(text, (1770000000, 1770000000))
        archive.write(text, "bonus.txt")
    yield "bonus.7z", seven.getvalue()
    hint = '#. Read by ElevenLabs, eleven_multilingual_v2\nmsgid "Hello"\nmsgstr "Guten Abend"\n'
    yield "de.po.lz4", lz4.frame.compress(hint.encode())
    target = '<export target="/Users/mira/Projects/lamp/level1.json" format="json"/>'
    level = f'<map version="1.10" width="2"><editorsettings>{target}</editorsettings></map>'
    yield "level1.tmx.zst", zstandard.compress(level.encode())
    came = "https://cdn.midjourney.com/3b7c1f0e-52d4-4a68-9c1d-0f6a2b8e7715/0_2.png"
    inside = {"plate.png": make.png({}), "__MACOSX/._plate.png": apple_double(came)}
    yield "press-kit.zip", make.zipped(inside)
    daw = '<Application name="Bitwig Studio" version="5.1.3"/>'
    session = f'<Project version="1.0">{daw}<Structure><Track name="Bells"/></Structure></Project>'
    project = make.zipped({"project.xml": session, "metadata.xml": "<MetaData/>"})
    inside = {"stems/bells.wav": make.sound("WAV"), "stems/bells.dawproject": project}
    yield "stems.zip", make.zipped(inside)


def apple_double(source: str) -> bytes:
    """Return what macOS puts beside a downloaded file: its extended attributes."""
    value = plistlib.dumps([source], fmt=plistlib.FMT_BINARY)
    name = b"com.apple.metadata:kMDItemWhereFroms\0"
    start = 50 + 34 + 36 + 11 + len(name)
    entry = struct.pack(">IIHB", start, len(value), 0, len(name)) + name
    sizes = (0, start + len(value), start, len(value), 0, 1)
    finder = bytes(34) + struct.pack(">4s4I12xHH", b"ATTR", *sizes) + entry + value
    head = struct.pack(">II16sH", 0x00051607, 0x00020000, b"Mac OS X        ", 2)
    parts = struct.pack(">6I", 9, 50, len(finder), 2, 50 + len(finder), 0)
    return head + parts + finder


def data() -> Iterator[tuple[str, bytes]]:
    with sqlite3.connect(":memory:") as base:
        base.execute("create table plate (id integer primary key, title text, origin text)")
        origin = '{"engine":"sdxl","seed":1820093,"steps":30}'
        base.execute("insert into plate values (1, 'The stairs', ?)", (origin,))
        base.commit()
        yield "lamp.db", base.serialize()
    basalt = {"prompt": "mossy basalt, tileable", "seed": 660112}
    yield "crate.glb", make.glb({"name": "Basalt", "extras": basalt})
    code = compile("oil = 3\n", "/home/mira/games/lamp/keeper.py", "exec")
    yield "keeper.pyc", importlib.util.MAGIC_NUMBER + bytes(12) + marshal.dumps(code)
    credit = {"plates": [{"file": "sky.png", "log": "sky-74531cfa.detlog.json"}]}
    yield "credits.json", json.dumps(credit, indent=2).encode()
    thanks = "Titelbild: SDXL 1.0, Seed 1234567, danach von Hand übermalt.\r\n"
    yield "LIESMICH.txt", thanks.encode("utf-16")
    name, note = "plate.png", "third try, seed 99120417"
    record = struct.pack(">I", len(name)) + name.encode("utf-16-be") + b"cmmtustr"
    record += struct.pack(">I", len(note)) + note.encode("utf-16-be")
    block = struct.pack(">II", 0, 1) + record
    head = struct.pack(">I4sIII16x", 1, b"Bud1", 36 + len(block), 0, 36 + len(block))
    yield ".DS_Store", head + block


def leaking_files() -> Iterator[tuple[str, bytes]]:
    for group in (pictures, sounds, documents, web, packings, data):
        yield from group()


def build(folder: Path) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    leaking, others = dict(leaking_files()), dict(clean.clean_files())
    for labels, files in ((LEAKING, leaking), (clean.CLEAN, others)):
        if files.keys() != labels.keys():
            raise SystemExit(f"labels and files differ: {files.keys() ^ labels.keys()}")
    return write_set(folder, leaking, others)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
