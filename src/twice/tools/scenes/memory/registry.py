"""The registry that ``twice tools`` calls ``memory``: the scene tools on a scene in this process.

Invariant: the tools are those of Blender's registry, one by one.
"""

from __future__ import annotations

from typing import Final

from twice.tools.registry import Registry
from twice.tools.scenes.memory.scene import MemoryScene
from twice.tools.scenes.tools import TOOLS

registry: Final = Registry(TOOLS, "memory", backend=MemoryScene)
"""The registry that ``twice tools`` calls ``memory``."""
