"""A state for tests of verification: things by name, each a list of plain values; and honest tools that act on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from twice.tools import Call, CallRefused, Case, Context, Registry, tool
from twice.tools.canonical_json import fingerprint


class Shelf:
    """Things by name, in the order in which they were put there; the order is no part of the state."""

    name = "shelf"

    def __init__(self) -> None:
        self.things: dict[str, list[Any]] = {}

    def profile(self) -> Mapping[str, str]:
        return {"version": "1"}

    def state(self) -> dict[str, Any]:
        return {name: [*self.things[name]] for name in sorted(self.things)}

    def fingerprint(self) -> str:
        return fingerprint(self.state())

    def reset(self) -> None:
        self.things.clear()

    def holds(self, name: str) -> bool:
        return name in self.things

    def checkpoint(self) -> dict[str, list[Any]]:
        return {name: [*values] for name, values in self.things.items()}

    def rollback(self, checkpoint: dict[str, list[Any]]) -> None:
        self.things = {name: [*values] for name, values in checkpoint.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.things = {name: [*values] for name, values in state.items()}


@tool("shelf.put", determinism="deterministic", cases=[Case({"name": "t", "values": [1]})])
def put(context: Context, name: str, values: list[int]) -> str:
    """Put a thing there."""
    if context.backend.holds(name):
        raise CallRefused("conflict", "It is there.", "Expected another name.", "Choose one.")
    context.backend.things[name] = values
    return name


START = (
    Call("shelf.put", {"name": "b", "values": [1, 2, 3, 4]}),
    Call("shelf.put", {"name": "a", "values": [5, 6]}),
)


@tool("shelf.list", determinism="deterministic", reads_only=True, cases=[Case({}, start=START)])
def list_names(context: Context) -> list[str]:
    """List the names, sorted."""
    return sorted(context.backend.things)


registry = Registry([put, list_names], "shelf", backend=Shelf)
