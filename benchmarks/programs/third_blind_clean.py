"""The clean files of the third blind set: forty that a scan must not accuse.

They are of kinds that games, audio dramas, web sites and art books ship. Many hold words or
shapes that resemble traces of technique: seeds that are sown, worlds that players share by seed,
models who sit for a painter, steps, samplers, prompts, versions, hashes. CLEAN says for each name
why it is clean. See third_blind_leaks, whose docstring says what the author knew.
"""

import hashlib
import io
import json
import sqlite3
import struct
import zlib
from collections.abc import Iterator
from time import gmtime

import mido
from PIL import PngImagePlugin
from pypdf import PdfWriter

from programs import third_blind_makers as make

CLEAN = {
    # code and data of games
    "tween.js": "clean: easing by steps, a sampler of textures, a prompt of the browser",
    "bundle.min.js": "clean: minified code with hashes of chunks, UUIDs and integrity values",
    "site.css": "clean: steps(12), a mask, a font as an ordinary data URI",
    "clouds.glsl": "clean: a shader with a seed uniform, STEPS and samplers",
    "Dissolve.shader": "clean: a Unity shader with the property _Seed and SamplerState",
    "worlds.json": "clean: worlds of a game, which players choose and share by seed",
    "slot1.sav": "clean: a saved game packed by zlib, with the world's seed and dice",
    "forest.tmj": "clean: a level whose spawner has a seed, tiles by relative paths",
    "catalogue.json": "clean: items with 16-digit ids, model numbers and check sums",
    "wardrobe.json": "clean: a fashion game: models, samples, sizes, steps of a walk",
    "barrel.glb": "clean: a mesh with material names and extras of the game's own",
    "items.db": "clean: SQLite with seeds and tools to buy in a farming game",
    "mod.zip": "clean: a mod with folders models, prompts and samples, and a comment",
    # words
    "garden.html": "clean: gardening: Seed: 12 per pot, seed 15 mm deep",
    "recipe.html": "clean: a recipe with seeds by weight and steps, also as JSON-LD",
    "painting.txt": "clean: prose on painting: oil on canvas, steps 1-4, the model, denoising none",
    "studio-visit.html": "clean: a story on voices, a prompter, a reaper and a blender",
    "terminal.html": "clean: a Twine story in which a machine of the story shows its prompt",
    "patchnotes.md": "clean: versions of a game, and its daily seed for players",
    "impressum.html": "clean: a German imprint: Kontakt with telephone numbers",
    "shop.html": "clean: cosmetics: a serum of 1.7 fl oz, a massive comb, vital cream",
    "OFL.txt": "clean: words of a font licence with reserved names and versions",
    "NOTICES.txt": "clean: notices of the libraries that a game links, with their versions",
    "en.srt": "clean: subtitles on seeds, models and a prompt answer",
    "en.vtt": "clean: captions with a style and a note on the translation",
    "strings.csv": "clean: a localisation table with keys such as ui.prompt.confirm",
    "messages.po": "clean: a translation with places in code by relative paths",
    "logo.svg": "clean: a drawing with ids such as seed-1 and data-step",
    # pictures and sounds
    "sunset.jpg": "clean: a photograph with the camera's maker, model and settings",
    "tiles.png": "clean: title, author and copyright as PNG texts, pixel density",
    "meadow.webp": "clean: a picture with title and rights in XMP",
    "rain.flac": "clean: a sound with title, artist, date and licence",
    "talk.mp3": "clean: an episode with ID3 title, words of a song, a cover",
    "ocean.opus": "clean: a sound with title and artist, coded by FFmpeg",
    "loop.wav": "clean: a loop with name, artist, copyright and a smpl chunk",
    "hymn.mid": "clean: MIDI with names of tracks, words and a key",
    "intro.mp4": "clean: H.264 by x264, whose options stand in every such stream",
    # books and fonts
    "tale.epub": "clean: a chapter in which seed and model are words of the story",
    "artbook.pdf": "clean: plates with the sitter's name, the medium and a year",
    "Hearth.ttf": "clean: a font with version, designer, licence and sample text",
}

TWEEN = """\
// Lantern swing and door opening.
const swing = {steps: 12, easing: "out", seed: false, loop: -1};
const sampler = gl.createSampler();
gl.samplerParameteri(sampler, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
export function shuffle(cards, seed = 1) {
  for (let i = cards.length - 1; i > 0; i--) {
    seed = (seed * 16807) % 2147483647; // minimal standard generator
    const j = seed % (i + 1);
    [cards[i], cards[j]] = [cards[j], cards[i]];
  }
  return cards;
}
export const ask = () => window.prompt("Your name?", "Keeper");
const model = mat4.create(), cfg = {scale: 7, steps: 20};
"""
CSS = """\
@font-face { font-family: Hearth; src: url("data:font/woff;base64,d09GRgABAAAAAA==") }
.lamp { animation: glow 2s steps(12, jump-end) infinite; image-rendering: pixelated }
.seed-packet { mask: url(img/seed.svg); transform: scale(1.5) /* scale up, not the model */ }
#prompt::after { content: "\\25ae"; animation-timing-function: steps(2) }
.noise { background: url("img/noise.png?v=4f1c2a97d3e85b60") }
"""
GLSL = """\
#version 300 es
precision highp float;
uniform float seed;  // one for each cloud
uniform sampler2D noise;
const int STEPS = 64;
in vec2 uv; out vec4 colour;
float hash(vec2 p) { return fract(sin(dot(p, vec2(12.9898, 78.233)) + seed) * 43758.5453); }
void main() {
  float guidance = 0.5, sum = 0.0;
  for (int step = 0; step < STEPS; ++step) sum += texture(noise, uv + hash(uv)).r;
  colour = vec4(vec3(sum / float(STEPS)), 1.0);
}
"""
SHADER = """\
Shader "Lamp/Dissolve" {
  Properties {
    _MainTex ("Texture", 2D) = "white" {}
    _Seed ("Seed", Float) = 17
    _Steps ("Steps", Range(1, 64)) = 20
    _Strength ("Strength", Range(0, 1)) = 0.65
  }
  SubShader { Pass { HLSLPROGRAM
    #pragma shader_model 5.0
    Texture2D _MainTex; SamplerState sampler_MainTex; float _Seed;
  ENDHLSL } }
}
"""
PAINTING = """\
The Keeper's Daughter, 1894. Oil on canvas, 61 x 48 cm. Museum no. 1934.117.
Her model was a fisherman's widow, who sat for her in eleven sessions.
Steps 1-4 of the underpainting can be seen in raking light: ground, drawing, dead colour, glaze.
The sketch was made at the prompting of her dealer. Negative space does most of the work.
A later version, with the lamp lit, is in Bergen. Guidance for visitors: no flash.
"""
PATCHES = """\
# Lampkeeper 1.4.2
- Today's daily run has one seed for everyone: type it in, or press Random.
- World seeds longer than 12 digits are accepted (try 271828182845).
- Fixed: the tutorial prompt "Press E to climb" stayed after step 3.
- New low-poly model for the gull; the old model is gone. Max steps per turn: 30.
- Engine updated from 4.2.1 to 4.2.2. Save files of 1.3 still load.
"""
OFL = """\
Copyright 2026 The Hearth Project Authors, with Reserved Font Name "Hearth".
This Font Software is licensed under the SIL Open Font License, Version 1.1.
PREAMBLE The goals of the Open Font License (OFL) are to stimulate worldwide development of
collaborative font projects, and to provide a free and open framework in which fonts may be shared.
"Original Version" refers to the collection of Font Software components as distributed by the
Copyright Holder(s). "Modified Version" refers to any derivative made by adding to, deleting, or
substituting components, or by porting the Font Software to a new environment.
"""
NOTICES = """\
This game uses: SDL 2.30.2 (zlib licence), zlib 1.3.1, libpng 1.6.43, FreeType 2.13.2,
Dear ImGui 1.90.4 (MIT), stb_image 2.29 (public domain), Lua 5.4.6 (MIT), OpenAL Soft 1.23.1
(LGPL-2.1), libvorbis 1.3.7 (BSD), xoshiro256** by David Blackman and Sebastiano Vigna (CC0).
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files, to deal in the Software without restriction.
"""
SRT = """\
1
00:00:01,000 --> 00:00:03,200
[rain on glass]
He planted the seed in 1911.

2
00:00:04,000 --> 00:00:06,500
- Two models of the same lighthouse.
- And one prompt answer, please!

3
00:00:07,000 --> 00:00:09,000
♪ Step by step, 20 steps and more ♪
"""
VTT = """\
WEBVTT

NOTE Translated by Ines Holm, checked twice. Version 3.

STYLE
::cue(v[voice="Keeper"]) { color: #ffd }

scene-2
00:01.000 --> 00:03.000 align:start
<v Keeper>Bring the seed. The model can wait.

00:04.000 --> 00:06.000
<v Gull>[cries, twice]
"""
CSV = """\
key,en,de,fr
ui.prompt.confirm,"Are you sure?","Sicher?","Vraiment ?"
ui.seed.label,"World seed:","Weltkeim:","Graine du monde :"
npc.seed_merchant.3,"Seed, 12 coins a bag!","Saatgut, 12 Münzen!","Graines, 12 pièces !"
ui.settings.steps,"Steps: {0}","Schritte: {0}","Pas : {0}"
ui.model.rotate,"Turn the model","Modell drehen","Tourner le modèle"
"""
PO = """\
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nLanguage: de\\nPlural-Forms: nplurals=2;\\n"

#. Shown above the box for the world's seed
#: src/menu.cpp:88 src/world/seed.cpp:14
#, c-format
msgid "Seed: %d"
msgstr "Keim: %d"
"""
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40" role="img" aria-labelledby="t">
<title id="t">Lampkeeper</title><defs><linearGradient id="seed-1a2b3c4d"><stop offset=".2"/>
</linearGradient><filter id="f"><feTurbulence seed="17" numOctaves="3" baseFrequency=".04"/>
</filter></defs><path id="model-7" data-step="3" fill="url(#seed-1a2b3c4d)" d="M4 4h32v32H4z"/>
</svg>
"""
PAGES = {
    "garden.html": "<h1>Nasturtiums</h1><p>Seed: 12 per pot. Sow seed 15 mm deep, one step apart. "
    "Variety 'Empress', batch 2026-03.</p><table><tr><th>Seed</th><td>40 g</td></tr></table>",
    "studio-visit.html": "<p>The voice on the tape was her own. The prompter hung from a nail, the "
    "reaper stood in the barn, and a blender on the shelf. “Take 3,” she said, “less reverb.” "
    "Serum for the calf, logic for the farmer, live music for us all.</p>",
    "terminal.html": '<tw-storydata name="Terminal" startnode="1" ifid="1F3A6C20-7B1E-4C7B-9B57-'
    '6A1D3F0C9E11"><tw-passagedata pid="1" name="Boot" tags="prompt">C:\\GAMES&gt; type log.txt'
    "&lt;br&gt;The model of the tower has 199 steps.&lt;br&gt;[[Seed the clouds]]</tw-passagedata>"
    "</tw-storydata>",
    "impressum.html": "<h1>Impressum</h1><p>Kontakt 030 / 5512 7783, Fax 030 / 5512 7784<br>Atelier "
    "Leuchtturm, Hafenstr. 8, 10115 Berlin<br>Modell: Ines Holm. USt-IdNr. DE 123456789</p>",
    "shop.html": "<ul><li>Night Serum 1.7 fl oz, with grape seed oil</li><li>Massive comb, 3 models"
    "</li><li>Vital cream, step 2 of 4</li><li>Sampler: five soaps, 7 scents</li></ul>",
}


def game_files() -> Iterator[tuple[str, bytes]]:
    yield "tween.js", TWEEN.encode()
    hashes = [hashlib.sha384(bytes([n])).hexdigest() for n in range(12)]
    chunks = ",".join(f'{n}:"{text[:20]}"' for n, text in enumerate(hashes))
    code = f'!function(){{var e={{{chunks}}},t="sha384-{hashes[3][:64]}",n=.5*Math.random();'
    code += 'const s=(e,t)=>{for(let n=0;n<t.steps;n++)e(n)},m={id:"9b2f6c1e-04d7-4b7a-8f53-'
    code += f'c21d0e7a6b94",model:null,seed:0}};self.k="{hashes[7]}"}}();'
    yield "bundle.min.js", code.encode()
    yield "site.css", CSS.encode()
    yield "clouds.glsl", GLSL.encode()
    yield "Dissolve.shader", SHADER.encode()
    worlds = [
        {"name": "Ashmoor", "seed": 8842117, "biome": "fen"},
        {"name": "Holmsund", "seed": -1203377, "biome": "skerry"},
    ]
    yield "worlds.json", json.dumps({"worlds": worlds, "share": "Ashmoor#8842117"}).encode()
    save = {"world": {"seed": "8842117", "day": 31}, "dice": [4, 2, 6], "steps": 18220, "hp": 7}
    yield "slot1.sav", b"LAMP\1\0" + zlib.compress(json.dumps(save).encode())
    spawner = {"name": "spawnSeed", "type": "int", "value": 9123}
    tiles = {"firstgid": 1, "source": "../tiles/forest.tsx"}
    level = {"type": "map", "version": "1.10", "width": 2, "height": 1, "tilesets": [tiles]}
    yield "forest.tmj", json.dumps({**level, "properties": [spawner]}).encode()
    items = [
        {"id": 4815162342000000 + n * 7919, "model": f"K-{n + 20}", "crc": f"{n * 91997:08x}"}
        for n in range(6)
    ]
    yield "catalogue.json", json.dumps(items).encode()
    walk = {"model": "Ines", "outfit": "oilskin", "steps": 40, "size": "38", "sample": True}
    yield "wardrobe.json", json.dumps({"runway": [walk], "prompt": "Choose a coat!"}).encode()
    yield "barrel.glb", make.glb({"name": "Oak", "extras": {"lootTable": "fish", "weight": 12}})
    with sqlite3.connect(":memory:") as base:
        base.execute("create table item (id integer primary key, name text, note text)")
        goods = [("Turnip seed", "Seed: 4 coins"), ("Scythe", "Model 2, step up"), ("Lamp", "")]
        base.executemany("insert into item (name, note) values (?, ?)", goods)
        base.commit()
        yield "items.db", base.serialize()
    prompts = {"climb": "Press E to climb", "seed": "Plant the seed?"}
    parts: dict[str, bytes | str] = {
        "models/barrel.obj": "mtllib barrel.mtl\no Barrel\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "models/barrel.mtl": "newmtl Oak\nmap_Kd textures/oak.png\n",
        "textures/oak.png": make.png({}),
        "prompts/en.json": json.dumps(prompts),
        "samples/knock.wav": make.sound("WAV"),
    }
    yield "mod.zip", make.zipped(parts, "Oak barrels for Lampkeeper, version 2. Enjoy!")


def word_files() -> Iterator[tuple[str, bytes]]:
    whole = '<!doctype html><html lang="en"><meta charset="utf-8"><body>{}</body></html>\n'
    for name, body in PAGES.items():
        yield name, whole.format(body).encode()
    steps = [{"@type": "HowToStep", "text": text} for text in ("Toast the seed.", "Knead 12 min.")]
    recipe = {"@context": "https://schema.org", "@type": "Recipe", "name": "Seed loaf"}
    recipe |= {"recipeIngredient": ["sesame seed 20 g", "flour 500 g"], "recipeInstructions": steps}
    card = "<p>Mustard seed: 5 g. Steps: 2. Oven: 220.</p>"
    script = f'<script type="application/ld+json">{json.dumps(recipe)}</script>'
    yield "recipe.html", whole.format(card + script).encode()
    texts = {"painting.txt": PAINTING, "patchnotes.md": PATCHES, "OFL.txt": OFL, "en.vtt": VTT}
    texts |= {"NOTICES.txt": NOTICES, "en.srt": SRT, "strings.csv": CSV, "messages.po": PO}
    for name, text in {**texts, "logo.svg": SVG}.items():
        yield name, text.encode()


def pictures_and_sounds() -> Iterator[tuple[str, bytes]]:
    camera = {0x010F: "NIKON CORPORATION", 0x0110: "NIKON D750", 0x0132: "2025:08:14 21:03:55"}
    lens = {0x829A: 0.004, 0x829D: 8.0, 0x8827: 200, 0xA434: "AF-S NIKKOR 24-70mm f/2.8G ED"}
    image = make.picture((96, 64))
    yield "sunset.jpg", make.saved(image, "JPEG", exif=make.exif(camera, lens))
    info = PngImagePlugin.PngInfo()
    for key, text in {"Title": "Tiles", "Author": "Ines Holm", "Copyright": "2026"}.items():
        info.add_text(key, text)
    yield "tiles.png", make.saved(image, "PNG", pnginfo=info, dpi=(144, 144))
    title = '<dc:title><rdf:Alt><rdf:li xml:lang="x-default">Meadow, seed heads</rdf:li></rdf:Alt>'
    rights = "</dc:title><dc:rights>Ines Holm 2026</dc:rights>"
    yield "meadow.webp", make.saved(image, "WEBP", xmp=make.xmp(title + rights))
    named = {"title": "Rain on slate", "artist": "Ines Holm", "date": "2026"}
    yield (
        "rain.flac",
        make.sound("FLAC", comment="Recorded in Bergen", license="CC BY 4.0", **named),
    )
    song = b"\0eng\0The seed fell deep, the model ship sailed on"
    cover = b"\0image/png\0\3\0" + make.png({})
    frames = {"TIT2": b"\0Talk 7: Seeds", "TRCK": b"\x007/12", "USLT": song, "APIC": cover}
    yield "talk.mp3", make.id3(frames) + make.sound("MP3")
    yield "ocean.opus", make.coded("ogg", "libopus", title="Ocean", artist="Ines Holm")
    fields = {b"INAM": b"Low bell loop\0", b"IART": b"Ines Holm\0", b"ICOP": b"2026 Ines\0"}
    parts = b"".join(k + struct.pack("<I", len(v)) + v for k, v in fields.items())
    loop = struct.pack("<9I6I", 0, 0, 22675, 57, 0, 0, 0, 1, 0, 0, 0, 0, 22049, 0, 0)
    wave = make.with_chunk(make.sound("WAV"), b"smpl", loop)
    yield "loop.wav", make.with_chunk(wave, b"LIST", b"INFO" + parts)
    track = mido.MidiTrack()
    track.append(mido.MetaMessage("track_name", name="Organ, 8 foot"))
    track.append(mido.MetaMessage("lyrics", text="Be still, my seed"))
    track.append(mido.MetaMessage("key_signature", key="Dm"))
    for note in (62, 65, 69):
        track.append(mido.Message("note_on", note=note, velocity=70))
        track.append(mido.Message("note_off", note=note, time=480))
    out = io.BytesIO()
    mido.MidiFile(tracks=[track]).save(file=out)
    yield "hymn.mid", out.getvalue()
    yield "intro.mp4", make.film("mp4", "libx264", title="Lampkeeper")


def books_and_fonts() -> Iterator[tuple[str, bytes]]:
    chapter = (
        "<h1>The Seed</h1><p>The seed lay in the drawer, 12 grains in a twist of paper. Steps on "
        "the stair: one, two, three. “A model child,” said the prompt old nurse, and her voice "
        'was version enough of the truth.</p><img src="plate.png" alt="A drawer, half open"/>'
    )
    yield "tale.epub", make.epub("The Seed", chapter)
    plates = io.BytesIO()
    when = gmtime(1770000000)
    make.picture((120, 90)).save(plates, "PDF", creationDate=when, modDate=when)
    art = PdfWriter()
    make.pdf_page(art, "(Model: Anna Holm, 1912. Oil on canvas.) Tj T* (Steps 1-4 overleaf.) Tj")
    art.append(plates)
    yield "artbook.pdf", make.pdf(art, Title="North Light", Author="Ines Holm")
    names = {"familyName": "Hearth", "version": "Version 1.002", "designer": "Ines Holm"}
    names |= {"licenseDescription": "SIL Open Font License 1.1", "sampleText": "Seed and step"}
    yield "Hearth.ttf", make.font(names)


def clean_files() -> Iterator[tuple[str, bytes]]:
    for group in (game_files, word_files, pictures_and_sounds, books_and_fonts):
        yield from group()
