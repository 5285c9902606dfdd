"""A snapshot of Blender: every kind of data, block by block.

Data that nothing uses is left out, for saving leaves it out as well: the canonical state is the
one that a saved and loaded file has.

Invariant: the scene is brought up to date first, and is not changed by being read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from twice.foundation.with_blocks import gc_paused
from twice.tools.scenes.blender.reading.exclusions import exclusions
from twice.tools.scenes.blender.reading.geometry import attributes, mesh_value, weights
from twice.tools.scenes.blender.reading.structs import Structs
from twice.tools.scenes.state import Block, SceneState, scene_state
from twice.tools.scenes.values import Value, array, float32, floats32

_ROTATIONS: Final = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
_PLACES: Final = (
    "data", "parent", "location", "rotation_mode", "rotation_euler", "rotation_quaternion",
    "rotation_axis_angle", "scale", "hide_render",
    "matrix_world",
)  # fmt: skip
_WITH_SURFACE: Final = ("CURVE", "CURVES", "FONT", "MESH", "META", "SURFACE")
_CORE_OF: Final[dict[str, tuple[str, ...]]] = {
    "cameras": ("type", "lens", "clip_start", "clip_end"),
    "collections": ("objects", "children"),
    "lights": ("type", "energy", "color"),
    "meshes": ("materials",),
    "objects": _PLACES,
}


def snapshot(bpy: Any, profile: dict[str, str], *, evaluated: bool) -> SceneState:
    """Read the state of everything in Blender's memory that saving would keep.

    Args:
        bpy: Blender's module.
        profile: the build that the full fingerprint depends on.
        evaluated: whether to read geometry after modifiers as well.

    Raises:
        SceneValueRefused: E-SCENE-001, a number is not finite.
    """
    bpy.context.view_layer.update()
    reading = _Reading(bpy)
    with gc_paused():
        sections = {name: list(reading.blocks(name)) for name in reading.sections}
        sections["collections"] += reading.scene_collections()
        if evaluated:
            sections["evaluated"] = list(reading.evaluated())
        return scene_state(profile, sections)


class _Reading:
    """One pass over Blender's data."""

    def __init__(self, bpy: Any) -> None:
        self._bpy = bpy
        self._excluded = exclusions()
        self.sections = tuple(
            prop.identifier
            for prop in bpy.data.bl_rna.properties
            if prop.type == "COLLECTION"
            and not self._excluded.excludes("BlendData", prop.identifier)
        )
        self._kinds = {
            data[0].id_type: name for name in self.sections if len(data := getattr(bpy.data, name))
        }
        self._structs = Structs(bpy.types.ID, self._reference, self._excluded)
        self._grouped = {
            thing.data.name_full
            for thing in bpy.data.objects
            if thing.type == "MESH" and len(thing.vertex_groups)
        }

    def blocks(self, section: str) -> Iterator[Block]:
        """Yield the blocks of one kind of data."""
        for data in getattr(self._bpy.data, section):
            if data.users:
                yield Block(self._type(data), data.name, _library(data), self._value(section, data))

    def scene_collections(self) -> Iterator[Block]:
        """Yield each scene's own collection."""
        for scene in self._bpy.data.scenes:
            value = self._value("collections", scene.collection)
            yield Block("SCENE", scene.name, _library(scene), value)

    def evaluated(self) -> Iterator[Block]:
        """Geometry after modifiers of everything in the scene that has a surface."""
        graph = self._bpy.context.evaluated_depsgraph_get()
        for thing in self._bpy.context.scene.objects:
            if thing.type not in _WITH_SURFACE:
                continue
            after = thing.evaluated_get(graph)
            mesh = after.to_mesh()
            if mesh is not None:
                yield Block(thing.type, thing.name, _library(thing), mesh_value(mesh))
            after.to_mesh_clear()

    def _type(self, data: Any) -> str:
        return str(data.type if data.id_type in ("OBJECT", "LIGHT") else data.id_type)

    def _reference(self, data: Any) -> list[str]:
        where = _library(data)
        kind = self._kinds.get(data.id_type, str(data.id_type).lower())
        return [kind, data.name, where] if where else [kind, data.name]

    def _value(self, section: str, data: Any) -> dict[str, Value]:
        value = self._core(section, data)
        without = frozenset(("name", *_CORE_OF.get(section, ())))
        value["settings"] = self._structs.read(data, without=without)
        if section == "meshes" and data.name_full in self._grouped:
            value["vertex_groups"] = weights(data)
        if section == "shape_keys":
            value["points"] = [_points(key) for key in data.key_blocks]
        if section in ("hair_curves", "pointclouds"):
            value["attributes"] = attributes(data)
        return value

    def _core(self, section: str, data: Any) -> dict[str, Value]:
        if section == "objects":
            return self._placed(data)
        if section == "meshes":
            names = [None if each is None else each.name for each in data.materials]
            return {**mesh_value(data), "materials": names}
        if section == "collections":
            objects = sorted(each.name for each in data.objects)
            return {"objects": objects, "children": sorted(each.name for each in data.children)}
        if section == "cameras":
            numbers = {name: float32(getattr(data, name)) for name in _CORE_OF[section][1:]}
            return {"kind": data.type, **numbers}
        if section == "lights":
            color = floats32(data.color)
            return {"kind": data.type, "energy": float32(data.energy), "color": color}
        return {}

    def _placed(self, thing: Any) -> dict[str, Value]:
        mode = thing.rotation_mode
        active = _ROTATIONS.get(mode, "rotation_euler")
        others = [name for name in ("rotation_euler", *_ROTATIONS.values()) if name != active]
        return {
            "data": None if thing.data is None else self._reference(thing.data),
            "parent": None if thing.parent is None else thing.parent.name,
            "location": _numbers(thing.location),
            "rotation_mode": mode,
            "rotation": _numbers(getattr(thing, active)),
            "rotations_unused": [_numbers(getattr(thing, name)) for name in others],
            "scale": _numbers(thing.scale),
            "matrix_world": [float32(x) for row in thing.matrix_world for x in row],
            "hide_render": thing.hide_render,
        }


def _numbers(values: Any) -> list[float]:
    return [float32(x) for x in values]


def _points(key: Any) -> Value:
    """Where a shape key puts each point; kinds of points differ, places are common to all."""
    return array([list(point.co) for point in key.data], "<f4").reshape(-1, 3)


def _library(data: Any) -> str:
    return "" if data.library is None else str(data.library.filepath)
