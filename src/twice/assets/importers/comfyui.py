"""ComfyUI: the graph that was executed (``prompt``), followed from what was saved back to the values that made it.

``workflow``, the graph as it stood on screen, is kept by its digest and not followed: its widgets have no names, and
seeds in it may have been drawn again. Nothing of a graph is run. A node that computes is never simulated: what it may
have given is reported, with the plain values that went in as candidates. Several passes that say different things make
each field in which they differ ambiguous; ``/seed/each`` has room for all their seeds.

Not followed: nodes that fetch by name (``GetNode``), and samplers whose class is not listed here, which are reported.

Invariant: a value stands in the graph, in a node that leads to what was saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from twice.assets.importers.json_dialects import holds_secret
from twice.assets.importers.result import (
    CONVERTERS,
    Converter,
    Reading,
    Value,
    to_count,
    to_seed,
    to_text,
    to_weight,
    without_none,
)
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

NODES_MAX: Final = 20_000
_PASSES_MAX: Final = 64
_TEXTS_MAX: Final = 64
_TEXT_MAX: Final = 16_000_000
_REROUTES_MAX: Final = 64
_HOLDERS_MAX: Final = 64
_SAMPLERS: Final = (
    "KSampler", "KSampler (Efficient)", "KSamplerAdvanced", "KSampler Adv. (Efficient)", "SamplerCustom",
    "SamplerCustomAdvanced",
)  # fmt: skip
_PARTS: Final = ("noise", "guider", "sampler", "sigmas")
"""Inputs of a sampler behind which other nodes hold its settings."""
_SETTINGS: Final = {
    "/seed/effective": ("seed", "noise_seed"), "/art/steps": ("steps",), "/art/guidance": ("cfg",),
    "/art/sampler": ("sampler_name",), "/art/scheduler": ("scheduler",), "/art/denoise": ("denoise",),
}  # fmt: skip
_OPTIONAL: Final = ("/art/scheduler", "/art/denoise")
"""Settings that not every list of sigmas has."""
_HOLDERS: Final = {
    "value": (
        "PrimitiveInt", "PrimitiveFloat", "PrimitiveString", "PrimitiveStringMultiline", "PrimitiveBoolean",
        "PrimitiveNode", "INTConstant", "FloatConstant", "easy globalSeed", "easy int", "easy float", "easy string",
        "CR Integer", "CR Float", "ImpactInt", "ImpactFloat", "JWInteger", "JWFloat",
    ),
    "seed": ("Seed (rgthree)", "easy seed", "CR Seed", "Seed", "Seed Generator", "SeedNode"),
    "string": (
        "StringConstant", "StringConstantMultiline", "String Literal", "Primitive string [Crystools]",
    ),
    "text": ("CR Text", "JWString", "Text Multiline"),
    "int": ("Int Literal", "Primitive integer [Crystools]"),
    "float": ("Float Literal",),
    "number": ("Constant Number",),
}  # fmt: skip
"""Classes whose first output is one of their inputs, unchanged."""
_HOLDER_KEYS: Final = {kind: key for key, kinds in _HOLDERS.items() for kind in kinds}
_PASSING: Final = ("Reroute", "Reroute (rgthree)", "ReroutePrimitive|pysssss")
_ENCODERS: Final = {
    "CLIPTextEncode": ("text",), "CLIPTextEncodeSDXL": ("text_g", "text_l"),
    "CLIPTextEncodeSDXLRefiner": ("text",), "CLIPTextEncodeFlux": ("clip_l", "t5xxl"),
    "CLIPTextEncodeSD3": ("clip_l", "clip_g", "t5xxl"), "CLIPTextEncodeHunyuanDiT": ("bert", "mt5xl"),
    "TextEncodeQwenImageEdit": ("prompt",), "BNK_CLIPTextEncodeAdvanced": ("text",),
}  # fmt: skip
_LOADED: Final = ("ckpt_name", "unet_name", "gguf_name", "model_name", "model_path")
_NOT_A_SAMPLER: Final = ("Select", "Preview", "Provider", "Loader", "Sampler Config")
_RESIZING = re.compile(r"^(?!.*Loader)(?!ModelSampling).*(?:Upscale|ImageScale|Crop|Resize)")
_TELLING: Final = ("seed", "value", "int", "text", "string", "prompt")


class _Link(NamedTuple):
    """A link to the output of a node, by the node's id and the output's number."""

    node: str
    output: int


class GraphNode(NamedTuple):
    """A node: its class, and its inputs by name, each a value or a link."""

    id: str
    kind: str
    inputs: dict[str, Any]

    @property
    def place(self) -> str:
        """How the node is called in reports."""
        return f"node {self.id} ({self.kind})"

    def links(self) -> Iterator[_Link]:
        """Give the links among its inputs, in their order."""
        return (each for each in self.inputs.values() if isinstance(each, _Link))


Graph: TypeAlias = dict[str, GraphNode]


def looks_like_prompt(found: Mapping[str, Any]) -> bool:
    """Whether an object is the graph that was executed: nodes by id, each with its class."""
    return bool(found) and all(isinstance(n, Mapping) and "class_type" in n for n in found.values())


def read_prompt(text: str, found: Mapping[str, Any], reading: Reading) -> None:
    """Read the graph that was executed.

    Args:
        text: the chunk.
        found: the object that it holds.
        reading: takes what it says.
    """
    reading.name_generator("ComfyUI")
    try:
        graph = _build_graph(found)
    except ValueError as error:
        reading.add_unparsed("graph", str(error))
        return
    reading.set("/provider/name", "ComfyUI")
    chunk = reading.chunk
    _read_passes(graph, reading)
    reading.chunk = chunk
    secrets = [
        f"{node.place}, {key}"
        for node in graph.values()
        for key, value in node.inputs.items()
        if not isinstance(value, _Link) and holds_secret(key, value)
    ]
    for place in secrets[:16]:
        why = "it holds what looks like a secret; the graph is kept by its digest alone"
        reading.add_unparsed(place, why)
    kept = text if not secrets and len(text) <= _TEXT_MAX else None
    reading.set("/art/workflow", _describe_workflow("ComfyUI prompt", text, kept))


def read_workflow(text: str, found: Mapping[str, Any], reading: Reading, *, is_alone: bool) -> None:
    """Keep what the graph on screen says of the program; without a prompt, its digest as well."""
    reading.name_generator("ComfyUI")
    extra = found.get("extra")
    frontend = extra.get("frontendVersion") if isinstance(extra, Mapping) else None
    for key, value in (("version", found.get("version")), ("frontendVersion", frontend)):
        reading.add_other(key, value if isinstance(value, str | int | float) else None)
    if is_alone:
        reading.set("/provider/name", "ComfyUI")
        reading.set("/art/workflow", _describe_workflow("ComfyUI workflow", text, None))
        why = "it is the graph on screen, and the file has not the graph that was executed (prompt)"
        reading.add_unparsed("workflow", why)


def _describe_workflow(name: str, text: str, kept: str | None) -> dict[str, Value]:
    digest = digest_bytes(text.encode("utf-8", "surrogatepass"), Algorithm.SHA256)
    return without_none(name=name, sha256=digest.hex, text=kept)


def _build_graph(found: Mapping[str, Any]) -> Graph:
    """Build the graph, with links past nodes that only pass on.

    Raises:
        ValueError: it holds something that is no node, or too many.
    """
    if len(found) > NODES_MAX:
        raise ValueError(f"it holds {pluralize(len(found), 'node')}; at most {NODES_MAX} are read")
    graph: Graph = {}
    for name, each in found.items():
        kind, inputs = each.get("class_type"), each.get("inputs", {})
        if not isinstance(kind, str) or not isinstance(inputs, Mapping):
            raise ValueError(f"{name[:80]!r} is no node: it lacks class_type or inputs")  # noqa: TRY004
        graph[name] = GraphNode(name, kind, {key: _to_link(value) for key, value in inputs.items()})
    for node in graph.values():
        for key, value in node.inputs.items():
            passing = None
            for _ in range(_REROUTES_MAX):
                passing = graph.get(value.node) if isinstance(value, _Link) else None
                if passing is None or passing.kind not in _PASSING:
                    break
                value = next(passing.links(), None)  # noqa: PLW2901
            node.inputs[key] = value
    return {name: node for name, node in graph.items() if node.kind not in _PASSING}


def _to_link(value: object) -> object:
    """Tell a link from a value: a list of an id and a number."""
    if isinstance(value, list) and len(value) == 2:
        node, output = value
        if (isinstance(node, str) or type(node) is int) and type(output) is int and output >= 0:
            return _Link(str(node), output)
    return value


def _read_passes(graph: Graph, reading: Reading) -> None:
    """Read every sampling pass that leads to what was saved; what leads to nothing saved says nothing."""
    chunk = reading.chunk
    used = {link.node for node in graph.values() for link in node.links()}
    # ComfyUI executes what leads to an output; a sampler or decoder at the end of a branch is none.
    no_output = (*_SAMPLERS, "VAEDecode", "VAEDecodeTiled", "CLIPTextEncode")
    sinks = [node for node in graph.values() if node.id not in used and node.kind not in no_output]
    nodes = _find_upstream(graph, sinks)
    samplers = [node for node in nodes if node.kind in _SAMPLERS]
    if not 0 < len(samplers) <= _PASSES_MAX:
        why = f"{pluralize(len(samplers), 'sampler')} that are known lead to what was saved"
        reading.add_unparsed("graph", why)
    seeds: list[Value] = []
    adapters: list[list[Value]] = []
    for sampler in samplers[:_PASSES_MAX]:
        reading.chunk = f"{chunk}, {sampler.place}"
        inputs = _collect_settings(graph, sampler)
        for pointer, keys in _SETTINGS.items():
            _take_setting(graph, inputs, pointer, keys, reading)
        seed, _, _ = _resolve(graph, inputs.get("seed", inputs.get("noise_seed")), to_seed)
        seeds += [{"step": sampler.place, "effective": seed}] if seed is not None else []
        for pointer, side in (("/art/prompt", "positive"), ("/art/negative_prompt", "negative")):
            if side in inputs:
                _read_texts(graph, inputs[side], pointer, reading)
        for node in _walk(graph, inputs.get("positive"), ("conditioning", "positive")):
            if node.kind in {"FluxGuidance", "CLIPTextEncodeFlux"}:
                _take(
                    graph,
                    "/art/settings/conditioning_guidance",
                    node.inputs.get("guidance"),
                    reading,
                )
        adapters.append(_read_model(graph, inputs, reading))
        before = _find_upstream(graph, _list_behind(graph, inputs.get("latent_image")))
        if not any(each.kind in _SAMPLERS and each.id != sampler.id for each in before):
            _read_size(graph, inputs, reading)  # The other passes refine what these made.
    if len(seeds) == len(samplers) > 1:
        reading.set("/seed/each", seeds)
    for each in adapters if any(adapters) else ():
        reading.set("/model/adapters", each)
    for node in nodes:
        _doubt_settings(node, reading)


def _find_upstream(graph: Graph, starts: Iterable[GraphNode]) -> list[GraphNode]:
    """Give the nodes that lead to some nodes, themselves first, each once."""
    found = {node.id: node for node in starts}
    waiting = list(found.values())
    for node in waiting:
        for each in (graph[link.node] for link in node.links() if link.node in graph):
            if each.id not in found:
                found[each.id] = each
                waiting.append(each)
    return waiting


def _list_behind(graph: Graph, value: object) -> list[GraphNode]:
    """Give the node at the other end of a link, or nothing."""
    return [graph[value.node]] if isinstance(value, _Link) and value.node in graph else []


def _walk(graph: Graph, value: object, keys: tuple[str, ...]) -> Iterator[GraphNode]:
    """Give the nodes behind a link, and on through the first of some inputs that each has."""
    seen: set[str] = set()
    while (found := _list_behind(graph, value)) and found[0].id not in seen:
        seen.add(found[0].id)
        yield found[0]
        value = next((found[0].inputs[key] for key in keys if key in found[0].inputs), None)


def _collect_settings(graph: Graph, sampler: GraphNode) -> dict[str, Any]:
    """Give the inputs of a sampler, and of the nodes that hold its settings; its own come first."""
    inputs = dict(sampler.inputs)
    for part in _PARTS:
        for node in _walk(
            graph, sampler.inputs.get(part), ("sigmas",)
        ):  # SplitSigmas passes them on.
            inputs = {**node.inputs, **inputs}
            if node.kind == "BasicGuider":  # It guides by the conditioning alone.
                inputs |= {"positive": node.inputs.get("conditioning"), "cfg": None}
            elif node.kind == "DisableNoise":
                inputs["noise_seed"] = None
            elif (
                part == "sampler"
                and "sampler_name" not in node.inputs
                and node.kind.startswith("Sampler")
            ):
                inputs["sampler_name"] = (
                    node.kind
                )  # Each of ComfyUI's own sampler nodes is one sampler.
    return inputs


def _take_setting(
    graph: Graph, inputs: Mapping[str, Any], pointer: str, keys: tuple[str, ...], reading: Reading
) -> None:
    """State a pass's setting; one that no node of it has is open, if every pass has such a setting."""
    key = next((each for each in keys if each in inputs), None)
    if key is None and pointer not in _OPTIONAL:
        reading.add_candidates(
            pointer, [], f"no input {' or '.join(keys)} leads to {reading.chunk}"
        )
    elif key is not None and inputs[key] is not None:
        _take(graph, pointer, inputs[key], reading)


def _take(graph: Graph, pointer: str, value: object, reading: Reading) -> None:
    """State the value that an input has, or make the field ambiguous."""
    found, why, candidates = _resolve(graph, value, CONVERTERS[pointer])
    if why:
        reading.add_candidates(pointer, candidates, why)
    else:
        reading.set(pointer, found)


def _resolve(graph: Graph, value: object, convert: Converter) -> tuple[Any, str, list[Value]]:
    """Follow an input to its value, through nodes that only hold one.

    Returns:
        The value; or why there is none, and what it may be.
    """
    for _ in range(_HOLDERS_MAX):
        if not isinstance(value, _Link):
            break
        node = graph.get(value.node)
        if node is None:
            return None, f"it links to node {value.node[:40]}, which is not in the graph", []
        key = _HOLDER_KEYS.get(node.kind) if value.output == 0 else None
        if key not in node.inputs:
            told = [
                convert(each)
                for name, each in node.inputs.items()
                if not isinstance(each, _Link) and any(word in name.lower() for word in _TELLING)
            ]
            return None, f"{node.place} computes it", [each for each in told if each is not None]
        value = node.inputs[key]
    found = None if isinstance(value, _Link) else convert(value)
    why = (
        "" if found is not None else f"{str(value)[:60]!r} says nothing of the value that was used"
    )
    return found, why, []


def _read_texts(graph: Graph, value: object, pointer: str, reading: Reading) -> None:
    """Read the texts behind a conditioning input; several that are combined are never joined into one."""
    seen: set[_Link] = set()
    waiting = [value]
    while waiting and len(seen) < _TEXTS_MAX:
        link = waiting.pop(0)
        if not isinstance(link, _Link) or link.node not in graph:
            reading.add_candidates(pointer, [], "it links to a node that is not in the graph")
            continue
        node = graph[link.node]
        if link in seen:
            continue
        seen.add(link)
        sides = [node.inputs.get("positive"), node.inputs.get("negative")]
        starts = ("conditioning", "positive", "negative")
        sources = [
            each
            for key, each in node.inputs.items()
            if isinstance(each, _Link) and key.startswith(starts)
        ]
        if node.kind in _ENCODERS:
            for key in _ENCODERS[node.kind]:
                _take(graph, pointer, node.inputs.get(key), reading)
        elif node.kind == "ConditioningZeroOut":
            reading.add_candidates(pointer, [], f"{node.place} takes the text away")
        elif None not in sides and link.output < 2:
            waiting.append(sides[link.output])  # Each side comes out of the output of its number.
        elif sources:
            waiting += sources
        else:
            reading.add_candidates(pointer, [], f"{node.place} makes it")


def _read_model(graph: Graph, inputs: Mapping[str, Any], reading: Reading) -> list[Value]:
    """Read the model that a pass uses; give the adapters on the way to it, first one first."""
    adapters: list[Value] = []
    place = "model"
    for node in _walk(graph, inputs.get("model"), ("model",)):
        place = node.place
        named = [(node.inputs.get("lora_name", "None"), node.inputs.get("strength_model", 1))]
        named += [
            (each.get("lora"), each.get("strength"))
            for key, each in node.inputs.items()
            if key.startswith("lora_") and isinstance(each, Mapping) and each.get("on") is True
        ]
        for name, strength in (each for each in reversed(named) if each[0] != "None"):
            said, open_name, _ = _resolve(graph, name, to_text)
            weight, open_weight, _ = _resolve(graph, strength, to_weight)
            if open_name or open_weight:
                why = f"the adapter's name or weight is open: {open_name or open_weight}"
                reading.add_unparsed(place, why)
            if said is not None:
                adapters.append(without_none(kind="lora", name=said, weight=weight))
        key = next((each for each in _LOADED if each in node.inputs), None)
        if key is not None and "model" not in node.inputs:
            _take(graph, "/model/name", node.inputs[key], reading)
            return adapters[::-1]
    reading.add_unparsed(place, "the model comes from here, and no name of one is written")
    return adapters[::-1]


def _read_size(graph: Graph, inputs: Mapping[str, Any], reading: Reading) -> None:
    """Read the size and the batch that were asked for, from the empty latent behind a pass."""
    keys = ("latent_image", "samples", "latent", "pixels", "image")
    nodes = list(_walk(graph, inputs.get("latent_image"), keys))
    if not nodes or not {"width", "height"} <= set(nodes[-1].inputs):
        place = nodes[-1].place if nodes else "latent_image"
        reading.add_unparsed(place, "the picture starts from here, and no size is written")
        return
    start = nodes[-1].inputs
    _take(graph, "/art/width_px", start["width"], reading)
    _take(graph, "/art/height_px", start["height"], reading)
    many, why, _ = _resolve(graph, start.get("batch_size", 1), to_count)
    repeating = [node.place for node in nodes if node.kind == "RepeatLatentBatch"]
    if repeating or why:
        many, why = None, f"{repeating[0]} repeats the batch" if repeating else why
        reading.add_candidates("/art/batch_size", [], why)
    reading.set("/art/batch_size", many)
    if many == 1:
        reading.set("/art/batch_index", 0)
    else:
        why = f"the picture is one of {many or 'a batch'}, and the file does not say which"
        reading.add_candidates("/art/batch_index", range(min(many or 0, 16)), why)


def _doubt_settings(node: GraphNode, reading: Reading) -> None:
    """Make open what a node on the way to the picture changes: the size, or what an unknown sampler uses."""
    seeded = any(key in node.inputs for key in ("seed", "noise_seed"))
    named = "sampler" in node.kind.lower() and not any(each in node.kind for each in _NOT_A_SAMPLER)
    is_sampler = "steps" in node.inputs or "sampler_name" in node.inputs or named
    pointers: Iterable[str] = ()
    why = f"{node.place} changes the size on the way"
    if seeded and is_sampler and node.kind not in _SAMPLERS:
        why = f"{node.place} draws from a seed as well, and its settings are not known here"
        reading.add_unparsed(
            node.place, "it draws from a seed, and its settings are not known here"
        )
        pointers = _SETTINGS
    elif _RESIZING.search(node.kind):
        pointers = ("/art/width_px", "/art/height_px")
    for pointer in pointers:
        if reading.says(pointer):
            reading.add_candidates(pointer, [], why)
