"""Data of Blender made from plain values: by data calls, every name and number read back.

Invariant: nothing here looks at selection, mode, cursor or active things.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

import numpy as np

from twice.tools.errors import SceneFailed
from twice.tools.scenes.blender.snapshot import read_mesh_data
from twice.tools.scenes.mesh import MeshData, corner_edges
from twice.tools.scenes.protocol import Lamp, Lens, Surface, name_taken


def check_kept(data: Any, name: str) -> Any:
    """Return the data, if it has the requested name.

    Raises:
        SceneNameTaken: E-SCENE-002, Blender numbered it: something in the file has that name.
    """
    if data.name == name:
        return data
    raise name_taken(name, f"something in the file, for Blender made it {data.name!r}")


def create_data(data: Any, name: str, given: MeshData | Lens | Lamp | None) -> Any:
    """Create what an object of this name shows, in ``bpy.data``; None for an empty one."""
    match given:
        case MeshData():
            made = check_kept(data.meshes.new(name), name)
            fill_mesh(made, given)
        case Lens():
            made = check_kept(data.cameras.new(name), name)
            made.type, made.lens, made.ortho_scale = given.kind, given.lens, given.ortho_scale
            made.clip_start, made.clip_end = given.clip_start, given.clip_end
        case Lamp():
            made = check_kept(data.lights.new(name, given.kind), name)
            made.energy, made.color = given.energy, given.color
        case None:
            made = None
        case _:
            assert_never(given)
    return made


def fill_mesh(mesh: Any, data: MeshData) -> None:
    """Write vertices, edges and faces into an empty mesh.

    Raises:
        SceneFailed: E-SCENE-006, Blender finds the mesh broken.
    """
    mesh.vertices.add(len(data.positions))
    mesh.vertices.foreach_set("co", data.positions.ravel())
    mesh.edges.add(len(data.edges))
    mesh.edges.foreach_set("vertices", data.edges.ravel())
    mesh.loops.add(len(data.corners))
    mesh.loops.foreach_set("vertex_index", data.corners)
    mesh.loops.foreach_set("edge_index", corner_edges(data))
    mesh.polygons.add(len(data.face_starts) - 1)
    mesh.polygons.foreach_set("loop_start", data.face_starts[:-1])
    if data.face_materials.any():
        mesh.polygons.foreach_set("material_index", data.face_materials)
    if len(data.face_starts) > 1:
        mesh.shade_flat()
    mesh.update()
    if mesh.validate(clean_customdata=False):
        raise SceneFailed(
            f"Blender found the mesh {mesh.name!r} broken.",
            "Expected faces that it can keep as they are.",
            "Look for faces that share all their vertices.",
        )


def refill_mesh(mesh: Any, data: MeshData) -> None:
    """Change the shape of a mesh; attributes stay if only positions change."""
    there = read_mesh_data(mesh)
    shapes = (
        (each.positions.shape, each.edges, each.corners, each.face_starts) for each in (there, data)
    )
    if all(np.array_equal(one, other) for one, other in zip(*shapes, strict=True)):
        mesh.vertices.foreach_set("co", data.positions.ravel())
        mesh.update()
        return
    mesh.clear_geometry()
    fill_mesh(mesh, data)


def fill_material(material: Any, surface: Surface) -> None:
    """Two nodes with names of their own: Principled BSDF into Material Output."""
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    shader = tree.nodes.new("ShaderNodeBsdfPrincipled")
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    shader.name, output.name = "Surface", "Output"
    shader.inputs["Base Color"].default_value = (*surface.color, 1.0)
    shader.inputs["Metallic"].default_value = surface.metallic
    shader.inputs["Roughness"].default_value = surface.roughness
    tree.links.new(shader.outputs["BSDF"], output.inputs["Surface"])
    material.diffuse_color = (*surface.color, 1.0)
    material.metallic, material.roughness = surface.metallic, surface.roughness


def set_modifier(modifier: Any, kind: str, settings: Mapping[str, Any]) -> None:
    """Set a new modifier by the settings of ``protocol.MODIFIERS``, and read it back.

    Raises:
        SceneFailed: E-SCENE-006, Blender stores another number.
    """
    properties: Mapping[str, Any] = settings
    match kind:
        case "ARRAY":
            properties = {
                "fit_type": "FIXED_COUNT",
                "count": settings["count"],
                "use_relative_offset": False,
                "use_constant_offset": True,
                "constant_offset_displace": tuple(settings[axis] for axis in "xyz"),
            }
        case "MIRROR":
            axes = tuple(i == settings["axis"] for i in range(3))
            properties = {"use_axis": axes, "use_mirror_merge": False}
        case "SUBSURF":
            properties = {"levels": settings["levels"], "render_levels": settings["levels"]}
        case "WELD":
            properties = {"merge_threshold": settings["distance"]}
    for name, value in properties.items():
        setattr(modifier, name, value)
        there = getattr(modifier, name)
        kept = tuple(there) if isinstance(value, tuple) else there
        if kept != _narrow(value):
            raise SceneFailed(
                f"{kind}.{name} was set to {value!r} and is {there!r}.",
                "Expected Blender to keep what it is given.",
                "Give a number that this modifier takes as it is.",
            )


def _narrow(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_narrow, value))
    return float(np.float32(value)) if isinstance(value, float) else value
