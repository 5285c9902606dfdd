"""ComfyUI graphs: seeds behind links, several samplers, batches, screens, secrets."""

from __future__ import annotations

import copy
import io
import json
from typing import Any

import av
import numpy as np
import pytest
from madefiles import as_text, comfy, doubts, imported, places

SEED = 18446744073709551615


def node(kind: str, **inputs: Any) -> dict[str, Any]:
    return {"class_type": kind, "inputs": inputs}


def plain(**changes: Any) -> dict[str, Any]:
    """Build a graph of text to image; ``changes`` replace nodes, None removes one."""
    graph = {
        "3": node(
            "KSampler", seed=5, steps=20, cfg=8, sampler_name="euler", scheduler="normal", denoise=1,
            model=["4", 0], positive=["6", 0], negative=["7", 0], latent_image=["5", 0],
        ),
        "4": node("CheckpointLoaderSimple", ckpt_name="base.safetensors"),
        "5": node("EmptyLatentImage", width=512, height=768, batch_size=1),
        "6": node("CLIPTextEncode", text="a lamp", clip=["4", 1]),
        "7": node("CLIPTextEncode", text="text", clip=["4", 1]),
        "8": node("VAEDecode", samples=["3", 0], vae=["4", 2]),
        "9": node("SaveImage", filename_prefix="x", images=["8", 0]),
    }  # fmt: skip
    return {key: each for key, each in {**graph, **changes}.items() if each is not None}


def with_sampler(**inputs: Any) -> dict[str, Any]:
    graph = plain()
    graph["3"]["inputs"].update(inputs)
    return graph


FLUX = {
    "1": node("UNETLoader", unet_name="flux1-dev.safetensors", weight_dtype="fp8"),
    "2": node("LoraLoaderModelOnly", lora_name="film.safetensors", strength_model=0.7, model=["1", 0]),
    "3": node("ModelSamplingFlux", model=["2", 0], max_shift=1.15, width=1024, height=1024),
    "4": node("CLIPTextEncode", text="a pier at night", clip=["20", 0]),
    "5": node("FluxGuidance", guidance=3.5, conditioning=["4", 0]),
    "6": node("BasicGuider", model=["3", 0], conditioning=["5", 0]),
    "7": node("RandomNoise", noise_seed=SEED),
    "8": node("KSamplerSelect", sampler_name="euler"),
    "9": node("BasicScheduler", scheduler="simple", steps=28, denoise=1, model=["3", 0]),
    "10": node("EmptySD3LatentImage", width=1024, height=576, batch_size=1),
    "11": node(
        "SamplerCustomAdvanced", noise=["7", 0], guider=["6", 0], sampler=["8", 0], sigmas=["9", 0],
        latent_image=["10", 0],
    ),
    "12": node("VAEDecode", samples=["11", 0]),
    "13": node("SaveImage", images=["12", 0]),
    "20": node("DualCLIPLoader"),
}  # fmt: skip


def test_a_graph_with_settings_in_other_nodes_is_read_whole() -> None:
    found = comfy(FLUX)
    values = {at: value for at, value in found.values.items() if at != "/art/workflow"}

    assert values == {
        "/provider/name": "ComfyUI",
        "/seed/effective": str(SEED),
        "/art/steps": 28,
        "/art/sampler": "euler",
        "/art/scheduler": "simple",
        "/art/denoise": 1,
        "/art/settings/conditioning_guidance": 3.5,
        "/art/prompt": "a pier at night",
        "/art/width_px": 1024,
        "/art/height_px": 576,
        "/art/batch_size": 1,
        "/art/batch_index": 0,
        "/model/name": "flux1-dev.safetensors",
        "/model/adapters": [{"kind": "lora", "name": "film.safetensors", "weight": 0.7}],
    }
    assert (found.ambiguities, found.not_understood) == ((), ())


@pytest.mark.parametrize(
    ("graph", "values"),
    [
        ({**FLUX, "6": node("CFGGuider", model=["3", 0], positive=["5", 0], negative=["14", 0], cfg=1.5),
          "14": node("CLIPTextEncode", text="fog")}, {"/art/guidance": 1.5, "/art/negative_prompt": "fog"}),
        ({**FLUX, "9": node("SplitSigmas", sigmas=["15", 0], step=4),
          "15": node("BasicScheduler", scheduler="simple", steps=28, denoise=1)}, {"/art/steps": 28}),
        ({**FLUX, "8": node("SamplerDPMPP_2M_SDE", eta=1)}, {"/art/sampler": "SamplerDPMPP_2M_SDE"}),
        ({**FLUX, "7": node("DisableNoise")}, {"/seed/effective": None}),
        *((with_sampler(seed=["30", 0]) | holders, {"/seed/effective": "77"}) for holders in (
            {"30": node("PrimitiveInt", value=77)}, {"30": node("Seed (rgthree)", seed=77)},
            {"30": node("Reroute", a=["31", 0]), "31": node("easy seed", seed=77, control="fixed")},
            {"30": node("CR Seed", seed=["31", 0]), "31": node("PrimitiveInt", value=77)},
        )),
        (with_sampler(seed=["12:5", 0]) | {"12:5": node("PrimitiveInt", value=77)}, {"/seed/effective": "77"}),
        (with_sampler(positive=["20", 0], negative=["20", 1])
         | {"20": node("ControlNetApplyAdvanced", positive=["6", 0], negative=["7", 0])},
         {"/art/prompt": "a lamp", "/art/negative_prompt": "text"}),
        (plain() | {"30": node("KSampler", seed=99), "31": node("VAEDecode", samples=["30", 0])},
         {"/seed/effective": "5"}),
        (with_sampler(negative=["20", 0]) | {"20": node("CLIPTextEncode", text="")}, {"/art/negative_prompt": None}),
    ],
)  # fmt: skip
def test_a_setting_is_followed_to_its_value(graph: dict[str, Any], values: dict[str, Any]) -> None:
    found = comfy(graph)

    assert {at: found.values.get(at) for at in values} == values
    assert found.ambiguities == ()


@pytest.mark.parametrize(
    ("holders", "candidates", "why"),
    [
        ({"30": node("MathExpression|pysssss", expression="a+1", seed_a=4)}, ("4",), "computes it"),
        ({"30": node("Seed (rgthree)", seed=-1)}, (), "-1"),
        ({"30": node("Reroute", a=["31", 1]), "31": node("CR Seed", seed=4)}, ("4",), "computes it"),
        ({"30": node("PrimitiveInt", value="randomize")}, (), "randomize"), ({}, (), "not in the graph"),
        ({"30": node("Reroute", a=["31", 0]), "31": node("Reroute", a=["30", 0])}, (), "says nothing"),
        ({"30": node("CR Seed", seed=["31", 0]), "31": node("CR Seed", seed=["30", 0])}, (), "says nothing"),
        ({"30": node("PrimitiveInt", value=77.0)}, (), "77.0"),
    ],
)  # fmt: skip
def test_a_seed_that_is_not_written_down_is_open(
    holders: dict[str, Any], candidates: tuple[str, ...], why: str
) -> None:
    found = comfy(with_sampler(seed=["30", 0]) | holders)
    (doubt,) = [each for each in found.ambiguities if each.pointer == "/seed/effective"]

    assert doubt.candidates == candidates
    assert why in doubt.why


def test_two_samplers_are_ambiguous_only_where_they_differ() -> None:
    graph = plain()
    second = copy.deepcopy(graph["3"])
    second["inputs"].update(seed=6, steps=10, denoise=0.5, latent_image=["3", 0])
    graph |= {"30": second, "8": node("VAEDecode", samples=["30", 0])}
    found = comfy(graph)

    assert doubts(found) == {
        "/seed/effective": ("6", "5"), "/art/steps": (10, 20), "/art/denoise": (0.5, 1),
    }  # fmt: skip
    assert found.values["/art/sampler"] == "euler"
    assert (found.values["/art/width_px"], found.values["/art/height_px"]) == (512, 768)
    assert found.values["/seed/each"] == [
        {"step": "node 30 (KSampler)", "effective": "6"},
        {"step": "node 3 (KSampler)", "effective": "5"},
    ]


def test_a_refined_picture_with_one_seed_has_that_seed() -> None:
    graph = plain()
    second = node(
        "KSamplerAdvanced", add_noise="disable", noise_seed=5, steps=20, cfg=8, sampler_name="euler",
        scheduler="normal", model=["4", 0], positive=["6", 0], negative=["7", 0], latent_image=["3", 0],
    )  # fmt: skip
    found = comfy(graph | {"30": second, "8": node("VAEDecode", samples=["30", 0])})

    assert found.values["/seed/effective"] == "5"
    assert found.ambiguities == ()


def test_an_unknown_sampler_opens_what_the_known_one_says() -> None:
    graph = plain() | {
        "20": node("FaceDetailer", image=["8", 0], seed=8, steps=9, sampler_name="dpm"),
        "9": node("SaveImage", images=["20", 0]),
    }
    found = comfy(graph)

    assert doubts(found)["/seed/effective"] == ("5",)
    assert "node 20 (FaceDetailer) draws from a seed" in places(found)


@pytest.mark.parametrize(
    ("changes", "candidates"),
    [
        ({"5": node("EmptyLatentImage", width=512, height=512, batch_size=4)}, {"/art/batch_index": (0, 1, 2, 3)}),
        ({"3": node("KSampler", **plain()["3"]["inputs"] | {"latent_image": ["20", 0]}),
          "20": node("RepeatLatentBatch", samples=["5", 0], amount=2)}, {"/art/batch_size": ()}),
        ({"20": node("ImageUpscaleWithModel", image=["8", 0]), "9": node("SaveImage", images=["20", 0])},
         {"/art/width_px": (512,), "/art/height_px": (768,)}),
        ({"3": node("KSampler", **plain()["3"]["inputs"] | {"positive": ["21", 0]}),
          "20": node("CLIPTextEncode", text="a storm"),
          "21": node("ConditioningCombine", conditioning_1=["6", 0], conditioning_2=["20", 0])},
         {"/art/prompt": ("a lamp", "a storm")}),
        ({"6": node("CLIPTextEncode", text=["20", 0]),
          "20": node("ImpactWildcardProcessor", wildcard_text="a __colour__ lamp", populated_text="a red lamp")},
         {"/art/prompt": ("a __colour__ lamp", "a red lamp")}),
        ({"7": node("ConditioningZeroOut", conditioning=["6", 0])}, {"/art/negative_prompt": ()}),
        ({"6": node("CLIPVisionEncode", image=["30", 0])}, {"/art/prompt": ()}),
    ],
)  # fmt: skip
def test_what_a_node_changes_on_the_way_is_open(
    changes: dict[str, Any], candidates: dict[str, Any]
) -> None:
    assert doubts(comfy(plain(**changes))) == candidates


def test_adapters_come_in_the_order_in_which_they_are_applied() -> None:
    power = node(
        "Power Lora Loader (rgthree)", model=["10", 0],
        lora_1={"on": True, "lora": "b", "strength": 0.5}, lora_2={"on": False, "lora": "c", "strength": 1},
    )  # fmt: skip
    graph = with_sampler(model=["11", 0]) | {
        "10": node("LoraLoader", lora_name="a", strength_model=1, strength_clip=1, model=["4", 0]),
        "11": power,
    }

    assert comfy(graph).values["/model/adapters"] == [
        {"kind": "lora", "name": "a", "weight": 1},
        {"kind": "lora", "name": "b", "weight": 0.5},
    ]


def test_a_graph_with_a_key_in_a_widget_is_kept_by_digest_alone() -> None:
    key = "sk-or-v1-0123456789abcdef0123456789abcdef"
    asking = node("OpenRouterNode", api_key=key, images=["8", 0])
    found = comfy(plain() | {"20": asking})

    assert set(found.values["/art/workflow"]) == {"name", "sha256"}
    assert "node 20 (OpenRouterNode): it holds what looks like a secret" in places(found)
    assert key not in as_text(found)


@pytest.mark.parametrize("inputs", [[], 5])
def test_what_is_no_graph_is_named(inputs: object) -> None:
    found = comfy({"3": {"class_type": "KSampler", "inputs": inputs}})

    assert found.values == {}
    assert "'3' is no node" in places(found)


def test_a_saved_graph_on_its_own_is_read_with_not_a_number_beside_its_inputs() -> None:
    text = json.dumps(plain()).replace('"inputs"', '"is_changed": [NaN], "inputs"')

    assert imported(text.encode()).values["/art/steps"] == 20


def test_a_graph_on_screen_alone_is_kept_by_digest_and_said_to_be_all() -> None:
    screen = {"version": 0.4, "extra": {"frontendVersion": "1.9"}, "links": [], "nodes": [
        {"id": 3, "type": "KSampler", "widgets_values": [5, "fixed", 20], "inputs": []},
    ]}  # fmt: skip
    alone, beside = comfy(workflow=screen), comfy(plain(), workflow=screen)

    assert set(alone.values) == {"/provider/name", "/art/workflow"}
    assert set(alone.values["/art/workflow"]) == {"name", "sha256"}
    assert "the file has not the graph that was executed" in places(alone)
    assert (beside.values["/seed/effective"], beside.not_understood) == ("5", ())
    assert beside.other == {"tEXt workflow": {"version": 0.4, "frontendVersion": "1.9"}}


@pytest.mark.parametrize("form", ["mp4", "matroska"])
def test_tags_of_film_are_read(form: str) -> None:
    file = io.BytesIO()
    options = {"movflags": "use_metadata_tags"} if form == "mp4" else {}
    with av.open(file, "w", form, options=options) as container:
        stream = container.add_stream("flac", 44100)
        container.metadata["prompt"] = json.dumps(plain())
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 4096), np.int16), layout="mono")
        frame.sample_rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    found = imported(file.getvalue())

    assert (found.values["/seed/effective"], found.not_understood) == ("5", ())
    assert found.evidence["/model/name"].chunk.lower() == "tag prompt, node 3 (ksampler)"
