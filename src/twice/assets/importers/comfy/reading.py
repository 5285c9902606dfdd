"""A graph read into the fields of a log: every sampling pass that leads to what was saved.

Several passes that say different things make an ambiguity for each field in which they differ; their
seeds are listed in ``/seed/each``, which has room for all of them.

Invariant: a node that leads to nothing saved contributes nothing.
"""

from __future__ import annotations

from typing import Final

from twice.assets.importers import fields, scalars
from twice.assets.importers.comfy.conditioning import (
    doubt_size,
    guidances,
    read_model,
    read_size,
    texts,
)
from twice.assets.importers.comfy.following import Resolved, Typed, resolved
from twice.assets.importers.comfy.graph import Graph, Link, Node, upstream
from twice.assets.importers.comfy.passes import Pass, is_sampler, is_unknown_sampler, pass_of
from twice.assets.importers.imported import Reading, Value, distinct
from twice.foundation.printable import pluralize

_SCALARS: Final[dict[str, tuple[str, Typed]]] = {
    "seed": (fields.SEED_EFFECTIVE, scalars.seed),
    "steps": (fields.STEPS, scalars.count),
    "guidance": (fields.GUIDANCE, scalars.guidance),
    "sampler": (fields.SAMPLER, scalars.text),
    "scheduler": (fields.SCHEDULER, scalars.text),
    "denoise": (fields.DENOISE, scalars.share),
}
_NO_OUTPUT: Final = ("VAEDecode", "VAEDecodeTiled", "CLIPTextEncode")
_PASSES_MAX: Final = 64


def read_graph(graph: Graph, reading: Reading) -> None:
    """Read a graph; what stays open is noted in the reading."""
    reading.say(fields.PROVIDER, "ComfyUI")
    sinks = _sinks(graph)
    nodes = upstream(graph, sinks)
    for node in nodes:
        if is_unknown_sampler(node):
            reading.puzzle(node.place, "it draws from a seed, and its settings are not known here")
    samplers = [node for node in nodes if is_sampler(node)]
    if not samplers:
        reading.puzzle("graph", "no sampler that is known leads to what was saved")
        return
    if len(samplers) > _PASSES_MAX:
        reading.puzzle("graph", f"{pluralize(len(samplers), 'sampler')} lead to what was saved")
        return
    passes = [pass_of(graph, node) for node in samplers]
    for name, (pointer, typed) in _SCALARS.items():
        _read_scalar(graph, passes, name, pointer, typed, reading)
    _read_seeds(graph, passes, reading)
    for name, pointer in (("positive", fields.PROMPT), ("negative", fields.NEGATIVE_PROMPT)):
        _read_texts(graph, passes, name, pointer, reading)
    _settle_adapters([read_model(graph, each, reading) for each in passes], reading)
    for each in _first_passes(graph, passes):
        read_size(graph, each, reading)
    doubt_size(graph, sinks, reading)
    if any(is_unknown_sampler(node) for node in nodes):
        _doubt_all(reading)


def _sinks(graph: Graph) -> list[Node]:
    """Give the nodes that nothing comes after: what was saved or shown.

    ComfyUI executes what leads to an output; a sampler or decoder at the end of a branch is none.
    """
    used = {link.node for node in graph.values() for link in node.links()}
    ends = (node for node in graph.values() if node.id not in used)
    return [node for node in ends if not is_sampler(node) and node.kind not in _NO_OUTPUT]


def _read_scalar(
    graph: Graph, passes: list[Pass], name: str, pointer: str, typed: Typed, reading: Reading
) -> None:
    found: list[tuple[Pass, Resolved]] = []
    for each in passes:
        if name in each.inputs:
            found.append((each, resolved(graph, each.inputs[name], typed)))
        elif name in each.lacks and name != "denoise":
            found.append((each, Resolved(why=each.lacks[name])))
    _settle(pointer, found, reading)


def _settle(pointer: str, found: list[tuple[Pass, Resolved]], reading: Reading) -> None:
    values = distinct(each.value for _, each in found if each.value is not None)
    open_ones = [(each, one) for each, one in found if one.value is None]
    if open_ones:
        candidates = [*values, *(value for _, one in open_ones for value in one.candidates)]
        at, one = open_ones[0]
        reading.doubt(pointer, candidates, f"{at.node.place}: {one.why}")
    elif len(values) == 1:
        reading.say(pointer, values[0])
    elif values:
        places = ", ".join(at.node.place for at, _ in found[:8])
        reading.doubt(
            pointer, values, f"{pluralize(len(found), 'sampler')} lead to what was saved: {places}"
        )


def _read_seeds(graph: Graph, passes: list[Pass], reading: Reading) -> None:
    """List the seed of each pass, where there are several and all are known."""
    if len(passes) < 2:
        return
    each: list[Value] = []
    for one in passes:
        found = resolved(graph, one.inputs.get("seed"), scalars.seed)
        if found.value is None:
            return
        each.append({"step": one.node.place, "effective": found.value})
    reading.say(fields.SEEDS, each)


def _read_texts(
    graph: Graph, passes: list[Pass], name: str, pointer: str, reading: Reading
) -> None:
    found = [
        each for one in passes if name in one.inputs for each in texts(graph, one.inputs[name])
    ]
    if name == "positive":
        for one in passes:
            for value in guidances(graph, one.inputs.get(name)):
                reading.say(fields.CONDITIONING_GUIDANCE, value)
    values = distinct(each.value for each in found if each.value is not None)
    open_ones = [each for each in found if each.value is None]
    if open_ones:
        candidates = [*values, *(value for each in open_ones for value in each.candidates)]
        reading.doubt(pointer, candidates, open_ones[0].why)
    elif len(values) == 1:
        reading.say(pointer, values[0])
    elif values:
        reading.doubt(pointer, values, f"{pluralize(len(values), 'text')} meet in it")


def _settle_adapters(found: list[list[Value]], reading: Reading) -> None:
    values = distinct(found)
    if len(values) > 1:
        reading.doubt(
            fields.ADAPTERS, values, f"{pluralize(len(found), 'sampler')} use different ones"
        )
    elif values and values[0]:
        reading.say(fields.ADAPTERS, values[0])


def _first_passes(graph: Graph, passes: list[Pass]) -> list[Pass]:
    """Give the passes that start from no other: the others refine what these made."""
    samplers = {each.node.id for each in passes}
    return [
        each
        for each in passes
        if not any(
            node.id in samplers and node.id != each.node.id
            for node in upstream(graph, _behind(graph, each.inputs.get("latent")))
        )
    ]


def _behind(graph: Graph, value: object) -> list[Node]:
    return [graph[value.node]] if isinstance(value, Link) and value.node in graph else []


def _doubt_all(reading: Reading) -> None:
    """Where a sampler is unknown, what the known ones say of passes may not be the whole of it."""
    why = "another node draws from a seed as well, and its settings are not known here"
    for pointer, _ in _SCALARS.values():
        if pointer in reading.values:
            reading.doubt(pointer, [], why)
