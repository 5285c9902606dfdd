"""Tools for how a scene looks: materials, cameras, lights, and the picture.

Invariant: a picture's fingerprint covers its decoded pixels, never a file.
"""

from __future__ import annotations

from io import BytesIO
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from twice.tools.cases import Call
from twice.tools.context import Context
from twice.tools.declaration import tool
from twice.tools.scenes.folders import inside
from twice.tools.scenes.protocol import (
    CameraKind,
    Lamp,
    Lens,
    LightKind,
    Scene,
    Shot,
    Surface,
)
from twice.tools.scenes.tools.arguments import (
    Color,
    File,
    Name,
    Point,
    Share,
    Size,
    chosen,
    on_stage,
)
from twice.tools.scenes.transforms import Transform

Pixel = Annotated[int, Field(ge=1, le=4096)]
_ORIGIN = (0.0, 0.0, 0.0)


@tool(
    "material.create",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(color=[0.1, 0.2, 0.3], roughness=0.25),
)
def material(
    context: Context,
    name: Name | None = None,
    color: Color = (0.8, 0.8, 0.8),
    metallic: Share = 0.0,
    roughness: Share = 0.5,
) -> dict[str, Any]:
    """Create a material; its colour is in linear light."""
    scene: Scene = context.backend
    made = chosen(context, name, "material")
    scene.create_material(made, Surface(color, metallic, roughness))
    return {"material": made}


@tool(
    "material.assign",
    determinism="deterministic",
    version="1.0.0",
    idempotent=True,
    cases=on_stage(name="box", material="red"),
)
def assign(context: Context, name: Name, material: Name) -> dict[str, Any]:
    """Make a material the only one of an object's mesh."""
    scene: Scene = context.backend
    scene.assign_material(name, material)
    return {"object": name, "material": material}


@tool(
    "camera.create",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(name="eye", location=[0.0, 0.0, 6.0]),
)
def camera(
    context: Context,
    name: Name | None = None,
    kind: CameraKind = "PERSP",
    lens: Annotated[float, Field(ge=1, le=5000)] = 50.0,
    ortho_scale: Size = 6.0,
    location: Point = _ORIGIN,
    rotation: Point = _ORIGIN,
) -> dict[str, Any]:
    """Create a camera; unturned it looks down the Z axis. The first one becomes the scene's."""
    scene: Scene = context.backend
    made = chosen(context, name, "camera")
    scene.create_camera(made, Lens(kind, lens, ortho_scale))
    scene.transform(made, Transform(location, rotation))
    return {"object": made}


@tool(
    "light.create",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(kind="SUN", energy=2.0),
)
def light(
    context: Context,
    kind: LightKind,
    name: Name | None = None,
    energy: Annotated[float, Field(ge=0, le=1e6)] = 100.0,
    color: Color = (1.0, 1.0, 1.0),
    location: Point = _ORIGIN,
    rotation: Point = _ORIGIN,
) -> dict[str, Any]:
    """Create a light: a point or a spot in watts, or a sun in watts per square metre."""
    scene: Scene = context.backend
    made = chosen(context, name, "light")
    scene.create_light(made, Lamp(kind, energy, color))
    scene.transform(made, Transform(location, rotation))
    return {"object": made}


@tool(
    "render.pixels",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(
        Call("camera.create", {"name": "eye", "location": [0.0, 0.0, 6.0]}),
        Call("light.create", {"kind": "SUN", "name": "sun", "energy": 2.0}),
        camera="eye",
        width=16,
        height=12,
        samples=2,
    ),
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
        inside(scene.folder, file)
    picture = scene.render(Shot(camera, width, height, samples, sampling_seed))
    if file is not None:
        written = BytesIO()
        np.save(written, picture.values, allow_pickle=False)
        scene.put(file, written.getvalue())
    return {
        "pixels": picture.fingerprint,
        "width": width,
        "height": height,
        "covered": int((picture.values[..., 3] > 0).sum()),
        "file": file,
    }
