"""Claims about shapes, noise and scattered points: whole meshes, and numbers that follow the seed."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.mesh import (
    Primitive,
    corner_edges,
    mesh_data,
    primitive,
    triangulate,
    vertex_normals,
)  # fmt: skip
from twice.tools.scenes.noise import draw_units, noise, scatter_points, splitmix64

SOLIDS = ["cone", "cube", "cylinder", "sphere"]


@pytest.mark.parametrize("kind", SOLIDS)
@given(segments=st.integers(3, 12), rings=st.integers(2, 8))
def test_a_solid_is_closed_and_looks_outwards(kind: str, segments: int, rings: int) -> None:
    mesh = primitive(kind, size=2, segments=segments, rings=rings)
    points = mesh.positions.astype(float)[triangulate(mesh)]

    volume = np.einsum("ni,ni->", points[:, 0], np.cross(points[:, 1], points[:, 2])) / 6
    uses = np.bincount(corner_edges(mesh), minlength=len(mesh.edges))

    assert len(mesh.positions) - len(mesh.edges) + len(mesh.faces) == 2
    assert set(uses.tolist()) == {2}
    assert volume > 0


@pytest.mark.parametrize("kind", get_args(Primitive))
def test_every_corner_knows_the_edge_to_the_next(kind: str) -> None:
    mesh = primitive(kind, size=1, segments=5, rings=3)
    edges = corner_edges(mesh).tolist()

    at = 0
    for face in mesh.faces:
        for a, b in zip(face, [*face[1:], face[0]], strict=True):
            assert sorted(mesh.edges[edges[at]].tolist()) == sorted([a, b])
            at += 1


def test_loose_edges_come_first_and_none_stands_twice() -> None:
    mesh = mesh_data([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], [(2, 1), (1, 2)])

    assert mesh.edges.tolist() == [[2, 1], [0, 1], [0, 2]]


@pytest.mark.parametrize(
    ("faces", "edges"), [([(0, 1)], []), ([(0, 1, 1)], []), ([(0, 1, 3)], []), ([], [(0, 0)]), ([], [(0, -1)])]
)  # fmt: skip
def test_a_mesh_that_is_none_is_refused(
    faces: list[tuple[int, ...]], edges: list[tuple[int, int]]
) -> None:
    with pytest.raises(SceneArgumentRefused, match="different vertices"):
        mesh_data([(0, 0, 0), (1, 0, 0), (0, 1, 0)], faces, edges)


def test_words_are_those_of_splitmix64_and_units_lie_below_one() -> None:
    # The first outputs of the reference implementation for the seed 1234567.
    known = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]

    assert splitmix64(1234567, np.arange(4, dtype=np.uint64)).tolist() == known
    drawn = draw_units(3, np.arange(10_000, dtype=np.uint64))
    assert 0 <= drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1


@given(st.integers(0, 2**63 - 1), st.integers(1, 8))
def test_noise_is_a_function_of_seed_and_place(seed: int, octaves: int) -> None:
    places = np.array([[0.3, -1.7, 2.5], [10.0, 0.0, -4.25], [0.3, -1.7, 2.5]])

    drawn = noise(seed, places, octaves=octaves)

    assert (np.abs(drawn) <= 1).all()
    assert drawn[0] == drawn[2]
    assert drawn[:1].tobytes() == noise(seed, places[:1], octaves=octaves).tobytes()
    assert drawn.tobytes() != noise(seed + 1, places, octaves=octaves).tobytes()


def test_noise_is_smooth_and_far_away_it_is_refused() -> None:
    line = np.stack([np.linspace(0, 4, 4001), np.full(4001, 0.3), np.full(4001, 0.7)], axis=1)

    assert np.abs(np.diff(noise(1, line, octaves=1))).max() < 0.01
    with pytest.raises(SceneArgumentRefused, match="origin"):
        noise(1, np.array([[2.0**31, 0, 0]]), octaves=1)


def test_a_point_does_not_depend_on_how_many_there_are() -> None:
    mesh = primitive("sphere", size=2, segments=8, rings=6)

    assert scatter_points(mesh, 100, 7)[:10].tobytes() == scatter_points(mesh, 10, 7).tobytes()
    assert scatter_points(mesh, 10, 7).tobytes() != scatter_points(mesh, 10, 8).tobytes()


def test_points_lie_on_the_mesh_and_are_spread_by_area() -> None:
    rows = [
        (x, y, z) for z, wide in ((0, 3), (5, 1)) for x, y in ((0, 0), (wide, 0), (wide, 1), (0, 1))
    ]

    points = scatter_points(mesh_data(rows, [(0, 1, 2, 3), (4, 5, 6, 7)]), 4000, 1)

    assert set(np.unique(points[:, 2])) == {0.0, 5.0}
    assert math.isclose((points[:, 2] == 0).mean(), 0.75, abs_tol=0.03)
    with pytest.raises(SceneArgumentRefused, match="no area"):
        scatter_points(mesh_data([(0, 0, 0), (1, 0, 0)], [], [(0, 1)]), 3, 1)


def test_normals_point_outwards_and_have_length_one() -> None:
    mesh = primitive("sphere", size=2, segments=8, rings=6)
    normals = vertex_normals(mesh)

    assert np.allclose(np.linalg.norm(normals, axis=1), 1)
    assert ((normals * mesh.positions).sum(axis=1) > 0.9).all()
