"""Where things stand: location, rotation by Euler angles in the order XYZ, scale; and their matrix.

A matrix is computed in float64 and rounded once. A program that computes in float32 may differ in
the last bit: matrices are compared within one kind of scene.

Invariant: what a transform leaves out stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twice.tools.scenes.values import Array

Triple = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Transform:
    """A change of place; None leaves a part as it is.

    Args:
        location: in units of the scene, relative to the parent.
        rotation: Euler angles in radians, about X, then Y, then Z.
        scale: along the thing's own axes.
    """

    location: Triple | None = None
    rotation: Triple | None = None
    scale: Triple | None = None


def matrix(location: Sequence[float], rotation: Sequence[float], scale: Sequence[float]) -> Array:
    """Build the 4 by 4 matrix, float64, from an object's own space to its parent's."""
    (sx, sy, sz), (cx, cy, cz) = map(math.sin, rotation), map(math.cos, rotation)
    turned = np.array(
        [
            [cy * cz, sx * sy * cz - cx * sz, cx * sy * cz + sx * sz],
            [cy * sz, sx * sy * sz + cx * cz, cx * sy * sz - sx * cz],
            [-sy, sx * cy, cx * cy],
        ]
    )
    made = np.eye(4)
    made[:3, :3] = turned * np.array(scale, dtype=np.float64)
    made[:3, 3] = location
    return made


def product(a: Array, b: Array) -> Array:
    """Multiply two matrices, each sum in the order of its formula."""
    rows = [
        [
            a[i, 0] * b[0, j] + a[i, 1] * b[1, j] + a[i, 2] * b[2, j] + a[i, 3] * b[3, j]
            for j in range(4)
        ]
        for i in range(4)
    ]
    return np.array(rows)


def moved(points: Array, by: Array) -> Array:
    """Points, rows of x, y, z, moved by a 4 by 4 matrix; float64."""
    x, y, z = (points[:, i].astype(np.float64) for i in range(3))
    columns = [by[i, 0] * x + by[i, 1] * y + by[i, 2] * z + by[i, 3] for i in range(3)]
    return np.stack(columns, axis=1)
