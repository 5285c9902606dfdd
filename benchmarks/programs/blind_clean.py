"""The six clean files of ``blind_leaks.py``: seeds, steps, models and prompts as cameras, gardeners and novels have them.

Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import json

from programs.leak_coded import art, chapter, coded, frame, photo, tagged, words
from programs.leak_games import zipped
from programs.leak_releases import novel, tables

OPF = (
    '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="u">'
    '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="u">urn:isbn:9780000000002</dc:identifier>'
    "<dc:title>The Seed Merchant</dc:title><dc:language>en</dc:language><dc:creator>Anna Holm</dc:creator>"
    '<meta property="dcterms:modified">2026-01-02T00:00:00Z</meta></metadata>'
    '<manifest><item id="n" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    '<item id="c" href="c1.xhtml" media-type="application/xhtml+xml"/><item id="i" href="m.jpg" media-type="image/jpeg"/>'
    '</manifest><spine><itemref idref="c"/></spine></package>'
)
NAVIGATION = (
    '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Contents</title></head>'
    '<body><nav epub:type="toc"><ol><li><a href="c1.xhtml">Twenty Steps</a></li></ol></nav></body></html>'
)
CHAPTER = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Twenty Steps</title></head><body><h1>Twenty Steps</h1>'
    "<p>There were twenty steps: she had counted them. At the bottom stood a sampler her aunt had stitched, and a model of "
    "the harbour, scale 1 to 200.</p>"
    "<p>&#8220;Your prompt?&#8221; the machine asked. She typed: <i>a seed is only patience with a shell on it.</i> Noise "
    "came back, then a voice, temperature 0.7 of a degree above the room. &#8220;Seed: 41. Model: the old one,&#8221; it "
    'said. &#8220;I was trained on worse than you.&#8221;</p><p><img src="m.jpg" alt="A meadow"/></p></body></html>'
)
CAVES = """-- cave generator
local seed = tonumber(arg and arg[2]) or os.time()
math.randomseed(seed)
local steps, model = 64, require('models.cart')
local function noise(x, y) return love.math.noise(x * 0.05 + seed % 1000, y * 0.05) end
function love.load()
  for i = 1, steps do model:walk(noise(i, 0)) end
  prompt = 'Press any key'
end
function love.draw() love.graphics.print(prompt, 10, 10) end
"""
CART = """local Cart = {x = 0}
function Cart:walk(d) self.x = self.x + d end
return Cart
"""
MANUAL = """Saves are kept in ~/.local/share/love/caves on Linux and in %APPDATA%\\LOVE\\caves on Windows.
Start with: love caves.love 12345   (the number is the world seed; the same seed gives the same cave)
"""
LICENCE = """MIT License

Copyright (c) 2026 Lanternhouse Games

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.
"""


def garden() -> bytes:
    """Return a page about carrots, with its steps told to search engines and a picture in it."""
    told = {
        "@context": "https://schema.org",
        "@type": "HowTo",
        "name": "Sow carrots",
        "supply": ["Seed: Nantes 2", "Fine sand"],
        "step": [
            {"@type": "HowToStep", "text": "Mix the seed with sand."},
            {"@type": "HowToStep", "text": "Sow at 1 cm, scale the rows to your bed."},
        ],
    }
    image = base64.b64encode(coded(art(14, 32, 32), "PNG")).decode()
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sowing carrots in ten steps</title>'
        f'<script type="application/ld+json">{json.dumps(told)}</script></head><body>'
        "<!-- footer links go here, see the style guide --><h1>Sowing carrots</h1><p>Steps: 10. Seed: Nantes 2. Model of "
        "drill: Earthway 1001-B. Be prompt in thinning; noise from the road does not harm them.</p>"
        f'<img alt="" src="data:image/png;base64,{image}"></body></html>\n'
    ).encode()


def song() -> bytes:
    """Return a song with a chapter, a picture and its words."""
    verse = "I planted a seed in the static and noise\nten steps to the water, a model of joys"
    picture = coded(art(15), "JPEG", quality=88)
    return tagged(
        [
            words("TIT2", "Random Seed"),
            words("TPE1", "Anna Holm"),
            words("TALB", "Steps and Noise"),
            words("TRCK", "3/9"),
            frame("COMM", b"\0eng\0Recorded live at the Model Works, Leeds. Take two."),
            frame("USLT", b"\0eng\0" + verse.encode()),
            frame("CTOC", b"toc\0\x03\x01c0\0"),
            chapter("c0", 0, 600, "Prompt side, first verse", picture),
        ],
        330.0,
    )


def world() -> bytes:
    """Return a game's world in SQLite."""
    thing = "INSERT INTO thing VALUES(?,?,?,?,?)"
    return tables(
        "CREATE TABLE world(id INTEGER PRIMARY KEY,name TEXT,seed INTEGER,steps INTEGER);"
        "CREATE TABLE thing(id INTEGER PRIMARY KEY,model TEXT,x REAL,y REAL,note TEXT);",
        [
            ("INSERT INTO world VALUES(1,'Millbrook',8812391,1200)", ()),
            (thing, (1, "wooden_cart.glb", 3.5, 8.25, "squeaks")),
            (thing, (2, "seed_bag.glb", 1, 2, "Prompt: press E to plant")),
        ],
    )


def clean() -> dict[str, bytes]:
    """Return the clean files, by their names."""
    parts = {
        "b.opf": OPF.encode(),
        "nav.xhtml": NAVIGATION.encode(),
        "c1.xhtml": CHAPTER.encode(),
        "m.jpg": photo(12, 120, 80),
    }
    game = {
        "main.lua": CAVES.encode(),
        "models/cart.lua": CART.encode(),
        "README.txt": MANUAL.encode(),
        "LICENSE": LICENCE.encode(),
        "gfx/tiles.png": coded(art(13), "PNG"),
    }
    return {
        "meadow.jpg": photo(11, 240, 160),
        "novel.epub": novel(parts),
        "game.zip": zipped(game),
        "garden.html": garden(),
        "song.mp3": song(),
        "world.db": world(),
    }
