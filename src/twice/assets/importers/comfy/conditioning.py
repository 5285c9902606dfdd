"""What conditions a sampler: the texts behind its positive and negative inputs, the model, the size.

Invariant: several texts that are combined are several candidates, never joined into one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.comfy.following import Resolved, resolved
from twice.assets.importers.comfy.graph import Graph, Link, Node, upstream
from twice.assets.importers.comfy.passes import Pass, chain, past_passing
from twice.assets.importers.imported import Reading, Value

_ENCODERS: Final = {
    "CLIPTextEncode": ("text",),
    "CLIPTextEncodeSDXL": ("text_g", "text_l"),
    "CLIPTextEncodeSDXLRefiner": ("text",),
    "CLIPTextEncodeFlux": ("clip_l", "t5xxl"),
    "CLIPTextEncodeSD3": ("clip_l", "clip_g", "t5xxl"),
    "CLIPTextEncodeHunyuanDiT": ("bert", "mt5xl"),
    "TextEncodeQwenImageEdit": ("prompt",),
    "BNK_CLIPTextEncodeAdvanced": ("text",),
}
_LOADED: Final = ("ckpt_name", "unet_name", "gguf_name", "model_name", "model_path")
_ZEROED: Final = "ConditioningZeroOut"
_TEXTS_MAX = 64


def texts(graph: Graph, value: object) -> Iterator[Resolved]:
    """Give the texts behind a conditioning input."""
    seen: set[str] = set()
    waiting: list[object] = [value]
    while waiting and len(seen) < _TEXTS_MAX:
        link = past_passing(graph, waiting.pop(0))
        if link is None:
            yield Resolved(why="it links to a node that is not in the graph")
            continue
        node = graph[link.node]
        if node.id in seen:
            continue
        seen.add(node.id)
        if node.kind in _ENCODERS:
            for key in _ENCODERS[node.kind]:
                yield resolved(graph, node.inputs.get(key), written)
        elif node.kind == _ZEROED:
            yield Resolved(why=f"{node.place} takes the text away")
        else:
            sources = list(_sources(node, link))
            waiting.extend(sources)
            if not sources:
                yield Resolved(why=f"{node.place} makes it")


def written(value: object) -> str | None:
    """Give a text as it stands, an empty one too."""
    return value if isinstance(value, str) else None


def _sources(node: Node, link: Link) -> Iterator[Link]:
    """Give the links on which conditioning comes into a node, for the output that is used."""
    pair = ("positive", "negative")
    if all(key in node.inputs for key in pair):
        chosen = node.inputs[pair[link.output]] if link.output < len(pair) else None
        if isinstance(chosen, Link):
            yield chosen
        return
    for key, value in node.inputs.items():
        if isinstance(value, Link) and key.startswith(("conditioning", "positive", "negative")):
            yield value


def guidances(graph: Graph, value: object) -> Iterator[Value]:
    """Give the strengths of guidance that stand in the conditioning itself, as for Flux."""
    for node in chain(graph, value, ("conditioning", "positive")):
        if node.kind in ("FluxGuidance", "CLIPTextEncodeFlux"):
            found = resolved(graph, node.inputs.get("guidance"), scalars.guidance)
            if found.value is not None:
                yield found.value


def read_model(graph: Graph, found: Pass, reading: Reading) -> list[Value]:
    """Read the model that a pass uses; give the adapters on the way to it, first one first."""
    adapters: list[Value] = []
    last: Node | None = None
    for node in chain(graph, found.inputs.get("model"), ("model",)):
        last = node
        adapters.extend(_adapters(graph, node, reading))
        key = next((each for each in _LOADED if each in node.inputs), None)
        if key is not None and "model" not in node.inputs:
            name = resolved(graph, node.inputs[key], scalars.text)
            take(fields.MODEL_NAME, name, reading)
            break
    else:
        place = last.place if last else found.node.place
        reading.puzzle(place, "the model comes from here, and no name of one is written")
    return adapters[::-1]


def _adapters(graph: Graph, node: Node, reading: Reading) -> Iterator[Value]:
    """Give a node's adapters, last one first."""
    named: list[tuple[Any, Any]] = []
    if "lora_name" in node.inputs:
        named.append((node.inputs["lora_name"], node.inputs.get("strength_model", 1)))
    for key, each in node.inputs.items():
        if key.startswith("lora_") and isinstance(each, Mapping) and each.get("on") is True:
            named.append((each.get("lora"), each.get("strength")))
    for name, strength in reversed(named):
        if name == "None":
            continue
        text = resolved(graph, name, scalars.text)
        weight = resolved(graph, strength, scalars.weight)
        if text.value is None:
            reading.puzzle(node.place, f"the adapter's name is open: {text.why}")
            continue
        if weight.value is None:
            reading.puzzle(node.place, f"the adapter's weight is open: {weight.why}")
        yield fields.adapter("lora", text.value, weight=weight.value)


def read_size(graph: Graph, found: Pass, reading: Reading) -> None:
    """Read the size and the batch that were asked for, from the empty latent behind a pass."""
    nodes = list(
        chain(
            graph,
            found.inputs.get("latent"),
            ("latent_image", "samples", "latent", "pixels", "image"),
        )
    )
    start = nodes[-1] if nodes else None
    if start is None or not {"width", "height"} <= set(start.inputs):
        place = start.place if start else found.node.place
        reading.puzzle(place, "the picture starts from here, and no size is written")
        return
    for pointer, key in ((fields.WIDTH, "width"), (fields.HEIGHT, "height")):
        take(pointer, resolved(graph, start.inputs[key], scalars.count), reading)
    batch = resolved(graph, start.inputs.get("batch_size", 1), scalars.count)
    repeated = [each for each in nodes if each.kind == "RepeatLatentBatch"]
    if repeated:
        batch = Resolved(why=f"{repeated[0].place} repeats the batch")
    take(fields.BATCH_SIZE, batch, reading)
    if batch.value == 1:
        reading.say(fields.BATCH_INDEX, 0)
    else:
        many = batch.value if isinstance(batch.value, int) else 0
        why = f"the picture is one of {many or 'a batch'}, and the file does not say which"
        reading.doubt(fields.BATCH_INDEX, range(min(many, 16)), why)


def doubt_size(graph: Graph, sinks: list[Node], reading: Reading) -> None:
    """Report sizes as open where a node on the way to the picture changes them."""
    changing = [node for node in upstream(graph, sinks) if _changes_size(node)]
    for pointer in (fields.WIDTH, fields.HEIGHT):
        if changing and pointer in reading.values:
            reading.doubt(pointer, [], f"{changing[0].place} changes the size on the way")


def _changes_size(node: Node) -> bool:
    if "Loader" in node.kind or node.kind.startswith("ModelSampling"):
        return False
    return any(word in node.kind for word in ("Upscale", "ImageScale", "Crop", "Resize"))


def take(pointer: str, found: Resolved, reading: Reading) -> None:
    """Take a value, or report why it is open."""
    if found.value is not None:
        reading.say(pointer, found.value)
    else:
        reading.doubt(pointer, found.candidates, found.why)
