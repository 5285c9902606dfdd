"""Blender as a program: its module, what it prints, and its renderer.

Blender is free software under the GPL: it is an extra, and runs in the process of a tool session,
never in that of a server. One process, one thread, one request at a time: others crash it. Its
module is imported when a scene is made and not before.

Pictures come from Cycles on the processor. Equal scenes give equal bits on one kernel of one build,
whatever the number of threads. Another kernel (AVX2 or not) or another version gives others, so
both stand in the profile. The other renderers are refused: they answer to drivers.

Invariant: without the extra there is one error, and it names the extra; and what decides a picture
is in the scene, the shot or the profile.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np

from twice.errors import ExtraMissing
from twice.foundation.printable import pluralize
from twice.tools.errors import SceneFailed, SceneUnable
from twice.tools.scenes.protocol import Shot
from twice.tools.scenes.state import Array, array

VERSIONS: Final = ((4, 5),)
"""The versions whose properties have been looked at, one by one."""

THREADS: Final = 1
_KERNEL: Final = "CPU device capabilities:"


def import_blender() -> Any:
    """Import the module ``bpy``.

    Raises:
        ExtraMissing: E-EXTRA-001, it is not installed, or its version is unknown.
    """
    try:
        bpy = importlib.import_module("bpy")
        if tuple(bpy.app.version[:2]) in VERSIONS:
            return bpy
        happened, cause = f"Blender {bpy.app.version_string} is installed.", None
    except ImportError as error:
        happened, cause = "Blender is asked for and its module bpy is not installed.", error
    raise ExtraMissing(
        happened,
        "Expected Blender 4.5 as a module; it is made for Python 3.11 alone.",
        "Install it there: pip install 'twice[blender]'",
    ) from cause


def operate(what: str, operator: Any, **options: Any) -> None:
    """Run an operator, and look at its outcome: some are cancelled without a word.

    What its C code prints, such as times and folders, goes to standard error: a run compares its
    standard output.

    Raises:
        SceneFailed: E-SCENE-006, it did not finish.
    """
    sys.stdout.flush()
    saved = os.dup(1)
    os.dup2(2, 1)
    try:
        done = operator(**options)
    except RuntimeError as error:
        raise _gave_up(what, str(error).splitlines()[0]) from error
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    if done != {"FINISHED"}:
        raise _gave_up(what, ", ".join(sorted(done)))


def _gave_up(what: str, why: str) -> SceneFailed:
    return SceneFailed(
        f"Blender gave up {what}: {why}.",
        "Expected it to finish.",
        "Look at what Blender printed: it is in the session's record.",
    )


def find_kernel() -> str:
    """Which of its kernels Cycles takes on this processor: ``AVX2``."""
    described = str(importlib.import_module("_cycles").system_info())
    lines = [line for line in described.splitlines() if line.startswith(_KERNEL)]
    return lines[0].removeprefix(_KERNEL).strip() if lines else "unknown"


def render(bpy: Any, shot: Shot, folder: Path) -> Array:
    """Render the scene as it is, and leave it changed.

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
    operate("rendering", bpy.ops.render.render, write_still=True)
    if not path.is_file():
        raise _gave_up("rendering", "there is no picture")
    image = bpy.data.images.load(str(path))
    values = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(values)
    path.unlink()
    return array(values.reshape(shot.height, shot.width, 4), "<f4")


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
    if (cycles.samples, cycles.seed) != (shot.samples, shot.seed):  # out of range is clamped
        raise SceneFailed(
            f"Cycles holds seed {cycles.seed} and {pluralize(cycles.samples, 'sample')}.",
            f"Expected {shot.seed} and {shot.samples}, as they were asked for.",
            "Give numbers that Cycles takes as they are.",
        )
