"""Pictures by Cycles on the processor: how the render is pinned, and how its pixels are read.

Equal scenes give equal bits on one kernel of one build, whatever the number of threads. Another
kernel (AVX2 or not) or another version gives others, so both stand in the profile. The other
renderers are refused: they answer to drivers.

Invariant: what decides a picture is in the scene, the shot or the profile.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final

import numpy as np

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneFailed, SceneUnable
from twice.tools.scenes.blender.library import printing_aside
from twice.tools.scenes.pixels import Pixels
from twice.tools.scenes.protocol import Shot
from twice.tools.scenes.values import array

THREADS: Final = 1
_KERNEL: Final = "CPU device capabilities:"


def kernel() -> str:
    """Which of its kernels Cycles takes on this processor: ``AVX2``."""
    described = str(importlib.import_module("_cycles").system_info())
    lines = [line for line in described.splitlines() if line.startswith(_KERNEL)]
    return lines[0].removeprefix(_KERNEL).strip() if lines else "unknown"


def picture(bpy: Any, shot: Shot, folder: Path) -> Pixels:
    """Render the scene as it is, and leave it changed.

    Args:
        bpy: Blender's module.
        shot: camera, size, samples and seed.
        folder: a folder for a temporary file.

    Raises:
        SceneUnable: E-SCENE-004, the scene asks for another renderer.
        SceneFailed: E-SCENE-006, Blender rendered nothing.
    """
    scene = bpy.context.scene
    if scene.render.engine != "CYCLES":
        raise SceneUnable(
            f"The scene is set to render with {scene.render.engine}.",
            "Expected CYCLES: the others follow the machine's graphics drivers.",
            "Start from scene.reset, or load a file that is set to Cycles.",
            engine=scene.render.engine,
        )
    _pin(scene, shot, bpy.data.objects[shot.camera])
    path = folder / "picture.exr"
    scene.render.filepath = str(path)
    with printing_aside():
        done = bpy.ops.render.render(write_still=True)
    if done != {"FINISHED"} or not path.is_file():
        raise SceneFailed(
            f"Blender's render ended with {', '.join(sorted(done))} and no picture.",
            "Expected FINISHED.",
            "Look at what Blender printed: it is in the session's record.",
        )
    image = bpy.data.images.load(str(path))
    values = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(values)
    path.unlink()
    return Pixels(array(values.reshape(shot.height, shot.width, 4), "<f4"))


def _pin(scene: Any, shot: Shot, camera: Any) -> None:
    render, cycles = scene.render, scene.cycles
    scene.camera = camera
    render.resolution_x, render.resolution_y = shot.width, shot.height
    render.resolution_percentage = 100
    render.use_border = render.use_compositing = render.use_sequencer = False
    render.use_file_extension = render.use_stamp = False
    render.threads_mode, render.threads = "FIXED", THREADS
    image = render.image_settings
    image.file_format, image.color_mode, image.color_depth = "OPEN_EXR", "RGBA", "32"
    image.exr_codec = "ZIP"
    cycles.device = "CPU"
    cycles.samples, cycles.seed = shot.samples, shot.seed
    cycles.use_animated_seed = cycles.use_adaptive_sampling = cycles.use_denoising = False
    cycles.time_limit = 0.0
    if (cycles.samples, cycles.seed) != (shot.samples, shot.seed):
        raise SceneFailed(
            f"Cycles holds seed {cycles.seed} and {pluralize(cycles.samples, 'sample')}.",
            f"Expected {shot.seed} and {shot.samples}, as they were asked for.",
            "Give numbers that Cycles takes as they are.",
        )
