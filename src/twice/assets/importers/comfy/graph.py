"""A graph of nodes: inputs are values or links to another node's output.

Invariant: a graph has at most ``NODES_MAX`` nodes, and every walk over it visits a node once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from twice.foundation.printable import pluralize

NODES_MAX: Final = 20_000


class GraphRefused(ValueError):
    """A document is not a graph; the message says why."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link to the output of a node, by the node's id and the output's number."""

    node: str
    output: int


@dataclass(frozen=True, slots=True)
class Unsettled:
    """A value that stood in a widget and may not be the one used, with the reason."""

    value: Any
    why: str


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its class, and its inputs by name."""

    id: str
    kind: str
    inputs: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """How the node is called in reports."""
        return f"node {self.id} ({self.kind})"

    def links(self) -> Iterator[Link]:
        """Give the links among its inputs, in their order."""
        return (each for each in self.inputs.values() if isinstance(each, Link))


Graph = Mapping[str, Node]


def of_prompt(document: Mapping[str, Any]) -> dict[str, Node]:
    """Read the graph that was executed.

    Raises:
        GraphRefused: it holds something that is no node, or too many.
    """
    if len(document) > NODES_MAX:
        raise GraphRefused(
            f"it holds {pluralize(len(document), 'node')}; at most {NODES_MAX} are read"
        )
    graph: dict[str, Node] = {}
    for name, each in document.items():
        kind = each.get("class_type") if isinstance(each, Mapping) else None
        inputs = each.get("inputs", {}) if isinstance(each, Mapping) else None
        if not isinstance(kind, str) or not isinstance(inputs, Mapping):
            raise GraphRefused(f"{name[:80]!r} is no node: it lacks class_type or inputs")
        graph[name] = Node(name, kind, {key: _input(value) for key, value in inputs.items()})
    return graph


def _input(value: object) -> object:
    """Tell a link from a value: a list of an id and a number."""
    if isinstance(value, list) and len(value) == 2:
        node, output = value
        named = isinstance(node, str) or (isinstance(node, int) and not isinstance(node, bool))
        if named and isinstance(output, int) and not isinstance(output, bool) and output >= 0:
            return Link(str(node), output)
    return value


def upstream(graph: Graph, starts: Iterable[Node]) -> list[Node]:
    """Give the nodes that lead to some nodes, themselves first, each once."""
    found: dict[str, Node] = {}
    waiting = deque(starts)
    while waiting:
        node = waiting.popleft()
        if node.id in found:
            continue
        found[node.id] = node
        waiting.extend(graph[link.node] for link in node.links() if link.node in graph)
    return list(found.values())
