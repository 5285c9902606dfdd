"""A scene with a thing of every kind, made by data calls in a given order."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import bpy


def build(order: list[int] | None = None) -> Any:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    world = bpy.data.worlds.new("world")
    world.use_nodes = True
    scene.world = world
    scene.use_nodes = True  # the compositor
    for at in order or range(len(JOBS)):
        JOBS[at](scene)
    objects = bpy.data.objects
    objects["box 1"].parent = objects["box 0"]
    objects["box 2"].rotation_mode = "QUATERNION"
    objects["box 0"].delta_location = (0, 0, 0.5)
    for name in ("Low", "High"):
        scene.collection.children.link(bpy.data.collections.new(name))
    bpy.data.collections["Low"].objects.link(objects["box 2"])
    bpy.context.view_layer.update()
    return scene


def mesh(name: str, seed: int) -> Any:
    drawn = random.Random(seed)
    made = bpy.data.meshes.new(name)
    points = [(x + drawn.random() / 10, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    made.from_pydata(points, [], faces)
    made.uv_layers.new(name="UVMap")
    made.color_attributes.new("Tint", "FLOAT_COLOR", "POINT")
    return made


def link(scene: Any, name: str, data: Any) -> Any:
    thing = bpy.data.objects.new(name, data)
    assert thing.name == name
    scene.collection.objects.link(thing)
    return thing


def make_box(i: int) -> Callable[[Any], None]:
    def make(scene: Any) -> None:
        drawn = random.Random(i)
        thing = link(scene, f"box {i}", mesh(f"box {i}", i))
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
        thing.data.materials.append(material)
        displace = thing.modifiers.new("displace", "DISPLACE")
        displace.texture, displace.strength = bpy.data.textures.new(f"clouds {i}", "CLOUDS"), 0.1
        thing.constraints.new("COPY_LOCATION").influence = 0.5

    return make


def make_curve(scene: Any) -> None:
    curve = bpy.data.curves.new("curve", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.05
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(2)
    for i, point in enumerate(spline.bezier_points):
        point.co = (i, i * 0.5, 0.1)
    link(scene, "curve", curve)


def make_camera(scene: Any) -> None:
    scene.camera = link(scene, "camera", bpy.data.cameras.new("camera"))
    scene.camera.location, scene.camera.rotation_euler = (0, -8, 2), (1.4, 0, 0)


def make_particles(scene: Any) -> None:
    thing = link(scene, "hairy", mesh("hairy", 9))
    system = thing.modifiers.new("hair", "PARTICLE_SYSTEM").particle_system
    settings = system.settings
    settings.name, settings.type, settings.count, settings.trail_count = "hair", "HAIR", 20, 1
    system.seed = 5


def make_nodes(scene: Any) -> None:
    group = bpy.data.node_groups.new("scatter", "GeometryNodeTree")
    for name, way, kind in (
        ("Geometry", "INPUT", "Geometry"), ("Density", "INPUT", "Float"), ("Geometry", "OUTPUT", "Geometry"),
    ):  # fmt: skip
        group.interface.new_socket(name, in_out=way, socket_type=f"NodeSocket{kind}")
    inside, outside = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    points = group.nodes.new("GeometryNodeDistributePointsOnFaces")
    points.inputs["Seed"].default_value = 3
    group.links.new(inside.outputs[0], points.inputs["Mesh"])
    group.links.new(points.outputs["Points"], outside.inputs[0])
    thing = link(scene, "scattered", mesh("scattered", 11))
    thing.modifiers.new("nodes", "NODES").node_group = group


def make_keys(scene: Any) -> None:
    thing = link(scene, "keyed", mesh("keyed", 12))
    thing.shape_key_add(name="Basis")
    thing.shape_key_add(name="Tall").data[0].co = (5, 5, 5)
    thing.data.shape_keys.name = "keyed"


def make_text(scene: Any) -> None:
    link(scene, "text", bpy.data.curves.new("text", "FONT")).data.body = "twice"


def make_meta(scene: Any) -> None:
    link(scene, "meta", bpy.data.metaballs.new("meta")).data.elements.new().radius = 1.5


def make_action(scene: Any) -> None:
    thing = link(scene, "moving", None)
    thing.animation_data_create().action = bpy.data.actions.new("moves")
    thing.keyframe_insert("location", frame=1)
    thing.keyframe_insert("location", frame=20)


JOBS: list[Callable[[Any], object]] = [
    *map(make_box, range(3)), make_curve, make_camera, make_particles, make_nodes, make_keys,
    make_text, make_meta, make_action,
    lambda scene: link(scene, "light", bpy.data.lights.new("light", "SUN")),
    lambda scene: link(scene, "points", bpy.data.pointclouds.new("points")),
    lambda scene: link(scene, "lattice", bpy.data.lattices.new("lattice")),
    lambda scene: link(scene, "bones", bpy.data.armatures.new("bones")),
]  # fmt: skip
