"""The registry that ``twice tools`` calls ``blender``: the scene tools on real Blender.

Blender is asked for when a session opens; listing the tools needs no Blender.

Invariant: the tools are those of the registry in memory, one by one.
"""

from __future__ import annotations

from typing import Final

from twice.tooling.adapters.blender.scene import BlenderScene
from twice.tooling.adapters.scene.tools import TOOLS
from twice.tooling.registry import Registry

registry: Final = Registry(TOOLS, "blender", backend=BlenderScene)
"""The registry that ``twice tools`` calls ``blender``."""
