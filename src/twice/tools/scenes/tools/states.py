"""Tools for the whole scene: what it holds, what changed, its picture, its file, and back to nothing.

Invariant: files lie in the session's folder, reading one runs nothing, and a picture's fingerprint
covers its decoded pixels, never a file.
"""

from __future__ import annotations

from io import BytesIO
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from twice.foundation.comparison import Abs
from twice.foundation.encoding import encode
from twice.tools.cases import Call
from twice.tools.scenes.difference import compare_scenes, scene_differences
from twice.tools.scenes.folder import write_file
from twice.tools.scenes.protocol import Shot, digest_pixels
from twice.tools.scenes.state import SceneState
from twice.tools.scenes.state_file import from_plain, read_document, summarize, to_plain
from twice.tools.scenes.tools import File, Name, SceneContext, scene_tool

Pixel = Annotated[int, Field(ge=1, le=4096)]
_KEPT_AND_MOVED = (
    Call("scene.keep", {"file": "a.state"}),
    Call("object.transform", {"name": "box", "location": [1, 0, 0]}),
)


@scene_tool("scene.snapshot", {"values": True, "evaluated": True}, reads_only=True)
def show_scene(
    context: SceneContext, values: bool = False, evaluated: bool = False
) -> dict[str, Any]:
    """Show what the scene holds: fingerprints, and each thing with its digest, by type and name.

    Args are whether properties come along, and geometry after modifiers.
    """
    return summarize(context.backend.snapshot(evaluated=evaluated), values=values)


@scene_tool("scene.keep", {"file": "a.state"}, idempotent=True)
def keep_state(context: SceneContext, file: File, evaluated: bool = False) -> dict[str, Any]:
    """Write the scene's state to a file, for scene.diff and scene.compare."""
    state = context.backend.snapshot(evaluated=evaluated)
    write_file(context.backend.path(file), encode(to_plain(state)))
    return {"file": file, "fingerprint": state.fingerprint}


@scene_tool("scene.diff", {"before": "a.state"}, *_KEPT_AND_MOVED, reads_only=True)
def list_differences(
    context: SceneContext,
    before: File,
    after: File | None = None,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 100,
) -> dict[str, Any]:
    """Show where a kept state and another one, or the scene, differ: object, property, both values."""
    one, two = _load_sides(context, before, after)
    found = scene_differences(one, two, limit=limit)
    sides = {"before": one.fingerprint, "after": two.fingerprint}
    return {"same": not found, **sides, "differences": found}


@scene_tool(
    "scene.compare", {"before": "a.state", "within": 0.5}, *_KEPT_AND_MOVED, reads_only=True
)
def measure_distance(
    context: SceneContext,
    before: File,
    within: Annotated[float, Field(ge=0, le=1e6)],
    after: File | None = None,
) -> dict[str, Any]:
    """Say how far a kept state and another one, or the scene, are apart; no fingerprint is given."""
    one, two = _load_sides(context, before, after)
    return compare_scenes(one, two, within=Abs(within))


@scene_tool("scene.reset", {}, destructive=True, idempotent=True)
def reset_scene(context: SceneContext) -> dict[str, Any]:
    """Go back to an empty scene."""
    context.backend.reset()
    return {"reset": True}


@scene_tool("scene.save", {"file": "a.scene"}, idempotent=True)
def save_scene(context: SceneContext, file: File) -> dict[str, Any]:
    """Write the scene to a file of its own kind."""
    context.backend.save(context.backend.path(file))
    return {"file": file}


@scene_tool(
    "scene.load",
    {"file": "a.scene"},
    Call("scene.save", {"file": "a.scene"}),
    Call("object.delete", {"name": "box"}),
    destructive=True,
)
def load_scene(context: SceneContext, file: File) -> dict[str, Any]:
    """Take over a scene that scene.save wrote; no script in it is run."""
    context.backend.load(context.backend.path(file))
    return {"file": file, "objects": len(context.backend.object_names())}


@scene_tool(
    "render.pixels",
    {"camera": "eye", "width": 16, "height": 12, "samples": 2},
    Call("camera.create", {"name": "eye", "location": [0.0, 0.0, 6.0]}),
    Call("light.create", {"kind": "SUN", "name": "sun", "energy": 2.0}),
)
def render(
    context: SceneContext,
    camera: Name,
    width: Pixel = 64,
    height: Pixel = 64,
    samples: Annotated[int, Field(ge=1, le=65_536)] = 16,
    sampling_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0,
    file: File | None = None,
) -> dict[str, Any]:
    """Render to pixels: their fingerprint, how many are covered, and, if wanted, a .npy file."""
    path = None if file is None else context.backend.path(file)
    picture = context.backend.render(Shot(camera, width, height, samples, sampling_seed))
    if path is not None:
        written = BytesIO()
        np.save(written, picture, allow_pickle=False)
        write_file(path, written.getvalue())
    return {
        "pixels": digest_pixels(picture),
        "width": width,
        "height": height,
        "covered": int((picture[..., 3] > 0).sum()),
        "file": file,
    }


def _load_sides(
    context: SceneContext, before: str, after: str | None
) -> tuple[SceneState, SceneState]:
    one = from_plain(read_document(context.backend.path(before)))
    if after is not None:
        return one, from_plain(read_document(context.backend.path(after)))
    return one, context.backend.snapshot(evaluated="evaluated" in one.sections)
