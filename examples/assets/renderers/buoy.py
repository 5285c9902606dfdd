"""A buoy at night, rendered by Blender's path tracer on one thread of the processor."""

import argparse

import bpy

parser = argparse.ArgumentParser()
parser.add_argument("output")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--samples", type=int, default=8)
parser.add_argument("--width", type=int, default=160)
parser.add_argument("--height", type=int, default=100)
options = parser.parse_args()

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
bpy.ops.mesh.primitive_cone_add(radius1=1.0, depth=2.4, location=(0, 0, 1.0))
bpy.ops.mesh.primitive_plane_add(size=40)
bpy.ops.object.light_add(type="POINT", location=(2.5, -3.0, 4.0))
bpy.context.object.data.energy = 700
bpy.ops.object.camera_add(location=(0, -8, 2.6), rotation=(1.4, 0, 0))
scene.camera = bpy.context.object
scene.render.engine = "CYCLES"
scene.cycles.device = "CPU"
scene.cycles.samples = options.samples
scene.cycles.seed = options.seed
scene.cycles.use_adaptive_sampling = False
scene.cycles.use_denoising = False
scene.render.threads_mode = "FIXED"
scene.render.threads = 1
scene.render.resolution_x = options.width
scene.render.resolution_y = options.height
scene.render.image_settings.file_format = "PNG"
scene.render.filepath = options.output
bpy.ops.render.render(write_still=True)
