"""Any bytes end in a result, in time that grows with their number."""

from __future__ import annotations

import gzip
import json
import struct
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from madefiles import as_text, imported, png, riff
from test_import_comfy import FLUX, plain
from test_import_daw_xml import ALS
from test_import_midi_and_wave import END, TEMPO_120, bext, midi

from twice.assets.importers.result import Imported
from twice.errors import ExtraMissing

DATA = Path(__file__).with_name("data")
SEEDS = [
    *({path.suffix: path.read_bytes() for path in sorted(DATA.glob("*.*"))}.values()),
    png(("prompt", json.dumps(FLUX)), ("workflow", json.dumps({"nodes": [], "links": []}))),
    riff(bext(history="A=PCM,F=1")),
    midi(TEMPO_120 + END),
    gzip.compress(ALS.encode(), mtime=0),
    json.dumps(plain()).encode(),
]


def holds(found: Imported) -> None:
    """Assert the facts that are true of every result."""
    doubted = {each.pointer for each in found.ambiguities}
    assert set(found.values) == set(found.evidence)
    assert not doubted & set(found.values)
    as_text(found)


@given(st.binary(max_size=2000))
@example(b"")
@example(b"RIFF")
@example(b"\x89PNG\r\n\x1a\n")
def test_any_bytes_end_in_a_result(data: bytes) -> None:
    holds(imported(data))


@given(st.sampled_from(SEEDS), st.data())
def test_files_with_bytes_changed_end_in_a_result(whole: bytes, data: st.DataObject) -> None:
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 8))):
        changed[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    holds(imported(bytes(changed[: data.draw(st.integers(0, len(whole)))])))


@pytest.mark.parametrize(
    ("library", "data"),
    [
        ("mido", midi(TEMPO_120 + END)), ("defusedxml.ElementTree", ALS.encode()), ("PIL.Image", png()),
        ("av", riff(bext())),
    ],
    ids=["mido", "defusedxml", "Pillow", "PyAV"],
)  # fmt: skip
def test_a_library_that_is_missing_is_named_with_the_extra(
    library: str, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ExtraMissing, match=library):
        imported(data)


LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
)
LINKS = st.tuples(st.sampled_from(["1", "2", "3", "4", 3]), st.integers(-1, 2)).map(list)
INPUTS = st.sampled_from(
    ["seed", "noise_seed", "model", "positive", "latent_image", "steps", "text", "value", "noise", "guider",
     "sigmas", "ckpt_name", "lora_name", "width", "conditioning", "samples", "sampler"]
)  # fmt: skip
KINDS = st.sampled_from(
    ["KSampler", "SamplerCustomAdvanced", "RandomNoise", "Reroute", "CLIPTextEncode", "PrimitiveInt",
     "CheckpointLoaderSimple", "LoraLoader", "EmptyLatentImage", "SaveImage", "Unknown"]
)  # fmt: skip
VALUES = st.dictionaries(INPUTS, LEAVES | LINKS | st.lists(LEAVES), max_size=8)
NODES = st.fixed_dictionaries({"class_type": KINDS, "inputs": VALUES})
GRAPHS = st.dictionaries(st.sampled_from("12345"), NODES, min_size=1)
INNER = st.lists(LEAVES, max_size=4) | st.dictionaries(st.text(max_size=8), LEAVES, max_size=4)
JSON = LEAVES | INNER | st.lists(INNER, max_size=3)
MEMBERS = st.sampled_from(
    ["sui_image_params", "metadata_scheme", "nodes", "links", "model", "loras", "image", "seed", "vae", "prompt"]
)  # fmt: skip
KEYS = ["invokeai_metadata", "sd-metadata", "parameters", "workflow", "prompt", "Comment"]


@given(st.sampled_from(KEYS), GRAPHS | st.dictionaries(MEMBERS, JSON, max_size=5))
def test_any_graph_or_json_under_any_key_ends_in_a_result(key: str, said: dict) -> None:
    holds(imported(png((key, json.dumps(said)))))


@pytest.mark.parametrize(
    "data",
    [
        png(("parameters", "Steps: 1, " + "a, " * 300_000 + "Seed: 5")),
        png(("parameters", "Steps: 1, Seed: 5, " + " " * 1_000_000)),
        png(("parameters", 'Steps: 1, Seed: 5, x: "' + "\\" * 1_000_001)),
        png(("parameters", "Negative prompt: a\n" * 50_000 + "Steps: 1, Seed: 5")),
        png(("prompt", json.dumps({str(at): {"class_type": "Reroute", "inputs": {"a": [str(at + 1), 0]}} for at in range(15_000)}))),
        png(*(("parameters", f"Steps: {at}, Seed: 5") for at in range(2000))),
        midi(b"\0\x90\x3c\x40" * 100_000),
        b"<REAPER_PROJECT 0.1\n" + b"A `" * 500_000 + b"\n>",
        b"MThd" + struct.pack(">IHHH", 0xFFFFFFFF, 1, 1, 1),
    ],
    ids=["pairs", "spaces", "backslashes", "negatives", "reroutes", "chunks", "notes", "quotes", "header"],
)  # fmt: skip
@pytest.mark.sample(3)
def test_large_and_hostile_files_end(data: bytes) -> None:
    holds(imported(data))
