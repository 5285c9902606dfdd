"""Claims about prose: stories, letters, manuals and licences are not accused of technique."""

from __future__ import annotations

import argparse
import ast
import itertools
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image

from twice.assets.containers.source import Source
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


def test_a_number_that_somebody_says_is_no_seed_of_a_generator() -> None:
    for said in ("“Seed: 41,” it said.", "'Seed: 41.'", "Seed: 41. Model: the old one."):
        assert not accused(said), said
    for said in ("Seed: 41, Size: 512x512", "Seed: 41", '{"seed": 41}', "Seed: 2218840917."):
        assert accused(said), said


def test_a_camera_that_names_itself_is_not_a_generator() -> None:
    picture, file = Image.new("RGB", (8, 8)), BytesIO()
    exif = Image.Exif()
    exif[0x010F], exif[0x0110] = "NIKON CORPORATION", "NIKON D750"
    picture.save(file, "JPEG", exif=exif)

    found = FileScan().scan(io.BytesIO(file.getvalue()), "a.jpg")

    assert not [
        each for each in found if isinstance(each, LeakFinding) and each.severity >= Severity.HIGH
    ]
