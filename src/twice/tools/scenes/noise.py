"""Numbers that look random and are a function of a seed and a place: noise, and scattered points.

SplitMix64: the output for a counter is a fixed mixing of ``seed + counter * golden ratio``. Every
number can be asked for alone, so the first ten of a hundred points are the ten of ten. Noise is
value noise on a lattice of whole numbers: a word per lattice point, blended between the eight
around a place. Programs' own noise is not used: one of them takes its seed from the clock.

Invariant: integers modulo 2**64, and additions, products, floors and square roots of float64 alone;
the bits are the same on every machine.

Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014, section 5.
"""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np

from twice.foundation.printable import pluralize
from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.mesh import MeshData, cross, triangulate
from twice.tools.scenes.state import Array

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FAR: Final = 2.0**31
_DRAWS: Final = 3  # of each point: its triangle, and two numbers in it


def splitmix64(seed: int, counters: Array) -> Array:
    """One 64-bit word per counter."""
    z = np.uint64(seed % 2**64) + (counters.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word: Array = z ^ (z >> np.uint64(31))
    return word


def draw_units(seed: int, counters: Array) -> Array:
    """One float64 in [0, 1) per counter: the upper 53 bits of its word."""
    units: Array = (splitmix64(seed, counters) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return units


def noise(seed: int, places: Array, *, octaves: int) -> Array:
    """Noise in (-1, 1) at places.

    Args:
        seed: which noise.
        places: float64, rows of x, y, z, each within two thousand million of 0.
        octaves: how many finer layers are added, each half as strong; 1 or more.

    Raises:
        SceneArgumentRefused: E-SCENE-005, a place is too far away for its fractions to mean much.
    """
    finest = places * 2.0 ** (octaves - 1)
    if len(finest) and float(np.abs(finest).max()) >= _FAR:
        raise SceneArgumentRefused(
            f"Noise was asked for {float(np.abs(finest).max()):.3g} units away, scale included.",
            f"Expected places within {_FAR:.0f} units of the origin.",
            "Take a smaller scale, fewer octaves, or a mesh nearer to its origin.",
        )
    total, weight, sizes = np.zeros(len(places)), 1.0, 0.0
    for octave in range(octaves):
        layer_seed = int(splitmix64(seed, np.array([octave], dtype=np.uint64))[0])
        total = total + weight * _blend_lattice(layer_seed, places * 2.0**octave)
        sizes += weight
        weight /= 2
    return total / sizes


def scatter_points(mesh: MeshData, count: int, seed: int) -> Array:
    """Points on the faces of a mesh, spread by area.

    A point depends on the mesh, the seed and its own number; not on how many there are.

    Args:
        mesh: a mesh with some area.
        count: how many points; 0 or more.
        seed: which points.

    Returns:
        float64, one row of x, y, z per point, in the mesh's own space.

    Raises:
        SceneArgumentRefused: E-SCENE-005, the mesh has no area.
    """
    corners = triangulate(mesh)
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
    chosen, u, v = (draw_units(seed, counters + np.uint64(i)) for i in range(_DRAWS))
    triangle = np.minimum(np.searchsorted(sums, chosen * sums[-1], side="right"), len(sums) - 1)
    beyond = u + v > 1.0
    u, v = np.where(beyond, 1.0 - u, u)[:, None], np.where(beyond, 1.0 - v, v)[:, None]
    p, q, r = a[triangle], b[triangle], c[triangle]
    points: Array = p + u * (q - p) + v * (r - p)
    return points


def _blend_lattice(seed: int, places: Array) -> Array:
    floors = np.floor(places)
    inside = places - floors
    blend = inside * inside * (3.0 - 2.0 * inside)
    corner = floors.astype(np.int64)
    total = np.zeros(len(places))
    for steps in product((0, 1), repeat=3):
        share = np.ones(len(places))
        for axis, step in enumerate(steps):
            share = share * (blend[:, axis] if step else 1.0 - blend[:, axis])
        # A number in [-1, 1) per lattice point: three mixings in a row, one per axis.
        x, y, z = ((corner[:, axis] + steps[axis]).astype(np.uint64) for axis in range(3))
        mixed = splitmix64(0, splitmix64(seed, x) ^ y)
        total = total + share * (draw_units(0, mixed ^ z) * 2.0 - 1.0)
    return total
