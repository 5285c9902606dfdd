"""InvokeAI, SwarmUI, NovelAI and Fooocus: their versions, wrong types, and what is hidden in pixels."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import numpy as np
import pytest
from madefiles import as_text, doubts, imported, places, png
from PIL import Image

from twice.assets.importers.result import Imported

FULL = "ab" * 32
SEED = "/seed/effective"


def invoke(**said: Any) -> Imported:
    return imported(png(("invokeai_metadata", json.dumps(said))))


def swarm(**params: Any) -> Imported:
    return imported(png(("parameters", json.dumps({"sui_image_params": params}))))


INVOKE_2 = {
    "app_version": "2.3.5", "model": "stable diffusion", "model_weights": "sd-1.5", "image": {
        "prompt": [{"prompt": "a lamp", "weight": 1}], "steps": 30, "cfg_scale": 7.5, "seed": 9, "sampler": "k_euler",
    },
}  # fmt: skip


def test_the_metadata_of_invokeai_2_is_right_in_every_field() -> None:
    found = imported(png(("sd-metadata", json.dumps(INVOKE_2))))

    assert found.values == {
        "/provider/name": "InvokeAI", "/environment/packages/InvokeAI": "2.3.5", "/art/prompt": "a lamp",
        "/art/steps": 30, "/art/guidance": 7.5, SEED: "9", "/art/sampler": "k_euler", "/model/name": "sd-1.5",
    }  # fmt: skip
    assert (found.ambiguities, found.not_understood) == ((), ())


LORA_3 = {"lora": {"model_name": "film"}, "weight": 0.75}
LORA_5 = {"model": {"name": "film", "hash": "blake3:11", "key": "3f2a"}, "weight": 0.75}
ADAPTERS = [{"kind": "lora", "name": "film", "weight": 0.75}, {"kind": "vae", "name": "ft"}]


@pytest.mark.parametrize(
    ("found", "pointer", "value"),
    [
        (invoke(model={"model_name": "b", "base_model": "sd-1"}), "/model/name", "b"),
        (invoke(model={"name": "b", "hash": "blake3:00", "key": "k"}), "/model/name", "b"),
        (invoke(loras=[LORA_3], vae={"model_name": "ft"}), "/model/adapters", ADAPTERS),
        (invoke(loras=[LORA_5], vae={"name": "ft"}), "/model/adapters", ADAPTERS),
        (invoke(model={"name": "b", "hash": f"sha256:{FULL}"}), "/model/sha256", FULL),
        (invoke(model={"name": "b", "hash": f"blake3:{FULL}"}), "/model/sha256", None),
        (invoke(model={"name": "b", "hash": FULL}), "/model/sha256", None),
        (invoke(seed=2**64 - 1), SEED, "18446744073709551615"),
        (swarm(seed=1, variationseed=2), SEED, "1"),
        (swarm(loras=["film"], loraweights=["0.75"], vae="ft"), "/model/adapters", ADAPTERS),
        (swarm(loras="film", loraweights="0.75", vae="ft"), "/model/adapters", ADAPTERS),
        (swarm(loras=["a", "b"], loraweights=["0.5"]), "/model/adapters",
         [{"kind": "lora", "name": name} for name in ("a", "b")]),
    ],
)  # fmt: skip
def test_a_field_is_the_same_in_every_version(found: Imported, pointer: str, value: Any) -> None:
    assert found.values.get(pointer) == value


def test_what_has_no_field_is_kept_by_its_key() -> None:
    assert invoke(loras=[LORA_5]).other["tEXt invokeai_metadata"] == {
        "loras/0/hash": "blake3:11", "loras/0/key": "3f2a",
    }  # fmt: skip
    assert swarm(seed=1, variationseed=2).other == {"tEXt parameters": {"variationseed": 2}}


@pytest.mark.parametrize("seed", [-1, 1e3, 5.0, True, None, [5], {"a": 5}, 2**64, "random"])
def test_a_seed_of_the_wrong_type_is_open(seed: object) -> None:
    found = invoke(seed=seed, steps=5)

    assert SEED not in found.values
    assert seed is None or doubts(found) == {SEED: ()}


def test_wrong_types_are_named_with_their_key_and_the_rest_is_read() -> None:
    wrong = {
        "steps": "many",
        "width": -5,
        "height": 2.5,
        "cfg_scale": [7],
        "scheduler": 5,
        "model": [1],
    }
    found = invoke(**wrong, seed=3, loras=["film", 7])

    assert set(found.values) == {"/provider/name", SEED, "/model/adapters"}
    assert [key for key in (*wrong, "loras/1") if f": {key}: " not in places(found)] == []


def test_of_two_metadata_with_two_seeds_nothing_is_mixed() -> None:
    third = {"app_version": "2.3.5", "seed": 7, "positive_prompt": "a lamp", "steps": 30}
    texts = (("invokeai_metadata", json.dumps(third)), ("sd-metadata", json.dumps(INVOKE_2)))
    found = imported(png(*texts))

    assert (doubts(found)[SEED], doubts(found)["/art/guidance"]) == (("7", "9"), (7.5,))
    assert (found.values["/art/prompt"], found.values["/art/steps"]) == ("a lamp", 30)
    found = imported(png(texts[0], ("sd-metadata", texts[1][1].replace('"seed": 9', '"seed": 7'))))
    assert (found.values[SEED], found.values["/art/guidance"]) == ("7", 7.5)


def test_two_comments_of_novelai_that_differ_are_ambiguous() -> None:
    comments = (("Comment", json.dumps({"seed": seed, "steps": 28})) for seed in (5, 6))
    found = imported(png(("Software", "NovelAI"), *comments))

    assert (doubts(found), found.values["/art/steps"]) == ({SEED: ("5", "6")}, 28)


def test_secrets_do_not_come_along_with_what_is_kept() -> None:
    token = "hf_" + "a1B2" * 8
    found = swarm(seed=1, extra={"api_key": "hunter2", "note": f"use {token}", "hue": 3})

    assert not [each for each in (token, "hunter2") if each in as_text(found)]
    assert found.other["tEXt parameters"]["extra"]["hue"] == 3


def hiding(signature: bytes, text: bytes, *, colour: bool = False, lie: int = 0) -> bytes:
    """Build a PNG file with text in its lowest bits, column by column."""
    data = gzip.compress(text) if signature.endswith(b"comp") else text
    data = signature + (8 * len(data) + lie).to_bytes(4, "big") + data
    bits = np.unpackbits(np.frombuffer(data, np.uint8))
    pixels = np.full((64, 80, 4), 254, np.uint8)
    plane = pixels[:, :, :3] if colour else pixels[:, :, 3:]
    line = np.zeros(plane.size, np.uint8)
    line[: len(bits)] = bits
    plane |= line.reshape(80, 64, -1).transpose(1, 0, 2)
    file = io.BytesIO()
    Image.fromarray(pixels[:, :, :3] if colour else pixels).save(file, "PNG")
    return file.getvalue()


COMMENT = {"prompt": "a lamp", "steps": 28, "seed": 3088, "uc": "text"}
HIDDEN = json.dumps({"Software": "NovelAI", "Comment": json.dumps(COMMENT)}).encode()


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("packing", [b"info", b"comp"])
def test_what_is_hidden_in_pixels_is_read(packing: bytes, colour: bool) -> None:
    signature = (b"stealth_rgb" if colour else b"stealth_png") + packing
    found = imported(hiding(signature, HIDDEN, colour=colour))

    assert (found.values[SEED], found.values["/art/steps"]) == ("3088", 28)
    assert found.evidence[SEED].chunk.startswith("lowest bits of ")


@pytest.mark.parametrize("lie", [-16, 8 * 4096, 2**31])
def test_a_wrong_length_of_hidden_text_gives_no_value(lie: int) -> None:
    found = imported(hiding(b"stealth_pngcomp", HIDDEN, lie=lie))

    assert found.values == {} or found.values[SEED] == "3088"


def test_a_chunk_and_pixels_that_differ_are_ambiguous() -> None:
    data = hiding(b"stealth_pnginfo", b"a\nSteps: 20, Sampler: Euler, Seed: 5")
    at = data.index(b"IDAT") - 4
    extra = png(("parameters", "a\nSteps: 20, Sampler: Euler, Seed: 6"))
    text = extra[extra.index(b"tEXt") - 4 : extra.index(b"IDAT") - 4]

    assert doubts(imported(data[:at] + text + data[at:])) == {SEED: ("6", "5")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"seed": 5', "(char 10)"), ('{"seed": 1, "seed": 2}', "twice"), ("[" * 100_000, "deeper"),
        ('{"seed": ' + "9" * 5000 + "}", "digits"), ("[1, 2]", "a list"), ("nothing", "(char 0)"),
        ('{"seed": 1e999}', ""),
    ],
)  # fmt: skip
def test_json_that_is_none_is_refused_with_its_place(text: str, why: str) -> None:
    found = imported(png(("invokeai_metadata", text)))

    assert SEED not in found.values
    assert why in places(found)


@pytest.mark.parametrize("at", [40, 60, 100, 150])
def test_a_file_that_is_cut_off_gives_what_stands_before(at: int) -> None:
    whole = png(("invokeai_metadata", json.dumps({"seed": 5})), ("Author", "x" * 100))
    found = imported(whole[:at])

    assert found.not_understood
    assert found.values in ({}, {"/provider/name": "InvokeAI", SEED: "5"})
