"""What the scene in memory works out: matrices down the chain of parents, and simple modifiers.

Invariant: a modifier that is not worked out here is refused, never skipped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from twice.tools.errors import SceneUnable
from twice.tools.scenes.meshes import MeshData, mesh_data
from twice.tools.scenes.transforms import matrix, product
from twice.tools.scenes.values import Array


def world_matrices(objects: Mapping[str, Mapping[str, Any]]) -> dict[str, Array]:
    """Return the matrix from each object's own space to the world's, by name, in float64."""
    worlds: dict[str, Array] = {}
    for name in objects:
        chain: list[str] = []
        above: str | None = name
        while above is not None and above not in worlds:
            chain.append(above)
            above = objects[above]["parent"]
        for thing in reversed(chain):
            value = objects[thing]
            own = matrix(value["location"], value["rotation"], value["scale"])
            parent = value["parent"]
            worlds[thing] = own if parent is None else product(worlds[parent], own)
    return worlds


def evaluated_mesh(mesh: MeshData, modifiers: Sequence[Mapping[str, Any]]) -> MeshData:
    """Return a mesh after its modifiers.

    Raises:
        SceneUnable: E-SCENE-004, for any but ARRAY and MIRROR.
    """
    for modifier in modifiers:
        kind, values = modifier["kind"], modifier["settings"]
        if kind == "ARRAY":
            step = np.array([values["x"], values["y"], values["z"]])
            copies = [(mesh.positions + step * i, False) for i in range(values["count"])]
        elif kind == "MIRROR":
            sign = np.where(np.arange(3) == values["axis"], -1.0, 1.0)
            copies = [(mesh.positions, False), (mesh.positions * sign, True)]
        else:
            raise SceneUnable(
                f"A scene in memory cannot work out the modifier {kind}.",
                "Expected ARRAY or MIRROR when geometry after modifiers is asked for.",
                "Use the registry blender: pip install 'twice[blender]'",
            )
        mesh = _joined(mesh, copies)
    return mesh


def _joined(mesh: MeshData, copies: Sequence[tuple[Array, bool]]) -> MeshData:
    """Join copies of a mesh side by side; turn the faces of a mirrored one round."""
    count, faces, edges = len(mesh.positions), mesh.faces, mesh.edges.tolist()
    made = mesh_data(
        np.concatenate([positions for positions, _ in copies]),
        [
            [corner + count * i for corner in (reversed(face) if turned else face)]
            for i, (_, turned) in enumerate(copies)
            for face in faces
        ],
        [[a + count * i, b + count * i] for i in range(len(copies)) for a, b in edges],
    )
    slots = np.tile(mesh.face_materials, len(copies))
    return MeshData(made.positions, made.edges, made.corners, made.face_starts, slots)
