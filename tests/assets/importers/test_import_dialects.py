"""InvokeAI, SwarmUI, NovelAI and Fooocus: their versions, wrong types, and what is hidden in pixels."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import numpy as np
import pytest
from madefiles import doubts, imported, places, png

from twice.assets.importers.imported import Imported

Image = pytest.importorskip("PIL.Image")


def invoke(**said: Any) -> Imported:
    return imported(png(("invokeai_metadata", json.dumps(said))))


def test_models_of_invokeai_3_and_5_give_the_same() -> None:
    three = invoke(
        app_version="3.2.0", seed=7, model={"model_name": "base", "base_model": "sd-1"},
        loras=[{"lora": {"model_name": "film"}, "weight": 0.75}], vae={"model_name": "ft"},
    )  # fmt: skip
    five = invoke(
        app_version="3.2.0", seed=7, model={"name": "base", "hash": "blake3:00", "key": "k"},
        loras=[{"model": {"name": "film", "hash": "blake3:11"}, "weight": 0.75}], vae={"name": "ft"},
    )  # fmt: skip

    assert three.values == five.values
    assert three.values["/model/adapters"] == [
        {"kind": "lora", "name": "film", "weight": 0.75},
        {"kind": "vae", "name": "ft"},
    ]
    assert five.other["tEXt invokeai_metadata"]["loras/0/hash"] == "blake3:11"


def test_only_a_sha256_of_invokeai_is_one() -> None:
    digest = "ab" * 32

    assert invoke(model={"name": "b", "hash": f"sha256:{digest}"}).values["/model/sha256"] == digest
    assert "/model/sha256" not in invoke(model={"name": "b", "hash": f"blake3:{digest}"}).values
    assert "/model/sha256" not in invoke(model={"name": "b", "hash": digest}).values


def test_a_seed_of_64_bits_is_exact() -> None:
    assert invoke(seed=2**64 - 1).values["/seed/effective"] == "18446744073709551615"


@pytest.mark.parametrize("seed", [-1, 1e3, 5.0, True, None, [5], {"a": 5}, 2**64, "random"])
def test_a_seed_of_the_wrong_type_is_open(seed: object) -> None:
    found = invoke(seed=seed, steps=5)

    assert "/seed/effective" not in found.values
    assert seed is None or doubts(found) == {"/seed/effective": ()}


def test_wrong_types_are_named_with_their_key_and_the_rest_is_read() -> None:
    found = invoke(
        steps="many", width=-5, height=2.5, cfg_scale=[7], scheduler=5, seed=3, model=[1]
    )

    assert set(found.values) == {"/provider/name", "/seed/effective"}
    for key in ("steps", "width", "height", "cfg_scale", "scheduler", "model"):
        assert f": {key}: " in places(found)


def test_the_metadata_of_invokeai_2_is_read() -> None:
    image = {"prompt": [{"prompt": "a lamp", "weight": 1}], "steps": 30, "cfg_scale": 7.5, "width": 512,
             "height": 512, "seed": 9, "sampler": "k_euler"}  # fmt: skip
    said = {"app_version": "2.3.5", "model_weights": "sd-1.5", "image": image}
    values = imported(png(("sd-metadata", json.dumps(said)))).values

    assert (values["/art/prompt"], values["/seed/effective"]) == ("a lamp", "9")
    assert (values["/model/name"], values["/art/sampler"]) == ("sd-1.5", "k_euler")


def swarm(**params: Any) -> Imported:
    return imported(png(("parameters", json.dumps({"sui_image_params": params}))))


def test_adapters_of_swarmui_have_their_weights() -> None:
    found = swarm(model="base", seed=1, loras=["a", "b"], loraweights=["0.5", "1"], vae="ft")

    assert found.values["/model/adapters"] == [
        {"kind": "lora", "name": "a", "weight": 0.5},
        {"kind": "lora", "name": "b", "weight": 1},
        {"kind": "vae", "name": "ft"},
    ]


def test_weights_that_do_not_fit_their_adapters_are_left_out() -> None:
    found = swarm(loras=["a", "b"], loraweights=["0.5"])

    assert found.values["/model/adapters"] == [{"kind": "lora", "name": n} for n in ("a", "b")]
    assert "1 weight for 2 adapters" in places(found)


def test_a_variation_of_swarmui_is_kept_apart_from_the_seed() -> None:
    found = swarm(seed=1, variationseed=2, variationseedstrength=0.3)

    assert found.values["/seed/effective"] == "1"
    assert found.other["tEXt parameters"] == {"variationseed": 2, "variationseedstrength": 0.3}


def test_fooocus_writes_numbers_as_text_and_sizes_as_python() -> None:
    said = {
        "prompt": "a lamp", "negative_prompt": "", "full_prompt": ["a lamp", "cinematic"], "steps": 30,
        "guidance_scale": 4, "seed": "7426352874", "sampler": "dpmpp_2m_sde_gpu", "scheduler": "karras",
        "resolution": "(1152, 896)", "base_model": "jugger", "base_model_hash": "aeb7e9e689",
        "loras": [["offset", 0.1, "4852686128"]], "refiner_model": "None", "vae": "Default (model)",
        "version": "Fooocus v2.5.5", "metadata_scheme": "fooocus",
    }  # fmt: skip
    found = imported(png(("fooocus_scheme", "fooocus"), ("parameters", json.dumps(said))))

    assert found.values == {
        "/provider/name": "Fooocus", "/environment/packages/Fooocus": "v2.5.5", "/art/prompt": "a lamp",
        "/art/steps": 30, "/art/guidance": 4, "/seed/effective": "7426352874",
        "/art/sampler": "dpmpp_2m_sde_gpu", "/art/scheduler": "karras", "/art/width_px": 1152,
        "/art/height_px": 896, "/model/name": "jugger",
        "/model/adapters": [{"kind": "lora", "name": "offset", "weight": 0.1}],
    }  # fmt: skip
    assert found.other["tEXt parameters"]["full_prompt"] == ["a lamp", "cinematic"]
    assert found.generator_version == "v2.5.5"


def test_secrets_do_not_come_along_with_what_is_kept() -> None:
    token = "hf_" + "a1B2" * 8
    found = swarm(seed=1, extra={"api_key": "hunter2", "note": f"use {token}", "hue": 3})

    assert token not in json.dumps(found.document())
    assert "hunter2" not in json.dumps(found.document())
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
HIDDEN = json.dumps({
    "Software": "NovelAI", "Source": "NovelAI Diffusion V3 AB12CD34", "Comment": json.dumps(COMMENT),
}).encode()  # fmt: skip


@pytest.mark.parametrize(
    ("signature", "colour"),
    [
        (b"stealth_pnginfo", False), (b"stealth_pngcomp", False), (b"stealth_rgbinfo", True),
        (b"stealth_rgbcomp", True),
    ],
)  # fmt: skip
def test_what_is_hidden_in_pixels_is_read(signature: bytes, colour: bool) -> None:
    found = imported(hiding(signature, HIDDEN, colour=colour))

    assert (found.values["/seed/effective"], found.values["/art/steps"]) == ("3088", 28)
    assert found.values["/model/name"] == "NovelAI Diffusion V3"
    assert found.evidence["/seed/effective"].chunk.startswith("lowest bits of ")


def test_an_infotext_hidden_by_forge_is_read() -> None:
    text = "雨\nSteps: 20, Sampler: Euler, Seed: 5, Version: f2.0.1".encode()
    found = imported(hiding(b"stealth_pngcomp", text))

    assert (found.generator, found.values["/art/prompt"]) == ("Forge", "雨")


@pytest.mark.parametrize("lie", [-16, 8 * 4096, 2**31])
def test_a_wrong_length_of_hidden_text_gives_no_value(lie: int) -> None:
    found = imported(hiding(b"stealth_pngcomp", HIDDEN, lie=lie))

    assert found.values == {} or found.values["/seed/effective"] == "3088"


def test_two_places_that_differ_are_ambiguous() -> None:
    data = hiding(b"stealth_pnginfo", b"a\nSteps: 20, Sampler: Euler, Seed: 5")
    at = data.index(b"IDAT") - 4
    extra = png(("parameters", "a\nSteps: 20, Sampler: Euler, Seed: 6"))
    text = extra[extra.index(b"tEXt") - 4 : extra.index(b"IDAT") - 4]

    assert doubts(imported(data[:at] + text + data[at:])) == {"/seed/effective": ("6", "5")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"seed": 5', "at character"), ('{"seed": 1, "seed": 2}', "twice"), ("[" * 100_000, "JSON"),
        ('{"seed": ' + "9" * 5000 + "}", "digits"), ('{"a": 1e999}', "beyond"), ("[1, 2]", "a list"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "deeper"), ("nothing", "at character"),
    ],
)  # fmt: skip
def test_json_that_is_none_is_refused_with_its_place(text: str, why: str) -> None:
    found = imported(png(("invokeai_metadata", text)))

    assert "/seed/effective" not in found.values
    assert why in places(found)


@pytest.mark.parametrize("at", [40, 60, 100, 150])
def test_a_file_that_is_cut_off_gives_what_stands_before(at: int) -> None:
    whole = png(("invokeai_metadata", json.dumps({"seed": 5})), ("Author", "x" * 100))
    found = imported(whole[:at])

    assert found.not_understood
    assert found.values in ({}, {"/provider/name": "InvokeAI", "/seed/effective": "5"})
