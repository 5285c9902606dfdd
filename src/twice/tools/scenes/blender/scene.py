"""The scene that Blender holds in this process: one process, one scene.

What its methods promise stands in ``protocol.Scene``. Everything is found by name when it is
needed; nothing of Blender's is kept from call to call, because going back to a checkpoint replaces
all of it.

Invariant: the canonical state is that of a saved and loaded file, and a checkpoint is such a file.
"""
# ruff: noqa: D102  (the protocol has the docstrings)

from __future__ import annotations

import platform
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from twice.tools.enforcement import pause_watch
from twice.tools.errors import SceneArgumentRefused, SceneFailed
from twice.tools.scenes import protocol
from twice.tools.scenes.blender import program
from twice.tools.scenes.blender.data import (
    check_kept,
    create_data,
    fill_material,
    refill_mesh,
    set_modifier,
)
from twice.tools.scenes.blender.snapshot import read_mesh_data, read_snapshot
from twice.tools.scenes.folder import check_file, make_private_folder, private
from twice.tools.scenes.mesh import MeshData
from twice.tools.scenes.protocol import Change, Lamp, Lens, Shot, Surface, check_name
from twice.tools.scenes.state import Array, SceneState

_SCRATCH: Final = "twice-boolean"


class _Checkpoint:
    """A saved copy of everything; the file goes when nobody holds the checkpoint any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        weakref.finalize(self, private(path.unlink), missing_ok=True)


class BlenderScene(protocol.Scene):
    """Blender, started in this process and brought to its factory settings.

    Args:
        folder: where the session's files lie; a private temporary folder when None.

    Raises:
        ExtraMissing: E-EXTRA-001, Blender's module is not installed here.
    """

    name = "blender"

    def __init__(self, folder: Path | None = None) -> None:
        self._bpy = program.import_blender()
        super().__init__(folder)
        self._private = make_private_folder()
        self._saved = 0
        self.reset()

    def profile(self) -> Mapping[str, str]:
        app = self._bpy.app
        return {
            **self._build(),
            "addon:cycles": app.version_string,
            "driver:cpu": program.find_kernel(),
            "platform": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "threads": str(program.THREADS),
        }

    def _build(self) -> dict[str, str]:
        app = self._bpy.app
        return {"version": app.version_string, "build": app.build_hash.decode()}

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        profile = {"name": self.name, **self._build()}
        return read_snapshot(self._bpy, profile, evaluated=evaluated)

    def reset(self) -> None:
        # Blender looks for its own add-ons by variables of the environment.
        with pause_watch():
            program.operate("reset", self._bpy.ops.wm.read_factory_settings, use_empty=True)
        self._bpy.context.preferences.filepaths.save_version = 0
        scene = self._bpy.context.scene
        scene.render.engine = "CYCLES"
        scene.cycles.device, scene.cycles.seed = "CPU", 0
        scene.render.threads_mode, scene.render.threads = "FIXED", program.THREADS

    def holds(self, name: str) -> bool:
        data = self._bpy.data
        return any(
            name in getattr(data, prop.identifier)
            for prop in data.bl_rna.properties
            if prop.type == "COLLECTION"
        )

    @private
    def checkpoint(self) -> object:
        self._saved += 1
        path = self._private / f"{self._saved}.blend"
        self.save(path)
        return _Checkpoint(path)

    @private
    def rollback(self, checkpoint: object) -> None:
        assert isinstance(checkpoint, _Checkpoint), "a checkpoint is what checkpoint() gave"
        self._open(checkpoint.path)

    @private
    def save(self, path: Path) -> None:
        quiet = {"check_existing": False, "compress": False, "relative_remap": False}
        save = self._bpy.ops.wm.save_as_mainfile
        program.operate(f"saving {path.name}", save, filepath=str(path), copy=True, **quiet)

    @private
    def load(self, path: Path) -> None:
        check_file(path)
        before = self.checkpoint()
        try:
            self._open(path)
        except SceneFailed:
            self.rollback(before)
            raise

    def object_names(self) -> Sequence[str]:
        return sorted(each.name for each in self._bpy.context.scene.objects)

    def create_object(self, name: str, data: MeshData | Lens | Lamp | None) -> None:
        self._check_free(name)
        made = self._add(name, create_data(self._bpy.data, name, data))
        if isinstance(data, Lens) and self._bpy.context.scene.camera is None:
            self._bpy.context.scene.camera = made

    def create_instance(self, name: str, of: str) -> None:
        self._check_free(name)
        self._add(name, self._find("object", of).data)

    def delete_object(self, name: str) -> None:
        thing = self._find("object", name)
        data = thing.data
        self._bpy.data.objects.remove(thing)
        if data is not None and not data.users:
            self._bpy.data.batch_remove([data])

    def transform(
        self, name: str, location: Change = None, rotation: Change = None, scale: Change = None
    ) -> None:
        thing = self._find("object", name)
        if rotation is not None and thing.rotation_mode != "XYZ":
            raise SceneArgumentRefused(
                f"{name!r} is turned by {thing.rotation_mode}.",
                "Expected XYZ: changing the mode would rewrite its angles.",
                "Leave out the rotation.",
            )
        given = {"location": location, "rotation_euler": rotation, "scale": scale}
        for part, value in given.items():
            if value is not None:
                setattr(thing, part, value)

    def set_parent(self, name: str, parent: str | None) -> None:
        thing = self._find("object", name)
        above = None if parent is None else self._find("object", parent)
        looked = above
        while looked is not None:
            if looked == thing:
                raise protocol.own_ancestor(name)
            looked = looked.parent
        thing.parent = above

    def create_collection(self, name: str, parent: str | None) -> None:
        root = self._bpy.context.scene.collection
        above = root if parent is None else self._find("collection", parent)
        self._check_free(name)
        above.children.link(check_kept(self._bpy.data.collections.new(name), name))

    def link(self, name: str, collection: str) -> None:
        thing, inside = self._find("object", name), self._find("collection", collection)
        if name not in inside.objects:
            inside.objects.link(thing)

    def read_mesh(self, name: str) -> MeshData:
        return read_mesh_data(self._mesh_object(name).data)

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        refill_mesh(self._mesh_object(name).data, mesh)

    def boolean(self, name: str, other: str, operation: protocol.Operation) -> MeshData:
        thing, cutter = self._mesh_object(name), self._mesh_object(other)
        scratch = thing.copy()
        try:
            scratch.name = _SCRATCH
            check_kept(scratch, _SCRATCH)
            scratch.modifiers.clear()
            self._bpy.context.scene.collection.objects.link(scratch)
            modifier = scratch.modifiers.new(_SCRATCH, "BOOLEAN")
            modifier.operation, modifier.object = operation, cutter
            modifier.solver = "EXACT"  # the fast one follows addresses
            assert modifier.solver == "EXACT", "no other solver is asked"
            self._bpy.context.view_layer.update()
            after = scratch.evaluated_get(self._bpy.context.evaluated_depsgraph_get())
            try:
                return read_mesh_data(after.to_mesh())
            finally:
                after.to_mesh_clear()
        finally:
            self._bpy.data.objects.remove(scratch)

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        thing, complete = self._mesh_object(name), protocol.complete_settings(kind, given)
        if check_name(modifier) in thing.modifiers:
            raise protocol.name_taken(modifier, f"a modifier of {name!r}")
        made = check_kept(thing.modifiers.new(modifier, kind), modifier)
        set_modifier(made, kind, complete)

    def create_material(self, name: str, surface: Surface) -> None:
        self._check_free(name)
        material = check_kept(self._bpy.data.materials.new(name), name)
        material.use_fake_user = True  # kept although nothing uses it yet
        fill_material(material, surface)

    def assign_material(self, name: str, material: str) -> None:
        slots = self._mesh_object(name).data.materials
        found = self._find("material", material)
        slots.clear()
        slots.append(found)

    @private
    def render(self, shot: Shot) -> Array:
        if self._find("object", shot.camera).type != "CAMERA":
            raise protocol.not_found("camera", shot.camera)
        before = self.checkpoint()
        try:
            return program.render(self._bpy, shot, self._private)
        finally:
            self.rollback(before)

    def _open(self, path: Path) -> None:
        quiet = {"load_ui": False, "use_scripts": False}
        load = self._bpy.ops.wm.open_mainfile
        program.operate(f"loading {path.name}", load, filepath=str(path), **quiet)

    def _check_free(self, name: str) -> None:
        if self.holds(check_name(name)):
            raise protocol.name_taken(name, "something in the file")

    def _add(self, name: str, data: Any) -> Any:
        thing = check_kept(self._bpy.data.objects.new(name, data), name)
        self._bpy.context.scene.collection.objects.link(thing)
        return thing

    def _find(self, kind: str, name: str) -> Any:
        data = self._bpy.context.scene if kind == "object" else self._bpy.data
        found = getattr(data, f"{kind}s").get(name)
        if found is None or found.name != name:
            raise protocol.not_found(kind, name)
        return found

    def _mesh_object(self, name: str) -> Any:
        thing = self._find("object", name)
        if thing.type != "MESH":
            raise protocol.not_a_mesh(name, thing.type)
        return thing
