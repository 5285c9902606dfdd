"""Every sample says exactly what is in it: all values, all else that was kept, nothing more."""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.assets.importers.detect import import_file
from twice.foundation.digests import Algorithm, digest_bytes

DATA = Path(__file__).with_name("data")

A1111 = {
    "/art/prompt": "rain-slicked alley, lone lamp, (noir:1.2)\nwith a second prompt line",
    "/art/negative_prompt": "text, watermark, low quality",
    "/art/steps": 28,
    "/art/sampler": "DPM++ 2M",
    "/art/scheduler": "Karras",
    "/art/guidance": 6.5,
    "/art/settings/clip_skip": 2,
    "/art/width_px": 512,
    "/art/height_px": 768,
    "/seed/effective": "1057871485",
    "/model/name": "someModel_v10",
    "/model/adapters": [
        {"kind": "lora", "name": "noir"},
        {"kind": "lora", "name": "film"},
        {"kind": "vae", "name": "vae-ft.safetensors"},
    ],
    "/provider/name": "AUTOMATIC1111",
    "/environment/packages/AUTOMATIC1111": "v1.9.4",
}
A1111_OTHER = {
    "tEXt parameters": {
        "Hires upscale": 2,
        "Hires upscaler": "Latent",
        "Model hash": "7460a6fa01",
        "VAE hash": "735e4c3a44",
        "Lora hashes/noir": "0123456789ab",
        "Lora hashes/film": "ba9876543210",
    }
}
COMFY = {
    "/provider/name": "ComfyUI", "/seed/effective": "156680208700286", "/art/steps": 20, "/art/guidance": 8.0,
    "/art/sampler": "euler", "/art/scheduler": "normal", "/art/denoise": 1.0,
    "/art/prompt": "a weathered badge scanner", "/art/negative_prompt": "text, watermark", "/art/width_px": 512,
    "/art/height_px": 768, "/art/batch_size": 1, "/art/batch_index": 0,
    "/model/name": "v1-5-pruned-emaonly.safetensors",
}  # fmt: skip
INVOKE = {
    "/provider/name": "InvokeAI", "/environment/packages/InvokeAI": "5.4.0", "/art/prompt": "sodium lamps",
    "/art/negative_prompt": "text", "/art/width_px": 1024, "/art/height_px": 1024, "/art/rng_device": "cpu",
    "/art/guidance": 7.5, "/art/steps": 30, "/art/scheduler": "dpmpp_2m_k", "/seed/effective": "439212",
    "/model/name": "sdxl-base",
}  # fmt: skip
INVOKE_OTHER = {
    "tEXt invokeai_metadata": {
        "generation_mode": "sdxl_txt2img",
        "model/hash": "blake3:deadbeef",
        "model/base": "sdxl",
        "model/key": "abc",
        "model/type": "main",
    }
}
NOVEL = {
    "/provider/name": "NovelAI", "/provider/endpoint": "hosted", "/model/name": "Stable Diffusion XL",
    "/art/prompt": "1girl, lamp", "/art/negative_prompt": "text", "/art/steps": 28, "/art/width_px": 64,
    "/art/height_px": 64, "/art/guidance": 5.0, "/art/sampler": "k_euler", "/seed/effective": "3088",
}  # fmt: skip
NOVEL_OTHER = {
    "tEXt Source": {"model hash": "c1e1da1d"},
    "tEXt Title": {"Title": "AI generated image"},
}
SWARM = {
    "/provider/name": "SwarmUI", "/environment/packages/SwarmUI": "0.9.5.0", "/art/prompt": "a pier",
    "/art/negative_prompt": "text", "/art/steps": 20, "/art/guidance": 7.0, "/art/aspect_ratio": "1:1",
    "/art/width_px": 1024, "/art/height_px": 1024, "/art/sampler": "euler", "/art/scheduler": "normal",
    "/seed/effective": "42", "/model/name": "sdxl_base",
}  # fmt: skip
SWARM_OTHER = {
    "tEXt parameters": {
        "sui_models": [{"name": "sdxl_base.safetensors", "param": "model", "hash": "0xabc"}],
        "sui_extra_data": {"date": "2026-01-01", "generation_time": "3.2 (gen)"},
    }
}
UNI = {
    "/art/prompt": "雨の路地", "/art/negative_prompt": "x", "/art/steps": 5, "/art/sampler": "Euler",
    "/art/guidance": 2, "/art/width_px": 64, "/art/height_px": 64, "/seed/effective": "9",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "generator", "version", "values", "other"),
    [
        ("a1111", "AUTOMATIC1111", "v1.9.4", A1111, A1111_OTHER),
        ("invoke", "InvokeAI", "5.4.0", INVOKE, INVOKE_OTHER),
        ("novel", "NovelAI", "", NOVEL, NOVEL_OTHER),
        ("swarm", "SwarmUI", "0.9.5.0", SWARM, SWARM_OTHER),
        ("uni", "infotext", "", UNI, {}),
    ],
)
def test_a_sample_is_right_in_every_field(
    name: str, generator: str, version: str, values: dict, other: dict
) -> None:
    found = import_file(DATA / f"{name}.png")

    assert found.values == values
    assert found.other == other
    assert (found.generator, found.generator_version) == (generator, version)
    assert (found.ambiguities, found.not_understood) == ((), ())


def test_the_sample_of_comfyui_is_right_and_keeps_its_graph() -> None:
    found = import_file(DATA / "comfy.png")
    data = (DATA / "comfy.png").read_bytes()
    text = data[data.index(b"prompt\0") + 7 : data.index(b"workflow\0") - 12].decode()

    assert found.values == COMFY | {
        "/art/workflow": {
            "name": "ComfyUI prompt",
            "sha256": digest_bytes(text.encode(), Algorithm.SHA256).hex,
            "text": text,
        }
    }
    assert found.other == {"tEXt workflow": {"version": 0.4}}
    assert (found.ambiguities, found.not_understood) == ((), ())


def test_values_keep_their_types() -> None:
    values = import_file(DATA / "a1111.png").values

    assert [type(values[at]) for at in ("/art/steps", "/art/guidance", "/seed/effective")] == [
        int, float, str,
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a1111", "comfy", "invoke", "novel", "swarm", "uni"])
def test_every_value_has_evidence(name: str) -> None:
    path = DATA / f"{name}.png"
    found = import_file(path)
    digest = digest_bytes(path.read_bytes(), Algorithm.SHA256).hex

    assert list(found.evidence) == list(found.values)
    assert {(each.file, each.sha256) for each in found.evidence.values()} == {(path.name, digest)}
    assert all(" " in each.chunk for each in found.evidence.values())


def test_evidence_names_the_one_text_of_several() -> None:
    evidence = import_file(DATA / "novel.png").evidence

    assert evidence["/provider/name"].chunk == "tEXt Software"
    assert evidence["/model/name"].chunk == "tEXt Source"
    assert evidence["/seed/effective"].chunk == "tEXt Comment"


def test_a_text_that_is_no_infotext_is_named_and_gives_no_seed() -> None:
    found = import_file(DATA / "late.png")

    assert (found.values, found.generator) == ({}, "")
    assert [(each.place, "late secret" in each.why) for each in found.not_understood] == [
        ("tEXt parameters", True)
    ]


def test_bytes_after_the_end_are_named_and_give_no_seed() -> None:
    found = import_file(DATA / "trail.png")

    assert found.values == {}
    assert [each.place for each in found.not_understood] == ["trail.png: after the end"]
