"""What Blender does without a word, tried one by one through the scene: all is refused or mended."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import bpy
import numpy as np
from answering import answer

from twice.tools.errors import CallRefused
from twice.tools.scenes.blender.scene import BlenderScene
from twice.tools.scenes.memory import MemoryScene
from twice.tools.scenes.mesh import Primitive, primitive
from twice.tools.scenes.protocol import MODIFIERS, Lamp, Lens, Shot, Surface

scene = BlenderScene()
CUBE = primitive("cube", size=2, segments=3, rings=2)


def refused(make: Callable[..., object], *arguments: object) -> str:
    try:
        make(*arguments)
    except CallRefused as error:
        return error.code
    return "done"


# Names are kept, and never numbered; data goes along with the last object that uses it.
scene.create_object("Cube", CUBE)
assert refused(scene.create_object, "Cube", None) == "conflict"
assert refused(scene.create_material, "Cube", Surface()) == "conflict"
assert refused(scene.create_object, "x" * 64, None) == "invalid_arguments"
scene.create_object("x" * 63, None)
scene.delete_object("Cube")
scene.create_object("Cube", CUBE)
assert [mesh.name for mesh in bpy.data.meshes] == ["Cube"]

# Matrices are up to date, and edges stay in their order.
scene.transform("Cube", location=(5, 6, 7))
block = scene.snapshot().block("objects", "Cube")
assert block is not None
assert block.value["matrix_world"][3::4] == [5.0, 6.0, 7.0, 1.0]
large = primitive("grid", size=2, segments=60, rings=60)
scene.create_object("large", large)
read = scene.read_mesh("large")
assert np.array_equal(read.edges, large.edges)
assert np.array_equal(read.corners, large.corners)

# A checkpoint leads back twice, and leaves no file.
before, checkpoint = scene.fingerprint(), scene.checkpoint()
path = checkpoint.path
scene.reset()
scene.create_object("Cube", None)
scene.rollback(checkpoint)
scene.rollback(checkpoint)
assert scene.fingerprint() == before
del checkpoint
assert not path.exists()

# Modifiers are kept as they are given; rendering changes nothing, and is done by Cycles alone.
for kind in MODIFIERS:
    scene.add_modifier("Cube", kind, kind, {})
assert [modifier.type for modifier in bpy.data.objects["Cube"].modifiers] == list(MODIFIERS)
scene.create_object("Sun", Lamp("SUN"))
scene.create_object("Camera", Lens())
before = scene.fingerprint()
scene.render(Shot("Camera", 8, 8, 1, 3))
assert scene.fingerprint() == before
bpy.context.scene.render.engine = "BLENDER_EEVEE_NEXT"
assert refused(scene.render, Shot("Camera", 8, 8, 1, 3)) == "capability_missing"

# A damaged file and another one change nothing, and no script in a file is run.
before = scene.fingerprint()
for data in (b"BLENDER-v405RENDH" + bytes(100), b"no blender file at all"):
    (scene.folder / "junk.blend").write_bytes(data)
    assert refused(scene.load, scene.folder / "junk.blend") == "execution_failed"
    assert scene.fingerprint() == before
bpy.data.objects["Cube"].location.x = float("nan")
assert refused(scene.fingerprint) == "invalid_arguments"
scene.reset()
text = bpy.data.texts.new("danger.py")
text.write("import bpy; bpy.data.objects.new('ran', None)")
text.use_module = True
scene.save(scene.folder / "danger.blend")
scene.load(scene.folder / "danger.blend")
assert "ran" not in bpy.data.objects

# What both kinds of scene can do, they do alike.
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
one, two = (each.snapshot(evaluated=True).core_fingerprint for each in (scene, other))
assert one == two
answer("held")
