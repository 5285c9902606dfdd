"""The sections of a scene in memory: blocks with their matrices, made again only where something changed.

A section whose things are in the same dict as before is the same section, down to its digest; in
another dict, a thing of the same value below the same matrix is the same block.

A matrix is computed in float64 and rounded once. A program that computes in float32 may differ in
the last bit: matrices of turned objects are compared within one kind of scene.

Invariant: what is kept is what would be made, because nobody changes a value or a dict that was here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from twice.tools.scenes.state import Block, Section, floats32

ROOT: Final = "Scene"  # the name of the scene, and of the collection that holds everything in it
TYPES: Final = {
    "cameras": "CAMERA", "collections": "COLLECTION", "lights": "LIGHT", "materials": "MATERIAL",
    "meshes": "MESH", "objects": "EMPTY", "scene": "SCENE",
}  # fmt: skip
"""The sections, and the type of what is in each."""

Things: TypeAlias = dict[str, dict[str, Any]]
Matrix: TypeAlias = tuple[float, ...]
"""Sixteen numbers, row by row; plain ones, because an array of so few is several times slower."""


class _Made(NamedTuple):
    value: dict[str, Any]
    above: Matrix | None
    world: Matrix | None
    block: Block


class MemorySections:
    """The sections that were made last, and what each was made of."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Things, dict[str, _Made], Section]] = {
            name: ({}, {}, Section(name, ())) for name in TYPES
        }

    def update(self, scene: Mapping[str, Things]) -> dict[str, Section]:
        """Return the sections of a scene.

        Args:
            scene: things by name, by section; each object's parent is there, and none is its own.
        """
        for name, things in scene.items():
            known, before, _ = self._known[name]
            if known is not things:
                made = _make_blocks(name, things, before)
                self._known[name] = things, made, Section(name, [m.block for m in made.values()])
        return {name: section for name, (_, _, section) in self._known.items()}


def block_type(section: str, name: str, value: Mapping[str, Any]) -> str:
    """Return what a thing is, in the words of its section."""
    if section == "objects" and value["data"] is not None:
        return TYPES[value["data"][0]]
    if section == "lights":
        return str(value["kind"])
    return "SCENE" if section == "collections" and name == ROOT else TYPES[section]


def _make_blocks(section: str, things: Things, before: Mapping[str, _Made]) -> dict[str, _Made]:
    made: dict[str, _Made] = {}
    for name in things:
        chain: list[str] = []
        each: str | None = name
        while each is not None and each not in made:  # parents come first
            chain.append(each)
            each = things[each].get("parent")
        for each in reversed(chain):
            value, known = things[each], before.get(each)
            parent = value.get("parent")
            above = None if parent is None else made[parent].world
            if known is None or known.value is not value or known.above is not above:
                world, whole = None, value
                if section == "objects":
                    world = _world_matrix(value, above)
                    whole = {**value, "matrix_world": floats32(world)}
                block = Block(block_type(section, each, value), each, "", whole)
                known = _Made(value, above, world, block)
            made[each] = known
    return made


def _world_matrix(value: Mapping[str, Any], above: Matrix | None) -> Matrix:
    """Return the matrix from an object's own space to the world's: scale, Euler angles XYZ, location."""
    (sx, sy, sz), (cx, cy, cz) = (list(map(f, value["rotation"])) for f in (math.sin, math.cos))
    (x, y, z), (p, q, r) = value["location"], value["scale"]
    b = (
        cy * cz * p, (sx * sy * cz - cx * sz) * q, (cx * sy * cz + sx * sz) * r, x,
        cy * sz * p, (sx * sy * sz + cx * cz) * q, (cx * sy * sz - sx * cz) * r, y,
        -sy * p, sx * cy * q, cx * cy * r, z,
        0.0, 0.0, 0.0, 1.0,
    )  # fmt: skip
    if above is None:
        return b
    return tuple(  # each sum in the order of its formula
        above[i] * b[j]
        + above[i + 1] * b[j + 4]
        + above[i + 2] * b[j + 8]
        + above[i + 3] * b[j + 12]
        for i in (0, 4, 8, 12)
        for j in range(4)
    )
