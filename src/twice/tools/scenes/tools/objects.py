"""Tools for objects and collections: made, moved, hung under others, removed.

Invariant: every one names what it touches; none asks what is selected or active.
"""

from __future__ import annotations

from typing import Any

from twice.tools.context import Context
from twice.tools.declaration import tool
from twice.tools.scenes.protocol import Scene
from twice.tools.scenes.tools.arguments import (
    Name,
    Point,
    chosen,
    on_stage,
)
from twice.tools.scenes.transforms import Transform


@tool(
    "object.create",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(name="twin", instance_of="box"),
)
def create(
    context: Context, name: Name | None = None, instance_of: Name | None = None
) -> dict[str, Any]:
    """Create an empty object at the origin, or one that shares the data of another."""
    scene: Scene = context.backend
    made = chosen(context, name, "object")
    if instance_of is None:
        scene.create_empty(made)
    else:
        scene.create_instance(made, instance_of)
    return {"object": made}


@tool(
    "object.transform",
    determinism="deterministic",
    version="1.0.0",
    idempotent=True,
    cases=on_stage(name="box", location=[1.0, 2.0, 3.0], rotation=[0.1, 0.2, 0.3]),
)
def transform(
    context: Context,
    name: Name,
    location: Point | None = None,
    rotation: Point | None = None,
    scale: Point | None = None,
) -> dict[str, Any]:
    """Set location, rotation (radians about X, then Y, then Z) or scale; what is left out stays."""
    scene: Scene = context.backend
    scene.transform(name, Transform(location, rotation, scale))
    return {"object": name}


@tool(
    "object.delete",
    determinism="deterministic",
    version="1.0.0",
    destructive=True,
    cases=on_stage(name="box"),
)
def delete(context: Context, name: Name) -> dict[str, Any]:
    """Delete an object, and its mesh, camera or light when nothing else uses it."""
    scene: Scene = context.backend
    scene.delete_object(name)
    return {"deleted": name}


@tool(
    "object.parent",
    determinism="deterministic",
    version="1.0.0",
    idempotent=True,
    cases=on_stage(name="box", parent="ground"),
)
def parent(context: Context, name: Name, parent: Name | None = None) -> dict[str, Any]:
    """Hang an object under another, or under none; its place is then relative to that one."""
    scene: Scene = context.backend
    scene.set_parent(name, parent)
    return {"object": name, "parent": parent}


@tool(
    "collection.create",
    determinism="deterministic",
    version="1.0.0",
    cases=on_stage(parent="props"),
)
def collection_create(
    context: Context, name: Name | None = None, parent: Name | None = None
) -> dict[str, Any]:
    """Create an empty collection inside another, or at the top."""
    scene: Scene = context.backend
    made = chosen(context, name, "collection")
    scene.create_collection(made, parent)
    return {"collection": made}


@tool(
    "collection.link",
    determinism="deterministic",
    version="1.0.0",
    idempotent=True,
    cases=on_stage(name="box", collection="props"),
)
def collection_link(context: Context, name: Name, collection: Name) -> dict[str, Any]:
    """Put an object into a collection; it stays in the others."""
    scene: Scene = context.backend
    scene.link(name, collection)
    return {"object": name, "collection": collection}
