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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import Final

import numpy as np

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.state import Array, array

ELEMENTS_MAX: Final = 5_000_000
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
    face_materials: Array = field(default_factory=lambda: array([], "<i4"))

    @property
    def faces(self) -> list[list[int]]:
        """The vertices of each face."""
        corners, starts = self.corners.tolist(), self.face_starts.tolist()
        return [corners[a:b] for a, b in pairwise(starts)]

    def with_positions(self, positions: object) -> MeshData:
        """Return the same mesh with other positions of its vertices."""
        own = array(positions, "<f4").reshape(self.positions.shape)
        return MeshData(own, self.edges, self.corners, self.face_starts, self.face_materials)


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
    made: dict[tuple[int, int], tuple[int, int]] = {}
    for edge in edges:
        _check_numbers(edge, count, "edge")
        a, b = edge
        made.setdefault((min(a, b), max(a, b)), (a, b))
    for face in faces:
        _check_numbers(face, count, "face")
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            made.setdefault((min(a, b), max(a, b)), (min(a, b), max(a, b)))
    return MeshData(
        positions,
        array(list(made.values()), "<i4").reshape(-1, 2),
        array([corner for face in faces for corner in face], "<i4"),
        array(np.cumsum([0, *map(len, faces)]), "<i4"),
        array(np.zeros(len(faces)), "<i4"),
    )


def _check_numbers(numbers: Sequence[int], count: int, what: str) -> None:
    fits = len(numbers) == 2 if what == "edge" else len(numbers) >= 3
    if (
        fits
        and len(set(numbers)) == len(numbers)
        and all(type(n) is int and 0 <= n < count for n in numbers)
    ):
        return
    raise SceneArgumentRefused(
        f"The {what} {list(numbers)[:12]} was given in a mesh of {pluralize(count, 'vertex', 'vertices')}.",
        "Expected vertex numbers from 0 to one less than the number of vertices.",
        f"Give {'two' if what == 'edge' else 'three or more'} different vertices per {what}.",
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


def primitive(kind: str, *, size: float, segments: int, rings: int) -> MeshData:
    """Build a primitive around the origin.

    Args:
        kind: one of ``PRIMITIVES``.
        size: length of its sides, or its diameter and height; above 0.
        segments: corners of a circle, or steps along a grid; 3 or more.
        rings: steps from pole to pole, or across a grid; 2 or more.
    """
    return PRIMITIVES[kind](size / 2, segments, rings)


def _cube(r: float, _segments: int, _rings: int) -> MeshData:
    corners = [(x, y, z) for z in (-r, r) for y in (-r, r) for x in (-r, r)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return mesh_data(corners, faces)


def _plane(r: float, _segments: int, _rings: int) -> MeshData:
    return mesh_data([(-r, -r, 0), (r, -r, 0), (r, r, 0), (-r, r, 0)], [(0, 1, 2, 3)])


def _grid(r: float, columns: int, rows: int) -> MeshData:
    points = [
        (-r + 2 * r * i / columns, -r + 2 * r * j / rows, 0.0)
        for j in range(rows + 1)
        for i in range(columns + 1)
    ]
    wide = columns + 1
    faces = [
        (j * wide + i, j * wide + i + 1, (j + 1) * wide + i + 1, (j + 1) * wide + i)
        for j in range(rows)
        for i in range(columns)
    ]
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


def _cylinder(r: float, segments: int, _rings: int) -> MeshData:
    points = _circle(r, -r, segments) + _circle(r, r, segments)
    faces = _belt(0, segments, segments)
    faces += [tuple(reversed(range(segments))), tuple(range(segments, 2 * segments))]
    return mesh_data(points, faces)


def _cone(r: float, segments: int, _rings: int) -> MeshData:
    points = [*_circle(r, -r, segments), (0.0, 0.0, r)]
    faces: list[tuple[int, ...]] = [(i, (i + 1) % segments, segments) for i in range(segments)]
    faces.append(tuple(reversed(range(segments))))
    return mesh_data(points, faces)


def _sphere(r: float, segments: int, rings: int) -> MeshData:
    points: list[_Point] = [(0.0, 0.0, -r)]
    for ring in range(1, rings):
        angle = math.pi * ring / rings
        points += _circle(r * math.sin(angle), -r * math.cos(angle), segments)
    top = len(points)
    points.append((0.0, 0.0, r))
    faces: list[tuple[int, ...]] = [(0, 1 + (i + 1) % segments, 1 + i) for i in range(segments)]
    for ring in range(rings - 2):
        faces += _belt(1 + ring * segments, 1 + (ring + 1) * segments, segments)
    last = 1 + (rings - 2) * segments
    faces += [(last + i, last + (i + 1) % segments, top) for i in range(segments)]
    return mesh_data(points, faces)


PRIMITIVES: Final = MappingProxyType[str, Callable[[float, int, int], MeshData]](
    {
        "cone": _cone,
        "cube": _cube,
        "cylinder": _cylinder,
        "grid": _grid,
        "plane": _plane,
        "sphere": _sphere,
    }
)
