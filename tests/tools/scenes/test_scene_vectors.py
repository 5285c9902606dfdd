"""Known answers of scene-state-1, computed here from its page alone, without twice's encoder."""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from twice.tools.scenes.protocol import digest_pixels
from twice.tools.scenes.state import Block, array, float32, scene_state

VECTORS = json.loads(
    (Path(__file__).parents[2] / "vectors" / "scene-state.json").read_text("utf-8")
)
CORE = {
    "cameras": "kind lens clip_start clip_end".split(),
    "collections": "objects children".split(),
    "evaluated": "positions edges corners face_starts face_materials".split(),
    "lights": "kind energy color".split(),
    "meshes": "positions edges corners face_starts face_materials materials".split(),
    "objects": "data parent location rotation_mode rotation scale matrix_world hide_render".split(),
}


class Array:
    def __init__(self, written: dict[str, Any]) -> None:
        self.dtype, self.shape = written["array"], written["shape"]
        self.data = bytes.fromhex(written["hex"])


def untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "float" in value:
        return float(value["float"])
    if "dict" in value:
        return {key: untagged(item) for key, item in value["dict"].items()}
    return Array(value)


def form(value: Any) -> bytes:
    """Canonical form, as far as states need it."""
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return b"i" + struct.pack("<q", value)
    if isinstance(value, float):
        return b"f" + struct.pack("<d", value)
    if isinstance(value, str):
        return b"s" + struct.pack("<I", len(value.encode())) + value.encode()
    if isinstance(value, Array):
        sides = b"".join(struct.pack("<Q", side) for side in value.shape)
        head = b"a" + form(value.dtype) + bytes([len(value.shape)]) + sides
        return head + struct.pack("<Q", len(value.data)) + value.data
    if isinstance(value, dict):
        keys = sorted(value, key=str.encode)
        parts = [form(key) for key in keys] + [form(value[key]) for key in keys]
        return b"d" + struct.pack("<I", len(keys)) + b"".join(parts)
    kinds = {type(item) for item in value}
    if kinds in ({int}, {float}):
        letter, code = (b"i", "q") if kinds == {int} else (b"f", "d")
        return b"vl" + letter + struct.pack(f"<I{len(value)}{code}", len(value), *value)
    return b"l" + struct.pack("<I", len(value)) + b"".join(map(form, value))


def digest(value: Any) -> str:
    return "sha256:" + hashlib.sha256(form(value)).hexdigest()


def section(blocks: list[dict[str, Any]], digests: list[str]) -> str:
    rows = [[b["type"], b["name"], b["id"], d] for b, d in zip(blocks, digests, strict=True)]
    return digest(sorted(rows, key=lambda row: row[:3]))


def by_the_page(case: dict[str, Any]) -> tuple[str, str]:
    """Both fingerprints, and on the way the digests that the case names."""
    full, core = {}, {}
    for name in {**case["sections"], **CORE}:
        blocks = case["sections"].get(name, [])
        values = [untagged(block["value"]) for block in blocks]
        if name in CORE:
            kept = [{k: value[k] for k in CORE[name] if k in value} for value in values]
            core[name] = section(blocks, list(map(digest, kept)))
        if name in case["sections"]:
            for value in values:
                value |= {k: digest(inner) for k, inner in value.items() if k == "settings"}
            digests = list(map(digest, values))
            assert digests == [block["digest"] for block in blocks]
            full[name] = section(blocks, digests)
    assert full == case["section_digests"]
    root = {"format": "scene-state-1", "kind": "full", "profile": case["profile"]}
    head = {"format": "scene-state-1", "kind": "core"}
    return digest({**root, "sections": full}), digest({**head, "sections": core})


def by_the_library(case: dict[str, Any]) -> tuple[str, str]:
    def value(written: Any) -> Any:
        found = untagged(written)
        if isinstance(found, Array):
            return array(np.frombuffer(found.data, found.dtype).reshape(found.shape), found.dtype)
        if isinstance(written, dict) and "dict" in written:
            return {key: value(item) for key, item in written["dict"].items()}
        return found

    sections = {
        name: [Block(b["type"], b["name"], b["id"], value(b["value"])) for b in reversed(blocks)]
        for name, blocks in case["sections"].items()
    }
    state = scene_state(case["profile"], sections)
    return state.fingerprint, state.core_fingerprint


@pytest.mark.parametrize("case", VECTORS["states"], ids=lambda case: case["name"])
def test_fingerprints_follow_from_the_page(case: dict[str, Any]) -> None:
    known = (case["full"], case["core"])

    assert by_the_page(case) == by_the_library(case) == known


@pytest.mark.parametrize("known", VECTORS["floats32"], ids=lambda known: known["bits"])
def test_32_bits_are_the_shortest_decimal(known: dict[str, str]) -> None:
    (number,) = struct.unpack(">f", bytes.fromhex(known["bits"]))

    assert repr(float32(number)) == known["value"]


@pytest.mark.parametrize("known", VECTORS["pixels"])
def test_pixels_follow_from_the_page(known: dict[str, Any]) -> None:
    sides = [known["height"], known["width"], 4]
    values = Array({"array": "<f4", "shape": sides, "hex": known["hex"]})
    picture = {"format": "pixels-1", "width": known["width"], "height": known["height"]}
    picture |= {"channels": "RGBA", "rows": "bottom-up", "values": values}

    assert digest(picture) == known["fingerprint"]
    there = array(np.frombuffer(values.data, "<f4").reshape(sides), "<f4")
    assert digest_pixels(there) == known["fingerprint"]
