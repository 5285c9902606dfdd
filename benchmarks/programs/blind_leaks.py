"""Twenty files with traces of their making, and six clean ones, by somebody who knew neither the scanner nor its page.

    cd benchmarks; python -m programs.blind_leaks FOLDER

Their author had read nothing of ``twice asset leaks``: neither its code nor its tests, its guide or the other sets. The
figure that counts is how many were found the first time; docs/guides/leaks.md tells it. They are small, and most plants
carry several traces at once. Nothing here is read by the package.
"""

from __future__ import annotations

import base64
import gzip
import json
import sys
from pathlib import Path

from programs.blind_clean import clean
from programs.leak_coded import (
    animation,
    art,
    chapter,
    coded,
    foreign,
    frame,
    labelled,
    layered,
    module,
    png_text,
    sound,
    tagged,
    user_comment,
    words,
)
from programs.leak_games import zipped
from programs.leak_releases import (
    debian,
    folder_view,
    idol,
    manuscript,
    program,
    repository,
    rules,
    script,
    tables,
    web_font,
)
from programs.leak_sets import write_set

HOME = "/home/mara/work"


def uri(kind: str, body: bytes) -> str:
    """Return bytes as a data URI of a kind."""
    return f"data:{kind};base64,{base64.b64encode(body).decode()}"


def installer() -> bytes:
    """Return a program with a zip behind it, whose atlas has a generator's text."""
    keeper = (
        "pixel art lantern keeper, four directions, flat colours, game sprite\nNegative prompt: blurry, text\n"
        "Steps: 28, Sampler: DPM++ 2M Karras, CFG scale: 6.5, Seed: 2218840917, Size: 768x512, "
        "Model hash: 31e35c80fc, Model: sd_xl_base_1.0"
    )
    strings = {"new": "New game", "load": "Load", "quit": "Quit"}
    files = {
        "data/ui/strings_en.json": json.dumps(strings).encode(),
        "data/sprites/atlas_keeper.png": png_text(art(0), "parameters", keeper),
        "LICENSE.txt": b"Copyright Lanternhouse Games. All rights reserved.\n",
    }
    return zipped(files, before=program())


def bundle() -> bytes:
    """Return a script of a development build with its source map in it."""
    held = {
        "version": 3,
        "file": "game.js",
        "sources": [f"{HOME}/emberfall/renders/batch/atlas-index.ts"],
        "names": [],
        "mappings": "AAAA,SAASA",
    }
    place = uri("application/json;charset=utf-8", json.dumps(held).encode())
    return (
        '"use strict";(()=>{function f(a){return a.x*2}window.__game={start(){document.title="Emberfall";return f({x:4})}}})();\n'
        f"//# sourceMappingURL={place}\n"
    ).encode()


FEED = """<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:content="http://purl.org/rss/1.0/modules/content/">
<channel><title>The Hollow Hour</title><link>https://hollowhour.example/</link><language>en-gb</language>
<description>Short ghost stories, told after dark.</description><itunes:author>The Hollow Hour</itunes:author>
<item><title>7: The Ferryman's Bell</title><guid isPermaLink="false">hollow-007</guid><pubDate>Fri, 06 Nov 2026 21:00:00 GMT</pubDate>
<enclosure url="https://hollowhour.example/007.mp3" length="18230112" type="audio/mpeg"/>
<content:encoded>&lt;p&gt;A bell rings on a river with no ferry.&lt;/p&gt;&lt;!-- narration: eleven_multilingual_v2 voice_id=pNInz6obpgDQGcFmaJgB stability=0.35 similarity_boost=0.80 style=0.15 --&gt;&lt;p&gt;Thanks for listening.&lt;/p&gt;</content:encoded>
</item></channel></rss>
"""


def episode() -> bytes:
    """Return an episode whose second chapter has a picture with a generator's comment in UTF-16."""
    made = {
        "prompt": "a ferry bell over black water, engraving",
        "model": "flux1-dev",
        "seed": 1180235571,
        "steps": 24,
        "cfgscale": 1.0,
        "sampler": "euler",
        "swarm_version": "0.9.5.0",
    }
    comment = b"UNICODE\0" + json.dumps({"sui_image_params": made}).encode("utf-16-le")
    bell = coded(art(2), "JPEG", quality=88, exif=user_comment(comment))
    return tagged(
        [
            words("TIT2", "The Ferryman's Bell"),
            words("TPE1", "The Hollow Hour"),
            frame("CTOC", b"toc\0\x03\x02c0\0c1\0"),
            chapter("c0", 0, 300, "Opening"),
            chapter("c1", 300, 600, "The river", bell),
        ]
    )


def sheet() -> bytes:
    """Return a sprite sheet whose picture has the prompt in its XMP."""
    xmp = (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>'
        '<rdf:li xml:lang="x-default">mossy stone golem, side view, game sprite --ar 3:2 --seed 40213 '
        "--stylize 250 --v 6.1 Job ID: 5d0f0b4c-90a2-4d1c-8f5f-5a8c0e5c7b11</rdf:li></rdf:Alt></dc:description>"
        "</rdf:Description></rdf:RDF></x:xmpmeta>"
    )
    image = uri("image/webp", coded(art(3), "WEBP", lossless=True, xmp=xmp.encode()))
    frames = {f"golem_{i}": {"frame": {"x": 32 * i, "y": 0, "w": 32, "h": 64}} for i in range(3)}
    told = {"frames": frames, "meta": {"image": image, "size": {"w": 96, "h": 64}, "scale": "1"}}
    return json.dumps(told, indent=1).encode()


def save() -> bytes:
    """Return a saved game in SQLite with a generator's graph in a packed value."""
    sampler = {
        "seed": 702145998812,
        "steps": 20,
        "cfg": 7.0,
        "sampler_name": "euler",
        "scheduler": "normal",
        "denoise": 1.0,
        "model": ["4", 0],
    }
    loader = {"ckpt_name": "dreamshaper_8.safetensors"}
    prompt = {"text": "portrait of a river witch, ink wash", "clip": ["4", 1]}
    graph = {
        "3": {"class_type": "KSampler", "inputs": sampler},
        "4": {"class_type": "CheckpointLoaderSimple", "inputs": loader},
        "6": {"class_type": "CLIPTextEncode", "inputs": prompt},
    }
    slot = "INSERT INTO slot VALUES(?,?,?)"
    room = gzip.compress(b'{"room":"mill","hp":20}', mtime=0)
    return tables(
        "CREATE TABLE hero(id INTEGER PRIMARY KEY,name TEXT,hp INT,portrait BLOB);"
        "CREATE TABLE slot(id INTEGER PRIMARY KEY,label TEXT,state BLOB);",
        [
            ("INSERT INTO hero VALUES(1,'Ilse',20,?)", (coded(art(5), "PNG"),)),
            (slot, (1, "autosave", room)),
            (slot, (2, "portrait", gzip.compress(json.dumps(graph).encode(), mtime=0))),
        ],
    )


GALLERY = (
    'GALLERY = {"cg_mill": {"positive_prompt": "watermill at dusk, visual novel background, gouache", '
    '"negative_prompt": "people", "seed": 3391827745, "steps": 30, "cfg_scale": 7.5, "scheduler": "dpmpp_2m_k", '
    '"model": "dreamshaper-8", "app_version": "invokeai 4.2.8"}}\n'
)


def rulebook() -> bytes:
    """Return rules of a game with a generator's file attached."""
    attached = {
        "generation_mode": "txt2img",
        "positive_prompt": "heraldic stag, woodcut, black on cream",
        "seed": 915540021,
        "steps": 32,
        "cfg_scale": 5.5,
        "scheduler": "euler_a",
        "model": {"name": "sdxl-base-1-0", "base": "sdxl"},
    }
    said = json.dumps(attached, indent=1).encode()
    return rules(b"Stag and Thistle: rules for two", b"stag.json", said)


def page() -> bytes:
    """Return a game for the web with its history left in."""
    index = (
        b"<!doctype html><title>Mill Run</title><canvas id=c></canvas><script src=m.js></script>\n"
    )
    message = "Redo tiles with flux1-dev.safetensors, seed 118822, 28 steps, guidance 3.5, LoRA pixel-art-xl at 0.8"
    code = b"const c=document.getElementById('c').getContext('2d');c.fillRect(0,0,9,9);\n"
    return zipped({"index.html": index, "m.js": code} | repository(index, message))


def tavern() -> bytes:
    """Return an animation with a comment longer than one block."""
    return animation(
        "cozy tavern interior at night, warm candle light, wooden beams, a sleeping cat on the counter, rain on the window, "
        "rich shadow, limited palette of sixteen colours, dithered, isometric view, no people in the room, seamless looping "
        "fire in the hearth \nNegative prompt: modern, photo, watermark\nSteps: 25, Sampler: Euler a, CFG scale: 7, "
        "Seed: 554120983, Size: 512x512, Model: pixelwave_v3"
    )


def header() -> bytes:
    """Return the picture of a store's page with a generator's JSON as its comment."""
    made = {
        "prompt": "1girl, lighthouse keeper, storm",
        "uc": "lowres",
        "steps": 28,
        "scale": 5.0,
        "seed": 2890113377,
        "sampler": "k_euler_ancestral",
        "noise_schedule": "native",
        "Software": "NovelAI",
    }
    comment = user_comment(b"ASCII\0\0\0" + json.dumps(made).encode())
    return coded(art(9), "AVIF", exif=comment.tobytes(), quality=80)


def samples() -> bytes:
    """Return a pack of sounds with the view of the folder they lay in."""
    listed = [
        "rain_01.wav",
        "rain_02.wav",
        "stable-audio-open-1.0.safetensors",
        "rain_seed_48151623_cfg7_steps100.wav",
        "prompts_tin_roof.txt",
    ]
    return zipped(
        {
            "rain_pack/.DS_Store": folder_view(listed),
            "rain_pack/rain_01.wav": sound("WAV", "PCM_16", 180.0),
            "rain_pack/rain_02.wav": sound("WAV", "PCM_16", 140.0),
        }
    )


def package() -> bytes:
    """Return a package with a table of its pictures left in."""
    control = (
        "Package: millrun\nVersion: 1.0.2\nArchitecture: all\nMaintainer: Mill Run <hello@millrun.example>\n"
        "Section: games\nPriority: optional\nDescription: a small game about a mill\n"
    )
    table = (
        "file,checkpoint,seed,steps,cfg,sampler,prompt\n"
        'wheel.png,dreamshaper_8.safetensors,1180213,25,7.0,dpmpp_2m,"water wheel, side view, sprite"\n'
        'miller.png,dreamshaper_8.safetensors,1180219,25,7.0,dpmpp_2m,"old miller, full body, sprite"\n'
    )
    place = "usr/share/games/millrun/art"
    files = {f"{place}/assets.csv": table.encode(), f"{place}/wheel.png": coded(art(10), "PNG")}
    return debian(control, files)


def leaking() -> dict[str, bytes]:
    """Return the files that leak, by their names."""
    layer = "ComfyUI_00317_ juggernautXL_v9.safetensors seed 4471920 steps 30 cfg 6.5"
    take = "XTTS-v2 take 4 temperature=0.65 seed=90211 speaker_wav=narrator_ref.wav"
    session = (
        "C:\\Users\\Mara\\Documents\\REAPER Media\\Hollow\\ep07\\ep07_mix_v12.rpp | ReaEQ > FabFilter Pro-C 2 > "
        "ValhallaVintageVerb > iZotope Ozone 11"
    )
    traced = (
        "Glyphs traced from Stable Diffusion XL renders (sd_xl_base_1.0.safetensors, seed 77120, 40 steps, CFG 8), "
        "prompt: blackletter alphabet, ink on vellum"
    )
    face = [
        (1, "Emberfall Display"),
        (2, "Regular"),
        (4, "Emberfall Display Regular"),
        (6, "EmberfallDisplay-Regular"),
        (10, traced),
    ]
    message = [
        "millrun ingame",
        "drums: musicgen-large",
        "prompt: dusty tape",
        "  breaks, 96 bpm",
        "seed 90210 temp 1.0",
        "cfg 3.0 top_k 250",
    ]
    source = {
        "source": "TRELLIS-image-large",
        "prompt": "weathered stone idol with moss",
        "seed": 31337,
        "ss_sampling_steps": 12,
        "slat_guidance_strength": 3.0,
    }
    taken = "C:\\Users\\Mara\\ComfyUI\\output\\ch01\\ComfyUI_00042_.png"
    return {
        "emberfall-setup.exe": installer(),
        "game.js": bundle(),
        "feed.xml": FEED.encode(),
        "hollow_007.mp3": episode(),
        "golem_sheet.json": sheet(),
        "title_screen.psd": layered(layer, art(4)),
        "narration_03.wav": labelled(take),
        "theme.flac": foreign("Hollow Hour theme", session),
        "default_save.db": save(),
        "gallery.rpyc": script("The mill is quiet tonight.", GALLERY),
        "rulebook.pdf": rulebook(),
        "sample_chapter.docx": manuscript(
            "Chapter One. The bell rang twice.", taken, coded(art(6), "PNG")
        ),
        "emberfall-display.woff": web_font(face),
        "millrun-html5.zip": page(),
        "tavern.gif": tavern(),
        "store_header.avif": header(),
        "ingame.xm": module(message),
        "rain_pack.zip": samples(),
        "millrun_1.0.2_all.deb": package(),
        "idol.glb": idol(source),
    }


def build(folder: Path) -> list[Path]:
    """Write both kinds below a folder and return the files."""
    return write_set(folder, leaking(), clean())


if __name__ == "__main__":
    build(Path(sys.argv[1]))
