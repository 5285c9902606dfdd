"""A scene in plain Python: the same tools as on Blender, in milliseconds, and nothing to install.

It holds meshes, places, materials, lights and cameras, and draws flat pictures. It has no boolean
and evaluates few modifiers: those it refuses instead of pretending.

Invariant: the scene is its state; nothing that a tool can see lies beside it.
"""

from __future__ import annotations

from twice.tools.scenes.memory.scene import MemoryScene

__all__ = ["MemoryScene"]
