"""ComfyUI's two chunks: ``prompt``, which was executed, and ``workflow``, which was on screen.

Invariant: where both are there, values come from ``prompt`` alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twice.assets.importers import fields
from twice.assets.importers.comfy.graph import Graph, GraphRefused, Link, Unsettled, of_prompt
from twice.assets.importers.comfy.reading import read_graph
from twice.assets.importers.comfy.workflow import of_workflow
from twice.assets.importers.imported import Reading, Value
from twice.assets.importers.keyed import is_secret, read_object
from twice.foundation.digests import Algorithm, digest_bytes

_TEXT_MAX: Final = 16_000_000


def looks_like_prompt(found: Mapping[str, Any]) -> bool:
    """Whether an object is the graph that was executed: nodes by id, each with its class."""
    return bool(found) and all(
        isinstance(each, Mapping) and "class_type" in each for each in found.values()
    )


def looks_like_workflow(found: Mapping[str, Any]) -> bool:
    """Whether an object is a graph as it stands on screen."""
    return isinstance(found.get("nodes"), list) and "links" in found


def read_prompt(text: str, reading: Reading) -> None:
    """Read ``prompt``."""
    found = read_object(text, reading)
    if found is None:
        return
    try:
        graph = of_prompt(found)
    except GraphRefused as error:
        reading.puzzle("graph", str(error))
        return
    read_graph(graph, reading)
    _keep_text("ComfyUI prompt", text, graph, reading)


def read_workflow(text: str, reading: Reading, prompt: str | None) -> None:
    """Read ``workflow``: for its values where there is no prompt, else for what differs.

    Args:
        text: the chunk.
        reading: takes what it says.
        prompt: the text of ``prompt`` of the same file, or nothing.
    """
    found = read_object(text, reading)
    if found is None:
        return
    reading.keep("version", _plain(found.get("version")))
    extra = found.get("extra")
    if isinstance(extra, Mapping):
        reading.keep("frontendVersion", _plain(extra.get("frontendVersion")))
    try:
        graph, unnamed = of_workflow(found)
    except GraphRefused as error:
        reading.puzzle("graph", str(error))
        return
    if prompt is not None:
        _compare(graph, prompt, reading)
        return
    for place in unnamed[:16]:
        reading.puzzle(place, "its widgets have no names here, or it is a group; it is not read")
    read_graph(graph, reading)
    _keep_text("ComfyUI workflow", text, graph, reading)


def _plain(value: object) -> Value | None:
    return value if isinstance(value, str | int | float) else None


def _compare(graph: Graph, prompt: str, reading: Reading) -> None:
    """Note seeds that the screen showed differently from what was executed."""
    quiet = Reading("prompt", "ComfyUI")
    found = read_object(prompt, quiet)
    try:
        executed = of_prompt(found or {})
    except GraphRefused:
        return
    for name, node in graph.items():
        for key in ("seed", "noise_seed"):
            shown = node.inputs.get(key)
            shown = shown.value if isinstance(shown, Unsettled) else shown
            ran = executed[name].inputs.get(key) if name in executed else None
            if isinstance(shown, int) and isinstance(ran, int) and shown != ran:
                reading.puzzle(node.place, f"the screen showed {key} {shown}; {ran} was executed")


def _keep_text(name: str, text: str, graph: Graph, reading: Reading) -> None:
    """Keep the pipeline by digest, and as text where it holds no secret."""
    digest = digest_bytes(text.encode("utf-8", "surrogatepass"), Algorithm.SHA256)
    workflow: dict[str, Value] = {"name": name, "sha256": digest.raw.hex()}
    secrets = [
        f"{node.place}, {key}"
        for node in graph.values()
        for key, value in node.inputs.items()
        if not isinstance(value, Link | Unsettled) and _holds_secret(key, value)
    ]
    for place in secrets[:16]:
        reading.puzzle(
            place, "it holds what looks like a secret; the graph is kept by its digest alone"
        )
    if not secrets and len(text) <= _TEXT_MAX:
        workflow["text"] = text
    reading.say(fields.WORKFLOW, workflow)


def _holds_secret(key: str, value: object) -> bool:
    if isinstance(value, str):
        return is_secret(key, value)
    if isinstance(value, Mapping):
        return any(_holds_secret(str(name), each) for name, each in value.items())
    if isinstance(value, list):
        return any(_holds_secret(key, each) for each in value)
    return False
