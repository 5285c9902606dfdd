"""A state taken over by the scene in memory: every field is there, of its type, and points somewhere.

The state may come from a stranger, so nothing in it is believed.

Invariant: what is returned is complete and free of references to what is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from twice.tools.errors import SceneStateForeign
from twice.tools.scenes.state import SceneState

ROOT: Final = "Scene"
"""The name of the scene, and of the collection that holds everything in it."""

Sections = dict[str, dict[str, dict[str, Any]]]


def read_sections(state: SceneState) -> Sections:
    """Read the sections of a scene in memory.

    Raises:
        SceneStateForeign: E-SCENE-007, the state is not that of a scene in memory.
    """
    if set(state.sections) != set(FIELDS):
        raise _foreign(f"its sections are {', '.join(state.sections) or 'none'}")
    read: Sections = {}
    for section, fields in FIELDS.items():
        read[section] = {}
        for block in state.sections[section]:
            value = {key: block.value[key] for key in block.value if key != "matrix_world"}
            if block.id or block.name in read[section] or set(value) != set(fields):
                raise _foreign(f"{section}[{block.name!r}] has other fields, or is there twice")
            for name, right in fields.items():
                if not right(value[name]):
                    raise _foreign(f"{section}[{block.name!r}].{name} is not what it should be")
            if section == "objects":
                value["type"] = block.type
            read[section][block.name] = value
    _check_references(read)
    return read


def _check_references(read: Sections) -> None:
    objects = read["objects"]
    for name, thing in objects.items():
        data = thing["data"]
        if (data is None) != (thing["type"] == "EMPTY") or (
            data is not None and data[1] not in read[_DATA.get(thing["type"], "scene")]
        ):
            raise _foreign(f"the data of {name!r} is not there")
        seen, above = {name}, thing["parent"]
        while above is not None:
            if above not in objects or above in seen:
                raise _foreign(f"the parents of {name!r} lead nowhere")
            seen.add(above)
            above = objects[above]["parent"]
    for name, mesh in read["meshes"].items():
        _check_mesh(name, mesh)
        if not all(material in read["materials"] for material in mesh["materials"]):
            raise _foreign(f"a material of {name!r} is not there")
    collections = read["collections"]
    for inside in collections.values():
        if not all(child in collections for child in inside["children"]):
            raise _foreign("a collection is not there")
        if not all(thing in objects for thing in inside["objects"]):
            raise _foreign("an object of a collection is not there")
    camera = read["scene"].get(ROOT, {"camera": ""})["camera"]
    if ROOT not in collections or (camera is not None and camera not in objects):
        raise _foreign("its scene is not complete")


def _check_mesh(name: str, mesh: Mapping[str, Any]) -> None:
    starts, corners, count = mesh["face_starts"], mesh["corners"], len(mesh["positions"])
    whole = (
        starts.ndim == corners.ndim == mesh["face_materials"].ndim == 1
        and mesh["positions"].shape[1:] == (3,)
        and mesh["edges"].shape[1:] == (2,)
        and len(starts) == len(mesh["face_materials"]) + 1
        and starts[0] == 0
        and starts[-1] == len(corners)
        and bool((np.diff(starts) >= 3).all())
        and all(
            not numbers.size or (numbers.min() >= 0 and numbers.max() < count)
            for numbers in (corners, mesh["edges"])
        )
    )
    if not whole:
        raise _foreign(f"the mesh {name!r} is not whole")


def _foreign(why: str) -> SceneStateForeign:
    return SceneStateForeign(
        f"This is not the state of a scene in memory: {why}.",
        "Expected a state that a scene in memory gave.",
        "Restore it in the kind of scene that it came from.",
    )


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return type(value) is float


def _names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _name_or_none(value: Any) -> bool:
    return value is None or _text(value)


def _numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(_number, value))


def _of(dtype: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, np.ndarray) and value.dtype == dtype and value.ndim > 0


def _reference(value: Any) -> bool:
    return value is None or (_names(value) and len(value) == 2 and value[0] in _DATA.values())


def _modifiers(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(one, dict)
        and set(one) == {"name", "kind", "settings"}
        and isinstance(one["settings"], dict)
        for one in value
    )


_DATA: Final = {"MESH": "meshes", "CAMERA": "cameras", "LIGHT": "lights"}

FIELDS: Final[Mapping[str, Mapping[str, Callable[[Any], bool]]]] = {
    "cameras": {
        "kind": _text,
        "lens": _number,
        "ortho_scale": _number,
        "clip_start": _number,
        "clip_end": _number,
    },
    "collections": {"objects": _names, "children": _names},
    "lights": {"kind": _text, "energy": _number, "color": _numbers},
    "materials": {"color": _numbers, "metallic": _number, "roughness": _number},
    "meshes": {
        "positions": _of("<f4"),
        "edges": _of("<i4"),
        "corners": _of("<i4"),
        "face_starts": _of("<i4"),
        "face_materials": _of("<i4"),
        "materials": _names,
    },
    "objects": {
        "data": _reference,
        "parent": _name_or_none,
        "location": _numbers,
        "rotation_mode": _text,
        "rotation": _numbers,
        "scale": _numbers,
        "hide_render": lambda value: type(value) is bool,
        "modifiers": _modifiers,
    },
    "scene": {"camera": _name_or_none},
}
"""What each block of a section has, and what each field must be."""
