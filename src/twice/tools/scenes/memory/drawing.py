"""Flat pictures of a scene in memory: nearest triangle per pixel, one shade per triangle.

Light comes from every light as from far away, along the light's own axis for a sun, from its place
towards the triangle's middle for others. No shadows, no smoothing, no samples.

Invariant: float64 sums in a fixed order, rounded once; the same scene gives the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from twice.tools.errors import SceneArgumentRefused
from twice.tools.scenes.meshes import MeshData, cross, triangles, unit
from twice.tools.scenes.pixels import Pixels
from twice.tools.scenes.protocol import Shot
from twice.tools.scenes.transforms import moved
from twice.tools.scenes.values import Array, array

_SENSOR_MM: Final = 36.0
_AMBIENT: Final = 0.2


def drawn(
    sections: Mapping[str, Mapping[str, Mapping[str, Any]]],
    meshes: Mapping[str, MeshData],
    worlds: Mapping[str, Array],
    shot: Shot,
) -> Pixels:
    """Draw a picture.

    Args:
        sections: the scene.
        meshes: the meshes to draw, by the names of their objects, after modifiers.
        worlds: the matrix of each object.
        shot: camera and size.

    Raises:
        SceneArgumentRefused: E-SCENE-005, the camera is flattened to nothing.
    """
    camera = sections["cameras"][sections["objects"][shot.camera]["data"][1]]
    view = _inverse(worlds[shot.camera])
    image = np.zeros((shot.height, shot.width, 4))
    depth = np.full((shot.height, shot.width), np.inf)
    for name, mesh in meshes.items():
        materials = sections["meshes"][sections["objects"][name]["data"][1]]["materials"]
        color = sections["materials"][materials[0]]["color"] if materials else [0.8, 0.8, 0.8]
        world = moved(mesh.positions, worlds[name])
        corners = triangles(mesh)
        shades = _shades(world, corners, sections, worlds)
        placed = _projected(moved(world, view), camera, shot)
        for triangle, shade in zip(corners, shades, strict=True):
            _fill(image, depth, placed[triangle], camera, [channel * shade for channel in color])
    return Pixels(array(image, "<f4"))


def _inverse(world: Array) -> Array:
    """From the world's space to the camera's."""
    try:
        inverse: Array = np.linalg.inv(world)
    except np.linalg.LinAlgError as error:
        raise SceneArgumentRefused(
            "The camera is scaled to nothing along an axis.",
            "Expected a camera whose scale has no zero.",
            "Set its scale with object.transform.",
        ) from error
    return inverse


def _projected(points: Array, camera: Mapping[str, Any], shot: Shot) -> Array:
    """Pixel coordinates from the lower left, and the distance in front of the camera."""
    away = -points[:, 2]
    wide = max(shot.width, shot.height)
    if camera["kind"] == "ORTHO":
        scale = np.full(len(points), wide / camera["ortho_scale"])
    else:
        near = np.where(away > 0, away, np.nan)
        scale = wide * camera["lens"] / _SENSOR_MM / near
    x = points[:, 0] * scale + shot.width / 2
    y = points[:, 1] * scale + shot.height / 2
    return np.stack([x, y, away], axis=1)


def _shades(
    world: Array,
    corners: Array,
    sections: Mapping[str, Mapping[str, Mapping[str, Any]]],
    worlds: Mapping[str, Array],
) -> list[float]:
    a, b, c = (world[corners[:, i]] for i in range(3))
    normals, middles = unit(cross(b - a, c - a)), (a + b + c) / 3.0
    shades = np.full(len(corners), _AMBIENT)
    for name, thing in sorted(sections["objects"].items()):
        if thing["type"] != "LIGHT":
            continue
        light = sections["lights"][thing["data"][1]]
        if light["kind"] == "SUN":
            towards = unit(np.tile(worlds[name][:3, 2], (len(corners), 1)))
        else:
            towards = unit(worlds[name][:3, 3] - middles)
        cosines = (normals * towards)[:, 0] + (normals * towards)[:, 1] + (normals * towards)[:, 2]
        shades = shades + np.maximum(cosines, 0.0) * (light["energy"] > 0)
    clipped: list[float] = np.minimum(shades, 1.0).tolist()
    return clipped


def _fill(
    image: Array, depth: Array, corners: Array, camera: Mapping[str, Any], color: list[float]
) -> None:
    """Draws one triangle where it is nearer than what is there."""
    if not np.isfinite(corners).all():
        return
    height, width = depth.shape
    low = np.floor(np.maximum(corners[:, :2].min(axis=0), 0)).astype(int)
    high = np.ceil(np.minimum(corners[:, :2].max(axis=0), [width, height])).astype(int)
    if (high <= low).any():
        return
    x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
    (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = corners.tolist()
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    if area == 0:
        return
    u = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
    v = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
    w = 1.0 - u - v
    away = u * z0 + v * z1 + w * z2
    place = (slice(low[1], high[1]), slice(low[0], high[0]))
    nearer = (u >= 0) & (v >= 0) & (w >= 0) & (away < depth[place])
    nearer &= (away >= camera["clip_start"]) & (away <= camera["clip_end"])
    depth[place][nearer] = away[nearer]
    image[place][nearer] = [*color, 1.0]
