"""The core: properties whose meaning no version of any program has changed.

Everything else that a program keeps stands under ``settings`` of a block, is covered by the full
fingerprint alone, and may come and go from version to version.

Invariant: the list only grows with a new number of the format.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CORE: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "cameras": ("kind", "lens", "clip_start", "clip_end"),
        "collections": ("objects", "children"),
        "evaluated": ("positions", "edges", "corners", "face_starts", "face_materials"),
        "lights": ("kind", "energy", "color"),
        "meshes": (
            "positions", "edges", "corners", "face_starts", "face_materials", "materials",
        ),
        "objects": (
            "data", "parent", "location", "rotation_mode", "rotation", "scale", "matrix_world",
            "hide_render",
        ),
    }
)  # fmt: skip
