"""Tools for meshes: from data, as primitives, cut, modified, displaced, scattered on.

Shapes, noise and points are worked out here as plain data, so every kind of scene is given the same
numbers.

Invariant: a mesh depends on the parameters, the meshes that were named and the seed alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from twice.tools.cases import Call
from twice.tools.scenes.mesh import MeshData, Primitive, mesh_data, primitive, vertex_normals
from twice.tools.scenes.noise import noise, scatter_points
from twice.tools.scenes.protocol import Operation
from twice.tools.scenes.state import array
from twice.tools.scenes.tools import Name, Number, Point, SceneContext, Size, scene_tool

Index = Annotated[int, Field(ge=0, le=5_000_000)]
ModifierKind = Literal[
    "ARRAY", "BEVEL", "DECIMATE", "MIRROR", "SOLIDIFY", "SUBSURF", "TRIANGULATE", "WELD"
]
Direction = Literal["NORMAL", "X", "Y", "Z"]


@scene_tool("mesh.from_data", {"vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "faces": [[0, 1, 2]]})
def create_mesh(
    context: SceneContext,
    vertices: list[Point],
    faces: list[list[Index]] = [],  # noqa: B006  (read, never changed)
    edges: list[tuple[Index, Index]] = [],  # noqa: B006  (as above)
    name: Name | None = None,
) -> dict[str, Any]:
    """Create a mesh object from vertices, faces and loose edges."""
    made = name or context.name("mesh")
    data = mesh_data(vertices, faces, edges)
    context.backend.create_object(made, data)
    return _summarize(made, data)


@scene_tool("mesh.primitive", {"kind": "sphere", "segments": 8, "rings": 5})
def create_primitive(
    context: SceneContext,
    kind: Primitive,
    name: Name | None = None,
    size: Size = 2.0,
    segments: Annotated[int, Field(ge=3, le=1024)] = 32,
    rings: Annotated[int, Field(ge=2, le=1024)] = 16,
) -> dict[str, Any]:
    """Create a cube, plane, grid, cylinder, cone or sphere around the origin."""
    made = name or context.name(kind)
    data = primitive(kind, size=size, segments=segments, rings=rings)
    context.backend.create_object(made, data)
    return _summarize(made, data)


@scene_tool(
    "mesh.boolean",
    {"name": "box", "other": "other", "operation": "DIFFERENCE", "delete_other": True},
    Call("object.transform", {"name": "ground", "rotation": [0.3, 0.2, 0.1]}),
    Call("mesh.primitive", {"kind": "cube", "name": "other", "size": 1.5}),
    Call("object.transform", {"name": "other", "location": [0.7, 0.6, 0.5]}),
)
def combine(
    context: SceneContext, name: Name, other: Name, operation: Operation, delete_other: bool = False
) -> dict[str, Any]:
    """Unite, cut or intersect an object's mesh with another's, by an exact solver."""
    data = context.backend.boolean(name, other, operation)
    context.backend.replace_mesh(name, data)
    if delete_other:
        context.backend.delete_object(other)
    return _summarize(name, data)


@scene_tool("modifier.add", {"name": "box", "kind": "SUBSURF", "settings": {"levels": 2}})
def add_modifier(
    context: SceneContext,
    name: Name,
    kind: ModifierKind,
    settings: dict[str, Number] = {},  # noqa: B006  (read, never changed)
    modifier: Name | None = None,
) -> dict[str, Any]:
    """Add a modifier to an object; its geometry after modifiers is shown by scene.snapshot."""
    made = modifier or context.name(kind.lower())
    context.backend.add_modifier(name, made, kind, settings)
    return {"object": name, "modifier": made}


@scene_tool("displace.noise", {"name": "box", "strength": 0.3}, seeded=True)
def displace(
    context: SceneContext,
    name: Name,
    strength: Number = 0.1,
    scale: Size = 1.0,
    octaves: Annotated[int, Field(ge=1, le=8)] = 3,
    direction: Direction = "NORMAL",
) -> dict[str, Any]:
    """Move the vertices of an object's mesh by smooth noise, along their normals or an axis."""
    data = context.backend.read_mesh(name)
    places = data.positions.astype(np.float64)
    amount = noise(context.seed("noise", 0, 2**63), places * scale, octaves=octaves)
    axis = np.eye(3)[["XYZ".find(direction)]]
    along = vertex_normals(data) if direction == "NORMAL" else axis
    moved = array(places + along * (amount * strength)[:, np.newaxis], "<f4")
    context.backend.replace_mesh(name, replace(data, positions=moved))
    return _summarize(name, data)


@scene_tool("scatter.points", {"target": "ground", "count": 5, "instance_of": "box"}, seeded=True)
def scatter(
    context: SceneContext,
    target: Name,
    count: Annotated[int, Field(ge=0, le=100_000)],
    name: Name | None = None,
    instance_of: Name | None = None,
) -> dict[str, Any]:
    """Scatter points on a mesh by area: a mesh of loose vertices, or objects that share one's data.

    Objects are called by the name, a dash and the number of their point, and hang under the target.
    """
    scene, made = context.backend, name or context.name("points")
    placed = scatter_points(scene.read_mesh(target), count, context.seed("points", 0, 2**63))
    if instance_of is None:
        scene.create_object(made, mesh_data(placed))
        scene.set_parent(made, target)
        return {"object": made, "points": count}
    for i, (x, y, z) in enumerate(placed.tolist()):
        each = f"{made}-{i}"
        scene.create_instance(each, instance_of)
        scene.set_parent(each, target)
        scene.transform(each, location=(x, y, z))
    return {"object": made, "points": count}


def _summarize(name: str, data: MeshData) -> dict[str, Any]:
    return {
        "object": name,
        "vertices": len(data.positions),
        "edges": len(data.edges),
        "faces": len(data.face_starts) - 1,
    }
