"""A snapshot of Blender: every kind of data, block by block.

Data that nothing uses is left out, for saving leaves it out as well: the canonical state is the
one that a saved and loaded file has.

Invariant: the scene is brought up to date first, and is not changed by being read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from twice.foundation.with_blocks import gc_paused
from twice.tools.scenes.blender.structs import Structs, is_excluded, load_exclusions
from twice.tools.scenes.mesh import MeshData
from twice.tools.scenes.state import Array, Block, SceneState, Value, array, floats32, scene_state

_ROTATIONS: Final = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
_WITH_SURFACE: Final = ("CURVE", "CURVES", "FONT", "MESH", "META", "SURFACE")
_CORE_OF: Final[dict[str, tuple[str, ...]]] = {
    "cameras": ("type", "lens", "clip_start", "clip_end"),
    "collections": ("objects", "children"),
    "lights": ("type", "energy", "color"),
    "meshes": ("materials",),
    "objects": (
        "data", "parent", "location", "rotation_mode", "rotation_euler", "rotation_quaternion",
        "rotation_axis_angle", "scale", "hide_render", "matrix_world",
    ),
}  # fmt: skip

# For each type of attribute: the property, numbers an element, and how they stand in a state.
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
_READ_APART: Final = ("position", ".edge_verts", ".corner_vert", ".corner_edge", "material_index")
_INTERFACE: Final = (".select_", ".hide_", ".uv_select", ".vs.", ".es.", ".pn.")


def read_snapshot(bpy: Any, profile: dict[str, str], *, evaluated: bool) -> SceneState:
    """Read the state of everything in Blender's memory that saving would keep.

    Args:
        bpy: Blender's module.
        profile: the build that the full fingerprint depends on.
        evaluated: whether to read geometry after modifiers as well.

    Raises:
        SceneValueRefused: E-SCENE-001, a number is not finite.
    """
    bpy.context.view_layer.update()
    reader = BlenderReader(bpy)
    with gc_paused():
        sections = {name: list(reader.read_blocks(name)) for name in reader.sections}
        sections["collections"] += reader.read_scene_collections()
        if evaluated:
            sections["evaluated"] = list(reader.read_evaluated())
        return scene_state(profile, sections)


class BlenderReader:
    """One pass over Blender's data."""

    def __init__(self, bpy: Any) -> None:
        self._bpy = bpy
        self._reasons = load_exclusions()
        self.sections = tuple(
            prop.identifier
            for prop in bpy.data.bl_rna.properties
            if prop.type == "COLLECTION"
            and not is_excluded(self._reasons, "BlendData", prop.identifier)
        )
        self._kinds = {
            data[0].id_type: name for name in self.sections if len(data := getattr(bpy.data, name))
        }
        self.structs = Structs(bpy.types.ID, self._reference, self._reasons)
        self._grouped = {
            thing.data.name_full
            for thing in bpy.data.objects
            if thing.type == "MESH" and len(thing.vertex_groups)
        }

    def read_blocks(self, section: str) -> Iterator[Block]:
        """Yield the blocks of one kind of data."""
        for data in getattr(self._bpy.data, section):
            if data.users:
                yield Block(
                    self.block_type(data), data.name, _library(data), self.read_value(section, data)
                )

    def read_scene_collections(self) -> Iterator[Block]:
        """Yield each scene's own collection."""
        for scene in self._bpy.data.scenes:
            value = self.read_value("collections", scene.collection)
            yield Block("SCENE", scene.name, _library(scene), value)

    def read_evaluated(self) -> Iterator[Block]:
        """Geometry after modifiers of everything in the scene that has a surface."""
        graph = self._bpy.context.evaluated_depsgraph_get()
        for thing in self._bpy.context.scene.objects:
            if thing.type not in _WITH_SURFACE:
                continue
            after = thing.evaluated_get(graph)
            mesh = after.to_mesh()
            if mesh is not None:
                yield Block(thing.type, thing.name, _library(thing), _read_mesh(mesh))
            after.to_mesh_clear()

    def block_type(self, data: Any) -> str:
        """Return what a thing is, in Blender's words."""
        return str(data.type if data.id_type in ("OBJECT", "LIGHT") else data.id_type)

    def _reference(self, data: Any) -> list[str]:
        where = _library(data)
        kind = self._kinds.get(data.id_type, str(data.id_type).lower())
        return [kind, data.name, where] if where else [kind, data.name]

    def read_value(self, section: str, data: Any) -> dict[str, Value]:
        """Read everything of one thing."""
        value = self._read_core(section, data)
        without = frozenset(("name", *_CORE_OF.get(section, ())))
        value["settings"] = self.structs.read(data, without=without)
        if section == "meshes" and data.name_full in self._grouped:
            found = [(i, g.group, g.weight) for i, v in enumerate(data.vertices) for g in v.groups]
            value["vertex_groups"] = {
                "members": array([(i, group) for i, group, _ in found], "<i4").reshape(-1, 2),
                "weights": array([weight for _, _, weight in found], "<f4"),
            }
        if section == "shape_keys":
            # Kinds of points differ; where a key puts each is common to all.
            places = [[list(point.co) for point in key.data] for key in data.key_blocks]
            value["points"] = [array(each, "<f4").reshape(-1, 3) for each in places]
        if section in ("hair_curves", "pointclouds"):
            value["attributes"] = _read_attributes(data)
        return value

    def _read_core(self, section: str, data: Any) -> dict[str, Value]:
        if section == "objects":
            return self._read_place(data)
        if section == "meshes":
            slots = [None if each is None else each.name for each in data.materials]
            return {**_read_mesh(data), "materials": slots}
        if section == "collections":
            objects = sorted(each.name for each in data.objects)
            return {"objects": objects, "children": sorted(each.name for each in data.children)}
        if section == "cameras":
            names = _CORE_OF[section][1:]
            numbers = floats32(getattr(data, name) for name in names)
            return {"kind": data.type, **dict(zip(names, numbers, strict=True))}
        if section == "lights":
            energy, *color = floats32([data.energy, *data.color])
            return {"kind": data.type, "energy": energy, "color": color}
        return {}

    def _read_place(self, thing: Any) -> dict[str, Value]:
        mode = thing.rotation_mode
        active = _ROTATIONS.get(mode, "rotation_euler")
        others = [name for name in ("rotation_euler", *_ROTATIONS.values()) if name != active]
        return {
            "data": None if thing.data is None else self._reference(thing.data),
            "parent": None if thing.parent is None else thing.parent.name,
            "location": floats32(thing.location),
            "rotation_mode": mode,
            "rotation": floats32(getattr(thing, active)),
            "rotations_unused": [floats32(getattr(thing, name)) for name in others],
            "scale": floats32(thing.scale),
            "matrix_world": floats32(x for row in thing.matrix_world for x in row),
            "hide_render": thing.hide_render,
        }


def _library(data: Any) -> str:
    return "" if data.library is None else str(data.library.filepath)


def read_mesh_data(mesh: Any) -> MeshData:
    """Vertices, edges and faces of a mesh."""
    starts = _read_bulk(mesh.polygons, "loop_start", "<i4")
    return MeshData(
        _read_bulk(mesh.vertices, "co", "<f4", 3),
        _read_bulk(mesh.edges, "vertices", "<i4", 2),
        _read_bulk(mesh.loops, "vertex_index", "<i4"),
        array(np.append(starts, len(mesh.loops)), "<i4"),
        _read_bulk(mesh.polygons, "material_index", "<i4"),
    )


def _read_mesh(mesh: Any) -> dict[str, Value]:
    """Return the core properties of a mesh, and its attributes."""
    attributes = _read_attributes(mesh, without=_READ_APART)
    return {**vars(read_mesh_data(mesh)), "attributes": attributes}


def _read_attributes(owner: Any, *, without: tuple[str, ...] = ()) -> list[dict[str, Value]]:
    """List the named arrays of a mesh, a point cloud or curves, by name, without selection."""
    found: list[dict[str, Value]] = []
    for each in sorted(owner.attributes, key=lambda each: str(each.name)):
        if each.name in without or each.name.startswith(_INTERFACE):
            continue
        if each.data_type in _KINDS:
            name, width, dtype = _KINDS[each.data_type]
            values: Value = _read_bulk(each.data, name, dtype, width)
        else:  # texts are read one by one
            values = [str(item.value) for item in each.data]
        head = {"name": each.name, "domain": each.domain, "type": each.data_type}
        found.append({**head, "values": values})
    return found


def _read_bulk(items: Any, name: str, dtype: str, width: int = 1) -> Array:
    values: Array = np.empty(len(items) * width, dtype)
    items.foreach_get(name, values)
    return array(values.reshape(-1, width) if width > 1 else values, dtype)
