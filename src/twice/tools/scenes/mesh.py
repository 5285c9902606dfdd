"""A mesh as plain arrays, whole and checked, with its edges in one order; and primitives.

Programs find the edges of faces themselves, and some in an order that follows the number of cores.
So edges are made here: the loose ones as given, then those of the faces as they come. Primitives
are made here as well, so that every kind of scene is given the same vertices and no cursor, mode or
active collection plays a part. Sines and cosines are those of the C library, rounded to float32:
two libraries may differ in the last bit.

Invariant: every index is in range, every face has three corners or more and none twice, every side
of a face is an edge exactly once, and faces of primitives look outwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, assert_never

import numpy as np

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.state import Array, array

ELEMENTS_MAX: Final = 5_000_000
Primitive = Literal["cone", "cube", "cylinder", "grid", "plane", "sphere"]
_Point = tuple[float, float, float]


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
    face_materials: Array

    @property
    def faces(self) -> list[list[int]]:
        """The vertices of each face."""
        corners, starts = self.corners.tolist(), self.face_starts.tolist()
        return [corners[a:b] for a, b in pairwise(starts)]


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
        raise SceneArgumentRefused(
            f"A mesh was given with {pluralize(count, 'vertex', 'vertices')}, {pluralize(len(faces), 'face')} "
            f"and {pluralize(len(edges), 'edge')}.",
            f"Expected at most {ELEMENTS_MAX} of each.",
            "Split it into several.",
        )
    _check_numbers(edges, count, "edge")
    _check_numbers(faces, count, "face")
    made: dict[tuple[int, int], tuple[int, int]] = {}
    for a, b in edges:
        made.setdefault((a, b) if a < b else (b, a), (a, b))
    for face in faces:
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            side = (a, b) if a < b else (b, a)
            made.setdefault(side, side)
    return MeshData(
        positions,
        array(list(made.values()), "<i4").reshape(-1, 2),
        array([corner for face in faces for corner in face], "<i4"),
        array(np.cumsum([0, *map(len, faces)]), "<i4"),
        array(np.zeros(len(faces)), "<i4"),
    )


def _check_numbers(rows: Sequence[Sequence[int]], count: int, what: str) -> None:
    least, most = (2, 2) if what == "edge" else (3, count)
    for row in rows:
        if not least <= len({*row}) == len(row) <= most or min(row) < 0 or max(row) >= count:
            raise SceneArgumentRefused(
                f"The {what} {list(row)[:12]} was given in a mesh of {pluralize(count, 'vertex', 'vertices')}.",
                "Expected vertex numbers from 0 to one less than the number of vertices.",
                f"Give {'two' if most == 2 else 'three or more'} different vertices per {what}.",
            )


def corner_edges(mesh: MeshData) -> Array:
    """For each corner, the number of the edge that leads from it to the next corner of its face."""
    if not len(mesh.corners):
        return array([], "<i4")
    following = np.arange(1, len(mesh.corners) + 1)
    following[mesh.face_starts[1:] - 1] = mesh.face_starts[:-1]
    pairs = np.stack([mesh.corners, mesh.corners[following]], axis=1)
    wide = np.array([len(mesh.positions) + 1, 1], dtype=np.int64)
    keys = np.sort(mesh.edges, axis=1).astype(np.int64) @ wide
    wanted = np.sort(pairs, axis=1).astype(np.int64) @ wide
    order = np.argsort(keys, kind="stable")
    return array(order[np.searchsorted(keys[order], wanted)], "<i4")


def triangulate(mesh: MeshData) -> Array:
    """Cut the faces into fans from their first corners: rows of three vertex numbers, int64."""
    rows = [(face[0], face[i], face[i + 1]) for face in mesh.faces for i in range(1, len(face) - 1)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def vertex_normals(mesh: MeshData) -> Array:
    """Compute unit normals at the vertices, weighted by area, in float64; zero without a face."""
    positions = mesh.positions.astype(np.float64)
    corners = triangulate(mesh)
    a, b, c = (positions[corners[:, i]] for i in range(3))
    areas = cross(b - a, c - a)
    sums = np.zeros_like(positions)
    for i in range(3):
        np.add.at(sums, corners[:, i], areas)
    squares = sums * sums
    lengths = np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2])[:, np.newaxis]
    normals: Array = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return normals


def cross(a: Array, b: Array) -> Array:
    """Compute the cross product of rows by its formula: a library may change the last bit."""
    x, y, z = (a[:, i] * b[:, j] - a[:, j] * b[:, i] for i, j in ((1, 2), (2, 0), (0, 1)))
    return np.stack([x, y, z], axis=1)


def primitive(kind: Primitive, *, size: float, segments: int, rings: int) -> MeshData:
    """Build a primitive around the origin.

    Args:
        kind: which.
        size: length of its sides, or its diameter and height; above 0.
        segments: corners of a circle, or steps along a grid; 3 or more.
        rings: steps from pole to pole, or across a grid; 2 or more.
    """
    r, n = size / 2, segments
    points: list[_Point] = []
    faces: list[tuple[int, ...]] = []
    match kind:
        case "cube":
            points = [(x, y, z) for z in (-r, r) for y in (-r, r) for x in (-r, r)]
            faces = [
                (0, 2, 3, 1),
                (4, 5, 7, 6),
                (0, 1, 5, 4),
                (2, 6, 7, 3),
                (0, 4, 6, 2),
                (1, 3, 7, 5),
            ]
        case "plane":
            points = [(-r, -r, 0), (r, -r, 0), (r, r, 0), (-r, r, 0)]
            faces = [(0, 1, 2, 3)]
        case "grid":
            for row in range(rings + 1):
                points += [
                    (-r + 2 * r * i / n, -r + 2 * r * row / rings, 0.0) for i in range(n + 1)
                ]
            starts = [row * (n + 1) + i for row in range(rings) for i in range(n)]
            faces = [(at, at + 1, at + n + 2, at + n + 1) for at in starts]
        case "cylinder":
            points = _circle(r, -r, n) + _circle(r, r, n)
            faces = [*_belt(0, n, n), tuple(reversed(range(n))), tuple(range(n, 2 * n))]
        case "cone":
            points = [*_circle(r, -r, n), (0.0, 0.0, r)]
            faces = [*[(i, (i + 1) % n, n) for i in range(n)], tuple(reversed(range(n)))]
        case "sphere":
            points.append((0.0, 0.0, -r))
            faces += [(0, 1 + (i + 1) % n, 1 + i) for i in range(n)]
            for ring in range(1, rings):
                angle = math.pi * ring / rings
                points += _circle(r * math.sin(angle), -r * math.cos(angle), n)
                if ring > 1:
                    faces += _belt(len(points) - 2 * n, len(points) - n, n)
            top = len(points)
            points.append((0.0, 0.0, r))
            faces += [(top - n + i, top - n + (i + 1) % n, top) for i in range(n)]
        case _:
            assert_never(kind)
    return mesh_data(points, faces)


def _circle(r: float, z: float, segments: int) -> list[_Point]:
    angles = (2 * math.pi * i / segments for i in range(segments))
    return [(r * math.cos(angle), r * math.sin(angle), z) for angle in angles]


def _belt(lower: int, upper: int, segments: int) -> list[tuple[int, ...]]:
    """List the four-sided faces between two circles, by the numbers of their first vertices."""
    return [
        (lower + i, lower + (i + 1) % segments, upper + (i + 1) % segments, upper + i)
        for i in range(segments)
    ]
