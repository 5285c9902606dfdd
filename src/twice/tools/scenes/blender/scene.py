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
from typing import Any, Final

from twice.tools.enforcement import pause_watch
from twice.tools.errors import SceneArgumentRefused, SceneFailed
from twice.tools.scenes.blender.data import (
    check_kept,
    create_data,
    fill_material,
    refill_mesh,
    set_modifier,
)
from twice.tools.scenes.blender.program import (
    THREADS,
    check_finished,
    find_kernel,
    gave_up,
    import_blender,
    redirect_prints,
    render,
)
from twice.tools.scenes.blender.snapshot import read_mesh_data, read_snapshot
from twice.tools.scenes.folder import SessionFiles, check_file, make_private_folder, private
from twice.tools.scenes.mesh import MeshData
from twice.tools.scenes.protocol import (
    Lamp,
    Lens,
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
from twice.tools.scenes.state import SceneState
from twice.tools.scenes.state_file import to_plain
from twice.tools.scenes.transform import Transform

_SCRATCH: Final = "twice-boolean"


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
        self._bpy = import_blender()
        super().__init__(folder)
        self._private = make_private_folder()
        self._saved = 0
        self.reset()

    def profile(self) -> Mapping[str, str]:
        """Return the versions and settings that results depend on, apart from the scene."""
        app = self._bpy.app
        return {
            **self._build(),
            "addon:cycles": app.version_string,
            "driver:cpu": find_kernel(),
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
        return read_snapshot(self._bpy, profile, evaluated=evaluated)

    def reset(self) -> None:
        """Load factory settings, an empty scene, and Cycles on the processor."""
        # Blender looks for its own add-ons by variables of the environment.
        with redirect_prints(), pause_watch():
            done = self._bpy.ops.wm.read_factory_settings(use_empty=True)
        check_finished(done, "reset")
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
        """Go back to a checkpoint."""
        assert isinstance(checkpoint, _Checkpoint), "a checkpoint is what checkpoint() gave"
        self._open(checkpoint.path)

    @private
    def save(self, path: Path) -> None:
        """Write a .blend file."""
        with redirect_prints():
            done = self._bpy.ops.wm.save_as_mainfile(
                filepath=str(path),
                copy=True,
                check_existing=False,
                compress=False,
                relative_remap=False,
            )
        check_finished(done, f"saving {path.name}")

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

    def create_object(self, name: str, data: MeshData | Lens | Lamp | None) -> None:
        """Create an object at the origin, with data of its name; the first camera is the scene's."""
        self._check_free(name)
        made = self._add(name, create_data(self._bpy.data, name, data))
        if isinstance(data, Lens) and self._bpy.context.scene.camera is None:
            self._bpy.context.scene.camera = made

    def create_instance(self, name: str, of: str) -> None:
        """Create an object that shares the data of another."""
        self._check_free(name)
        self._add(name, self._object(of).data)

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
        """Hang an object under another, or under none."""
        thing = self._object(name)
        above = None if parent is None else self._object(parent)
        looked = above
        while looked is not None:
            if looked == thing:
                raise own_ancestor(name)
            looked = looked.parent
        thing.parent = above

    def create_collection(self, name: str, parent: str | None) -> None:
        """Create an empty collection under another, or under the scene's own."""
        root = self._bpy.context.scene.collection
        above = root if parent is None else self._collection(parent)
        self._check_free(name)
        above.children.link(check_kept(self._bpy.data.collections.new(name), name))

    def link(self, name: str, collection: str) -> None:
        """Put an object into a collection, and leave it in its others."""
        thing, inside = self._object(name), self._collection(collection)
        if name not in inside.objects:
            inside.objects.link(thing)

    def read_mesh(self, name: str) -> MeshData:
        """Return the mesh of an object, in its own space."""
        return read_mesh_data(self._mesh_object(name).data)

    def replace_mesh(self, name: str, mesh: MeshData) -> None:
        """Change the shape of an object's mesh."""
        refill_mesh(self._mesh_object(name).data, mesh)

    def boolean(self, name: str, other: str, operation: Operation) -> MeshData:
        """Combine two meshes by the exact solver: the fast one follows addresses."""
        thing, cutter = self._mesh_object(name), self._mesh_object(other)
        scratch = thing.copy()
        try:
            scratch.name = _SCRATCH
            check_kept(scratch, _SCRATCH)
            scratch.modifiers.clear()
            self._bpy.context.scene.collection.objects.link(scratch)
            modifier = scratch.modifiers.new(_SCRATCH, "BOOLEAN")
            modifier.operation, modifier.object = operation, cutter
            modifier.solver = "EXACT"
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
        """Add a modifier at the end of an object's list."""
        thing, complete = self._mesh_object(name), complete_settings(kind, given)
        if check_name(modifier) in thing.modifiers:
            raise name_taken(modifier, f"a modifier of {name!r}")
        made = check_kept(thing.modifiers.new(modifier, kind), modifier)
        set_modifier(made, kind, complete)

    def create_material(self, name: str, surface: Surface) -> None:
        """Create a material of two nodes; keep it although nothing uses it yet."""
        self._check_free(name)
        material = check_kept(self._bpy.data.materials.new(name), name)
        material.use_fake_user = True
        fill_material(material, surface)

    def assign_material(self, name: str, material: str) -> None:
        """Make a material the only one of an object's data."""
        thing = self._mesh_object(name)
        found = self._bpy.data.materials.get(material)
        if found is None:
            raise not_found("material", material)
        thing.data.materials.clear()
        thing.data.materials.append(found)

    @private
    def render(self, shot: Shot) -> Pixels:
        """Render a picture by Cycles, and restore everything afterwards."""
        if self._object(shot.camera).type != "CAMERA":
            raise not_found("camera", shot.camera)
        before = self.checkpoint()
        try:
            return render(self._bpy, shot, self._private)
        finally:
            self.rollback(before)

    def _open(self, path: Path) -> None:
        try:
            with redirect_prints():
                done = self._bpy.ops.wm.open_mainfile(
                    filepath=str(path), load_ui=False, use_scripts=False
                )
        except RuntimeError as error:
            raise gave_up(f"loading {path.name}", str(error).splitlines()[0]) from error
        check_finished(done, f"loading {path.name}")

    def _check_free(self, name: str) -> None:
        if self.holds(check_name(name)):
            raise name_taken(name, "something in the file")

    def _add(self, name: str, data: Any) -> Any:
        thing = check_kept(self._bpy.data.objects.new(name, data), name)
        self._bpy.context.scene.collection.objects.link(thing)
        return thing

    def _object(self, name: str) -> Any:
        found = self._bpy.context.scene.objects.get(name)
        if found is None or found.name != name:
            raise not_found("object", name)
        return found

    def _mesh_object(self, name: str) -> Any:
        thing = self._object(name)
        if thing.type != "MESH":
            raise not_a_mesh(name, thing.type)
        return thing

    def _collection(self, name: str) -> Any:
        found = self._bpy.data.collections.get(name)
        if found is None:
            raise not_found("collection", name)
        return found
