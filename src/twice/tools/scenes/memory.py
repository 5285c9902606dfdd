"""A scene in plain Python: the same tools as on Blender, in milliseconds, and nothing to install.

It holds meshes, places, materials, lights, cameras and the settings of modifiers. It has no
renderer, no boolean and no geometry after modifiers: those it refuses by name instead of pretending.
What its methods promise stands in ``protocol.Scene``.

Invariant: the scene is its state, so ``restore(state())`` gives a scene of the same fingerprint in
any process; and a value that stands in it is replaced, never changed, so states share what is equal.
"""
# ruff: noqa: D102  (the protocol has the docstrings)

from __future__ import annotations

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np

from twice.foundation.encoding import encode
from twice.foundation.with_blocks import gc_paused
from twice.tools.errors import SceneRefused, SceneStateForeign, SceneUnable
from twice.tools.scenes import protocol
from twice.tools.scenes.folder import private
from twice.tools.scenes.memory_sections import ROOT, TYPES, MemorySections, Things, block_type
from twice.tools.scenes.mesh import MeshData, mesh_data
from twice.tools.scenes.protocol import Change, Lamp, Lens, Shot, Surface, check_name
from twice.tools.scenes.state import Array, Block, SceneState, Section, array, float32, floats32
from twice.tools.scenes.state_file import read_array, read_document
from twice.writing import write


class MemoryScene(protocol.Scene):
    """A scene that lives in this process and needs no other program.

    Args:
        folder: where its files lie; a private temporary folder when None.
    """

    name = "memory"

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        # The sections that no checkpoint and no snapshot has seen are this scene's own to change;
        # every other one is copied before its first change.
        self._sections: dict[str, Things] = {}
        self._own: set[str] = set()
        self._made = MemorySections()
        self.reset()

    def profile(self) -> Mapping[str, str]:
        return {"version": "1"}  # of the rules of this module

    def reset(self) -> None:
        self._sections = {name: {} for name in TYPES}
        self._sections["collections"][ROOT] = {"objects": [], "children": []}
        self._sections["scene"][ROOT] = {"camera": None}
        self._own = set(TYPES)

    def holds(self, name: str) -> bool:
        return any(name in section for section in self._sections.values())

    def checkpoint(self) -> object:
        self._own.clear()
        return dict(self._sections)

    def rollback(self, checkpoint: object) -> None:
        assert isinstance(checkpoint, dict), "a checkpoint is what checkpoint() gave"
        self._sections = dict(checkpoint)
        self._own.clear()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Load a state that ``state()`` returned.

        Raises:
            SceneStateForeign: E-SCENE-007, it is not a state of this kind of scene.
        """
        before, why = self.checkpoint(), "its parts do not come out as they stand there"
        try:
            with gc_paused():
                self.reset()
                self._rebuild(
                    {
                        section: {name: value for _, name, _, value in blocks}
                        for section, blocks in state["sections"].items()
                    }
                )
                same = self.state() == state
        except (
            SceneRefused, LookupError, TypeError, ValueError, AttributeError, RecursionError
        ) as error:  # fmt: skip
            same, why = False, f"{type(error).__name__}: {error}"
        if not same:
            self.rollback(before)
            raise SceneStateForeign(
                f"This is not the state of a scene in memory: {why[:300]}.",
                "Expected a state that a scene in memory gave.",
                "Restore it in the kind of scene that it came from.",
            )

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        self._own.clear()  # first: what follows may raise when it has seen the half of them
        sections = self._made.update(self._sections)
        if evaluated:
            blocks = [
                Block("MESH", name, "", self._evaluate(name, value))
                for name, value in self._sections["objects"].items()
                if value["data"] is not None and value["data"][0] == "meshes"
            ]
            sections["evaluated"] = Section("evaluated", blocks)
        return SceneState({"name": self.name, **self.profile()}, sections)

    def object_names(self) -> Sequence[str]:
        return sorted(self._sections["objects"])

    def create_object(self, name: str, data: MeshData | Lens | Lamp | None) -> None:
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
        data = self._find("objects", of)["data"]
        self._check_free(name)
        self._add_object(name, data)

    def delete_object(self, name: str) -> None:
        data = self._find("objects", name)["data"]
        del self._write("objects")[name]
        objects = self._sections["objects"]
        for child in [each for each, value in objects.items() if value["parent"] == name]:
            self._change("objects", child, parent=None)
        for each, inside in list(self._sections["collections"].items()):
            if name in inside["objects"]:
                left = [other for other in inside["objects"] if other != name]
                self._change("collections", each, objects=left)
        if self._sections["scene"][ROOT]["camera"] == name:
            self._change("scene", ROOT, camera=None)
        if data is not None and all(value["data"] != data for value in objects.values()):
            del self._write(data[0])[data[1]]

    def transform(
        self, name: str, location: Change = None, rotation: Change = None, scale: Change = None
    ) -> None:
        self._find("objects", name)
        parts = {"location": location, "rotation": rotation, "scale": scale}
        given = {part: floats32(value) for part, value in parts.items() if value is not None}
        self._change("objects", name, **given)

    def set_parent(self, name: str, parent: str | None) -> None:
        self._find("objects", name)
        above = parent
        while above is not None:
            if above == name:
                raise protocol.own_ancestor(name)
            above = self._find("objects", above)["parent"]
        self._change("objects", name, parent=parent)

    def create_collection(self, name: str, parent: str | None) -> None:
        above = parent or ROOT
        children = self._find("collections", above)["children"]
        self._add(name, "collections", {"objects": [], "children": []})
        self._change("collections", above, children=sorted([*children, name]))

    def link(self, name: str, collection: str) -> None:
        self._find("objects", name)
        there = self._find("collections", collection)["objects"]
        self._change("collections", collection, objects=sorted({*there, name}))

    def read_mesh(self, name: str) -> MeshData:
        value = self._sections["meshes"][self._mesh_name(name)]
        return MeshData(**{field: value[field] for field in value if field != "materials"})

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        self._change("meshes", self._mesh_name(name), **vars(mesh))

    def boolean(self, name: str, other: str, operation: protocol.Operation) -> MeshData:
        raise _cannot(f"make the {operation} of {name!r} and {other!r}", "an exact solver")

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        self._mesh_name(name)
        there = self._find("objects", name)["modifiers"]
        complete = protocol.complete_settings(kind, given)
        if any(other["name"] == check_name(modifier) for other in there):
            raise protocol.name_taken(modifier, f"a modifier of {name!r}")
        settings = {k: v if isinstance(v, int) else float32(v) for k, v in complete.items()}
        made = {"name": modifier, "kind": kind, "settings": settings}
        self._change("objects", name, modifiers=[*there, made])

    def create_material(self, name: str, surface: Surface) -> None:
        self._add(name, "materials", _round_fields(surface))

    def assign_material(self, name: str, material: str) -> None:
        mesh = self._mesh_name(name)
        self._find("materials", material)
        slots = array([0] * (len(self._sections["meshes"][mesh]["face_starts"]) - 1), "<i4")
        self._change("meshes", mesh, materials=[material], face_materials=slots)

    def render(self, shot: Shot) -> Array:
        self._check_camera(shot.camera)
        raise _cannot(f"render what {shot.camera!r} sees", "a renderer")

    @private
    def save(self, path: Path) -> None:
        write(path, encode(self.state()))

    def load(self, path: Path) -> None:
        self.restore(read_document(path))

    def _rebuild(self, things: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
        """Fill an empty scene by its own rules, which raise wherever a value does not fit them."""
        for name, value in things["materials"].items():
            self.create_material(name, Surface(**value))
        for name, value in things["meshes"].items():
            materials = [each for each in value["materials"] if self._find("materials", each)]
            mesh = MeshData(**{k: read_array(**v) for k, v in value.items() if k != "materials"})
            if (np.diff(mesh.face_starts) < 0).any():  # a few bytes would make endless faces
                raise ValueError(f"the faces of {name!r} overlap")
            whole = mesh_data(mesh.positions, mesh.faces, mesh.edges.tolist())
            self._add(name, "meshes", {**vars(whole), "materials": materials})
        for section, kind, kinds in (
            ("cameras", Lens, protocol.CameraKind),
            ("lights", Lamp, protocol.LightKind),
        ):
            for name, value in things[section].items():
                if value["kind"] not in get_args(kinds):
                    raise ValueError(f"{name!r} is of the kind {value['kind']!r}")
                self._add(name, section, _round_fields(kind(**value)))
        for name, value in things["objects"].items():
            if value["data"] is not None:
                self._find(*value["data"])
            self._sections["objects"][check_name(name)] = _new_object(value["data"])
        for name, value in things["objects"].items():
            self.set_parent(name, value["parent"])
            self.transform(name, value["location"], value["rotation"], value["scale"])
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
        for section, things in self._sections.items():
            if name in things:
                raise protocol.name_taken(name, f"one of the {section}")

    def _write(self, section: str) -> Things:
        """Return the things of a section for a change."""
        if section not in self._own:
            self._own.add(section)
            self._sections[section] = dict(self._sections[section])
        return self._sections[section]

    def _add(self, name: str, section: str, value: dict[str, Any]) -> None:
        self._check_free(name)
        self._write(section)[name] = value

    def _add_object(self, name: str, data: list[str] | None) -> None:
        self._write("objects")[name] = _new_object(data)
        there = list(self._sections["collections"][ROOT]["objects"])
        insort(there, name)
        self._change("collections", ROOT, objects=there)

    def _change(self, section: str, name: str, **parts: Any) -> None:
        things = self._write(section)
        things[name] = {**things[name], **parts}

    def _find(self, section: str, name: str) -> dict[str, Any]:
        found = self._sections[section].get(name)
        if found is None:
            kind = "object" if section == "objects" else TYPES[section].lower()
            raise protocol.not_found(kind, name)
        return found

    def _check_camera(self, name: str) -> None:
        data = self._find("objects", name)["data"]
        if data is None or data[0] != "cameras":
            raise protocol.not_found("camera", name)

    def _mesh_name(self, name: str) -> str:
        value = self._find("objects", name)
        kind = block_type("objects", name, value)
        if kind != "MESH":
            raise protocol.not_a_mesh(name, kind)
        return str(value["data"][1])


def _cannot(what: str, needs: str) -> SceneUnable:
    return SceneUnable(
        f"A scene in memory cannot {what}.",
        f"Expected a scene with {needs}.",
        "Use the registry blender: pip install 'twice[blender]'",
    )


def _new_object(data: list[str] | None) -> dict[str, Any]:
    return {
        "data": data,
        "parent": None,
        "location": [0.0] * 3,
        "rotation_mode": "XYZ",
        "rotation": [0.0] * 3,
        "scale": [1.0] * 3,
        "hide_render": False,
        "modifiers": [],
    }


def _round_fields(values: Surface | Lens | Lamp) -> dict[str, Any]:
    """Bring numbers to their 32 bits."""
    rounded = asdict(values)
    for key, value in rounded.items():
        if key != "kind":
            rounded[key] = float32(value) if np.isscalar(value) else floats32(value)
    return rounded
