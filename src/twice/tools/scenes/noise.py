"""Noise on space: smooth, seeded, and a function of the place alone.

Value noise on a lattice of whole numbers: a word per lattice point, blended between the eight
around a place. Programs' own noise is not used: one of them takes its seed from the clock.

Invariant: additions, products and floors of float64 alone; the bits are the same on every machine.
"""

from __future__ import annotations

import numpy as np

from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.drawing_lots import units, words
from twice.tools.scenes.values import Array

_FAR = 2.0**31


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
        layer_seed = int(words(seed, np.array([octave], dtype=np.uint64))[0])
        total = total + weight * _layer(layer_seed, places * 2.0**octave)
        sizes += weight
        weight /= 2
    return total / sizes


def _layer(seed: int, places: Array) -> Array:
    floors = np.floor(places)
    inside = places - floors
    blend = inside * inside * (3.0 - 2.0 * inside)
    corner = floors.astype(np.int64)
    total = np.zeros(len(places))
    for dx in (0, 1):
        for dy in (0, 1):
            for dz in (0, 1):
                share = np.ones(len(places))
                for axis, step in enumerate((dx, dy, dz)):
                    share = share * (blend[:, axis] if step else 1.0 - blend[:, axis])
                total = total + share * _lattice(seed, corner + np.array([dx, dy, dz]))
    return total


def _lattice(seed: int, points: Array) -> Array:
    """Return a number in [-1, 1) per lattice point: three mixings in a row, one per axis."""
    unsigned = points.astype(np.uint64)
    mixed = words(seed, unsigned[:, 0])
    mixed = words(0, mixed ^ unsigned[:, 1])
    value: Array = units(0, mixed ^ unsigned[:, 2]) * 2.0 - 1.0
    return value
