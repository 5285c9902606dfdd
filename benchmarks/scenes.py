"""How long the fingerprint of a scene takes, in memory and on real Blender, as it grows.

Usage: python benchmarks/scenes.py [--rounds N] [--small] [--output FILE.jsonl] [--blender PYTHON]

Every object has a mesh of its own of 8 vertices and one of 50 materials. CPU seconds of one process
from the scene to its full fingerprint, in a process of its own per size. ``--blender`` names an
interpreter that has Blender's module; without one, the scene in memory alone is measured. Goal:
10,000 objects of real Blender in at most 2.5 s, and ten times the objects in ten times the time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import measuring

SOURCE = Path(__file__).parents[1] / "src"
CODE = """
import json, sys, time
kind, objects, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
from twice.tools.scenes import BLENDER, MEMORY
from twice.tools.scenes.mesh import primitive
from twice.tools.scenes.protocol import Surface
scene = (BLENDER if kind == "blender" else MEMORY).open_backend()
cube = primitive("cube", size=1, segments=3, rings=2)
if kind == "blender":  # the scene's own way looks through every name for each new one
    import bpy
    from twice.tools.scenes.blender.data import fill_mesh
    paints = [bpy.data.materials.new(f"paint {i}") for i in range(50)]
    for i in range(objects):
        mesh = bpy.data.meshes.new(f"object {i}")
        fill_mesh(mesh, cube)
        mesh.materials.append(paints[i % 50])
        made = bpy.data.objects.new(f"object {i}", mesh)
        made.location = (i * 0.37, i * 0.11, i * 0.05)
        bpy.context.scene.collection.objects.link(made)
else:
    for i in range(50):
        scene.create_material(f"paint {i}", Surface())
    for i in range(objects):
        scene.create_object(f"object {i}", cube)
        scene.assign_material(f"object {i}", f"paint {i % 50}")
        scene.transform(f"object {i}", location=(i * 0.37, i * 0.11, i * 0.05))
times = []
for _ in range(rounds):
    start = time.process_time()
    scene.fingerprint()
    times.append(time.process_time() - start)
print("FIGURES " + json.dumps(times), flush=True)
"""


def seconds(python: str, kind: str, objects: int, rounds: int) -> list[float]:
    ran = subprocess.run(
        [python, "-c", CODE, kind, str(objects), str(rounds)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("FIGURES ")]
    found: list[float] = json.loads(line.removeprefix("FIGURES "))
    return found


def figures(chosen: argparse.Namespace) -> Iterator[dict[str, object]]:
    pythons = {"memory": sys.executable, **({"blender": chosen.blender} if chosen.blender else {})}
    for kind, python in pythons.items():
        for objects in (10, 20) if chosen.small else (100, 1_000, 10_000):
            times = seconds(python, kind, objects, chosen.rounds)
            figure = f"fingerprint of {objects:,} objects, {kind}"
            yield {"figure": figure, "unit": "s"} | measuring.spread(times, 4)


def main() -> None:
    def arrange(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--blender", default=os.environ.get("TWICE_BLENDER_PYTHON"))

    chosen = measuring.options("scenes", __doc__ or "", rounds=5, arrange=arrange)
    measuring.tell("scenes", figures(chosen), chosen.output)


if __name__ == "__main__":
    main()
