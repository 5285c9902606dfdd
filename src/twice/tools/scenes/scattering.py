"""Points on a surface, spread by area.

Invariant: a point depends on the mesh, the seed and its own number; not on how many there are.
"""

from __future__ import annotations

import numpy as np

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.drawing_lots import units
from twice.tools.scenes.meshes import MeshData, cross, triangles
from twice.tools.scenes.values import Array

_DRAWS = 3


def points_on(mesh: MeshData, count: int, seed: int) -> Array:
    """Points on the faces of a mesh.

    Args:
        mesh: a mesh with some area.
        count: how many points; 0 or more.
        seed: which points.

    Returns:
        float64, one row of x, y, z per point, in the mesh's own space.

    Raises:
        SceneArgumentRefused: E-SCENE-005, the mesh has no area.
    """
    corners = triangles(mesh)
    positions = mesh.positions.astype(np.float64)
    a, b, c = (positions[corners[:, i]] for i in range(3))
    normal = cross(b - a, c - a)
    squares = normal * normal
    sums = np.cumsum(np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2]))
    if not len(sums) or not sums[-1] > 0:
        raise SceneArgumentRefused(
            f"The mesh has {pluralize(len(corners), 'triangle')} and no area to put points on.",
            "Expected a mesh with at least one face that is not flat to a line.",
            "Scatter on another object.",
        )
    counters = np.arange(count, dtype=np.uint64) * np.uint64(_DRAWS)
    chosen, u, v = (units(seed, counters + np.uint64(i)) for i in range(_DRAWS))
    triangle = np.minimum(np.searchsorted(sums, chosen * sums[-1], side="right"), len(sums) - 1)
    beyond = u + v > 1.0
    u, v = np.where(beyond, 1.0 - u, u)[:, None], np.where(beyond, 1.0 - v, v)[:, None]
    p, q, r = a[triangle], b[triangle], c[triangle]
    placed: Array = p + u * (q - p) + v * (r - p)
    return placed
