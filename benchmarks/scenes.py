"""How long fingerprints, calls and restores of a scene take, in memory and on real Blender, as it grows.

Usage: python benchmarks/scenes.py [--rounds N] [--small] [--output FILE.jsonl] [--blender PYTHON] [--against SRC]

Every object has a mesh of its own of 8 vertices and one of 50 materials. CPU time of one process: from the scene
to its full fingerprint, of a call that moves an object (under contract, watched, with the fingerprint of the state
that it left), and of a restore. A sample is taken in a process of its own: one first
fingerprint, 200 calls, or one restore. ``--blender`` names an interpreter
that has Blender's module; without one, the scene in memory alone is measured. Goal: the fingerprint of 10,000 objects of
real Blender in at most 2.5 s, and ten times the objects in ten times the time.

``--against`` names the ``src`` folder of another checkout, which is measured in turn with this one, sample by sample.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import measuring

SOURCE = Path(__file__).parents[1] / "src"
CODE = """
import itertools, sys, time
kind, work, objects = sys.argv[1], sys.argv[2], int(sys.argv[3])
from twice.tools import Session
from twice.tools.scenes import BLENDER, MEMORY
from twice.tools.scenes.mesh import primitive
from twice.tools.scenes.protocol import Surface
registry = BLENDER if kind == "blender" else MEMORY
scene = registry.open_backend()
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
session, count, heights = Session(registry, scene), 200, itertools.count()
state = scene.state() if work == "restore" else None
def call():
    for i in range(count):
        place = [i * 0.37, i * 0.11, next(heights)]
        found = session.call("object.transform", {"name": f"object {i % objects}", "location": place})
        assert found["ok"], found
act = {"fingerprint": scene.fingerprint, "call": call, "restore": lambda: scene.restore(state)}[work]
if work == "call":
    act()  # the first call makes every digest
start = time.process_time()
act()
print("FIGURE", (time.process_time() - start) / (count if work == "call" else 1), flush=True)
"""
WORK = {
    "memory": {"fingerprint": (100, 1_000, 10_000), "call": (10, 100, 1_000), "restore": (10_000,)}
}
WORK["blender"] = {"fingerprint": (100, 1_000, 10_000)}


def sample(python: str, source: Path, kind: str, work: str, objects: int) -> float:
    """Measure one sample, in ms."""
    ran = subprocess.run(
        [python, "-c", CODE, kind, work, str(objects)],
        env={**os.environ, "PYTHONPATH": str(source)},
        capture_output=True,
        text=True,
        check=True,
    )
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("FIGURE ")]
    return float(line.split()[1]) * 1e3


def figures(chosen: argparse.Namespace) -> Iterator[dict[str, object]]:
    pythons = {"memory": sys.executable, **({"blender": chosen.blender} if chosen.blender else {})}
    sources = {"": SOURCE, **({", before": chosen.against} if chosen.against else {})}
    for kind, python in pythons.items():
        for work, sizes in WORK[kind].items():
            for objects in (10, 20) if chosen.small else sizes:
                taken: dict[str, list[float]] = {mark: [] for mark in sources}
                for _ in range(chosen.rounds):
                    for mark, source in sources.items():
                        taken[mark].append(sample(python, source, kind, work, objects))
                figure = f"{work}, {objects:,} objects, {kind}"
                for mark, times in taken.items():
                    yield {"figure": figure + mark, "unit": "ms"} | measuring.spread(times)
                if chosen.against:
                    ratios = [now / before for now, before in zip(*taken.values(), strict=True)]
                    yield {"figure": f"{figure}, over before", "unit": "x"} | measuring.spread(
                        ratios
                    )


def main() -> None:
    def arrange(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--blender", default=os.environ.get("TWICE_BLENDER_PYTHON"))
        parser.add_argument("--against", type=Path, metavar="SRC")

    chosen = measuring.options("scenes", __doc__ or "", rounds=5, arrange=arrange)
    measuring.tell("scenes", figures(chosen), chosen.output)


if __name__ == "__main__":
    main()
