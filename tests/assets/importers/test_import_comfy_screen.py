"""ComfyUI's graph as it stood on screen: rebuilt, opened, and never trusted with a drawn seed."""

from __future__ import annotations

from typing import Any

import pytest
from madefiles import comfy, doubts, places

TYPES = {
    "model": "MODEL",
    "positive": "CONDITIONING",
    "negative": "CONDITIONING",
    "latent_image": "LATENT",
}


def node(
    number: Any, kind: str, widgets: Any = None, *, mode: int = 0, **linked: int
) -> dict[str, Any]:
    """Build a node whose inputs have the links given by number."""
    inputs = [
        {"name": name, "type": TYPES.get(name, "*"), "link": at} for name, at in linked.items()
    ]
    found = {"id": number, "type": kind, "mode": mode, "inputs": inputs, "outputs": []}
    return found if widgets is None else {**found, "widgets_values": widgets}


def screen(*more: Any, control: str = "fixed", **changes: Any) -> dict[str, Any]:
    """Build a workflow of text to image."""
    nodes = [
        node(3, "KSampler", [5, control, 20, 8, "euler", "normal", 1], model=1, positive=2, negative=3,
             latent_image=4),
        node(4, "CheckpointLoaderSimple", ["base.safetensors"]),
        node(5, "EmptyLatentImage", [512, 768, 1]),
        node(6, "CLIPTextEncode", ["a lamp"]),
        node(7, "CLIPTextEncode", ["text"]),
        node(9, "SaveImage", ["x"], images=5),
        *more,
    ]  # fmt: skip
    links = [
        [1, 4, 0, 3, 0, "MODEL"], [2, 6, 0, 3, 1, "CONDITIONING"], [3, 7, 0, 3, 2, "CONDITIONING"],
        [4, 5, 0, 3, 3, "LATENT"], [5, 3, 0, 9, 0, "IMAGE"],
    ]  # fmt: skip
    return {"version": 0.4, "nodes": nodes, "links": links, **changes}


def test_a_screen_alone_gives_what_it_would_execute() -> None:
    found = comfy(workflow=screen())
    values = {at: value for at, value in found.values.items() if at != "/art/workflow"}

    assert values == {
        "/provider/name": "ComfyUI", "/seed/effective": "5", "/art/steps": 20, "/art/guidance": 8,
        "/art/sampler": "euler", "/art/scheduler": "normal", "/art/denoise": 1, "/art/prompt": "a lamp",
        "/art/negative_prompt": "text", "/model/name": "base.safetensors", "/art/width_px": 512,
        "/art/height_px": 768, "/art/batch_size": 1, "/art/batch_index": 0,
    }  # fmt: skip
    assert found.values["/art/workflow"]["name"] == "ComfyUI workflow"
    assert (found.ambiguities, found.not_understood) == ((), ())


@pytest.mark.parametrize("control", ["randomize", "increment", "decrement"])
def test_a_seed_that_is_drawn_anew_is_open(control: str) -> None:
    found = comfy(workflow=screen(control=control))

    assert doubts(found) == {"/seed/effective": ("5",)}
    assert control in found.ambiguities[0].why


def test_a_muted_node_is_gone_and_a_bypassed_one_hands_its_input_on() -> None:
    lora = node(10, "LoraLoaderModelOnly", ["film", 0.5], mode=4, model=6)
    lora["outputs"] = [{"name": "MODEL", "type": "MODEL"}]
    muted = node(11, "KSampler", [99, "fixed", 1, 1, "x", "y", 1], mode=2)
    document = screen(lora, muted)
    document["links"][0] = [1, 10, 0, 3, 0, "MODEL"]
    document["links"].append([6, 4, 0, 10, 0, "MODEL"])
    found = comfy(workflow=document)

    assert found.values["/model/name"] == "base.safetensors"
    assert (found.values["/seed/effective"], "/model/adapters" in found.values) == ("5", False)


def subgraph(inside: str = "KSampler") -> dict[str, Any]:
    nodes = [
        node(1, inside, [7, "fixed", 12, 2, "euler", "normal", 1], model=1, positive=2, negative=3,
             latent_image=4, seed=6)
    ]  # fmt: skip
    names = ("model", "positive", "negative", "latent_image", "seed")
    links = [
        {"id": at + 1, "origin_id": -10, "origin_slot": at, "target_id": 1, "target_slot": at}
        for at in range(4)
    ]
    links += [
        {"id": 6, "origin_id": -10, "origin_slot": 4, "target_id": 1, "target_slot": 4},
        {"id": 7, "origin_id": 1, "origin_slot": 0, "target_id": -20, "target_slot": 0},
    ]
    return {
        "id": "sub-1",
        "nodes": nodes,
        "links": links,
        "inputs": [{"name": each} for each in names],
    }


def with_subgraph(inside: str = "KSampler", **linked: int) -> dict[str, Any]:
    document = screen()
    document["nodes"][0] = node(
        3, "sub-1", model=1, positive=2, negative=3, latent_image=4, **linked
    )
    return document | {"definitions": {"subgraphs": [subgraph(inside)]}}


def test_a_subgraph_is_opened_with_what_comes_in_from_around() -> None:
    found = comfy(workflow=with_subgraph())

    assert found.ambiguities == ()
    assert (found.values["/seed/effective"], found.values["/art/steps"]) == ("7", 12)
    assert (found.values["/art/prompt"], found.values["/art/width_px"]) == ("a lamp", 512)


def test_a_seed_that_comes_in_from_around_a_subgraph_goes_before_the_widget_inside() -> None:
    document = with_subgraph(seed=8)
    document["nodes"].append(node(12, "PrimitiveInt", [1234, "fixed"]))
    document["links"].append([8, 12, 0, 3, 4, "INT"])

    assert comfy(workflow=document).values["/seed/effective"] == "1234"


def test_a_subgraph_inside_itself_is_refused() -> None:
    assert "contains itself" in places(comfy(workflow=with_subgraph("sub-1")))


def test_a_group_node_is_named_and_not_read() -> None:
    document = screen()
    document["nodes"][0]["type"] = "workflow>my sampler"
    found = comfy(workflow=document)

    assert "/seed/effective" not in found.values
    assert "node 3 (workflow>my sampler)" in places(found)


def test_widgets_that_do_not_fit_their_names_are_not_named() -> None:
    document = screen()
    document["nodes"][0]["widgets_values"] = [5, 20]
    found = comfy(workflow=document)

    assert "node 3 (KSampler): its widgets have no names here" in places(found)
    assert "/seed/effective" not in found.values


def test_a_widget_that_was_turned_into_an_input_is_followed() -> None:
    document = screen(node(12, "PrimitiveNode", [4321, "fixed"]))
    document["nodes"][0]["inputs"].append(
        {"name": "seed", "type": "INT", "link": 8, "widget": {"name": "seed"}}
    )
    document["links"].append([8, 12, 0, 3, 4, "INT"])

    assert comfy(workflow=document).values["/seed/effective"] == "4321"


def test_what_was_executed_goes_before_what_the_screen_showed() -> None:
    prompt = {
        "3": {"class_type": "KSampler", "inputs": {"seed": 6, "steps": 20}},
        "9": {"class_type": "SaveImage", "inputs": {"images": ["3", 0]}},
    }
    found = comfy(prompt, screen())

    assert found.values["/seed/effective"] == "6"
    assert "node 3 (KSampler): the screen showed seed 5; 6 was executed" in places(found)
