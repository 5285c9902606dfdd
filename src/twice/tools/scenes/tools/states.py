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
from twice.tools.context import Context
from twice.tools.scenes.difference import compare_scenes, scene_differences
from twice.tools.scenes.folder import put_file, resolve_inside
from twice.tools.scenes.protocol import Scene, Shot, digest_pixels
from twice.tools.scenes.state import SceneState
from twice.tools.scenes.state_file import from_plain, read_document, summarize, to_plain
from twice.tools.scenes.tools import File, Name, scene_tool

Pixel = Annotated[int, Field(ge=1, le=4096)]


@scene_tool("scene.snapshot", {"values": True, "evaluated": True}, reads_only=True)
def show_scene(context: Context, values: bool = False, evaluated: bool = False) -> dict[str, Any]:
    """Show what the scene holds: fingerprints, and each thing with its digest, by type and name.

    Args are whether properties come along, and geometry after modifiers.
    """
    scene: Scene = context.backend
    return summarize(scene.snapshot(evaluated=evaluated), values=values)


@scene_tool("scene.keep", {"file": "a.state"}, idempotent=True)
def keep_state(context: Context, file: File, evaluated: bool = False) -> dict[str, Any]:
    """Write the scene's state to a file, for scene.diff and scene.compare."""
    scene: Scene = context.backend
    state = scene.snapshot(evaluated=evaluated)
    put_file(scene.folder, file, encode(to_plain(state)))
    return {"file": file, "fingerprint": state.fingerprint}


@scene_tool(
    "scene.diff",
    {"before": "a.state"},
    Call("scene.keep", {"file": "a.state"}),
    Call("object.transform", {"name": "box", "location": [1, 0, 0]}),
    reads_only=True,
)
def list_differences(
    context: Context,
    before: File,
    after: File | None = None,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 100,
) -> dict[str, Any]:
    """Show where a kept state and another one, or the scene, differ: object, property, both values."""
    one, two = _load_sides(context, before, after)
    found = scene_differences(one, two, limit=limit)
    return {
        "same": not found,
        "before": one.fingerprint,
        "after": two.fingerprint,
        "differences": found,
    }


@scene_tool(
    "scene.compare",
    {"before": "a.state", "within": 0.5},
    Call("scene.keep", {"file": "a.state"}),
    Call("object.transform", {"name": "box", "location": [1, 0, 0]}),
    reads_only=True,
)
def measure_distance(
    context: Context,
    before: File,
    within: Annotated[float, Field(ge=0, le=1e6)],
    after: File | None = None,
) -> dict[str, Any]:
    """Say how far a kept state and another one, or the scene, are apart; no fingerprint is given."""
    one, two = _load_sides(context, before, after)
    return compare_scenes(one, two, within=Abs(within))


@scene_tool("scene.reset", {}, destructive=True, idempotent=True)
def reset_scene(context: Context) -> dict[str, Any]:
    """Go back to an empty scene."""
    scene: Scene = context.backend
    scene.reset()
    return {"reset": True}


@scene_tool("scene.save", {"file": "a.scene"}, idempotent=True)
def save_scene(context: Context, file: File) -> dict[str, Any]:
    """Write the scene to a file of its own kind."""
    scene: Scene = context.backend
    scene.save(resolve_inside(scene.folder, file))
    return {"file": file}


@scene_tool(
    "scene.load",
    {"file": "a.scene"},
    Call("scene.save", {"file": "a.scene"}),
    Call("object.delete", {"name": "box"}),
    destructive=True,
)
def load_scene(context: Context, file: File) -> dict[str, Any]:
    """Take over a scene that scene.save wrote; no script in it is run."""
    scene: Scene = context.backend
    scene.load(resolve_inside(scene.folder, file))
    return {"file": file, "objects": len(scene.object_names())}


@scene_tool(
    "render.pixels",
    {"camera": "eye", "width": 16, "height": 12, "samples": 2},
    Call("camera.create", {"name": "eye", "location": [0.0, 0.0, 6.0]}),
    Call("light.create", {"kind": "SUN", "name": "sun", "energy": 2.0}),
)
def render(
    context: Context,
    camera: Name,
    width: Pixel = 64,
    height: Pixel = 64,
    samples: Annotated[int, Field(ge=1, le=65_536)] = 16,
    sampling_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0,
    file: File | None = None,
) -> dict[str, Any]:
    """Render to pixels: their fingerprint, how many are covered, and, if wanted, a .npy file."""
    scene: Scene = context.backend
    if file is not None:
        resolve_inside(scene.folder, file)
    picture = scene.render(Shot(camera, width, height, samples, sampling_seed))
    if file is not None:
        written = BytesIO()
        np.save(written, picture, allow_pickle=False)
        put_file(scene.folder, file, written.getvalue())
    return {
        "pixels": digest_pixels(picture),
        "width": width,
        "height": height,
        "covered": int((picture[..., 3] > 0).sum()),
        "file": file,
    }


def _load_sides(context: Context, before: str, after: str | None) -> tuple[SceneState, SceneState]:
    scene: Scene = context.backend
    one = from_plain(read_document(resolve_inside(scene.folder, before)))
    if after is not None:
        return one, from_plain(read_document(resolve_inside(scene.folder, after)))
    return one, scene.snapshot(evaluated="evaluated" in one.sections)
