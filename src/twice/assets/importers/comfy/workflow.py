"""A graph as it stood on screen (``workflow``), rebuilt into the graph that it would execute.

Subgraphs are opened; muted nodes go; a bypassed node hands its inputs on by type. Group nodes, an older
form, stay closed and are named. Where widget values cannot be named, the inputs stay empty, and whoever
looks for them reports that.

Invariant: opening ends: nesting and the number of nodes are bounded, and a graph inside itself is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from twice.assets.importers.comfy.graph import NODES_MAX, GraphRefused, Link, Node
from twice.assets.importers.comfy.widgets import named

_MUTED: Final = (2,)
_BYPASSED: Final = 4
_INSIDE: Final = "-10"
_OUTSIDE: Final = "-20"
_GROUPS: Final = ("workflow>", "workflow/")
_DEPTH_MAX: Final = 16
_HOPS_MAX: Final = 64


@dataclass(slots=True)
class _Built:
    """What is being built: nodes, and for opened ones what their outputs are."""

    graph: dict[str, Node] = field(default_factory=dict)
    outputs: dict[tuple[str, int], Any] = field(default_factory=dict)
    unnamed: list[str] = field(default_factory=list)
    count: int = 0


def of_workflow(document: Mapping[str, Any]) -> tuple[dict[str, Node], tuple[str, ...]]:
    """Rebuild the graph.

    Returns:
        The graph, and the nodes whose widget values could not be named.

    Raises:
        GraphRefused: it is no workflow, is too large, or contains itself.
    """
    definitions = _definitions(document)
    built = _Built()
    _open(document, "", definitions, {}, built, ())
    graph = {
        name: Node(name, node.kind, {k: _past(v, built) for k, v in node.inputs.items()})
        for name, node in built.graph.items()
    }
    return graph, tuple(built.unnamed)


def _definitions(document: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Give subgraphs by the class that stands for them."""
    found: dict[str, Mapping[str, Any]] = {}
    inside = document.get("definitions")
    graphs = inside.get("subgraphs") if isinstance(inside, Mapping) else None
    for each in graphs if isinstance(graphs, list) else []:
        if isinstance(each, Mapping) and isinstance(each.get("id"), str):
            found[each["id"]] = each
    return found


def _open(
    document: Mapping[str, Any],
    prefix: str,
    definitions: Mapping[str, Mapping[str, Any]],
    given: Mapping[int, Any],
    built: _Built,
    within: tuple[str, ...],
) -> dict[int, Any]:
    """Add a graph's nodes; give what its outputs are linked to.

    Args:
        document: the workflow or a subgraph.
        prefix: of the ids of its nodes.
        definitions: subgraphs by class.
        given: what comes in from around a subgraph, by number.
        built: what is being built.
        within: the subgraphs around it.
    """  # fmt: skip
    nodes = document.get("nodes")
    if not isinstance(nodes, list):
        raise GraphRefused("it has no list of nodes")
    links = dict(_links(document))
    for node in nodes:
        if not isinstance(node, Mapping) or not isinstance(node.get("type"), str):
            raise GraphRefused(f"one of the nodes of {prefix or 'the workflow'} has no type")
        built.count += 1
        if built.count > NODES_MAX:
            raise GraphRefused(f"it opens to more than {NODES_MAX} nodes")
        name = f"{prefix}{node.get('id')}"
        if node.get("mode") in _MUTED:
            continue
        linked = _linked(node, links, prefix, given)
        if node["type"] in definitions:
            _open_one(node, name, definitions, linked, built, within)
        elif node.get("mode") == _BYPASSED:
            built.outputs.update(_handed_on(node, name, linked))
        else:
            widgets = named(node["type"], node)
            if widgets is None or node["type"].startswith(_GROUPS):
                built.unnamed.append(f"node {name} ({node['type'][:80]})")
            built.graph[name] = Node(name, node["type"], {**(widgets or {}), **linked})
    return _outputs(links, prefix, given)


def _open_one(
    node: Mapping[str, Any],
    name: str,
    definitions: Mapping[str, Mapping[str, Any]],
    linked: Mapping[str, Any],
    built: _Built,
    within: tuple[str, ...],
) -> None:
    """Open a subgraph in place of the node that stands for it."""  # fmt: skip
    kind = node["type"]
    if kind in within or len(within) == _DEPTH_MAX:
        raise GraphRefused(f"the subgraph {kind[:60]} contains itself, or nesting is too deep")
    graph = definitions[kind]
    inputs = graph.get("inputs")
    widgets = named(kind, node)
    if widgets is None:
        built.unnamed.append(f"node {name} (a subgraph)")
        widgets = {}
    given = {}
    for at, each in enumerate(inputs if isinstance(inputs, list) else []):
        key = str(each.get("name")) if isinstance(each, Mapping) else ""
        if key in linked:
            given[at] = linked[key]
        elif key in widgets:
            given[at] = widgets[key]
    outputs = _open(graph, f"{name}:", definitions, given, built, (*within, kind))
    for at, value in outputs.items():
        built.outputs[name, at] = value


@dataclass(frozen=True, slots=True)
class _End:
    """One link of a graph: where it begins and where it ends."""

    origin: str
    slot: int
    target: str
    target_slot: int


def _links(document: Mapping[str, Any]) -> Iterator[tuple[object, _End]]:
    links = document.get("links")
    for each in links if isinstance(links, list) else []:
        if isinstance(each, list) and len(each) >= 5:
            name, origin, slot, target, target_slot = each[:5]
        elif isinstance(each, Mapping):
            name = each.get("id")
            origin, slot = each.get("origin_id"), each.get("origin_slot")
            target, target_slot = each.get("target_id"), each.get("target_slot")
        else:
            raise GraphRefused("one of its links is neither a list nor an object")
        if not isinstance(name, str | int) or not _is_slot(slot) or not _is_slot(target_slot):
            raise GraphRefused("one of its links has no number, or names no output")
        yield name, _End(str(origin), slot, str(target), target_slot)


def _is_slot(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _linked(
    node: Mapping[str, Any], links: Mapping[object, _End], prefix: str, given: Mapping[int, Any]
) -> dict[str, Any]:
    """Give the inputs of a node that are linked, and those that come in from around a subgraph."""
    found: dict[str, Any] = {}
    inputs = node.get("inputs")
    for each in inputs if isinstance(inputs, list) else []:
        name = each.get("name") if isinstance(each, Mapping) else None
        link = each.get("link") if isinstance(each, Mapping) else None
        end = links.get(link) if isinstance(link, str | int) else None
        if not isinstance(name, str) or end is None:
            continue
        if end.origin == _INSIDE:
            if end.slot in given:
                found[name] = given[end.slot]
        else:
            found[name] = Link(f"{prefix}{end.origin}", end.slot)
    return found


def _outputs(links: Mapping[object, _End], prefix: str, given: Mapping[int, Any]) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for end in links.values():
        if end.target == _OUTSIDE and end.origin != _INSIDE:
            found[end.target_slot] = Link(f"{prefix}{end.origin}", end.slot)
        elif end.target == _OUTSIDE and end.slot in given:
            found[end.target_slot] = given[end.slot]
    return found


def _handed_on(
    node: Mapping[str, Any], name: str, linked: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, int], Any]]:
    """Give what comes out of a bypassed node: for each output the first input of its type."""
    inputs, outputs = node.get("inputs"), node.get("outputs")
    for at, output in enumerate(outputs if isinstance(outputs, list) else []):
        wanted = output.get("type") if isinstance(output, Mapping) else None
        for each in inputs if isinstance(inputs, list) else []:
            if (
                isinstance(each, Mapping)
                and each.get("type") == wanted
                and each.get("name") in linked
            ):
                yield (name, at), linked[each["name"]]
                break


def _past(value: Any, built: _Built) -> Any:
    """Follow a link past nodes that were opened or bypassed."""
    for _ in range(_HOPS_MAX):
        if not isinstance(value, Link) or (value.node, value.output) not in built.outputs:
            break
        value = built.outputs[value.node, value.output]
    return value
