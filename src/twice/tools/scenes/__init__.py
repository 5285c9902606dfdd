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

TOOLS: Final = tuple(
    each for room in (meshes, objects, states) for each in vars(room).values() if type(each) is Tool
)
"""Every scene tool."""

MEMORY: Final = Registry(TOOLS, "memory", backend=MemoryScene)
"""The registry that ``twice tools`` calls ``memory``: a scene in this process."""

BLENDER: Final = Registry(TOOLS, "blender", backend=BlenderScene)
"""The registry that ``twice tools`` calls ``blender``: the scene that Blender holds in this process."""
