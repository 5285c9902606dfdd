"""A scene with a thing of every kind, made by data calls in a given order."""

from __future__ import annotations

import random
from typing import Any

import bpy

KINDS = (
    "boxes curve camera light particles nodes keys points text meta lattice bones action".split()
)


def build(order: list[int] | None = None) -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    world = bpy.data.worlds.new("world")
    world.use_nodes = True
    scene.world = world
    scene.use_nodes = True  # the compositor
    jobs = [(name, i) for name in KINDS for i in range(3 if name == "boxes" else 1)]
    for at in order or range(len(jobs)):
        name, i = jobs[at]
        globals()[f"_{name}"](scene, i)
    _connect(scene)
    bpy.context.view_layer.update()
    return scene


def jobs() -> int:
    return len(KINDS) + 2


def _mesh(name: str, seed: int) -> Any:
    drawn = random.Random(seed)
    mesh = bpy.data.meshes.new(name)
    points = [(x + drawn.random() / 10, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(points, [], faces)
    mesh.uv_layers.new(name="UVMap")
    mesh.color_attributes.new("Tint", "FLOAT_COLOR", "POINT")
    return mesh


def _linked(scene: Any, name: str, data: Any) -> Any:
    thing = bpy.data.objects.new(name, data)
    assert thing.name == name
    scene.collection.objects.link(thing)
    return thing


def _boxes(scene: Any, i: int) -> None:
    drawn = random.Random(i)
    mesh = _mesh(f"box {i}", i)
    thing = _linked(scene, f"box {i}", mesh)
    thing.location = [drawn.uniform(-3, 3) for _ in range(3)]
    thing.rotation_euler = [drawn.uniform(-3, 3) for _ in range(3)]
    thing["weights"] = [0.1, 2.5]
    thing["nested"] = {"a": 1, "b": {"c": "text"}}
    thing.vertex_groups.new(name="Group").add([0, 1], 0.25, "REPLACE")
    material = bpy.data.materials.new(f"paint {i}")
    material.use_nodes = True
    noise = material.node_tree.nodes.new("ShaderNodeTexNoise")
    ramp = material.node_tree.nodes.new("ShaderNodeValToRGB")
    material.node_tree.links.new(noise.outputs["Fac"], ramp.inputs["Fac"])
    mesh.materials.append(material)
    texture = bpy.data.textures.new(f"clouds {i}", "CLOUDS")
    displace = thing.modifiers.new("displace", "DISPLACE")
    displace.texture, displace.strength = texture, 0.1
    thing.constraints.new("COPY_LOCATION").influence = 0.5


def _curve(scene: Any, _: int) -> None:
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(2)
    for i, point in enumerate(spline.bezier_points):
        point.co = (i, i * 0.5, 0.1)
    curve.bevel_depth = 0.05
    _linked(scene, "curve", curve)


def _camera(scene: Any, _: int) -> None:
    thing = _linked(scene, "camera", bpy.data.cameras.new("camera"))
    thing.location = (0, -8, 2)
    thing.rotation_euler = (1.4, 0, 0)
    scene.camera = thing


def _light(scene: Any, _: int) -> None:
    _linked(scene, "light", bpy.data.lights.new("light", "SUN")).location = (0, 0, 5)


def _particles(scene: Any, _: int) -> None:
    thing = _linked(scene, "hairy", _mesh("hairy", 9))
    modifier = thing.modifiers.new("hair", "PARTICLE_SYSTEM")
    settings = modifier.particle_system.settings
    settings.name = "hair"
    settings.type, settings.count, settings.trail_count = "HAIR", 20, 1
    modifier.particle_system.seed = 5


def _nodes(scene: Any, _: int) -> None:
    group = bpy.data.node_groups.new("scatter", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Density", in_out="INPUT", socket_type="NodeSocketFloat")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    inside, outside = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    points = group.nodes.new("GeometryNodeDistributePointsOnFaces")
    points.inputs["Seed"].default_value = 3
    group.links.new(inside.outputs[0], points.inputs["Mesh"])
    group.links.new(points.outputs["Points"], outside.inputs[0])
    thing = _linked(scene, "scattered", _mesh("scattered", 11))
    thing.modifiers.new("nodes", "NODES").node_group = group


def _keys(scene: Any, _: int) -> None:
    thing = _linked(scene, "keyed", _mesh("keyed", 12))
    thing.shape_key_add(name="Basis")
    thing.shape_key_add(name="Tall").data[0].co = (5, 5, 5)
    thing.data.shape_keys.name = "keyed"


def _points(scene: Any, _: int) -> None:
    _linked(scene, "points", bpy.data.pointclouds.new("points"))


def _text(scene: Any, _: int) -> None:
    data = bpy.data.curves.new("text", "FONT")
    data.body = "twice"
    _linked(scene, "text", data)


def _meta(scene: Any, _: int) -> None:
    data = bpy.data.metaballs.new("meta")
    data.elements.new().radius = 1.5
    _linked(scene, "meta", data)


def _lattice(scene: Any, _: int) -> None:
    _linked(scene, "lattice", bpy.data.lattices.new("lattice"))


def _bones(scene: Any, _: int) -> None:
    _linked(scene, "bones", bpy.data.armatures.new("bones"))


def _action(scene: Any, _: int) -> None:
    thing = _linked(scene, "moving", None)
    thing.animation_data_create()
    action = bpy.data.actions.new("moves")
    thing.animation_data.action = action
    thing.keyframe_insert("location", frame=1)
    thing.keyframe_insert("location", frame=20)


def _connect(scene: Any) -> None:
    objects = bpy.data.objects
    objects["box 1"].parent = objects["box 0"]
    objects["box 2"].rotation_mode = "QUATERNION"
    objects["box 0"].delta_location = (0, 0, 0.5)
    for name in ("Low", "High"):
        if name not in bpy.data.collections:
            scene.collection.children.link(bpy.data.collections.new(name))
    bpy.data.collections["Low"].objects.link(objects["box 2"])
