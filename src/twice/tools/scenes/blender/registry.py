"""The registry that ``twice tools`` calls ``blender``: the scene tools on real Blender.

Blender is asked for when a session opens; listing the tools needs no Blender.

Invariant: the tools are those of the registry in memory, one by one.
"""

from __future__ import annotations

from typing import Final

from twice.tools.registry import Registry
from twice.tools.scenes.blender.scene import BlenderScene
from twice.tools.scenes.tools import TOOLS

registry: Final = Registry(TOOLS, "blender", backend=BlenderScene)
"""The registry that ``twice tools`` calls ``blender``."""
