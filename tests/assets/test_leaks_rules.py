"""Claims about words: forms of technique are accused; stories, manuals, games and the code of games are not."""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from leakfiles import chunk, leaks, png, scanned
from PIL import Image

from twice.assets.leaks.report import LeakFinding

WHO = (
    "The reaper", "Ada", "A sailor", "The model", "Her brother", "The keeper of the lamp", "Serum and salt,",
)  # fmt: skip
DID = (
    "planted the seed in the black earth", "took seven steps to the door", "was prompt, and said nothing",
    "found that logic, pro and contra, had left him", "sampled the wine at a scale of ten",
    "generated more noise than light", "mixed ozone with the smell of waves", "read the log by candle",
    "rendered the fat over a low fire", "kept a path /home/ through the reeds in mind",
    "counted seeds: one, two, three, four", "went to the blender, then to the kitchen",
    "drew from imagen, as the old ones called it", "played the flux of the tide on a kontakt of wires",
)  # fmt: skip
WHEN = (
    "before the tide of 1834 came in", "at 12:45, by the clock: late", "on page 12345678 of the ledger",
    "while 100 % of the town slept", "and the audacity of it pleased everyone",
    "in Studio One of the old mill, with the reverb of 20 years", "as version 2 of the story has it",
)  # fmt: skip


def documentation() -> Iterator[str]:
    """Yield docstrings of the standard library: real English by many hands.

    Their sources are read, not imported: other tests look at which modules are loaded.
    """
    folder = Path(argparse.__file__).parent
    for name in ("argparse", "asyncio", "calendar", "collections", "csv", "decimal", "difflib", "email",
                 "heapq", "inspect", "json", "logging", "os", "pathlib", "pdb", "statistics", "string",
                 "tarfile", "textwrap", "threading", "turtle", "typing", "unittest", "zipfile"):  # fmt: skip
        package = folder / name
        for path in sorted(package.rglob("*.py")) if package.is_dir() else [folder / f"{name}.py"]:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                    said = ast.get_docstring(node)
                    if said and len(said) > 200:
                        yield said


def accused(text: str) -> list[tuple[str, str]]:
    found = scanned(text.encode(), "story.txt")
    return [(each.rule, each.excerpt) for each in found if isinstance(each, LeakFinding)]


def test_two_hundred_and_more_passages_of_stories_are_not_accused() -> None:
    sentences = [f"{who} {did} {when}." for who, did, when in itertools.product(WHO, DID, WHEN)]
    stories = [" ".join(sentences[at : at + 3]) for at in range(0, len(sentences), 3)]

    assert len(stories) >= 200
    assert [accused(each) for each in stories if accused(each)] == []


def test_three_hundred_and_more_passages_of_documentation_are_not_accused() -> None:
    texts = list(documentation())

    assert len(texts) >= 300
    assert [accused(each) for each in texts if accused(each)] == []


ORDINARY = (
    "\u201cSeed: 41,\u201d it said.", "'Seed: 41.'", "Seed: 41. Model: the old one.", "Seed: 12 per pot", '{"seed": 41}',
    '{steps: 12, easing: "out"}', "{ steps: 12, duration: 300 }", '{"world": {"seed": 8675309, "biome": "salt"}}',
    "World seed: 8675309", 'seed = 1337\n[sub_resource type="FastNoiseLite"]', "const SEED = 20461; const rng = mulberry32(SEED);",
    'level.json {"seed": 48151623, "level": 3, "spawn": [4, 9]}', "--seed 12345 makes the same dungeon again",
    '{"model_id": "tree_03", "model_name": "barrel"}', '{"checkpoint_id": "bridge_2", "voice_id": "guard_04"}',
    '{"class_type": "warrior", "level": 4}', '{"prompt": "Enter your name", "width": 320}',
    "Walk 12 steps and sow the seed.", "A drum sampler with 16 steps.", "The Euler method with 100 steps.",
    "h = 0.1 and 100 steps, Euler a little below the curve", "Seed 1024 of the club ladder",
    "20 steps with guidance from a coach", "waves around 2.5 metres", "Ozone 0.06 ppm", "ver la imagen 1.2",
    "apiKey: getApiKeyFromKeychain()", 'api_key = "your_api_key_goes_here_0001"', "a.als, e.cpr; x.flp)",
    '{"log_id": 5512, "event": "login"}', "audio_render: 48000", "seeds: 1204, peers: 88", "/home/pi/garden/water.py",
    "rng = np.random.default_rng(seed=12345)", "Photoshop 3.0", "int32_t seed = 0xDEADBEEF;",
    '{"steps": 12, "easing": "out", "level": 4, "seed": 8812345}', 'compare "dw" and "daw": "dw" deletes',
    '{"model_name": "stairs", "steps": 12}', "dungeon_seed: 881204", "C:\\Users\\%user%\\AppData\\Roaming",
    "level-seed=-4172144997902289642", "autoRandomSeed: 1\nrandomSeed: 84733271", "Seed: 1200 kg per hectare",
    "seed: 1234\nepochs: 10", "C:\\Users\\Public\\Games\\quay", "the reaper 1.0 of the village",
    "https://host/api/users/mira/documents/17", "gpt-4 answers, and so does claude-ville", "install_prompt = None",
    '<feTurbulence baseFrequency="0.02" numOctaves="3" seed="1789"/>', "routes: [{path: '/home/about/team.html'}, '/users/anna/profile']",
    "Kontakt 10.2. bis 14.2. nur per Post", "aws_key = AKIAIOSFODNN7EXAMPLE", f"token: ghp_{'x' * 36}",
    "a picture that its owner had made with Midjourney won the prize",
)  # fmt: skip
TECHNICAL = (
    f"sk-ant-api03-{'4f0c9a7b' * 6}",
    # said in words
    "Rendered in SDXL, seed 1234.", "A stinger at -10 LUFS.", "Made with Midjourney v6.", "Mixed in REAPER.",
    f"STUDIO_API_KEY=sk_{'4f0c9a7b' * 6}", f"npm_{'a1B2' * 9}", r"Steps\: 32, Sampler\: Euler a", "Cubase Pro 13.0.20",
    "Ableton Live 12 Suite 12.0.5", r'{"a": "{\\\\\\\"seed\\\\\\\": 439212}"}', "art = /home/mira/cover.png",
    "C:\\Users\\mira\\quay\\gate.rpp", "see /home/mira/renders/quay.png", "log TU-2025-11-05-AP01",
    "tideland_v2.safetensors", "cfg_scale: 7", "Negative prompt: text",
    # ordinary forms beside other technique
    '{"prompt": "a mill", "seed": 41}', "Seed: 41, Size: 512x512", '{"seed": 41, "sampler": "euler"}', "Seed: 2218840917.",
    '{"seed": 439212}', "noise_seed: 7719", '{"steps": 20, "cfg": 7, "seed": 12}', "Steps: 20, Sampler: Euler", "Blender 4.1",
    '{"inputs": {"seed": 5, "steps": 20}, "class_type": "SamplerCustom"}', '{"log_id": "a", "payload": "determinism"}',
    "rendered: 30 steps, cfg 7", "20 steps, Euler a, cfg 7", '{"model_name": "x_v3", "sampler": "a"}', "Kontakt 7.10",
    "/home/mira/garden/water.py", '<tiles><property name="prompt" value="a"/><property name="seed" value="55120394"/>',
    # a seed as data write it
    "file,seed,sampler\na.png,7,euler\n", "<made><seed>439212</seed></made>", '{"seeds": [439212, 439213]}',
    '{"noiseSeed": 439212}', '{"initialSeed":"55120394"}', '{"name":"seed","value":55120394}', "seed = 55_120_394",
    '<property name="seed" type="int" value="8675309"/>', "<key>seed</key>\n<integer>8675309</integer>",
    "<td class='k'>Seed</td><td class='v'>5512039477</td>", "seed: 0x9E3779B97F4A7C15", "Seed\t8675309",
    # names of files, models, tools and services
    "Massive.nksf", "D:\\work\\quay\\gate_v3.psd", "https://cdn.midjourney.com/8f3a/0_0.png", "voice_id=EXAVITQu4vr4xnSDxMaL",
    "negative_prompt\xa6people\xa9cfg_scale", "sd_xl_base_1.0", "Blender (stable FBX IO) - 4.5.15 LTS", "meshy_seed",
    "Drafted with gpt-4o-2024-08-06", '{"engine": "gpt-4-turbo"}', 'MODEL = "runwayml/stable-diffusion-v1-5"',
    "\x17value/Users/mira/.cargo/registry/src", "file:///C:/Users/Mira%20K/Desktop/post.png",
    '"name": "Midjourney", "softwareVersion": "6.1"',
)  # fmt: skip


@pytest.mark.parametrize("said", ORDINARY)
def test_an_ordinary_form_is_not_accused(said: str) -> None:
    assert not accused(said)


@pytest.mark.parametrize("said", TECHNICAL)
def test_a_form_of_technique_is(said: str) -> None:
    assert leaks(said.encode("latin-1"))


@pytest.mark.parametrize("words", ["Reaper", "Blender 4.1", "Serum", "Kontakt 7"])
def test_a_field_that_is_a_tools_name_is_a_trace_and_prose_with_the_word_is_not(words: str) -> None:
    tool = words.split(maxsplit=1)[0].lower()
    prose = f"When the tide had gone, the {tool} stood in the corner as before."

    assert leaks(png(chunk(b"tEXt", b"Source\0" + words.encode())))
    assert not leaks(png(chunk(b"tEXt", b"Source\0" + prose.encode())))


def test_a_camera_that_names_itself_is_not_a_generator() -> None:
    picture, file, exif = Image.new("RGB", (8, 8)), io.BytesIO(), Image.Exif()
    exif[0x010F], exif[0x0110] = "NIKON CORPORATION", "NIKON D750"
    picture.save(file, "JPEG", exif=exif)

    assert leaks(file.getvalue()) == []


def test_the_mark_of_captions_names_no_tool() -> None:
    caption = b"Photoshop 3.0\x008BIM\x04\x04\0\0\0\0\0\x0a\x1c\x02\x78\0\5Tides\0"

    data = b"\xff\xd8\xff\xed" + struct.pack(">H", len(caption) + 2) + caption + b"\xff\xd9"

    assert leaks(data) == []
