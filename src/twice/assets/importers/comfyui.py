"""ComfyUI: the graph that was executed (``prompt``), followed from what was saved back to the values that made it.

``workflow``, the graph as it stood on screen, is kept by its digest and not followed: its widgets have no names, and
seeds in it may have been drawn again. A node that computes is never simulated: the plain values that went in are
candidates. Passes that differ make a field ambiguous; ``/seed/each`` has room for all their seeds.

Not followed: nodes that fetch by name (``GetNode``), and samplers whose class is not listed here, which are reported.

Invariant: a value stands in the graph, in a node that leads to what was saved.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from twice.assets.importers.json_dialects import remove_secrets
from twice.assets.importers.result import Reading, Value, convert, drop_none
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.printable import pluralize

NODES_MAX: Final = 20_000
_PASSES_MAX: Final = 64
_TEXTS_MAX: Final = 64
_TEXT_MAX: Final = 16_000_000
_HOPS_MAX: Final = 64
_SAMPLERS: Final = (
    "KSampler", "KSampler (Efficient)", "KSamplerAdvanced", "KSampler Adv. (Efficient)", "SamplerCustom",
    "SamplerCustomAdvanced",
)  # fmt: skip
_PASSING: Final = ("Reroute", "Reroute (rgthree)", "ReroutePrimitive|pysssss")
_NO_OUTPUT: Final = (*_SAMPLERS, *_PASSING, "VAEDecode", "VAEDecodeTiled", "CLIPTextEncode")
_PARTS: Final = ("noise", "guider", "sampler", "sigmas")
"""Inputs of a sampler behind which other nodes hold its settings."""
_SETTINGS: Final = {
    "/seed/effective": ("seed", "noise_seed"), "/art/steps": ("steps",), "/art/guidance": ("cfg",),
    "/art/sampler": ("sampler_name",), "/art/scheduler": ("scheduler",), "/art/denoise": ("denoise",),
}  # fmt: skip
_OPTIONAL: Final = ("/art/scheduler", "/art/denoise")
"""Settings that not every list of sigmas has."""
_HOLDERS: Final = {
    **dict.fromkeys((
        "PrimitiveInt", "PrimitiveFloat", "PrimitiveString", "PrimitiveStringMultiline", "PrimitiveBoolean",
        "PrimitiveNode", "INTConstant", "FloatConstant", "easy globalSeed", "easy int", "easy float", "easy string",
        "CR Integer", "CR Float", "ImpactInt", "ImpactFloat", "JWInteger", "JWFloat",
    ), "value"),
    **dict.fromkeys(("Seed (rgthree)", "easy seed", "CR Seed", "Seed", "Seed Generator", "SeedNode"), "seed"),
    **dict.fromkeys(("StringConstant", "StringConstantMultiline", "String Literal"), "string"),
    **dict.fromkeys(("CR Text", "JWString", "Text Multiline"), "text"),
    "Primitive string [Crystools]": "string", "Primitive integer [Crystools]": "int", "Int Literal": "int",
    "Float Literal": "float", "Constant Number": "number",
}  # fmt: skip
"""Classes whose first output is one of their inputs, unchanged."""
_ENCODERS: Final = {
    "CLIPTextEncode": ("text",), "CLIPTextEncodeSDXL": ("text_g", "text_l"),
    "CLIPTextEncodeSDXLRefiner": ("text",), "CLIPTextEncodeFlux": ("clip_l", "t5xxl"),
    "CLIPTextEncodeSD3": ("clip_l", "clip_g", "t5xxl"), "CLIPTextEncodeHunyuanDiT": ("bert", "mt5xl"),
    "TextEncodeQwenImageEdit": ("prompt",), "BNK_CLIPTextEncodeAdvanced": ("text",),
}  # fmt: skip
_LOADED: Final = ("ckpt_name", "unet_name", "gguf_name", "model_name", "model_path")
_CONDITIONING: Final = ("conditioning", "positive", "negative")
_LATENTS: Final = ("latent_image", "samples", "latent", "pixels", "image")
_NO_SAMPLER = re.compile(r"Select|Preview|Provider|Loader|Sampler Config")
_RESIZING = re.compile(r"^(?!.*Loader)(?!ModelSampling).*(?:Upscale|ImageScale|Crop|Resize)")
_TELLING = re.compile(r"seed|value|int|text|string|prompt", re.IGNORECASE)


@dataclass(eq=False, repr=False, slots=True)
class GraphNode:
    """A node: its class, and its inputs by name, each a value or a link."""

    id: str
    kind: str
    inputs: dict[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """How the node is called in reports."""
        return f"node {self.id[:40]} ({self.kind})"

    def links(self) -> list[_Link]:
        """Give the links among its inputs, in their order."""
        return [each for each in self.inputs.values() if isinstance(each, _Link)]


class _Link(NamedTuple):
    node: GraphNode
    output: int


def is_prompt_graph(found: Mapping[str, Any]) -> bool:
    """Whether an object is the graph that was executed: nodes by id, each with its class."""
    return bool(found) and all(isinstance(n, Mapping) and "class_type" in n for n in found.values())


def read_prompt(text: str, found: Mapping[str, Any], reading: Reading) -> None:
    """Read the graph that was executed: a chunk's text, and the object that it holds.

    Raises:
        ValueError: it holds something that is no node, or too many.
    """
    reading.name_generator("ComfyUI")
    if len(found) > NODES_MAX:
        raise ValueError(f"it holds {pluralize(len(found), 'node')}; at most {NODES_MAX} are read")
    for name, each in found.items():
        if not isinstance(each["class_type"], str) or not isinstance(each.get("inputs", {}), dict):
            raise ValueError(f"{name[:80]!r} is no node: it lacks class_type or inputs")  # noqa: TRY004
    graph = _build_graph(found)
    reading.set("/provider/name", "ComfyUI")
    _GraphReader(reading).read(graph)
    secrets = [node for node in graph if remove_secrets(node.inputs) != node.inputs]
    for node in secrets:
        why = "it holds what looks like a secret; the graph is kept by its digest alone"
        reading.add_unparsed(node.place, why)
    _set_workflow("ComfyUI prompt", text, reading, is_kept=not secrets and len(text) <= _TEXT_MAX)


def read_workflow(text: str, found: Mapping[str, Any], reading: Reading, *, is_alone: bool) -> None:
    """Keep what the graph on screen says of the program; without a prompt, its digest as well."""
    reading.name_generator("ComfyUI")
    extra = found.get("extra")
    frontend = extra.get("frontendVersion") if isinstance(extra, Mapping) else None
    for key, value in (("version", found.get("version")), ("frontendVersion", frontend)):
        reading.add_other(key, value if isinstance(value, str | int | float) else None)
    if is_alone:
        reading.set("/provider/name", "ComfyUI")
        _set_workflow("ComfyUI workflow", text, reading, is_kept=False)
        why = "it is the graph on screen, and the file has not the graph that was executed (prompt)"
        reading.add_unparsed("workflow", why)


def _set_workflow(name: str, text: str, reading: Reading, *, is_kept: bool) -> None:
    digest = digest_bytes(text.encode("utf-8", "surrogatepass"), Algorithm.SHA256)
    kept = text if is_kept else None
    reading.set("/art/workflow", drop_none(name=name, sha256=digest.hex, text=kept))


def _build_graph(found: Mapping[str, Any]) -> list[GraphNode]:
    """Link the nodes to each other, past those that only pass on; one that is not there is a node without inputs."""
    graph = {name: GraphNode(name, each["class_type"]) for name, each in found.items()}

    def follow(value: object) -> object:
        for _ in range(_HOPS_MAX):
            match value:
                case [str() | int() as name, int() as output] if output >= 0:
                    node = graph.get(str(name)) or GraphNode(str(name), "not in the graph")
                case _:
                    return value
            if node.kind not in _PASSING:
                return _Link(node, output)
            inputs = found[node.id].get("inputs", {}).values()
            value = next((each for each in inputs if isinstance(each, list)), None)
        return value  # Nodes that pass on in a circle: no value.

    for node in graph.values():
        inputs = found[node.id].get("inputs", {})
        node.inputs = {key: follow(value) for key, value in inputs.items()}
    return [node for node in graph.values() if node.kind not in _PASSING]


class _GraphReader:
    """Reads a graph into a reading, by the links between its nodes."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._chunk = reading.chunk

    def read(self, graph: list[GraphNode]) -> None:
        """Read every sampling pass that leads to what was saved; what leads to nothing saved says nothing."""
        used = {link.node for node in graph for link in node.links()}
        # ComfyUI executes what leads to an output; a sampler or decoder at the end of a branch is none.
        ends = [node for node in graph if node not in used and node.kind not in _NO_OUTPUT]
        nodes = list(self._walk(_Link(each, 0) for each in ends))
        samplers = [node for node in nodes if node.kind in _SAMPLERS]
        if not 0 < len(samplers) <= _PASSES_MAX:
            why = f"{pluralize(len(samplers), 'sampler')} that are known lead to what was saved"
            self._reading.add_unparsed("graph", why)
            samplers = []
        seeds: list[Value] = []
        adapters: list[list[Value]] = []
        for sampler in samplers:
            self._reading.chunk = f"{self._chunk}, {sampler.place}"
            inputs = self._collect_settings(sampler)
            self._read_settings(inputs)
            raw = inputs.get("seed", inputs.get("noise_seed"))
            seed, _, _ = self._resolve(raw, "/seed/effective")
            seeds += [{"step": sampler.place, "effective": seed}] if seed is not None else []
            adapters.append(self._read_model(inputs))
            before = self._walk([inputs.get("latent_image")])
            if not any(each.kind in _SAMPLERS and each is not sampler for each in before):
                self._read_size(inputs)  # The other passes refine what these made.
        self._reading.chunk = self._chunk
        if len(seeds) == len(samplers) > 1:
            self._reading.set("/seed/each", seeds)
        for each in adapters if any(adapters) else ():
            self._reading.set("/model/adapters", each)
        for node in nodes:
            self._doubt_settings(node)

    def _walk(self, values: Iterable[object], *keys: str) -> Iterator[GraphNode]:
        """Give the nodes behind links, each once, and on through all inputs or the first of some that each has."""
        seen: set[GraphNode] = set()
        waiting = list(values)
        for value in waiting:
            if isinstance(value, _Link) and value.node not in seen:
                node = value.node
                seen.add(node)
                yield node
                named = [node.inputs[key] for key in keys if key in node.inputs]
                waiting += named[:1] if keys else node.links()

    def _collect_settings(self, sampler: GraphNode) -> dict[str, Any]:
        """Give the inputs of a sampler, and of the nodes that hold its settings; its own come first."""
        inputs = dict(sampler.inputs)
        for part in _PARTS:
            # SplitSigmas and its like pass sigmas on.
            for node in self._walk([sampler.inputs.get(part)], "sigmas"):
                inputs = {**node.inputs, **inputs}
                if node.kind == "BasicGuider":  # It guides by the conditioning alone.
                    inputs |= {"positive": node.inputs.get("conditioning"), "cfg": None}
                elif node.kind == "DisableNoise":
                    inputs["noise_seed"] = None
                elif part == "sampler" and node.kind.startswith("Sampler"):
                    # Each of ComfyUI's own sampler nodes is one sampler.
                    inputs.setdefault("sampler_name", node.kind)
        return inputs

    def _read_settings(self, inputs: Mapping[str, Any]) -> None:
        """State a pass's settings; what no node of it has is open, if every pass has it."""
        for pointer, keys in _SETTINGS.items():
            key = next((each for each in keys if each in inputs), None)
            if key is not None and inputs[key] is not None:
                self._take(pointer, inputs[key])
            elif key is None and pointer not in _OPTIONAL:
                why = f"no input {' or '.join(keys)} leads to {self._reading.chunk}"
                self._reading.add_candidates(pointer, [], why)
        for pointer, side in (("/art/prompt", "positive"), ("/art/negative_prompt", "negative")):
            if side in inputs:
                self._read_texts(inputs[side], pointer)
        for node in self._walk([inputs.get("positive")], "conditioning", "positive"):
            if node.kind in {"FluxGuidance", "CLIPTextEncodeFlux"}:
                strength = node.inputs.get("guidance")
                self._take("/art/settings/conditioning_guidance", strength)

    def _take(self, pointer: str, value: object) -> None:
        """State the value that an input has, or make the field ambiguous."""
        found, why, candidates = self._resolve(value, pointer)
        if why:
            self._reading.add_candidates(pointer, candidates, why)
        else:
            self._reading.set(pointer, found)

    def _resolve(self, value: object, pointer: str) -> tuple[Any, str, list[Value]]:
        """Follow an input to its value, through nodes that only hold one.

        Returns:
            The value; or why there is none, and what it may be.
        """
        for _ in range(_HOPS_MAX):
            if not isinstance(value, _Link):
                break
            node, output = value
            key = _HOLDERS.get(node.kind) if output == 0 else None
            if key not in node.inputs:
                told = (each for name, each in node.inputs.items() if _TELLING.search(name))
                candidates = [convert(pointer, each) for each in told]
                return None, f"{node.place} computes it", [c for c in candidates if c is not None]
            value = node.inputs[key]
        found = convert(pointer, value)
        said = value.node.place if isinstance(value, _Link) else str(value)
        why = f"{said[:60]!r} says nothing of the value that was used"
        return found, why if found is None else "", []

    def _read_texts(self, value: object, pointer: str) -> None:
        """Read the texts behind a conditioning input; several that are combined are never joined into one."""
        waiting: list[Any] = [value]
        for link in waiting:
            if not isinstance(link, _Link) or len(waiting) > _TEXTS_MAX:
                why = "no link leads to a text, or too many do"
                self._reading.add_candidates(pointer, [], why)
                break
            node = link.node
            sides = [each for key, each in node.inputs.items() if key.startswith(_CONDITIONING)]
            sources = [each for each in sides if isinstance(each, _Link)]
            if node.kind in _ENCODERS:
                for key in _ENCODERS[node.kind]:
                    self._take(pointer, node.inputs.get(key))
            elif node.kind == "ConditioningZeroOut" or not sources:
                what = "takes the text away" if sources else "makes it"
                self._reading.add_candidates(pointer, [], f"{node.place} {what}")
            elif {"positive", "negative"} <= set(node.inputs) and link.output < 2:
                # Each side comes out of the output of its number.
                waiting.append(node.inputs[("positive", "negative")[link.output]])
            else:
                waiting += [each for each in sources if each not in waiting]

    def _read_model(self, inputs: Mapping[str, Any]) -> list[Value]:
        """Read the model that a pass uses; give the adapters on the way to it, first one first."""
        adapters: list[Value] = []
        place = "model"
        for node in self._walk([inputs.get("model")], "model"):
            place = node.place
            named = [(node.inputs.get("lora_name", "None"), node.inputs.get("strength_model", 1))]
            named += [
                (each.get("lora"), each.get("strength"))
                for key, each in node.inputs.items()
                if key.startswith("lora_") and isinstance(each, Mapping) and each.get("on") is True
            ]
            for raw, strength in (each for each in reversed(named) if each[0] != "None"):
                name, open_name, _ = self._resolve(raw, "/model/adapters/0/name")
                weight, open_weight, _ = self._resolve(strength, "/model/adapters/0/weight")
                if open_name or open_weight:
                    why = f"the adapter's name or weight is open: {open_name or open_weight}"
                    self._reading.add_unparsed(place, why)
                if name is not None:
                    adapters.insert(0, drop_none(kind="lora", name=name, weight=weight))
            key = next((each for each in _LOADED if each in node.inputs), None)
            if key is not None and "model" not in node.inputs:
                self._take("/model/name", node.inputs[key])
                return adapters
        why = "the model comes from here, and no name of one is written"
        self._reading.add_unparsed(place, why)
        return adapters

    def _read_size(self, inputs: Mapping[str, Any]) -> None:
        """Read the size and the batch that were asked for, from the empty latent behind a pass."""
        nodes = list(self._walk([inputs.get("latent_image")], *_LATENTS))
        start = nodes[-1].inputs if nodes else {}
        if not {"width", "height"} <= set(start):
            place = nodes[-1].place if nodes else "latent_image"
            why = "the picture starts from here, and no size is written"
            self._reading.add_unparsed(place, why)
            return
        self._take("/art/width_px", start["width"])
        self._take("/art/height_px", start["height"])
        many, why, _ = self._resolve(start.get("batch_size", 1), "/art/batch_size")
        for node in nodes:
            if node.kind == "RepeatLatentBatch":
                many, why = None, f"{node.place} repeats the batch"
        if why:
            self._reading.add_candidates("/art/batch_size", [], why)
        self._reading.set("/art/batch_size", many)
        which = f"the picture is one of {many or 'a batch'}, and the file does not say which"
        self._reading.settle("/art/batch_index", range(min(many or 0, 16)), "batch", which)

    def _doubt_settings(self, node: GraphNode) -> None:
        """Make open what a node on the way may change: the size, or all where an unknown sampler draws."""
        seeded = any(key in node.inputs for key in ("seed", "noise_seed"))
        named = "sampler" in node.kind.lower() and not _NO_SAMPLER.search(node.kind)
        sampling = named or "steps" in node.inputs or "sampler_name" in node.inputs
        if seeded and sampling and node.kind not in _SAMPLERS:
            why = f"{node.place} draws from a seed, and its settings are not known here"
            self._reading.add_unparsed("graph", why)
            self._reading.doubt_stated(_SETTINGS, why)
        elif _RESIZING.search(node.kind):
            why = f"{node.place} changes the size on the way"
            self._reading.doubt_stated(("/art/width_px", "/art/height_px"), why)
