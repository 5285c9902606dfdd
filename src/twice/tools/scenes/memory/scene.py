"""The scene in memory: sections of named values, changed by copying what changes.

Arrays are never changed in place, so a checkpoint copies dicts and shares arrays.

Invariant: ``restore(state())`` gives a scene of the same fingerprint, in any process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from twice.tools.errors import SceneArgumentRefused, SceneStateForeign, SceneUnable
from twice.tools.scenes.folders import SessionFiles, private
from twice.tools.scenes.keeping import read_state, state_bytes
from twice.tools.scenes.memory.drawing import drawn
from twice.tools.scenes.memory.evaluating import evaluated_mesh, world_matrices
from twice.tools.scenes.memory.reading import ROOT, read_sections
from twice.tools.scenes.meshes import MeshData
from twice.tools.scenes.modifiers import settings
from twice.tools.scenes.naming import check_name, missing, taken
from twice.tools.scenes.pixels import Pixels
from twice.tools.scenes.plain import from_plain, to_plain
from twice.tools.scenes.protocol import Lamp, Lens, Operation, Shot, Surface
from twice.tools.scenes.state import Block, SceneState, scene_state
from twice.tools.scenes.transforms import Transform
from twice.tools.scenes.values import array, float32, floats32
from twice.writing import write

_TYPES: Final = {
    "cameras": "CAMERA",
    "collections": "COLLECTION",
    "lights": "LIGHT",
    "materials": "MATERIAL",
    "meshes": "MESH",
    "objects": "EMPTY",
    "scene": "SCENE",
}
_MESH_FIELDS: Final = ("positions", "edges", "corners", "face_starts", "face_materials")
_IDENTITY: Final = [float(i % 5 == 0) for i in range(16)]

Sections = dict[str, dict[str, dict[str, Any]]]


class MemoryScene(SessionFiles):
    """A scene that lives in this process and needs no other program.

    Args:
        folder: where its files lie; a private temporary folder when None.
    """

    name = "memory"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self._sections: Sections = {}
        self.reset()

    def profile(self) -> Mapping[str, str]:
        """Return the version that results depend on: the rules of this module alone."""
        return {"version": "1"}

    def state(self) -> Mapping[str, Any]:
        """Return the whole state as plain data."""
        return to_plain(self.snapshot())

    def fingerprint(self) -> str:
        """Return the full fingerprint of the state."""
        return self.snapshot().fingerprint

    def reset(self) -> None:
        """Goes back to an empty scene."""
        self._sections = {name: {} for name in _TYPES}
        self._sections["collections"][ROOT] = {"objects": [], "children": []}
        self._sections["scene"][ROOT] = {"camera": None}

    def holds(self, name: str) -> bool:
        """Whether anything has this name."""
        return any(name in section for section in self._sections.values())

    def checkpoint(self) -> object:
        """Copy the sections; arrays are shared."""
        return _copied(self._sections)

    def rollback(self, checkpoint: object) -> None:
        """Goes back to a checkpoint."""
        assert isinstance(checkpoint, dict), "a checkpoint is what checkpoint() gave"
        self._sections = _copied(checkpoint)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Load a state that ``state()`` returned.

        Raises:
            SceneStateForeign: E-SCENE-007, it is not a state of this kind of scene.
        """
        self._take_over(from_plain(state))

    def _take_over(self, known: SceneState) -> None:
        previous, self._sections = self._sections, read_sections(known)
        try:
            same = self.snapshot().fingerprint == known.fingerprint
        except Exception:  # whatever a strange state leads to, the scene stays
            self._sections = previous
            raise
        if not same:
            self._sections = previous
            raise SceneStateForeign(
                "The state is not one that a scene in memory gives.",
                f"Expected the fingerprint {known.fingerprint} after taking it over.",
                "Restore it in the kind of scene that it came from.",
            )

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        """Everything that the scene holds."""
        worlds = world_matrices(self._sections["objects"])
        blocks: dict[str, list[Block]] = {}
        for section, things in self._sections.items():
            blocks[section] = [_block(section, name, value) for name, value in things.items()]
        for i, block in enumerate(blocks["objects"]):
            value = {**block.value, "matrix_world": floats32(worlds[block.name])}
            blocks["objects"][i] = Block(block.type, block.name, block.id, value)
        if evaluated:
            blocks["evaluated"] = [
                Block("MESH", name, "", _mesh_value(self.read_mesh(name, evaluated=True)))
                for name, thing in self._sections["objects"].items()
                if thing["type"] == "MESH"
            ]
        return scene_state({"name": self.name, **self.profile()}, blocks)

    def object_names(self) -> Sequence[str]:
        """Return the names of all objects, by code point."""
        return sorted(self._sections["objects"])

    def create_empty(self, name: str) -> None:
        """Create an object without data, at the origin."""
        self._add_object(name, "EMPTY", None)

    def create_mesh(self, name: str, mesh: MeshData) -> None:
        """Create a mesh and an object of one name."""
        self._free(name)
        self._sections["meshes"][name] = {**_mesh_value(mesh), "materials": []}
        self._add_object(name, "MESH", ["meshes", name], checked=True)

    def create_instance(self, name: str, of: str) -> None:
        """Create an object that shares the data of another."""
        thing = self._object(of)
        self._add_object(name, thing["type"], thing["data"])

    def create_camera(self, name: str, lens: Lens) -> None:
        """Create a camera; the first one becomes the scene's."""
        self._free(name)
        self._sections["cameras"][name] = {
            "kind": lens.kind,
            "lens": float32(lens.lens),
            "ortho_scale": float32(lens.ortho_scale),
            "clip_start": float32(lens.clip_start),
            "clip_end": float32(lens.clip_end),
        }
        self._add_object(name, "CAMERA", ["cameras", name], checked=True)
        scene = self._sections["scene"][ROOT]
        if scene["camera"] is None:
            scene["camera"] = name

    def create_light(self, name: str, lamp: Lamp) -> None:
        """Create a light at the origin."""
        self._free(name)
        energy, color = float32(lamp.energy), floats32(lamp.color)
        self._sections["lights"][name] = {"kind": lamp.kind, "energy": energy, "color": color}
        self._add_object(name, "LIGHT", ["lights", name], checked=True)

    def delete_object(self, name: str) -> None:
        """Remove an object, and its data if nothing else uses it."""
        data = self._object(name)["data"]
        del self._sections["objects"][name]
        for thing in self._sections["objects"].values():
            if thing["parent"] == name:
                thing["parent"] = None
        for collection in self._sections["collections"].values():
            collection["objects"] = [other for other in collection["objects"] if other != name]
        scene = self._sections["scene"][ROOT]
        if scene["camera"] == name:
            scene["camera"] = None
        used = [thing["data"] for thing in self._sections["objects"].values()]
        if data is not None and data not in used:
            del self._sections[data[0]][data[1]]

    def transform(self, name: str, change: Transform) -> None:
        """Move an object."""
        thing = self._object(name)
        for part in ("location", "rotation", "scale"):
            given = getattr(change, part)
            if given is not None:
                thing[part] = floats32(given)

    def set_parent(self, name: str, parent: str | None) -> None:
        """Hangs an object under another, or under none."""
        thing, above = self._object(name), parent
        while above is not None:
            if above == name:
                raise SceneArgumentRefused(
                    f"{name!r} would hang under itself.",
                    "Expected a parent that is not the object, nor below it.",
                    "Unparent the other one first, or choose another parent.",
                )
            above = self._object(above)["parent"]
        thing["parent"] = parent

    def create_collection(self, name: str, parent: str | None) -> None:
        """Create an empty collection under another, or under the scene's own."""
        above = self._thing("collections", parent or ROOT)
        self._free(name)
        self._sections["collections"][name] = {"objects": [], "children": []}
        above["children"] = sorted([*above["children"], name])

    def link(self, name: str, collection: str) -> None:
        """Put an object into a collection, and leave it in its others."""
        self._object(name)
        inside = self._thing("collections", collection)
        inside["objects"] = sorted({*inside["objects"], name})

    def read_mesh(self, name: str, *, evaluated: bool = False) -> MeshData:
        """Return the mesh of an object, in its own space."""
        value = self._mesh(name)
        mesh = MeshData(*(value[field] for field in _MESH_FIELDS))
        return evaluated_mesh(mesh, self._object(name)["modifiers"]) if evaluated else mesh

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        """Change the shape of an object's mesh."""
        self._mesh(name).update(_mesh_value(mesh))

    def boolean(self, name: str, other: str, operation: Operation) -> MeshData:
        """Not here: an exact boolean is a program of its own."""
        raise SceneUnable(
            f"A scene in memory cannot make the {operation} of {name!r} and {other!r}.",
            "Expected a scene with an exact solver.",
            "Use the registry blender: pip install 'twice[blender]'",
        )

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        """Add a modifier at the end of an object's list."""
        self._mesh(name)
        thing, complete = self._object(name), settings(kind, given)
        if any(other["name"] == check_name(modifier) for other in thing["modifiers"]):
            raise taken(modifier, f"a modifier of {name!r}")
        values = {k: float32(v) if isinstance(v, float) else v for k, v in complete.items()}
        thing["modifiers"] = [
            *thing["modifiers"], {"name": modifier, "kind": kind, "settings": values}
        ]  # fmt: skip

    def create_material(self, name: str, surface: Surface) -> None:
        """Create a material."""
        self._free(name)
        self._sections["materials"][name] = {
            "color": floats32(surface.color),
            "metallic": float32(surface.metallic),
            "roughness": float32(surface.roughness),
        }

    def assign_material(self, name: str, material: str) -> None:
        """Make a material the only one of an object's data."""
        mesh = self._mesh(name)
        self._thing("materials", material)
        mesh["materials"] = [material]
        mesh["face_materials"] = array([0] * (len(mesh["face_starts"]) - 1), "<i4")

    def render(self, shot: Shot) -> Pixels:
        """Render a flat picture, without shadows, samples or a seed that matters."""
        camera = self._object(shot.camera)
        if camera["type"] != "CAMERA":
            raise missing("camera", shot.camera)
        worlds = world_matrices(self._sections["objects"])
        meshes = {
            name: self.read_mesh(name, evaluated=True)
            for name, thing in sorted(self._sections["objects"].items())
            if thing["type"] == "MESH" and not thing["hide_render"]
        }
        return drawn(self._sections, meshes, worlds, shot)

    @private
    def save(self, path: Path) -> None:
        """Write the canonical form of the state."""
        write(path, state_bytes(self.snapshot()))

    def load(self, path: Path) -> None:
        """Load a scene that ``save`` wrote.

        Raises:
            SceneStateForeign: E-SCENE-007, the file is something else.
        """
        self._take_over(read_state(path))

    def _free(self, name: str) -> None:
        check_name(name)
        for section in sorted(self._sections):
            if name in self._sections[section]:
                raise taken(name, f"one of the {section}")

    def _add_object(
        self, name: str, kind: str, data: list[str] | None, *, checked: bool = False
    ) -> None:
        if not checked:
            self._free(name)
        self._sections["objects"][name] = {
            "type": kind,
            "data": data,
            "parent": None,
            "location": [0.0] * 3,
            "rotation_mode": "XYZ",
            "rotation": [0.0] * 3,
            "scale": [1.0] * 3,
            "hide_render": False,
            "modifiers": [],
        }
        root = self._sections["collections"][ROOT]
        root["objects"] = sorted([*root["objects"], name])

    def _thing(self, section: str, name: str) -> dict[str, Any]:
        found = self._sections[section].get(name)
        if found is None:
            raise missing(_TYPES[section].lower() if section != "objects" else "object", name)
        return found

    def _object(self, name: str) -> dict[str, Any]:
        return self._thing("objects", name)

    def _mesh(self, name: str) -> dict[str, Any]:
        thing = self._object(name)
        if thing["type"] != "MESH":
            raise SceneArgumentRefused(
                f"{name!r} is of type {thing['type']} and has no mesh.",
                "Expected an object of type MESH.",
                "Name another object, or make one with mesh.primitive.",
            )
        return self._sections["meshes"][thing["data"][1]]


def _block(section: str, name: str, value: Mapping[str, Any]) -> Block:
    inner = {key: inner for key, inner in value.items() if key != "type"}
    kind = "SCENE" if section == "collections" and name == ROOT else _TYPES[section]
    if section == "lights":
        kind = value["kind"]
    return Block(value.get("type", kind), name, "", _copied(inner))


def _mesh_value(mesh: MeshData) -> dict[str, Any]:
    return {field: getattr(mesh, field) for field in _MESH_FIELDS}


def _copied(value: Any) -> Any:
    """Copy a value, but share arrays and everything else that never changes."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value
