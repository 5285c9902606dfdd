"""The scene that Blender holds in this process: one process, one scene.

Everything is found by name when it is needed; nothing of Blender's is kept from call to call,
because going back to a checkpoint replaces all of it.

Invariant: the canonical state is that of a saved and loaded file, and a checkpoint is such a file.
"""

from __future__ import annotations

import platform
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from twice.tools.errors import SceneArgumentRefused, SceneFailed
from twice.tools.scenes.blender import building
from twice.tools.scenes.blender.library import blender, printing_aside
from twice.tools.scenes.blender.reading import snapshot
from twice.tools.scenes.blender.reading.geometry import mesh_arrays
from twice.tools.scenes.blender.rendering import THREADS, kernel, picture
from twice.tools.scenes.folders import SessionFiles, private, private_folder
from twice.tools.scenes.keeping import check_file
from twice.tools.scenes.meshes import MeshData
from twice.tools.scenes.modifiers import settings
from twice.tools.scenes.naming import check_name, missing, taken
from twice.tools.scenes.pixels import Pixels
from twice.tools.scenes.plain import to_plain
from twice.tools.scenes.protocol import Lamp, Lens, Operation, Shot, Surface
from twice.tools.scenes.state import SceneState
from twice.tools.scenes.transforms import Transform

_SCRATCH = "twice-boolean"


class _Checkpoint:
    """A saved copy of everything; the file goes when nobody holds the checkpoint any more."""

    def __init__(self, path: Path) -> None:
        self.path = path
        weakref.finalize(self, private(path.unlink), missing_ok=True)


class BlenderScene(SessionFiles):
    """Blender, started in this process and brought to its factory settings.

    Args:
        folder: where the session's files lie; a private temporary folder when None.

    Raises:
        ExtraMissing: E-EXTRA-001, Blender's module is not installed here.
    """

    name = "blender"

    def __init__(self, folder: Path | None = None) -> None:
        self._bpy = blender()
        super().__init__(folder)
        self._private = private_folder()
        self._saved = 0
        self.reset()

    def profile(self) -> Mapping[str, str]:
        """Return the versions and settings that results depend on, apart from the scene."""
        app = self._bpy.app
        return {
            **self._build(),
            "addon:cycles": app.version_string,
            "driver:cpu": kernel(),
            "platform": f"{platform.system()} {platform.machine()}",
            "python": platform.python_version(),
            "threads": str(THREADS),
        }

    def _build(self) -> dict[str, str]:
        app = self._bpy.app
        return {"version": app.version_string, "build": app.build_hash.decode()}

    def state(self) -> Mapping[str, Any]:
        """Return the whole state as plain data."""
        return to_plain(self.snapshot())

    def fingerprint(self) -> str:
        """Return the full fingerprint of the state, bound to this build of Blender."""
        return self.snapshot().fingerprint

    def snapshot(self, *, evaluated: bool = False) -> SceneState:
        """Everything that the scene holds; with geometry after modifiers when asked."""
        profile = {"name": self.name, **self._build()}
        return snapshot(self._bpy, profile, evaluated=evaluated)

    def reset(self) -> None:
        """Load factory settings, an empty scene, and Cycles on the processor."""
        with printing_aside():
            done = self._bpy.ops.wm.read_factory_settings(use_empty=True)
        self._finished(done, "reset")
        self._bpy.context.preferences.filepaths.save_version = 0
        scene = self._bpy.context.scene
        scene.render.engine = "CYCLES"
        scene.cycles.device, scene.cycles.seed = "CPU", 0
        scene.render.threads_mode, scene.render.threads = "FIXED", THREADS

    def holds(self, name: str) -> bool:
        """Whether any kind of data has this name."""
        data = self._bpy.data
        return any(
            name in getattr(data, prop.identifier)
            for prop in data.bl_rna.properties
            if prop.type == "COLLECTION"
        )

    @private
    def checkpoint(self) -> object:
        """Save a copy of everything."""
        self._saved += 1
        path = self._private / f"{self._saved}.blend"
        self.save(path)
        return _Checkpoint(path)

    @private
    def rollback(self, checkpoint: object) -> None:
        """Goes back to a checkpoint."""
        assert isinstance(checkpoint, _Checkpoint), "a checkpoint is what checkpoint() gave"
        self._open(checkpoint.path)

    @private
    def save(self, path: Path) -> None:
        """Write a .blend file."""
        with printing_aside():
            done = self._bpy.ops.wm.save_as_mainfile(
                filepath=str(path),
                copy=True,
                check_existing=False,
                compress=False,
                relative_remap=False,
            )
        self._finished(done, f"saving {path.name}")

    @private
    def load(self, path: Path) -> None:
        """Load a .blend file, without running any script or driver in it."""
        check_file(path)
        before = self.checkpoint()
        try:
            self._open(path)
        except SceneFailed:
            self.rollback(before)
            raise

    def object_names(self) -> Sequence[str]:
        """Return the names of all objects in the scene, by code point."""
        return sorted(each.name for each in self._bpy.context.scene.objects)

    def create_empty(self, name: str) -> None:
        """Create an object without data, at the origin."""
        self._free(name)
        self._add(name, None)

    def create_mesh(self, name: str, mesh: MeshData) -> None:
        """Create a mesh and an object of one name."""
        self._free(name)
        made = building.named(self._bpy.data.meshes.new(name), name)
        building.fill_mesh(made, mesh)
        self._add(name, made)

    def create_instance(self, name: str, of: str) -> None:
        """Create an object that shares the data of another."""
        self._free(name)
        self._add(name, self._object(of).data)

    def create_camera(self, name: str, lens: Lens) -> None:
        """Create a camera; the first one becomes the scene's."""
        self._free(name)
        camera = building.named(self._bpy.data.cameras.new(name), name)
        building.fill_camera(camera, lens)
        made = self._add(name, camera)
        if self._bpy.context.scene.camera is None:
            self._bpy.context.scene.camera = made

    def create_light(self, name: str, lamp: Lamp) -> None:
        """Create a light at the origin."""
        self._free(name)
        light = building.named(self._bpy.data.lights.new(name, lamp.kind), name)
        building.fill_light(light, lamp)
        self._add(name, light)

    def delete_object(self, name: str) -> None:
        """Remove an object, and its data if nothing else uses it."""
        thing = self._object(name)
        data = thing.data
        self._bpy.data.objects.remove(thing)
        if data is not None and not data.users:
            self._bpy.data.batch_remove([data])

    def transform(self, name: str, change: Transform) -> None:
        """Move an object that is turned by Euler angles."""
        thing = self._object(name)
        if change.rotation is not None and thing.rotation_mode != "XYZ":
            raise SceneArgumentRefused(
                f"{name!r} is turned by {thing.rotation_mode}.",
                "Expected XYZ: changing the mode would rewrite its angles.",
                "Leave out the rotation.",
            )
        for part, value in (
            ("location", change.location),
            ("rotation_euler", change.rotation),
            ("scale", change.scale),
        ):
            if value is not None:
                setattr(thing, part, value)

    def set_parent(self, name: str, parent: str | None) -> None:
        """Hangs an object under another, or under none."""
        thing = self._object(name)
        above = None if parent is None else self._object(parent)
        looked = above
        while looked is not None:
            if looked == thing:
                raise SceneArgumentRefused(
                    f"{name!r} would hang under itself.",
                    "Expected a parent that is not the object, nor below it.",
                    "Unparent the other one first, or choose another parent.",
                )
            looked = looked.parent
        thing.parent = above

    def create_collection(self, name: str, parent: str | None) -> None:
        """Create an empty collection under another, or under the scene's own."""
        root = self._bpy.context.scene.collection
        above = root if parent is None else self._collection(parent)
        self._free(name)
        above.children.link(building.named(self._bpy.data.collections.new(name), name))

    def link(self, name: str, collection: str) -> None:
        """Put an object into a collection, and leave it in its others."""
        thing, inside = self._object(name), self._collection(collection)
        if name not in inside.objects:
            inside.objects.link(thing)

    def read_mesh(self, name: str, *, evaluated: bool = False) -> MeshData:
        """Return the mesh of an object, in its own space."""
        thing = self._mesh_object(name)
        return self._evaluated(thing) if evaluated else mesh_arrays(thing.data)

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        """Change the shape of an object's mesh."""
        building.refill_mesh(self._mesh_object(name).data, mesh)

    def boolean(self, name: str, other: str, operation: Operation) -> MeshData:
        """Combine two meshes by the exact solver: the fast one follows addresses."""
        thing, cutter = self._mesh_object(name), self._mesh_object(other)
        scratch = thing.copy()
        try:
            building.named(scratch, _renamed(scratch))
            scratch.modifiers.clear()
            self._bpy.context.scene.collection.objects.link(scratch)
            modifier = scratch.modifiers.new(_SCRATCH, "BOOLEAN")
            modifier.operation, modifier.object = operation, cutter
            modifier.solver = "EXACT"
            assert modifier.solver == "EXACT", "no other solver is asked"
            return self._evaluated(scratch)
        finally:
            self._bpy.data.objects.remove(scratch)

    def add_modifier(self, name: str, modifier: str, kind: str, given: Mapping[str, Any]) -> None:
        """Add a modifier at the end of an object's list."""
        thing, complete = self._mesh_object(name), settings(kind, given)
        if check_name(modifier) in thing.modifiers:
            raise taken(modifier, f"a modifier of {name!r}")
        made = building.named(thing.modifiers.new(modifier, kind), modifier)
        building.set_modifier(made, kind, complete)

    def create_material(self, name: str, surface: Surface) -> None:
        """Create a material of two nodes; keep it although nothing uses it yet."""
        self._free(name)
        material = building.named(self._bpy.data.materials.new(name), name)
        material.use_fake_user = True
        building.fill_material(material, surface)

    def assign_material(self, name: str, material: str) -> None:
        """Make a material the only one of an object's data."""
        thing = self._mesh_object(name)
        found = self._bpy.data.materials.get(material)
        if found is None:
            raise missing("material", material)
        thing.data.materials.clear()
        thing.data.materials.append(found)

    @private
    def render(self, shot: Shot) -> Pixels:
        """Render a picture by Cycles, and restore everything afterwards."""
        if self._object(shot.camera).type != "CAMERA":
            raise missing("camera", shot.camera)
        before = self.checkpoint()
        try:
            return picture(self._bpy, shot, self._private)
        finally:
            self.rollback(before)

    def _evaluated(self, thing: Any) -> MeshData:
        self._bpy.context.view_layer.update()
        after = thing.evaluated_get(self._bpy.context.evaluated_depsgraph_get())
        try:
            return mesh_arrays(after.to_mesh())
        finally:
            after.to_mesh_clear()

    def _open(self, path: Path) -> None:
        try:
            with printing_aside():
                done = self._bpy.ops.wm.open_mainfile(
                    filepath=str(path), load_ui=False, use_scripts=False
                )
        except RuntimeError as error:
            raise self._gave_up(f"loading {path.name}", str(error).splitlines()[0]) from error
        self._finished(done, f"loading {path.name}")

    def _finished(self, done: set[str], what: str) -> None:
        if done != {"FINISHED"}:
            raise self._gave_up(what, ", ".join(sorted(done)))

    def _gave_up(self, what: str, said: str) -> SceneFailed:
        return SceneFailed(
            f"Blender gave up {what}: {said}.",
            "Expected it to finish.",
            "Look at what Blender printed: it is in the session's record.",
        )

    def _free(self, name: str) -> None:
        if self.holds(check_name(name)):
            raise taken(name, "something in the file")

    def _add(self, name: str, data: Any) -> Any:
        thing = building.named(self._bpy.data.objects.new(name, data), name)
        self._bpy.context.scene.collection.objects.link(thing)
        return thing

    def _object(self, name: str) -> Any:
        found = self._bpy.context.scene.objects.get(name)
        if found is None or found.name != name:
            raise missing("object", name)
        return found

    def _mesh_object(self, name: str) -> Any:
        thing = self._object(name)
        if thing.type != "MESH":
            raise SceneArgumentRefused(
                f"{name!r} is of type {thing.type} and has no mesh.",
                "Expected an object of type MESH.",
                "Name another object, or make one with mesh.primitive.",
            )
        return thing

    def _collection(self, name: str) -> Any:
        found = self._bpy.data.collections.get(name)
        if found is None:
            raise missing("collection", name)
        return found


def _renamed(thing: Any) -> str:
    thing.name = _SCRATCH
    return _SCRATCH
