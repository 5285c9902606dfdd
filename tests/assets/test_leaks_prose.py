"""Claims about prose: stories, letters, manuals and licences are not accused of technique."""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from twice.assets.leaks.report import LeakFinding
from twice.assets.leaks.scan import FileScan
from twice.foundation.severity import Severity

WHO = (
    "The reaper",
    "Ada",
    "A sailor",
    "The model",
    "Her brother",
    "The keeper of the lamp",
    "Serum and salt,",
)
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


def passages() -> Iterator[str]:
    """Sentences in every combination, three to a passage."""
    sentences = (f"{who} {did} {when}." for who, did, when in itertools.product(WHO, DID, WHEN))
    for three in (
        itertools.batched(sentences, 3) if sys.version_info >= (3, 12) else _threes(sentences)
    ):
        yield " ".join(three)


def _threes(sentences: Iterator[str]) -> Iterator[tuple[str, ...]]:
    while three := tuple(itertools.islice(sentences, 3)):
        yield three


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
    found = FileScan().scan(io.BytesIO(text.encode()), "story.txt")
    return [(each.rule, each.excerpt) for each in found if isinstance(each, LeakFinding)]


def test_two_hundred_and_more_passages_of_stories_are_not_accused() -> None:
    stories = list(passages())

    assert len(stories) >= 200
    assert [accused(each) for each in stories if accused(each)] == []


def test_three_hundred_and_more_passages_of_documentation_are_not_accused() -> None:
    texts = list(documentation())

    assert len(texts) >= 300
    assert [accused(each) for each in texts if accused(each)] == []


def test_sentences_that_give_technique_away_are() -> None:
    for text in (
        "Rendered in SDXL, seed 1234.", "A stinger at -10 LUFS.", "Made with Midjourney v6.",
        "C:\\Users\\mira\\quay\\gate.rpp", "Mixed in REAPER.", "see /home/mira/renders/quay.png",
        "log TU-2025-11-05-AP01", "tideland_v2.safetensors", "cfg_scale: 7", "Negative prompt: text",
    ):  # fmt: skip
        assert accused(text), text


ORDINARY = (
    "\u201cSeed: 41,\u201d it said.", "'Seed: 41.'", "Seed: 41. Model: the old one.", "Seed: 12 per pot", '{"seed": 41}',
    '{steps: 12, easing: "out"}', "{ steps: 12, duration: 300 }", '{"world": {"seed": 8675309, "biome": "salt"}}',
    "World seed: 8675309", 'seed = 1337\n[sub_resource type="FastNoiseLite"]', "const SEED = 20461; const rng = mulberry32(SEED);",
    'level.json {"seed": 48151623, "level": 3, "spawn": [4, 9]}', "--seed 12345 makes the same dungeon again",
    '{"model_id": "tree_03", "model_name": "barrel"}', '{"checkpoint_id": "bridge_2", "voice_id": "guard_04"}',
    '{"class_type": "warrior", "level": 4}', '{"prompt": "Enter your name", "width": 320}',
    "Walk 12 steps and sow the seed.", "A drum sampler with 16 steps.", "The Euler method with 100 steps.",
    "20 steps with guidance from a coach", "waves around 2.5 metres", "Ozone 0.06 ppm", "ver la imagen 1.2",
    "apiKey: getApiKeyFromKeychain()", 'api_key = "your_api_key_goes_here_0001"', "a.als, e.cpr; x.flp)",
    '{"log_id": 5512, "event": "login"}', "audio_render: 48000", "seeds: 1204, peers: 88", "/home/pi/garden/water.py",
    "rng = np.random.default_rng(seed=12345)", "Photoshop 3.0", "int32_t seed = 0xDEADBEEF;",
    '{"steps": 12, "easing": "out", "level": 4, "seed": 8812345}',
    '{"model_name": "stairs", "steps": 12}', "dungeon_seed: 881204",
    "level-seed=-4172144997902289642", "autoRandomSeed: 1\nrandomSeed: 84733271", "Seed: 1200 kg per hectare",
    "seed: 1234\nepochs: 10", "C:\\Users\\Public\\Games\\quay", "the reaper 1.0 of the village",
)  # fmt: skip
TECHNICAL = (
    '{"prompt": "a mill", "seed": 41}',
    "Seed: 41, Size: 512x512", '{"seed": 41, "sampler": "euler"}', "Seed: 2218840917.", '{"seed": 439212}',
    "noise_seed: 7719", '{"steps": 20, "cfg": 7, "seed": 12}', "Steps: 20, Sampler: Euler", "Blender 4.1", "Kontakt 7.10",
    '{"inputs": {"seed": 5, "steps": 20}, "class_type": "SamplerCustom"}', '{"log_id": "a", "payload": "determinism"}',
    "rendered: 30 steps, cfg 7", '{"model_name": "x_v3", "sampler": "a"}', "/home/mira/garden/water.py",
)  # fmt: skip


@pytest.mark.parametrize("said", ORDINARY)
def test_an_ordinary_form_is_not_accused(said: str) -> None:
    assert not accused(said)


@pytest.mark.parametrize("said", TECHNICAL)
def test_the_same_form_beside_other_technique_is(said: str) -> None:
    assert accused(said)


def test_a_camera_that_names_itself_is_not_a_generator() -> None:
    picture, file = Image.new("RGB", (8, 8)), io.BytesIO()
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "NIKON CORPORATION", "NIKON D750"
    picture.save(file, "JPEG", exif=exif)

    found = FileScan().scan(io.BytesIO(file.getvalue()), "a.jpg")

    assert not [
        each for each in found if isinstance(each, LeakFinding) and each.severity >= Severity.HIGH
    ]
