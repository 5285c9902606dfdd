"""Tools for objects and collections, and how they look: materials, cameras, lights.

Invariant: every one names what it touches; none asks what is selected or active.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from twice.tools.scenes.protocol import CameraKind, Lamp, Lens, LightKind, Surface
from twice.tools.scenes.tools import Color, Name, Point, SceneContext, Share, Size, scene_tool

_ORIGIN = (0.0, 0.0, 0.0)


@scene_tool("object.create", {"name": "twin", "instance_of": "box"})
def create_object(
    context: SceneContext, name: Name | None = None, instance_of: Name | None = None
) -> dict[str, Any]:
    """Create an empty object at the origin, or one that shares the data of another."""
    made = name or context.name("object")
    if instance_of is None:
        context.backend.create_object(made, None)
    else:
        context.backend.create_instance(made, instance_of)
    return {"object": made}


@scene_tool(
    "object.transform",
    {"name": "box", "location": [1.0, 2.0, 3.0], "rotation": [0.1, 0.2, 0.3]},
    idempotent=True,
)
def transform_object(
    context: SceneContext,
    name: Name,
    location: Point | None = None,
    rotation: Point | None = None,
    scale: Point | None = None,
) -> dict[str, Any]:
    """Set location, rotation (radians about X, then Y, then Z) or scale; what is left out stays."""
    context.backend.transform(name, location, rotation, scale)
    return {"object": name}


@scene_tool("object.delete", {"name": "box"}, destructive=True)
def delete_object(context: SceneContext, name: Name) -> dict[str, Any]:
    """Delete an object, and its mesh, camera or light when nothing else uses it."""
    context.backend.delete_object(name)
    return {"deleted": name}


@scene_tool("object.parent", {"name": "box", "parent": "ground"}, idempotent=True)
def set_parent(context: SceneContext, name: Name, parent: Name | None = None) -> dict[str, Any]:
    """Hang an object under another, or under none; its place is then relative to that one."""
    context.backend.set_parent(name, parent)
    return {"object": name, "parent": parent}


@scene_tool("collection.create", {"parent": "props"})
def create_collection(
    context: SceneContext, name: Name | None = None, parent: Name | None = None
) -> dict[str, Any]:
    """Create an empty collection inside another, or at the top."""
    made = name or context.name("collection")
    context.backend.create_collection(made, parent)
    return {"collection": made}


@scene_tool("collection.link", {"name": "box", "collection": "props"}, idempotent=True)
def link_object(context: SceneContext, name: Name, collection: Name) -> dict[str, Any]:
    """Put an object into a collection; it stays in the others."""
    context.backend.link(name, collection)
    return {"object": name, "collection": collection}


@scene_tool("material.create", {"color": [0.1, 0.2, 0.3], "roughness": 0.25})
def create_material(
    context: SceneContext,
    name: Name | None = None,
    color: Color = (0.8, 0.8, 0.8),
    metallic: Share = 0.0,
    roughness: Share = 0.5,
) -> dict[str, Any]:
    """Create a material; its colour is in linear light."""
    made = name or context.name("material")
    context.backend.create_material(made, Surface(color, metallic, roughness))
    return {"material": made}


@scene_tool("material.assign", {"name": "box", "material": "red"}, idempotent=True)
def assign_material(context: SceneContext, name: Name, material: Name) -> dict[str, Any]:
    """Make a material the only one of an object's mesh."""
    context.backend.assign_material(name, material)
    return {"object": name, "material": material}


@scene_tool("camera.create", {"name": "eye", "location": [0.0, 0.0, 6.0]})
def create_camera(
    context: SceneContext,
    name: Name | None = None,
    kind: CameraKind = "PERSP",
    lens: Annotated[float, Field(ge=1, le=5000)] = 50.0,
    ortho_scale: Size = 6.0,
    location: Point = _ORIGIN,
    rotation: Point = _ORIGIN,
) -> dict[str, Any]:
    """Create a camera; unturned it looks down the Z axis. The first one becomes the scene's."""
    made = name or context.name("camera")
    context.backend.create_object(made, Lens(kind, lens, ortho_scale))
    context.backend.transform(made, location, rotation)
    return {"object": made}


@scene_tool("light.create", {"kind": "SUN", "energy": 2.0})
def create_light(
    context: SceneContext,
    kind: LightKind,
    name: Name | None = None,
    energy: Annotated[float, Field(ge=0, le=1e6)] = 100.0,
    color: Color = (1.0, 1.0, 1.0),
    location: Point = _ORIGIN,
    rotation: Point = _ORIGIN,
) -> dict[str, Any]:
    """Create a light: a point or a spot in watts, or a sun in watts per square metre."""
    made = name or context.name("light")
    context.backend.create_object(made, Lamp(kind, energy, color))
    context.backend.transform(made, location, rotation)
    return {"object": made}
