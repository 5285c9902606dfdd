"""SCENES. What a scene holds as a canonical state, what tools ask of it, and the tools themselves.

Here live the model scene-state-1, shapes, noise and scattering as plain data, and tools that are
written once. What carries a tool out is a scene in memory or Blender, in rooms beside this one.

Invariant: nothing here knows which kind of scene it works on.
"""

from __future__ import annotations

from twice.tools.scenes.comparing import SceneComparison, compare
from twice.tools.scenes.differing import SceneDifference, scene_differences
from twice.tools.scenes.pixels import Pixels
from twice.tools.scenes.plain import from_plain, summary, to_plain
from twice.tools.scenes.protocol import Lamp, Lens, Scene, Shot, Surface
from twice.tools.scenes.state import Block, SceneState, scene_state
from twice.tools.scenes.transforms import Transform

__all__ = [
    "Block",
    "Lamp",
    "Lens",
    "Pixels",
    "Scene",
    "SceneComparison",
    "SceneDifference",
    "SceneState",
    "Shot",
    "Surface",
    "Transform",
    "compare",
    "from_plain",
    "scene_differences",
    "scene_state",
    "summary",
    "to_plain",
]
