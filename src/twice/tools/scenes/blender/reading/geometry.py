"""Meshes of Blender as arrays, read in bulk.

Invariant: an array holds what Blender stores, element by element, in Blender's own order of
elements, which is part of the mesh.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from twice.tools.scenes.meshes import MeshData
from twice.tools.scenes.values import Array, Value, array

_KINDS: Final = {
    "BOOLEAN": ("value", 1, "|b1"),
    "BYTE_COLOR": ("color", 4, "<f4"),
    "FLOAT": ("value", 1, "<f4"),
    "FLOAT2": ("vector", 2, "<f4"),
    "FLOAT4X4": ("value", 16, "<f4"),
    "FLOAT_COLOR": ("color", 4, "<f4"),
    "FLOAT_VECTOR": ("vector", 3, "<f4"),
    "INT": ("value", 1, "<i4"),
    "INT16_2D": ("value", 2, "<i4"),
    "INT32_2D": ("value", 2, "<i4"),
    "INT8": ("value", 1, "<i4"),
    "QUATERNION": ("value", 4, "<f4"),
}
_CORE: Final = ("position", ".edge_verts", ".corner_vert", ".corner_edge", "material_index")
_INTERFACE: Final = (".select_", ".hide_", ".uv_select", ".vs.", ".es.", ".pn.")


def mesh_arrays(mesh: Any) -> MeshData:
    """Vertices, edges and faces of a mesh."""
    starts = np.empty(len(mesh.polygons) + 1, dtype=np.int32)
    starts[:-1] = _bulk(mesh.polygons, "loop_start", 1, np.int32)
    starts[-1] = len(mesh.loops)
    return MeshData(
        array(_bulk(mesh.vertices, "co", 3, np.float32).reshape(-1, 3), "<f4"),
        array(_bulk(mesh.edges, "vertices", 2, np.int32).reshape(-1, 2), "<i4"),
        array(_bulk(mesh.loops, "vertex_index", 1, np.int32), "<i4"),
        array(starts, "<i4"),
        array(_bulk(mesh.polygons, "material_index", 1, np.int32), "<i4"),
    )


def mesh_value(mesh: Any) -> dict[str, Value]:
    """Return the core properties of a mesh, and its attributes."""
    data = mesh_arrays(mesh)
    return {
        "positions": data.positions,
        "edges": data.edges,
        "corners": data.corners,
        "face_starts": data.face_starts,
        "face_materials": data.face_materials,
        "attributes": attributes(mesh, without=_CORE),
    }


def attributes(owner: Any, *, without: tuple[str, ...] = ()) -> list[dict[str, Value]]:
    """List the named arrays of a mesh, a point cloud or curves, by name, without selection."""
    return [
        _attribute(each)
        for each in sorted(owner.attributes, key=lambda each: str(each.name))
        if each.name not in without and not each.name.startswith(_INTERFACE)
    ]


def weights(mesh: Any) -> dict[str, Value]:
    """Which vertex is in which vertex group, and how much."""
    found = [(i, g.group, g.weight) for i, v in enumerate(mesh.vertices) for g in v.groups]
    return {
        "members": array([(i, group) for i, group, _ in found], "<i4").reshape(-1, 2),
        "weights": array([weight for _, _, weight in found], "<f4"),
    }


def _attribute(each: Any) -> dict[str, Value]:
    head = {"name": each.name, "domain": each.domain, "type": each.data_type}
    known = _KINDS.get(each.data_type)
    if known is None:  # texts are read one by one
        return {**head, "values": [str(item.value) for item in each.data]}
    name, width, dtype = known
    raw = {"<f4": np.float32, "<i4": np.int32, "|b1": np.bool_}[dtype]
    values = _bulk(each.data, name, width, raw)
    return {**head, "values": array(values.reshape(-1, width) if width > 1 else values, dtype)}


def _bulk(items: Any, name: str, width: int, dtype: type) -> Array:
    values: Array = np.empty(len(items) * width, dtype=dtype)
    items.foreach_get(name, values)
    return values
