"""A scene in plain Python: the same tools as on Blender, in milliseconds, and nothing to install.

It holds meshes, places, materials, lights, cameras and the settings of modifiers. It has no
renderer, no boolean and no geometry after modifiers: those it refuses by name instead of pretending.

Invariant: the scene is its state, so ``restore(state())`` gives a scene of the same fingerprint in
any process; and a value that stands in it is replaced, never changed, so a checkpoint shares them.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from twice.foundation.with_blocks import gc_paused
from twice.tools.errors import SceneRefused, SceneStateForeign, SceneUnable
from twice.tools.scenes.folder import SessionFiles, private
from twice.tools.scenes.mesh import MeshData, mesh_data
from twice.tools.scenes.protocol import (
    CameraKind,
    Lamp,
    Lens,
    LightKind,
    Operation,
    Pixels,
    Shot,
    Surface,
    check_name,
    complete_settings,
    name_taken,
    not_a_mesh,
    not_found,
    own_ancestor,
)
from twice.tools.scenes.state import Block, SceneState, array, float32, floats32, scene_state
from twice.tools.scenes.state_file import from_plain, read_state, state_bytes, to_plain
from twice.tools.scenes.transform import Transform, world_matrices
from twice.writing import write

ROOT: Final = "Scene"  # the name of the scene, and of the collection that holds everything in it
_TYPES: Final = {
    "cameras": "CAMERA", "collections": "COLLECTION", "lights": "LIGHT", "materials": "MATERIAL",
    "meshes": "MESH", "objects": "EMPTY", "scene": "SCENE",
}  # fmt: skip


class MemoryScene(SessionFiles):
    """A scene that lives in this process and needs no other program.

    Args:
        folder: where its files lie; a private temporary folder when None.
    """

    name = "memory"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self._sections: dict[str, dict[str, dict[str, Any]]] = {}
        # Of the last state, with the value and the place that each is of: most calls change few.
        self._blocks: dict[tuple[str, str], tuple[Any, Any, Block]] = {}
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
        """Go back to an empty scene."""
        self._sections = {name: {} for name in _TYPES}
        self._sections["collections"][ROOT] = {"objects": [], "children": []}
        self._sections["scene"][ROOT] = {"camera": None}

    def holds(self, name: str) -> bool:
        """Whether anything has this name."""
        return any(name in section for section in self._sections.values())

    def checkpoint(self) -> object:
        """Copy the sections; values are shared."""
        return {section: dict(things) for section, things in self._sections.items()}

    def rollback(self, checkpoint: object) -> None:
        """Go back to a checkpoint."""
        assert isinstance(checkpoint, dict), "a checkpoint is what checkpoint() gave"
        self._sections = {section: dict(things) for section, things in checkpoint.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Load a state that ``state()`` returned.

        Raises:
            SceneStateForeign: E-SCENE-007, it is not a state of this kind of scene.
        """
        with gc_paused():
            self._take_over(from_plain(state))

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        """Everything that the scene holds.

        Raises:
            SceneUnable: E-SCENE-004, geometry is asked for after modifiers, and there is one.
        """
        objects = self._sections["objects"]
        worlds = world_matrices(objects)
        made: dict[tuple[str, str], tuple[Any, Any, Block]] = {}
        blocks: dict[str, list[Block]] = {section: [] for section in self._sections}
        every = [(s, n, v) for s, things in self._sections.items() for n, v in things.items()]
        for section, name, value in every:
            world = worlds[name] if section == "objects" else None
            known = self._blocks.get((section, name))
            if known is None or known[0] is not value or known[1] != world:
                whole = value if world is None else {**value, "matrix_world": floats32(world)}
                kind = _block_type(section, name, value)
                known = value, world, Block(kind, name, "", whole, [])
            made[section, name] = known
            blocks[section].append(known[2])
        self._blocks = made
        if evaluated:
            blocks["evaluated"] = [
                Block("MESH", name, "", self._evaluate(name, value))
                for name, value in objects.items()
                if value["data"] is not None and value["data"][0] == "meshes"
            ]
        return scene_state({"name": self.name, **self.profile()}, blocks)

    def object_names(self) -> Sequence[str]:
        """Return the names of all objects, by code point."""
        return sorted(self._sections["objects"])

    def create_object(self, name: str, data: MeshData | Lens | Lamp | None) -> None:
        """Create an object at the origin, with data of its name; the first camera is the scene's."""
        if data is None:
            self._check_free(name)
            self._add_object(name, None)
            return
        if isinstance(data, MeshData):
            section, value = "meshes", {**vars(data), "materials": []}
        else:
            section = "cameras" if isinstance(data, Lens) else "lights"
            value = _round_fields(data)
        self._add(name, section, value)
        self._add_object(name, [section, name])
        if section == "cameras" and self._sections["scene"][ROOT]["camera"] is None:
            self._change("scene", ROOT, camera=name)

    def create_instance(self, name: str, of: str) -> None:
        """Create an object that shares the data of another."""
        data = self._find("objects", of)["data"]
        self._check_free(name)
        self._add_object(name, data)

    def delete_object(self, name: str) -> None:
        """Remove an object, and its data if nothing else uses it."""
        data = self._find("objects", name)["data"]
        objects, collections = self._sections["objects"], self._sections["collections"]
        del objects[name]
        for child in [each for each, value in objects.items() if value["parent"] == name]:
            self._change("objects", child, parent=None)
        for each, inside in list(collections.items()):
            if name in inside["objects"]:
                left = [other for other in inside["objects"] if other != name]
                self._change("collections", each, objects=left)
        if self._sections["scene"][ROOT]["camera"] == name:
            self._change("scene", ROOT, camera=None)
        if data is not None and all(value["data"] != data for value in objects.values()):
            del self._sections[data[0]][data[1]]

    def transform(self, name: str, change: Transform) -> None:
        """Move an object."""
        self._find("objects", name)
        parts = {"location": change.location, "rotation": change.rotation, "scale": change.scale}
        given = {part: floats32(value) for part, value in parts.items() if value is not None}
        self._change("objects", name, **given)

    def set_parent(self, name: str, parent: str | None) -> None:
        """Hang an object under another, or under none."""
        self._find("objects", name)
        above = parent
        while above is not None:
            if above == name:
                raise own_ancestor(name)
            above = self._find("objects", above)["parent"]
        self._change("objects", name, parent=parent)

    def create_collection(self, name: str, parent: str | None) -> None:
        """Create an empty collection under another, or under the scene's own."""
        above = parent or ROOT
        children = self._find("collections", above)["children"]
        self._add(name, "collections", {"objects": [], "children": []})
        self._change("collections", above, children=sorted([*children, name]))

    def link(self, name: str, collection: str) -> None:
        """Put an object into a collection, and leave it in its others."""
        self._find("objects", name)
        there = self._find("collections", collection)["objects"]
        self._change("collections", collection, objects=sorted({*there, name}))

    def read_mesh(self, name: str) -> MeshData:
        """Return the mesh of an object, in its own space."""
        return _to_mesh(self._sections["meshes"][self._mesh_name(name)])

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        """Change the shape of an object's mesh."""
        self._change("meshes", self._mesh_name(name), **vars(mesh))

    def boolean(self, name: str, other: str, operation: Operation) -> MeshData:
        """Not here: an exact boolean is a program of its own."""
        raise _cannot(f"make the {operation} of {name!r} and {other!r}", "an exact solver")

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        """Add a modifier at the end of an object's list."""
        self._mesh_name(name)
        there, complete = self._find("objects", name)["modifiers"], complete_settings(kind, given)
        if any(other["name"] == check_name(modifier) for other in there):
            raise name_taken(modifier, f"a modifier of {name!r}")
        settings = {k: v if isinstance(v, int) else float32(v) for k, v in complete.items()}
        made = {"name": modifier, "kind": kind, "settings": settings}
        self._change("objects", name, modifiers=[*there, made])

    def create_material(self, name: str, surface: Surface) -> None:
        """Create a material."""
        self._add(name, "materials", _round_fields(surface))

    def assign_material(self, name: str, material: str) -> None:
        """Make a material the only one of an object's data."""
        mesh = self._mesh_name(name)
        self._find("materials", material)
        slots = array([0] * (len(self._sections["meshes"][mesh]["face_starts"]) - 1), "<i4")
        self._change("meshes", mesh, materials=[material], face_materials=slots)

    def render(self, shot: Shot) -> Pixels:
        """Not here: a scene in memory has no renderer."""
        self._check_camera(shot.camera)
        raise _cannot(f"render what {shot.camera!r} sees", "a renderer")

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

    def _take_over(self, known: SceneState) -> None:
        """Make everything of a state anew; a stranger's that comes out otherwise is refused whole."""
        previous = self._sections
        things = {s: {b.name: b.value for b in blocks} for s, blocks in known.sections.items()}
        try:
            self.reset()
            self._rebuild(things)
            same = self.snapshot().fingerprint == known.fingerprint
            why = f"its fingerprint would be {known.fingerprint}"
        except (SceneRefused, LookupError, TypeError, ValueError, AttributeError) as error:
            same, why = False, f"{type(error).__name__}: {error}"
        if not same:
            self._sections = previous
            raise SceneStateForeign(
                f"This is not the state of a scene in memory: {why[:300]}.",
                "Expected a state that a scene in memory gave.",
                "Restore it in the kind of scene that it came from.",
            )

    def _rebuild(self, things: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        """Fill an empty scene by its own rules, which raise wherever a value does not fit them."""
        for name, value in things["materials"].items():
            self.create_material(name, Surface(**value))
        for name, value in things["meshes"].items():
            if (np.diff(value["face_starts"]) < 0).any():  # a few bytes would make endless faces
                raise ValueError(f"the faces of {name!r} overlap")
            mesh = mesh_data(value["positions"], _to_mesh(value).faces, value["edges"].tolist())
            materials = [each for each in value["materials"] if self._find("materials", each)]
            self._add(name, "meshes", {**vars(mesh), "materials": materials})
        for section, kind, kinds in (("cameras", Lens, CameraKind), ("lights", Lamp, LightKind)):
            for name, value in things[section].items():
                if value["kind"] not in get_args(kinds):
                    raise ValueError(f"{name!r} is of the kind {value['kind']!r}")
                self._add(name, section, _round_fields(kind(**value)))
        for name, value in things["objects"].items():
            if value["data"] is not None:
                self._find(*value["data"])
            self._add_object(check_name(name), value["data"])
        for name, value in things["objects"].items():
            self.set_parent(name, value["parent"])
            self.transform(name, Transform(value["location"], value["rotation"], value["scale"]))
            for each in value["modifiers"]:
                self.add_modifier(name, each["name"], each["kind"], each["settings"])
        above = [ROOT]
        for parent in above:  # grows while it is walked; a collection met twice is refused by name
            for child in things["collections"][parent]["children"]:
                self.create_collection(child, parent)
                above.append(child)
        for name, value in things["collections"].items():
            inside = sorted(each for each in value["objects"] if self._find("objects", each))
            self._change("collections", name, objects=inside)
        camera = things["scene"][ROOT]["camera"]
        if camera is not None:
            self._check_camera(camera)
        self._change("scene", ROOT, camera=camera)

    def _evaluate(self, name: str, value: Mapping[str, Any]) -> dict[str, Any]:
        if value["modifiers"]:
            kinds = ", ".join(each["kind"] for each in value["modifiers"])
            raise _cannot(f"work out the modifiers of {name!r} ({kinds})", "modifiers")
        return vars(self.read_mesh(name))

    def _check_free(self, name: str) -> None:
        check_name(name)
        for section in sorted(self._sections):
            if name in self._sections[section]:
                raise name_taken(name, f"one of the {section}")

    def _add(self, name: str, section: str, value: dict[str, Any]) -> None:
        self._check_free(name)
        self._sections[section][name] = value

    def _add_object(self, name: str, data: list[str] | None) -> None:
        self._sections["objects"][name] = {
            "data": data,
            "parent": None,
            "location": [0.0] * 3,
            "rotation_mode": "XYZ",
            "rotation": [0.0] * 3,
            "scale": [1.0] * 3,
            "hide_render": False,
            "modifiers": [],
        }
        there = list(self._sections["collections"][ROOT]["objects"])
        insort(there, name)
        self._change("collections", ROOT, objects=there)

    def _find(self, section: str, name: str) -> dict[str, Any]:
        found = self._sections[section].get(name)
        if found is None:
            kind = "object" if section == "objects" else _TYPES[section].lower()
            raise not_found(kind, name)
        return found

    def _change(self, section: str, name: str, **parts: Any) -> None:
        things = self._sections[section]
        things[name] = {**things[name], **parts}

    def _check_camera(self, name: str) -> None:
        data = self._find("objects", name)["data"]
        if data is None or data[0] != "cameras":
            raise not_found("camera", name)

    def _mesh_name(self, name: str) -> str:
        value = self._find("objects", name)
        kind = _block_type("objects", name, value)
        if kind != "MESH":
            raise not_a_mesh(name, kind)
        return str(value["data"][1])


def _cannot(what: str, needs: str) -> SceneUnable:
    return SceneUnable(
        f"A scene in memory cannot {what}.",
        f"Expected a scene with {needs}.",
        "Use the registry blender: pip install 'twice[blender]'",
    )


def _block_type(section: str, name: str, value: Mapping[str, Any]) -> str:
    if section == "objects" and value["data"] is not None:
        return _TYPES[value["data"][0]]
    if section == "lights":
        return str(value["kind"])
    return "SCENE" if section == "collections" and name == ROOT else _TYPES[section]


def _to_mesh(value: Mapping[str, Any]) -> MeshData:
    return MeshData(**{field: inner for field, inner in value.items() if field != "materials"})


def _round_fields(values: Surface | Lens | Lamp) -> dict[str, Any]:
    """Bring numbers to their 32 bits; texts stay."""
    rounded: dict[str, Any] = {}
    for key, value in asdict(values).items():
        if isinstance(value, tuple | list):
            rounded[key] = floats32(value)
        else:
            rounded[key] = value if isinstance(value, str) else float32(value)
    return rounded
