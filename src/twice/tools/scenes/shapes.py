"""Primitives as data: the same vertices and faces for every kind of scene.

No operator of a program is asked, so no cursor, mode or active collection plays a part. Sines and
cosines are those of the C library, rounded to float32: two libraries may differ in the last bit.

Invariant: a shape depends on its parameters alone, and its faces look outwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType
from typing import Final

from twice.tools.scenes.meshes import MeshData, mesh_data

Point = tuple[float, float, float]


def shape(kind: str, *, size: float, segments: int, rings: int) -> MeshData:
    """Build a primitive around the origin.

    Args:
        kind: one of ``SHAPES``.
        size: length of its sides, or its diameter and height; above 0.
        segments: corners of a circle, or steps along a grid; 3 or more.
        rings: steps from pole to pole, or across a grid; 2 or more.
    """
    return SHAPES[kind](size / 2, segments, rings)


def _cube(r: float, _segments: int, _rings: int) -> MeshData:
    corners = [(x, y, z) for z in (-r, r) for y in (-r, r) for x in (-r, r)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return mesh_data(corners, faces)


def _plane(r: float, _segments: int, _rings: int) -> MeshData:
    return mesh_data([(-r, -r, 0), (r, -r, 0), (r, r, 0), (-r, r, 0)], [(0, 1, 2, 3)])


def _grid(r: float, segments: int, rings: int) -> MeshData:
    columns, rows = segments, rings
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


def _circle(r: float, z: float, segments: int) -> list[Point]:
    angles = (2 * math.pi * i / segments for i in range(segments))
    return [(r * math.cos(angle), r * math.sin(angle), z) for angle in angles]


def _between(lower: int, upper: int, segments: int) -> list[tuple[int, ...]]:
    """List the four-sided faces between two circles, by the numbers of their first vertices."""
    return [
        (lower + i, lower + (i + 1) % segments, upper + (i + 1) % segments, upper + i)
        for i in range(segments)
    ]


def _cylinder(r: float, segments: int, _rings: int) -> MeshData:
    points = _circle(r, -r, segments) + _circle(r, r, segments)
    faces = _between(0, segments, segments)
    faces += [tuple(reversed(range(segments))), tuple(range(segments, 2 * segments))]
    return mesh_data(points, faces)


def _cone(r: float, segments: int, _rings: int) -> MeshData:
    points = [*_circle(r, -r, segments), (0.0, 0.0, r)]
    faces: list[tuple[int, ...]] = [(i, (i + 1) % segments, segments) for i in range(segments)]
    faces.append(tuple(reversed(range(segments))))
    return mesh_data(points, faces)


def _sphere(r: float, segments: int, rings: int) -> MeshData:
    points: list[Point] = [(0.0, 0.0, -r)]
    for ring in range(1, rings):
        angle = math.pi * ring / rings
        points += _circle(r * math.sin(angle), -r * math.cos(angle), segments)
    top = len(points)
    points.append((0.0, 0.0, r))
    faces: list[tuple[int, ...]] = [(0, 1 + (i + 1) % segments, 1 + i) for i in range(segments)]
    for ring in range(rings - 2):
        faces += _between(1 + ring * segments, 1 + (ring + 1) * segments, segments)
    last = 1 + (rings - 2) * segments
    faces += [(last + i, last + (i + 1) % segments, top) for i in range(segments)]
    return mesh_data(points, faces)


SHAPES: Final = MappingProxyType[str, Callable[[float, int, int], MeshData]](
    {
        "cone": _cone,
        "cube": _cube,
        "cylinder": _cylinder,
        "grid": _grid,
        "plane": _plane,
        "sphere": _sphere,
    }
)
