"""From an input to the value that went into it, through nodes that only hold or pass on a value.

A node that computes is never simulated: what it may have given is reported with the plain values that
went in, where those can be candidates.

Invariant: an answer is either a value that stands in the graph or the reason why there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from twice.assets.importers.comfy.graph import Graph, Link, Node, Unsettled
from twice.assets.importers.imported import Value

HOLDERS: Final = {
    "PrimitiveInt": "value", "PrimitiveFloat": "value", "PrimitiveString": "value",
    "PrimitiveStringMultiline": "value", "PrimitiveBoolean": "value", "PrimitiveNode": "value",
    "INTConstant": "value", "FloatConstant": "value", "StringConstant": "string",
    "StringConstantMultiline": "string", "Seed (rgthree)": "seed", "easy seed": "seed",
    "easy globalSeed": "value", "easy int": "value", "easy float": "value", "easy string": "value",
    "CR Seed": "seed", "CR Integer": "value", "CR Float": "value", "CR Text": "text", "Seed": "seed",
    "Seed Generator": "seed", "SeedNode": "seed", "ImpactInt": "value", "ImpactFloat": "value",
    "JWInteger": "value", "JWFloat": "value", "JWString": "text", "Int Literal": "int",
    "Float Literal": "float", "String Literal": "string", "Text Multiline": "text",
    "Constant Number": "number", "Primitive integer [Crystools]": "int",
    "Primitive string [Crystools]": "string",
}  # fmt: skip
"""Classes whose first output is one of their inputs, unchanged."""

PASSING: Final = ("Reroute", "Reroute (rgthree)", "ReroutePrimitive|pysssss")
_STEPS_MAX = 256

Typed = Callable[[object], "Value | None"]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A value found, or the reason why there is none, with what it may be."""

    value: Any = None
    why: str = ""
    candidates: tuple[Value, ...] = ()


def resolved(graph: Graph, value: object, typed: Typed) -> Resolved:
    """Follow an input to its value.

    Args:
        graph: what the input belongs to.
        value: what stands in the input.
        typed: gives the value as the log takes it, or nothing for what is none.
    """
    seen: set[str] = set()
    while isinstance(value, Link):
        node = graph.get(value.node)
        if node is None:
            return Resolved(why=f"it links to node {value.node[:40]}, which is not in the graph")
        if node.id in seen or len(seen) == _STEPS_MAX:
            return Resolved(why=f"its links run in a circle at {node.place}")
        seen.add(node.id)
        following = _passed_on(node, value.output)
        if following is None:
            return Resolved(why=f"{node.place} computes it", candidates=_plain(node, typed))
        value = following
    if isinstance(value, Unsettled):
        found = typed(value.value)
        return Resolved(why=value.why, candidates=() if found is None else (found,))
    found = typed(value)
    if found is None:
        return Resolved(why=f"{str(value)[:60]!r} says nothing of the value that was used")
    return Resolved(found)


def _passed_on(node: Node, output: int) -> object | None:
    """Give what a node hands through unchanged, or nothing for one that computes."""
    if node.kind in PASSING:
        return next(node.links(), None)
    key = HOLDERS.get(node.kind, "")
    return node.inputs.get(key) if key and output == 0 else None


def _plain(node: Node, typed: Typed) -> tuple[Value, ...]:
    """Give the inputs of a node that could be the value, by their names."""
    found = (
        typed(value)
        for key, value in node.inputs.items()
        if not isinstance(value, Link | Unsettled) and _tells(key)
    )
    return tuple(each for each in found if each is not None)


def _tells(key: str) -> bool:
    return any(word in key.lower() for word in ("seed", "value", "int", "text", "string", "prompt"))
