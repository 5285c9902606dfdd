"""Tools for meshes: from data, as primitives, cut, modified, displaced, scattered on.

Shapes, noise and points are worked out here as plain data, so every kind of scene is given the same
numbers.

Invariant: a mesh depends on the parameters, the meshes that were named and the seed alone.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from twice.tools.cases import Call
from twice.tools.context import Context
from twice.tools.declaration import tool
from twice.tools.scenes.meshes import MeshData, mesh_data, vertex_normals
from twice.tools.scenes.noise import noise
from twice.tools.scenes.protocol import Operation, Scene
from twice.tools.scenes.scattering import points_on
from twice.tools.scenes.shapes import shape
from twice.tools.scenes.tools.arguments import (
    Name,
    Number,
    Point,
    Size,
    chosen,
    on_stage,
)
from twice.tools.scenes.transforms import Transform
from twice.tools.scenes.values import Array

Index = Annotated[int, Field(ge=0, le=5_000_000)]
Kind = Literal["cone", "cube", "cylinder", "grid", "plane", "sphere"]
ModifierKind = Literal[
    "ARRAY", "BEVEL", "DECIMATE", "MIRROR", "SOLIDIFY", "SUBSURF", "TRIANGULATE", "WELD"
]
Direction = Literal["NORMAL", "X", "Y", "Z"]


@tool(
    "mesh.from_data",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(vertices=[[0, 0, 0], [1, 0, 0], [0, 1, 0]], faces=[[0, 1, 2]]),
)
def from_data(
    context: Context,
    vertices: list[Point],
    faces: list[list[Index]] = [],  # noqa: B006  (read, never changed)
    edges: list[tuple[Index, Index]] = [],  # noqa: B006  (as above)
    name: Name | None = None,
) -> dict[str, Any]:
    """Create a mesh object from vertices, faces and loose edges."""
    scene: Scene = context.backend
    made = chosen(context, name, "mesh")
    data = mesh_data(vertices, faces, edges)
    scene.create_mesh(made, data)
    return _told(made, data)


@tool(
    "mesh.primitive",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(kind="sphere", segments=8, rings=5),
)
def primitive(
    context: Context,
    kind: Kind,
    name: Name | None = None,
    size: Size = 2.0,
    segments: Annotated[int, Field(ge=3, le=1024)] = 32,
    rings: Annotated[int, Field(ge=2, le=1024)] = 16,
) -> dict[str, Any]:
    """Create a cube, plane, grid, cylinder, cone or sphere around the origin."""
    scene: Scene = context.backend
    made = chosen(context, name, kind)
    data = shape(kind, size=size, segments=segments, rings=rings)
    scene.create_mesh(made, data)
    return _told(made, data)


@tool(
    "mesh.boolean",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(
        Call("object.transform", {"name": "ground", "rotation": [0.3, 0.2, 0.1]}),
        Call("mesh.primitive", {"kind": "cube", "name": "other", "size": 1.5}),
        Call("object.transform", {"name": "other", "location": [0.7, 0.6, 0.5]}),
        name="box",
        other="other",
        operation="DIFFERENCE",
        delete_other=True,
    ),
)
def boolean(
    context: Context, name: Name, other: Name, operation: Operation, delete_other: bool = False
) -> dict[str, Any]:
    """Unite, cut or intersect an object's mesh with another's, by an exact solver."""
    scene: Scene = context.backend
    data = scene.boolean(name, other, operation)
    scene.replace_mesh(name, data)
    if delete_other:
        scene.delete_object(other)
    return _told(name, data)


@tool(
    "modifier.add",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(name="box", kind="SUBSURF", settings={"levels": 2}),
)
def modifier(
    context: Context,
    name: Name,
    kind: ModifierKind,
    settings: dict[str, Number] = {},  # noqa: B006  (read, never changed)
    modifier: Name | None = None,
) -> dict[str, Any]:
    """Add a modifier to an object; its geometry after modifiers is shown by scene.snapshot."""
    scene: Scene = context.backend
    made = chosen(context, modifier, kind.lower())
    scene.add_modifier(name, made, kind, settings)
    return {"object": name, "modifier": made}


@tool(
    "displace.noise",
    determinism="seeded",
    version="1.0.0",
    cases=on_stage(name="box", strength=0.3),
)
def displace(
    context: Context,
    name: Name,
    strength: Number = 0.1,
    scale: Size = 1.0,
    octaves: Annotated[int, Field(ge=1, le=8)] = 3,
    direction: Direction = "NORMAL",
) -> dict[str, Any]:
    """Move the vertices of an object's mesh by smooth noise, along their normals or an axis."""
    scene: Scene = context.backend
    data = scene.read_mesh(name)
    places = data.positions.astype(np.float64)
    amount = noise(context.seed("noise", 0, 2**63), places * scale, octaves=octaves)
    along = _directions(data, direction)
    moved = data.moved(places + along * (amount * strength)[:, np.newaxis])
    scene.replace_mesh(name, moved)
    return _told(name, moved)


@tool(
    "scatter.points",
    determinism="seeded",
    version="1.0.0",
    cases=on_stage(target="ground", count=5, instance_of="box"),
)
def scatter(
    context: Context,
    target: Name,
    count: Annotated[int, Field(ge=0, le=100_000)],
    name: Name | None = None,
    instance_of: Name | None = None,
) -> dict[str, Any]:
    """Scatter points on a mesh by area: a mesh of loose vertices, or objects that share one's data.

    Objects are called by the name, a dash and the number of their point, and hang under the target.
    """
    scene: Scene = context.backend
    made = chosen(context, name, "points")
    placed = points_on(scene.read_mesh(target), count, context.seed("points", 0, 2**63))
    if instance_of is None:
        scene.create_mesh(made, mesh_data(placed))
        scene.set_parent(made, target)
        return {"object": made, "points": count}
    for i, (x, y, z) in enumerate(placed.tolist()):
        each = f"{made}-{i}"
        scene.create_instance(each, instance_of)
        scene.set_parent(each, target)
        scene.transform(each, Transform(location=(x, y, z)))
    return {"object": made, "points": count}


def _directions(data: MeshData, direction: str) -> Array:
    if direction == "NORMAL":
        return vertex_normals(data)
    axis: Array = np.eye(3)[["XYZ".index(direction)]]
    return axis


def _told(name: str, data: MeshData) -> dict[str, Any]:
    return {
        "object": name,
        "vertices": len(data.positions),
        "edges": len(data.edges),
        "faces": len(data.face_starts) - 1,
    }
