"""What Blender does without a word, tried one by one through the scene; answers what came of it."""

from __future__ import annotations

from typing import get_args

import bpy
import numpy as np
from answering import answer

from twice.tools.errors import CallRefused
from twice.tools.scenes.blender.scene import BlenderScene
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.mesh import Primitive, primitive
from twice.tools.scenes.protocol import MODIFIERS, Lamp, Lens, Shot, Surface

scene, found = BlenderScene(), {}


def refused(make: object) -> str:
    try:
        make()
    except CallRefused as error:
        return error.code
    return "done"


scene.create_object("Cube", primitive("cube", size=2, segments=3, rings=2))
found["second Cube"] = refused(lambda: scene.create_object("Cube", None))
found["material named like a mesh"] = refused(lambda: scene.create_material("Cube", Surface()))
found["64 bytes"] = refused(lambda: scene.create_object("x" * 64, None))
found["63 bytes"] = refused(lambda: scene.create_object("x" * 63, None))
scene.delete_object("Cube")
found["data goes along"] = refused(
    lambda: scene.create_object("Cube", primitive("cube", size=2, segments=3, rings=2))
)
found["meshes"] = sorted(mesh.name for mesh in bpy.data.meshes)
scene.transform("Cube", location=(5, 6, 7))
block = scene.snapshot().block("objects", "Cube")
found["matrix is up to date"] = block.value["matrix_world"][3::4] == [5.0, 6.0, 7.0, 1.0]

before, checkpoint = scene.fingerprint(), scene.checkpoint()
path = checkpoint.path
scene.reset()
scene.create_object("Cube", None)
scene.rollback(checkpoint)
scene.rollback(checkpoint)
found["rollback twice"] = scene.fingerprint() == before
del checkpoint
found["checkpoint files left"] = path.exists()

for kind in MODIFIERS:
    scene.add_modifier("Cube", kind, kind, {})
found["modifiers"] = [modifier.type for modifier in bpy.data.objects["Cube"].modifiers]
scene.create_object("Sun", Lamp("SUN"))
scene.create_object("Camera", Lens())
before = scene.fingerprint()
scene.render(Shot("Camera", 8, 8, 1, 3))
found["rendering changes nothing"] = scene.fingerprint() == before
bpy.context.scene.render.engine = "BLENDER_EEVEE_NEXT"
found["EEVEE"] = refused(lambda: scene.render(Shot("Camera", 8, 8, 1, 3)))

(scene.folder / "junk.blend").write_bytes(b"BLENDER-v405RENDH" + bytes(100))
(scene.folder / "text.blend").write_bytes(b"no blender file at all")
before = scene.fingerprint()
found["damaged file"] = refused(lambda: scene.load(scene.folder / "junk.blend"))
found["other file"] = refused(lambda: scene.load(scene.folder / "text.blend"))
found["scene after damaged files"] = scene.fingerprint() == before

bpy.data.objects["Cube"].location.x = float("nan")
found["NaN"] = refused(scene.fingerprint)
scene.reset()
text = bpy.data.texts.new("danger.py")
text.write("import bpy; bpy.data.objects.new('ran', None)")
text.use_module = True
scene.save(scene.folder / "danger.blend")
scene.load(scene.folder / "danger.blend")
found["script ran"] = "ran" in bpy.data.objects

scene.reset()
other = MemoryScene()
for each in (scene, other):
    for kind in get_args(Primitive):
        each.create_object(kind, primitive(kind, size=2, segments=8, rings=4))
    each.create_object("Camera", Lens())
    each.create_object("Sun", Lamp("SUN"))
    each.create_collection("Props", None)
    each.link("cube", "Props")
    each.transform("cube", location=(1, 2, 3.5))
    each.create_material("Red", Surface((1, 0, 0)))
    each.assign_material("cube", "Red")
found["core as in memory"] = [
    each.snapshot(evaluated=True).core_fingerprint for each in (scene, other)
]
large = primitive("grid", size=2, segments=60, rings=60)
scene.create_object("large", large)
read = scene.read_mesh("large")
found["edges keep their order"] = bool(
    np.array_equal(read.edges, large.edges) and np.array_equal(read.corners, large.corners)
)
answer(found)
