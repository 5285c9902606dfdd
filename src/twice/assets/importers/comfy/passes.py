"""The sampling passes of a graph: which nodes draw noise and take it away, with what settings.

A pass of ``SamplerCustomAdvanced`` keeps its settings in other nodes; they are looked up there.

Invariant: a pass names each setting by the input that holds it; nothing is looked for by likeness.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from twice.assets.importers.comfy.following import PASSING
from twice.assets.importers.comfy.graph import Graph, Link, Node

_PLAIN: Final = {
    "seed": "seed", "steps": "steps", "guidance": "cfg", "sampler": "sampler_name",
    "scheduler": "scheduler", "denoise": "denoise", "model": "model", "positive": "positive",
    "negative": "negative", "latent": "latent_image",
}  # fmt: skip
_ADVANCED: Final = {**_PLAIN, "seed": "noise_seed"}
SAMPLERS: Final[Mapping[str, Mapping[str, str]]] = {
    "KSampler": _PLAIN,
    "KSampler (Efficient)": _PLAIN,
    "KSamplerAdvanced": {k: v for k, v in _ADVANCED.items() if k != "denoise"},
    "KSampler Adv. (Efficient)": {k: v for k, v in _ADVANCED.items() if k != "denoise"},
    "SamplerCustom": {
        "seed": "noise_seed", "guidance": "cfg", "model": "model", "positive": "positive",
        "negative": "negative", "latent": "latent_image",
    },
    "SamplerCustomAdvanced": {"latent": "latent_image"},
}  # fmt: skip
"""Classes of samplers: which input holds which setting."""

_GUIDERS: Final = {
    "CFGGuider": {
        "guidance": "cfg",
        "model": "model",
        "positive": "positive",
        "negative": "negative",
    },
    "BasicGuider": {"model": "model", "positive": "conditioning"},
}
_SIGMAS: Final = {
    "BasicScheduler": {"scheduler": "scheduler", "steps": "steps", "denoise": "denoise"},
    "KarrasScheduler": {"steps": "steps"},
    "ExponentialScheduler": {"steps": "steps"},
    "SDTurboScheduler": {"steps": "steps", "denoise": "denoise"},
    "Flux2Scheduler": {"steps": "steps"},
}
_NOT_A_SAMPLER: Final = ("Select", "Preview", "Provider", "Loader", "Sampler Config")


@dataclass(slots=True)
class Pass:
    """One sampling pass: inputs by setting, and what it lacks, with the reason."""

    node: Node
    inputs: dict[str, Any] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)


def is_sampler(node: Node) -> bool:
    """Whether a node is of a class whose settings are known."""
    return node.kind in SAMPLERS


def is_unknown_sampler(node: Node) -> bool:
    """Whether a node draws from a seed and is of a class that is not known."""
    seeded = any(key in node.inputs for key in ("seed", "noise_seed"))
    steps = "steps" in node.inputs or "sampler_name" in node.inputs
    named = "sampler" in node.kind.lower() and not any(each in node.kind for each in _NOT_A_SAMPLER)
    return seeded and (steps or named) and not is_sampler(node)


def pass_of(graph: Graph, node: Node) -> Pass:
    """Give the pass that a sampler makes."""
    found = Pass(node)
    _take(found, node, SAMPLERS[node.kind])
    if node.kind in ("SamplerCustom", "SamplerCustomAdvanced"):
        _sampler(graph, found)
        _through(graph, found, "sigmas", _SIGMAS, ("steps", "scheduler", "denoise"))
    if node.kind == "SamplerCustomAdvanced":
        _through(graph, found, "guider", _GUIDERS, ("guidance", "model", "positive", "negative"))
        _noise(graph, found)
    return found


def _take(found: Pass, node: Node, keys: Mapping[str, str]) -> None:
    for setting, key in keys.items():
        if key in node.inputs:
            found.inputs[setting] = node.inputs[key]
        else:
            found.lacks[setting] = f"{node.place} has no input {key}"


def _sampler(graph: Graph, found: Pass) -> None:
    node = behind(graph, found.node.inputs.get("sampler"))
    if node is not None and node.kind == "KSamplerSelect":
        _take(found, node, {"sampler": "sampler_name"})
    elif node is not None and node.kind.startswith("Sampler"):
        found.inputs["sampler"] = node.kind  # Each of ComfyUI's own sampler nodes is one sampler.
    else:
        found.lacks["sampler"] = f"{found.node.place} takes it from {_called(node)}"


def _through(
    graph: Graph,
    found: Pass,
    key: str,
    known: Mapping[str, Mapping[str, str]],
    wanted: tuple[str, ...],
) -> None:
    node = behind(graph, found.node.inputs.get(key))
    for _ in range(16):  # SplitSigmas and its like pass sigmas on.
        if node is None or node.kind in known or "sigmas" not in node.inputs or key != "sigmas":
            break
        found.lacks["denoise"] = f"{node.place} changes the sigmas"
        node = behind(graph, node.inputs["sigmas"])
    if node is not None and node.kind in known:
        _take(found, node, known[node.kind])
        return
    found.lacks.update({each: f"{_called(node)} decides it" for each in wanted})


def _noise(graph: Graph, found: Pass) -> None:
    node = behind(graph, found.node.inputs.get("noise"))
    if node is not None and node.kind == "RandomNoise":
        _take(found, node, {"seed": "noise_seed"})
    elif node is None or node.kind != "DisableNoise":
        found.lacks["seed"] = f"{_called(node)} makes the noise"


def past_passing(graph: Graph, value: object) -> Link | None:
    """Give a link past nodes that only pass on; nothing where it leads out of the graph."""
    for _ in range(64):
        node = graph.get(value.node) if isinstance(value, Link) else None
        if node is None or not isinstance(value, Link):
            return None
        if node.kind not in PASSING:
            return value
        value = next(node.links(), None)
    return None


def behind(graph: Graph, value: object) -> Node | None:
    """Give the node at the other end of a link, past nodes that only pass on."""
    link = past_passing(graph, value)
    return graph[link.node] if link is not None else None


def _called(node: Node | None) -> str:
    return "a node that is not in the graph" if node is None else node.place


def chain(graph: Graph, value: object, keys: tuple[str, ...]) -> Iterator[Node]:
    """Give the nodes behind a link, and on through the first of some inputs that each has."""
    seen: set[str] = set()
    node = behind(graph, value)
    while node is not None and node.id not in seen:
        seen.add(node.id)
        yield node
        node = behind(graph, next((node.inputs[key] for key in keys if key in node.inputs), None))
