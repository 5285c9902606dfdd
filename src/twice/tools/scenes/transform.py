"""Where things stand: location, rotation by Euler angles in the order XYZ, scale; and their matrix.

A matrix is computed in float64 and rounded once. A program that computes in float32 may differ in
the last bit: matrices of turned objects are compared within one kind of scene.

Invariant: what a transform leaves out stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

Triple: TypeAlias = tuple[float, float, float]
Matrix: TypeAlias = tuple[float, ...]
"""Sixteen numbers, row by row; plain ones, because an array of so few is several times slower."""


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


def world_matrices(objects: Mapping[str, Mapping[str, Any]]) -> dict[str, Matrix]:
    """Compute the matrix from each object's own space to the world's, by name.

    Args:
        objects: for each, its location, rotation, scale and the name of its parent or None; the
            parents are there, and none is its own.
    """
    worlds: dict[str, Matrix] = {}
    for name in objects:
        chain: list[str] = []
        above: str | None = name
        while above is not None and above not in worlds:
            chain.append(above)
            above = objects[above]["parent"]
        for each in reversed(chain):
            value = objects[each]
            own = _local_matrix(
                tuple(value["location"]), tuple(value["rotation"]), tuple(value["scale"])
            )
            parent = value["parent"]
            worlds[each] = own if parent is None else _multiply(worlds[parent], own)
    return worlds


@lru_cache(maxsize=1 << 16)
def _local_matrix(
    location: tuple[float, ...], rotation: tuple[float, ...], scale: tuple[float, ...]
) -> Matrix:
    (sx, sy, sz), (cx, cy, cz) = map(math.sin, rotation), map(math.cos, rotation)
    (x, y, z), (a, b, c) = location, scale
    return (
        cy * cz * a, (sx * sy * cz - cx * sz) * b, (cx * sy * cz + sx * sz) * c, x,
        cy * sz * a, (sx * sy * sz + cx * cz) * b, (cx * sy * sz - sx * cz) * c, y,
        -sy * a, sx * cy * b, cx * cy * c, z,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip


def _multiply(a: Matrix, b: Matrix) -> Matrix:
    """Multiply two matrices, each sum in the order of its formula."""
    return tuple(
        a[i] * b[j] + a[i + 1] * b[j + 4] + a[i + 2] * b[j + 8] + a[i + 3] * b[j + 12]
        for i in (0, 4, 8, 12)
        for j in range(4)
    )
