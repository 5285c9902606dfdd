"""The scene tools, written once: what they do on a scene in memory, they do on Blender.

Invariant: a tool works by names and plain data, and has no other way to the scene than its protocol.
"""

from __future__ import annotations

from typing import Final

from twice.tools.declaration import Tool
from twice.tools.scenes.tools.meshes import (
    boolean,
    displace,
    from_data,
    modifier,
    primitive,
    scatter,
)  # fmt: skip
from twice.tools.scenes.tools.objects import (
    collection_create,
    collection_link,
    create,
    delete,
    parent,
    transform,
)  # fmt: skip
from twice.tools.scenes.tools.staging import (
    assign,
    camera,
    light,
    material,
    render,
)  # fmt: skip
from twice.tools.scenes.tools.states import (
    compare,
    diff,
    keep,
    load,
    reset,
    save,
    snapshot,
)  # fmt: skip

TOOLS: Final[tuple[Tool, ...]] = (
    assign, boolean, camera, collection_create, collection_link, compare, create, delete, diff,
    displace, from_data, keep, light, load, material, modifier, parent, primitive, render, reset,
    save, scatter, snapshot, transform,
)  # fmt: skip
"""Every scene tool."""
