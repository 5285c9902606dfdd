"""Files that generators' own code wrote (``data/README.md``) say exactly what was put in: values, the rest, no more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from madefiles import places

from twice.assets.importers.detect import import_file
from twice.foundation.digests import Algorithm, digest_bytes

DATA = Path(__file__).with_name("data")
COMFY = {
    "/provider/name": "ComfyUI", "/seed/effective": "156680208700286", "/art/steps": 20, "/art/guidance": 8.0,
    "/art/sampler": "euler", "/art/scheduler": "normal", "/art/denoise": 1.0,
    "/art/prompt": "a lighthouse in fog, 雨", "/art/negative_prompt": "text, watermark", "/art/width_px": 512,
    "/art/height_px": 512, "/art/batch_size": 1, "/art/batch_index": 0,
    "/model/name": "v1-5-pruned-emaonly-fp16.safetensors",
}  # fmt: skip
FORGE = {
    "/art/prompt": "a lighthouse in fog <lora:fog:0.8>\nsecond line, Steps: many 雨",
    "/art/negative_prompt": "people, text: none", "/art/steps": 20, "/art/sampler": "Euler", "/art/scheduler": "Simple",
    "/art/guidance": 1.0, "/seed/effective": "3829173645", "/art/width_px": 896, "/art/height_px": 1152,
    "/art/denoise": 0.7, "/art/settings/clip_skip": 2, "/art/rng_device": "CPU", "/model/name": "flux1-dev-bnb-nf4",
    "/model/adapters": [{"kind": "lora", "name": "fog", "weight": 0.8}], "/provider/name": "Forge",
    "/environment/packages/Forge": "f2.0.1v1.10.1-previous-664-gd557aef9",
}  # fmt: skip
FORGE_OTHER = {
    "Distilled CFG Scale": 3.5, "Hires upscale": 2, "Hires upscaler": "Latent", "Module 1": "ae", "Module 2": "clip_l",
    "ControlNet 0": "Module: canny, Model: x [d14c016b], Weight: 1", "Model hash": "c161224931",
    "Lora hashes/fog": "0123456789ab",
}  # fmt: skip
INVOKE = {
    "/provider/name": "InvokeAI", "/environment/packages/InvokeAI": "6.14.0-alpha", "/art/prompt": "a lighthouse in fog",
    "/art/negative_prompt": "people", "/art/width_px": 1024, "/art/height_px": 1024, "/seed/effective": "2813907461",
    "/art/rng_device": "cpu", "/art/guidance": 7.5, "/art/steps": 30, "/art/scheduler": "dpmpp_2m_k",
    "/model/name": "Juggernaut XL v9", "/model/adapters": [
        {"kind": "lora", "name": "film", "weight": 0.75}, {"kind": "vae", "name": "sdxl-vae-fp16-fix"},
    ],
}  # fmt: skip
FOOOCUS = {
    "/provider/name": "Fooocus", "/environment/packages/Fooocus": "v2.5.5", "/art/prompt": "a lighthouse in fog",
    "/art/negative_prompt": "people", "/art/steps": 30, "/art/guidance": 4.0, "/seed/effective": "7426352874",
    "/art/sampler": "dpmpp_2m_sde_gpu", "/art/scheduler": "karras", "/art/width_px": 1152, "/art/height_px": 896,
    "/art/settings/clip_skip": 2, "/model/name": "juggernautXL_v8Rundiffusion",
    "/model/adapters": [{"kind": "lora", "name": "sd_xl_offset_example-lora_1.0", "weight": 0.1}],
}  # fmt: skip
NOVEL = {
    "/provider/name": "NovelAI", "/provider/endpoint": "hosted", "/model/name": "NovelAI Diffusion V4.5",
    "/art/prompt": "1girl, lighthouse", "/art/negative_prompt": "lowres", "/art/steps": 28, "/art/width_px": 64,
    "/art/height_px": 64, "/art/guidance": 5.0, "/art/sampler": "k_euler_ancestral", "/art/scheduler": "karras",
    "/seed/effective": "3088917264",
}  # fmt: skip
SWARM = {
    "/provider/name": "SwarmUI", "/environment/packages/SwarmUI": "0.9.5.0", "/art/prompt": "a pier",
    "/art/negative_prompt": "text", "/art/steps": 20, "/art/guidance": 7.0, "/art/aspect_ratio": "1:1",
    "/art/width_px": 1024, "/art/height_px": 1024, "/art/sampler": "euler", "/art/scheduler": "normal",
    "/seed/effective": "42", "/model/name": "sdxl_base",
}  # fmt: skip
DAWPROJECT = {
    "/audio/daw/name": "TestDAW", "/audio/daw/version": "1.0", "/audio/tempo_bpm": 96.0, "/audio/time_signature": "3/4",
    "/audio/chain": [{
        "name": "Diva", "format": "VST3", "version": "1.4.7", "track": "Lead",
        "state_sha256": digest_bytes(b"state", Algorithm.SHA256).hex,
    }],
}  # fmt: skip
REAPER = {
    "/audio/daw/name": "REAPER", "/audio/daw/version": "7.16", "/audio/tempo_bpm": 92.5, "/audio/time_signature": "6/8",
    "/audio/session_sample_rate_hz": 48000, "/audio/chain": [{
        "name": "Vital (Vital Audio)", "format": "VST3", "preset": "warm pad", "track": "Lead synth", "bypass": False,
        "state_sha256": digest_bytes(b"vital", Algorithm.SHA256).hex,
    }],
}  # fmt: skip


@pytest.mark.parametrize(
    ("pattern", "generator", "values", "other"),
    [
        ("comfyui*", "ComfyUI", COMFY, {"version": 0.4, "frontendVersion": "1.28.7"}),
        ("forge.*", "Forge", FORGE, FORGE_OTHER),
        ("invokeai.png", "InvokeAI", INVOKE, {"generation_mode": "sdxl_txt2img", "model/hash": f"blake3:{'ab' * 32}"}),
        ("fooocus.*", "Fooocus", FOOOCUS, {"full_prompt": ["a lighthouse in fog", "cinematic still"]}),
        ("novelai*", "NovelAI", NOVEL, {"model hash": "4bde2a90"}),
        ("swarm.png", "SwarmUI", SWARM, {"sui_extra_data": {"date": "2026-01-01", "generation_time": "3.2 (gen)"}}),
        ("*.dawproject", "DAWproject", DAWPROJECT, {"format version": "1.0"}),
        ("rpp.rpp", "REAPER", REAPER, {"platform": "linux-x86_64"}),
    ],
)  # fmt: skip
def test_a_sample_is_right_in_every_field(
    pattern: str, generator: str, values: dict[str, Any], other: dict[str, Any]
) -> None:
    for path in sorted(DATA.glob(pattern)):
        found = import_file(path)
        said = dict(found.values)
        workflow = said.pop("/art/workflow", None)
        said.pop("/audio/daw/project_sha256", None)

        assert (path.name, said) == (path.name, values)
        assert (found.generator, found.ambiguities, found.not_understood) == (generator, (), ())
        kept = {key: each for chunk in found.other.values() for key, each in chunk.items()}
        assert kept.items() >= other.items()
        if generator == "ComfyUI":
            assert (
                digest_bytes(workflow["text"].encode(), Algorithm.SHA256).hex == workflow["sha256"]
            )


def test_a_project_that_says_little_says_what_is_missing() -> None:
    found = import_file(DATA / "reathon.rpp")

    assert (found.values["/audio/tempo_bpm"], found.values["/audio/chain"]) == (92, [])
    assert places(found) == 'REAPER project: TEMPO: "/" is no value for /audio/time_signature'


@pytest.mark.parametrize("path", sorted(DATA.glob("*.*g")), ids=lambda path: path.name)
def test_every_value_has_evidence(path: Path) -> None:
    found = import_file(path)
    digest = digest_bytes(path.read_bytes(), Algorithm.SHA256).hex

    assert list(found.evidence) == list(found.values)
    assert {(each.file, each.sha256) for each in found.evidence.values()} <= {(path.name, digest)}
    assert all(" " in each.chunk for each in found.evidence.values())


def test_evidence_names_the_one_text_of_several() -> None:
    evidence = import_file(DATA / "novelai.png").evidence
    chunks = [evidence[at].chunk for at in ("/provider/name", "/model/name", "/seed/effective")]

    assert chunks == ["tEXt Software", "tEXt Source", "tEXt Comment"]


def test_values_keep_their_types() -> None:
    values = import_file(DATA / "a1111.png").values
    said = [values[at] for at in ("/art/steps", "/art/guidance", "/seed/effective")]

    assert [type(each) for each in said] == [int, float, str]


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [("late", "tEXt parameters", "late secret"), ("trail", "trail.png: after the end", "byte")],
)
def test_what_is_no_infotext_or_no_chunk_is_named_and_gives_no_seed(
    name: str, place: str, words: str
) -> None:
    found = import_file(DATA / f"{name}.png")

    assert (found.values, found.generator) == ({}, "")
    assert [(each.place, words in each.why) for each in found.not_understood] == [(place, True)]
