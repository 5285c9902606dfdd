"""Tools for the whole scene: what it holds, what changed, back to nothing, to a file and from one.

Invariant: files lie in the session's folder, and reading one runs nothing.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from twice.foundation.comparison import Abs
from twice.tools.cases import Call
from twice.tools.context import Context
from twice.tools.declaration import tool
from twice.tools.scenes import comparing, differing
from twice.tools.scenes.folders import inside
from twice.tools.scenes.keeping import read_state, state_bytes
from twice.tools.scenes.plain import summary
from twice.tools.scenes.protocol import Scene
from twice.tools.scenes.state import SceneState
from twice.tools.scenes.tools.arguments import (
    File,
    on_stage,
)


@tool(
    "scene.snapshot",
    determinism="deterministic",
    version="1.0.0",
    reads_only=True,
    cases=on_stage(values=True, evaluated=True),
)
def snapshot(context: Context, values: bool = False, evaluated: bool = False) -> dict[str, Any]:
    """Show what the scene holds: fingerprints, and each thing with its digest, by type and name.

    Args are whether properties come along, and geometry after modifiers.
    """
    scene: Scene = context.backend
    return summary(scene.snapshot(evaluated=evaluated), values=values)


@tool(
    "scene.keep",
    determinism="deterministic",
    version="1.0.0",
    idempotent=True,
    cases=on_stage(file="a.state"),
)
def keep(context: Context, file: File, evaluated: bool = False) -> dict[str, Any]:
    """Write the scene's state to a file, for scene.diff and scene.compare."""
    scene: Scene = context.backend
    state = scene.snapshot(evaluated=evaluated)
    scene.put(file, state_bytes(state))
    return {"file": file, "fingerprint": state.fingerprint}


@tool(
    "scene.diff",
    determinism="deterministic",
    version="1.0.0",
    reads_only=True,
    cases=on_stage(
        Call("scene.keep", {"file": "a.state"}),
        Call("object.transform", {"name": "box", "location": [1, 0, 0]}),
        before="a.state",
    ),
)
def diff(
    context: Context,
    before: File,
    after: File | None = None,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 100,
) -> dict[str, Any]:
    """Show where a kept state and another one, or the scene, differ: object, property, both values."""
    one, two = _sides(context, before, after)
    found = differing.scene_differences(one, two, limit=limit)
    return {
        "same": not found,
        "before": one.fingerprint,
        "after": two.fingerprint,
        "differences": [difference.to_json() for difference in found],
    }


@tool(
    "scene.compare",
    determinism="deterministic",
    version="1.0.0",
    reads_only=True,
    cases=on_stage(
        Call("scene.keep", {"file": "a.state"}),
        Call("object.transform", {"name": "box", "location": [1, 0, 0]}),
        before="a.state",
        within=0.5,
    ),
)
def compare(
    context: Context,
    before: File,
    within: Annotated[float, Field(ge=0, le=1e6)],
    after: File | None = None,
) -> dict[str, Any]:
    """Say how far a kept state and another one, or the scene, are apart; no fingerprint is given."""
    one, two = _sides(context, before, after)
    return comparing.compare(one, two, within=Abs(within)).to_json()


@tool(
    "scene.reset",
    determinism="deterministic",
    version="1.0.0",
    destructive=True,
    idempotent=True,
    cases=on_stage(),
)
def reset(context: Context) -> dict[str, Any]:
    """Go back to an empty scene."""
    scene: Scene = context.backend
    scene.reset()
    return {"reset": True}


@tool(
    "scene.save",
    determinism="deterministic",
    version="1.0.0",
    idempotent=True,
    cases=on_stage(file="a.scene"),
)
def save(context: Context, file: File) -> dict[str, Any]:
    """Write the scene to a file of its own kind."""
    scene: Scene = context.backend
    scene.save(inside(scene.folder, file))
    return {"file": file}


@tool(
    "scene.load",
    determinism="deterministic",
    version="1.0.0",
    destructive=True,
    cases=on_stage(
        Call("scene.save", {"file": "a.scene"}),
        Call("object.delete", {"name": "box"}),
        file="a.scene",
    ),
)
def load(context: Context, file: File) -> dict[str, Any]:
    """Take over a scene that scene.save wrote; no script in it is run."""
    scene: Scene = context.backend
    scene.load(inside(scene.folder, file))
    return {"file": file, "objects": len(scene.object_names())}


def _sides(context: Context, before: str, after: str | None) -> tuple[SceneState, SceneState]:
    scene: Scene = context.backend
    one = read_state(inside(scene.folder, before))
    if after is not None:
        return one, read_state(inside(scene.folder, after))
    return one, scene.snapshot(evaluated="evaluated" in one.sections)
