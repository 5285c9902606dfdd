"""SCENES. What a scene holds as a canonical state, what tools ask of it, and the tools themselves.

Here live the model scene-state-1, shapes, noise and scattering as plain data, and tools that are
written once. What carries a tool out is a scene in memory or Blender. Blender is asked for when a
session opens; listing its tools needs no Blender.

Invariant: both registries offer the same tools, one by one.
"""

from __future__ import annotations

from typing import Final

from twice.tools.declaration import Tool
from twice.tools.registry import Registry
from twice.tools.scenes.blender.scene import BlenderScene
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.tools import meshes, objects, states

TOOLS: Final[tuple[Tool, ...]] = (
    meshes.add_modifier, meshes.combine, meshes.create_mesh, meshes.create_primitive,
    meshes.displace, meshes.scatter,
    objects.assign_material, objects.create_camera, objects.create_collection,
    objects.create_light, objects.create_material, objects.create_object, objects.delete_object,
    objects.link_object, objects.set_parent, objects.transform_object,
    states.keep_state, states.list_differences, states.load_scene, states.measure_distance,
    states.render, states.reset_scene, states.save_scene, states.show_scene,
)  # fmt: skip
"""Every scene tool."""

MEMORY: Final = Registry(TOOLS, "memory", backend=MemoryScene)
"""The registry that ``twice tools`` calls ``memory``: a scene in this process."""

BLENDER: Final = Registry(TOOLS, "blender", backend=BlenderScene)
"""The registry that ``twice tools`` calls ``blender``: the scene that Blender holds in this process."""
