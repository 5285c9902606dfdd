"""A mesh as plain arrays, whole and checked, with its edges in one order.

Programs find the edges of faces themselves, and some in an order that follows the number of cores.
So edges are made here: the loose ones as given, then those of the faces as they come.

Invariant: every index is in range, every face has three corners or more and none twice, and every
side of a face is an edge exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.values import Array, array

ELEMENTS_MAX: Final = 5_000_000


@dataclass(frozen=True)
class MeshData:
    """Vertices, edges and faces.

    Args:
        positions: float32, one row of x, y, z per vertex.
        edges: int32, one row of two vertex numbers per edge.
        corners: int32, the vertices of all faces, face after face.
        face_starts: int32, where in ``corners`` each face begins, and at last their number.
        face_materials: int32, the material slot of each face.
    """

    positions: Array
    edges: Array
    corners: Array
    face_starts: Array
    face_materials: Array = field(default_factory=lambda: array([], "<i4"))

    @property
    def faces(self) -> list[list[int]]:
        """The vertices of each face."""
        corners, starts = self.corners.tolist(), self.face_starts.tolist()
        return [corners[a:b] for a, b in pairwise(starts)]

    def moved(self, positions: object) -> MeshData:
        """Return the same mesh with other positions of its vertices."""
        moved = array(positions, "<f4").reshape(self.positions.shape)
        return MeshData(moved, self.edges, self.corners, self.face_starts, self.face_materials)


def mesh_data(
    vertices: object,
    faces: Sequence[Sequence[int]] = (),
    edges: Sequence[Sequence[int]] = (),
) -> MeshData:
    """Build a mesh from vertices and faces, and add the faces' edges.

    Args:
        vertices: rows of x, y, z.
        faces: for each, the numbers of its vertices in order, counter-clockwise from outside.
        edges: more edges; those of faces are optional.

    Raises:
        SceneArgumentRefused: E-SCENE-005, a number out of range, a bad face, or too many elements.
        SceneValueRefused: E-SCENE-001, a position is not finite.
    """
    positions = array(vertices, "<f4").reshape(-1, 3)
    count = len(positions)
    if max(count, len(faces), len(edges)) > ELEMENTS_MAX:
        raise _refused(f"a mesh of more than {ELEMENTS_MAX} elements", "Split it into several.")
    made: dict[tuple[int, int], tuple[int, int]] = {}
    for edge in edges:
        _check(edge, count, "edge", 2)
        a, b = edge
        made.setdefault((min(a, b), max(a, b)), (a, b))
    for face in faces:
        _check(face, count, "face", 3)
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            made.setdefault((min(a, b), max(a, b)), (min(a, b), max(a, b)))
    starts = np.cumsum([0, *map(len, faces)])
    return MeshData(
        positions,
        array(list(made.values()), "<i4").reshape(-1, 2),
        array([corner for face in faces for corner in face], "<i4"),
        array(starts, "<i4"),
        array(np.zeros(len(faces)), "<i4"),
    )


def corner_edges(mesh: MeshData) -> Array:
    """For each corner, the number of the edge that leads from it to the next corner of its face."""
    following = np.arange(1, len(mesh.corners) + 1)
    following[mesh.face_starts[1:] - 1] = mesh.face_starts[:-1]
    pairs = np.stack([mesh.corners, mesh.corners[following]], axis=1) if len(following) else None
    if pairs is None:
        return array([], "<i4")
    wide = np.int64(len(mesh.positions) + 1)
    keys = np.sort(mesh.edges, axis=1).astype(np.int64) @ np.array([wide, 1])
    wanted = np.sort(pairs, axis=1).astype(np.int64) @ np.array([wide, 1])
    order = np.argsort(keys, kind="stable")
    return array(order[np.searchsorted(keys[order], wanted)], "<i4")


def triangles(mesh: MeshData) -> Array:
    """Cut the faces into fans from their first corners: rows of three vertex numbers, int64."""
    rows = [(face[0], face[i], face[i + 1]) for face in mesh.faces for i in range(1, len(face) - 1)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def vertex_normals(mesh: MeshData) -> Array:
    """Compute unit normals at the vertices, weighted by area, in float64; zero without a face."""
    positions = mesh.positions.astype(np.float64)
    corners = triangles(mesh)
    a, b, c = (positions[corners[:, i]] for i in range(3))
    areas = cross(b - a, c - a)
    sums = np.zeros_like(positions)
    for i in range(3):
        np.add.at(sums, corners[:, i], areas)
    return unit(sums)


def cross(a: Array, b: Array) -> Array:
    """Compute the cross product of rows by its formula: a library may change the last bit."""
    x, y, z = (a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in ((1, 2), (2, 0), (0, 1)))
    return np.stack([x, y, z], axis=1)


def unit(rows: Array) -> Array:
    """Rows of three divided by their lengths; rows without length stay zero."""
    squares = rows * rows
    lengths = np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2])[:, np.newaxis]
    scaled: Array = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


def _check(numbers: Sequence[int], count: int, what: str, least: int) -> None:
    exact = len(numbers) == least if what == "edge" else len(numbers) >= least
    if (
        exact
        and len(set(numbers)) == len(numbers)
        and all(type(n) is int and 0 <= n < count for n in numbers)
    ):
        return
    raise _refused(
        f"the {what} {list(numbers)[:12]} in a mesh of {pluralize(count, 'vertex', 'vertices')}",
        f"Give {'two' if what == 'edge' else 'three or more'} different vertices per {what}.",
    )


def _refused(what: str, remedy: str) -> SceneArgumentRefused:
    return SceneArgumentRefused(
        f"A mesh was given with {what}." if not what.startswith("a mesh") else f"It is {what}.",
        "Expected vertex numbers from 0 to one less than the number of vertices.",
        remedy,
    )
