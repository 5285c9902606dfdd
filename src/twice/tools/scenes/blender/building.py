"""Data of Blender made from plain values: by data calls, every name and number read back.

Invariant: nothing here looks at selection, mode, cursor or active things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from twice.tools.errors import SceneFailed, SceneNameTaken
from twice.tools.scenes.meshes import MeshData, corner_edges
from twice.tools.scenes.protocol import Lamp, Lens, Surface


def named(data: Any, name: str) -> Any:
    """Return the data, if it has the requested name.

    Raises:
        SceneNameTaken: E-SCENE-002, Blender gave the data another one.
    """
    if data.name == name:
        return data
    raise SceneNameTaken(
        f"Blender named {name!r} {data.name!r} instead.",
        "Expected a name that nothing in the file has, hidden data included.",
        "Choose another name.",
        name=name,
    )


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
    edges = np.empty(len(mesh.edges) * 2, dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    alike = (
        len(mesh.vertices) == len(data.positions)
        and len(mesh.polygons) == len(data.face_starts) - 1
        and np.array_equal(edges, data.edges.ravel())
        and np.array_equal(corners, data.corners)
    )
    if alike:
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
    shader = named(_node(tree, "ShaderNodeBsdfPrincipled", "Surface"), "Surface")
    output = named(_node(tree, "ShaderNodeOutputMaterial", "Output"), "Output")
    shader.inputs["Base Color"].default_value = (*surface.color, 1.0)
    shader.inputs["Metallic"].default_value = surface.metallic
    shader.inputs["Roughness"].default_value = surface.roughness
    tree.links.new(shader.outputs["BSDF"], output.inputs["Surface"])
    material.diffuse_color = (*surface.color, 1.0)
    material.metallic, material.roughness = surface.metallic, surface.roughness


def _node(tree: Any, kind: str, name: str) -> Any:
    node = tree.nodes.new(kind)
    node.name = name
    return node


def fill_camera(camera: Any, lens: Lens) -> None:
    """Kind, lens and range of a camera."""
    camera.type = lens.kind
    camera.lens = lens.lens
    camera.ortho_scale = lens.ortho_scale
    camera.clip_start, camera.clip_end = lens.clip_start, lens.clip_end


def fill_light(light: Any, lamp: Lamp) -> None:
    """Energy and colour of a light."""
    light.energy = lamp.energy
    light.color = lamp.color


def set_modifier(modifier: Any, kind: str, settings: Mapping[str, Any]) -> None:
    """Set a new modifier, and read it back.

    Raises:
        SceneFailed: E-SCENE-006, Blender stores another number.
    """
    for name, value in _SETTINGS[kind](settings).items():
        setattr(modifier, name, value)
        there = getattr(modifier, name)
        if not _same(there, value):
            raise SceneFailed(
                f"{kind}.{name} was set to {value!r} and is {there!r}.",
                "Expected Blender to keep what it is given.",
                "Give a number that this modifier takes as it is.",
            )


def _same(there: Any, value: Any) -> bool:
    """Whether Blender holds what it was given, to the width of its property."""
    if isinstance(value, tuple):
        return all(_same(*pair) for pair in zip(there, value, strict=True))
    return bool(there == (float(np.float32(value)) if isinstance(value, float) else value))


Settings = Mapping[str, Any]

_SETTINGS: Final[Mapping[str, Callable[[Settings], dict[str, Any]]]] = MappingProxyType(
    {
        "ARRAY": lambda s: {
            "fit_type": "FIXED_COUNT",
            "count": s["count"],
            "use_relative_offset": False,
            "use_constant_offset": True,
            "constant_offset_displace": (s["x"], s["y"], s["z"]),
        },
        "BEVEL": lambda s: {"width": s["width"], "segments": s["segments"]},
        "DECIMATE": lambda s: {"ratio": s["ratio"]},
        "MIRROR": lambda s: {
            "use_axis": tuple(i == s["axis"] for i in range(3)),
            "use_mirror_merge": False,
        },
        "SOLIDIFY": lambda s: {"thickness": s["thickness"]},
        "SUBSURF": lambda s: {"levels": s["levels"], "render_levels": s["levels"]},
        "TRIANGULATE": lambda _: {},
        "WELD": lambda s: {"merge_threshold": s["distance"]},
    }
)
