"""Changes every settable property of one thing of each kind, and answers those that nobody sees.

A thing is found anew by its path before every change, because some changes replace what they touch.
A change counts as seen when what is read of its thing changes, or else the fingerprint of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from typing import Any

import bpy
import rich
from answering import answer, request

from twice.errors import TwiceError
from twice.foundation.encoding import encode
from twice.tools.scenes.blender import snapshot
from twice.tools.scenes.blender.structs import is_excluded, load_exclusions

Path = tuple[tuple[str, Any], ...]
DEPTH_MAX = 9
REFUSED = (TypeError, ValueError, RuntimeError, AttributeError)
GONE = (KeyError, IndexError)


def everything(scene: Any) -> None:
    """One modifier, constraint, node, light, texture and force of each kind."""
    thing = rich.link(scene, "everything", rich.mesh("everything", 21))
    for kind in thing.modifiers.bl_rna.functions["new"].parameters["type"].enum_items.keys():
        with suppress(RuntimeError, TypeError, AttributeError):
            thing.modifiers.new(kind, kind).show_viewport = False
    for kind in thing.constraints.bl_rna.functions["new"].parameters["type"].enum_items.keys():
        thing.constraints.new(kind).enabled = False
    thing.field.type = "WIND"
    trees = {
        "ShaderNode": bpy.data.materials["paint 0"].node_tree,
        "GeometryNode": bpy.data.node_groups["scatter"],
        "CompositorNode": scene.node_tree,
    }
    for prefix, tree in trees.items():
        for name in sorted(dir(bpy.types)):
            if name.startswith((prefix, "FunctionNode")):
                with suppress(RuntimeError):
                    tree.nodes.new(name)
    data = bpy.data
    made = [make.new("other") for make in (data.linestyles, data.speakers, data.hair_curves)]
    made += [make.new("other") for make in (data.grease_pencils_v3, data.masks, data.volumes)]
    made.append(data.images.new("other", 4, 4))
    for make, kinds in (
        (data.lights, bpy.types.Light.bl_rna.properties["type"].enum_items.keys()),
        (data.textures, bpy.types.Texture.bl_rna.properties["type"].enum_items.keys()),
        (data.lightprobes, ("SPHERE", "PLANE", "VOLUME")),
    ):
        made += [make.new(f"other {kind}", kind) for kind in kinds]
    for each in made:
        each.use_fake_user = True


def find(path: Path) -> Any:
    at: Any = bpy.data
    for step, key in path:
        at = getattr(at, key) if step == "." else at[key]
    return at


def targets() -> dict[str, Path]:
    """One path for each kind of struct, those that are excluded as a whole left out."""
    there: dict[str, Path] = {}

    def walk(struct: Any, path: Path) -> None:
        kind = struct.bl_rna.identifier
        if kind in there or len(path) > 2 * DEPTH_MAX:
            return
        there[kind] = path
        for prop in struct.bl_rna.properties:
            name = prop.identifier
            if prop.type not in ("POINTER", "COLLECTION"):
                continue
            if is_excluded(REASONS, kind, name, struct.bl_rna):
                continue
            value = getattr(struct, name)
            if prop.type == "COLLECTION":
                for i, item in enumerate(value):
                    if item is not None and not isinstance(item, bpy.types.ID):
                        walk(item, (*path, (".", name), ("[]", i)))
            elif value is not None and (
                value.is_embedded_data if isinstance(value, bpy.types.ID) else prop.is_readonly
            ):
                walk(value, (*path, (".", name)))

    for section, data in used():
        walk(data, ((".", section), ("[]", data.name)))
    return there


def used() -> Iterator[tuple[str, Any]]:
    for section in READER.sections:
        for data in sorted(getattr(bpy.data, section), key=lambda data: data.name):
            if data.users:
                yield section, data


def list_others(struct: Any, prop: Any) -> list[Any]:
    """Values that the property may have instead of its own."""
    old = plain(getattr(struct, prop.identifier))
    if prop.type == "POINTER":
        kind = getattr(bpy.types, prop.fixed_type.identifier, bpy.types.ID)
        found = [data for _, data in used() if data != old and isinstance(data, kind)]
        return [None] * (old is not None) + found[:3]
    if prop.type == "ENUM":
        names = [item.identifier for item in prop.enum_items]
        return [{*names} ^ old] if prop.is_enum_flag else [name for name in names if name != old]
    if prop.type == "STRING":
        return [f"{old}x"]
    if not prop.is_array:
        return list_numbers(old, prop)
    first = old[0][0] if isinstance(old[0], list) else old[0]
    others = []
    for number in list_numbers(first, prop):
        other = deepcopy(old)
        (other[0] if isinstance(old[0], list) else other)[0] = number
        others.append(other)
    return others


def list_numbers(old: Any, prop: Any) -> list[Any]:
    if prop.type == "BOOLEAN":
        return [not old]
    steps = (1, -1) if prop.type == "INT" else (0.25, -0.25, 0.01, 1.0)
    return [old + s for s in steps if prop.hard_min <= old + s <= prop.hard_max]


def plain(value: Any) -> Any:
    if isinstance(value, str | bytes | bpy.types.ID) or not hasattr(value, "__len__"):
        return value
    return set(value) if isinstance(value, set | frozenset) else [plain(item) for item in value]


def list_bases(rna: Any) -> list[Any]:
    return [] if rna is None else [rna, *list_bases(rna.base)]


def list_settable(struct: Any) -> list[Any]:
    """Its properties; what begins with bl_ belongs to the class of a node, for all scenes."""
    return [
        prop
        for prop in sorted(struct.bl_rna.properties, key=lambda prop: prop.identifier)
        if not (prop.is_readonly or prop.type == "COLLECTION" or prop.identifier.startswith("bl_"))
        and (
            prop.type != "POINTER"
            or "ID" in [base.identifier for base in list_bases(prop.fixed_type)]
        )
    ]


def look(path: Path, inside: dict[str, bool] = {}) -> bytes:
    """What is read of a struct, where that is a part of what is read of its block; else of the block.

    Equal structs are one value, so a part is known by identity; looked at once for each kind.
    """
    struct, data = find(path), find(path[:2])
    kind = struct.bl_rna.identifier
    if len(path) > 2 and inside.get(kind, True):
        part = READER.structs.read(struct)
        if kind not in inside:
            inside[kind] = holds(READER.read_value(path[0][1], data), part)
        if inside[kind]:
            return encode(part)
    return encode([READER.block_type(data), READER.read_value(path[0][1], data)])


def holds(value: Any, part: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return value is part or any(holds(each, part) for each in inner)


def whole() -> str:
    return snapshot.read_snapshot(bpy, {}, evaluated=False).fingerprint


def shows(path: Path, name: str, old: Any, before: bytes) -> bool:
    """Whether a change that was made shows, near or anywhere."""
    try:
        if look(path) != before:
            return True
        after = whole()
        setattr(find(path), name, old)
        return whole() != after
    except (TwiceError, *GONE):
        return True


def try_one(path: Path, name: str) -> str:
    """``seen``, ``unseen`` or ``unchanged``."""
    struct = find(path)
    if name not in struct.bl_rna.properties:
        return "lost"
    old = plain(getattr(struct, name))
    if name == "name" and len(path) == 2:  # the path itself: data stays where it is
        before, struct.name = whole(), f"{old}x"
        after, struct.name = whole(), old
        return "seen" if after != before else "unseen"
    for new in list_others(struct, struct.bl_rna.properties[name]):
        near = look(path)
        try:
            setattr(struct, name, new)
            if plain(getattr(find(path), name)) == old:
                continue
        except REFUSED:
            continue
        except GONE:
            return "seen"  # what the path led to has another name or kind now
        seen = shows(path, name, old, near)
        with suppress(*REFUSED, *GONE):
            setattr(find(path), name, old)
        return "seen" if seen else "unseen"
    return "unchanged"


def judge(kind: str, path: Path, name: str, tried: set[tuple[str, str]]) -> str:
    try:
        rna = find(path).bl_rna
    except (AttributeError, *GONE):
        return "lost"  # an earlier change removed the target of the path
    # A property is tried once, not once for each kind of node that inherits it.
    declaring = [base for base in list_bases(rna) if name in base.properties][-1:] or [rna]
    declared = (declaring[0].identifier, name)
    if declared in tried:
        return "inherited"
    tried.add(declared)
    return "listed" if is_excluded(REASONS, kind, name, rna) else try_one(path, name)


def list_unknown() -> list[str]:
    """Entries of the list that name what this Blender does not have."""
    kinds = {kind: getattr(bpy.types, kind, None) for kind in REASONS if kind != "*"}
    return [
        f"{kind}.{name}"
        for kind, rna in kinds.items()
        for name in REASONS[kind]
        if rna is None or name not in rna.bl_rna.properties
    ]


asked = request() or {}
REASONS = dict(load_exclusions())
if asked.get("blind"):  # a hole that is not in the list
    blind = {**REASONS, asked["only"]: {asked["blind"]: "planted"}}
    snapshot.load_exclusions = lambda: blind
everything(rich.build())
bpy.context.view_layer.update()
READER = snapshot.BlenderReader(bpy)
verdicts: dict[str, str] = {}
tried: set[tuple[str, str]] = set()
found = targets()
for kind, path in sorted(found.items()):
    if kind == asked.get("only", kind):
        for prop in [prop.identifier for prop in list_settable(find(path))]:
            verdicts[f"{kind}.{prop}"] = judge(kind, path, prop, tried)
unseen = [place for place, verdict in verdicts.items() if verdict == "unseen"]
counts = Counter(verdicts.values())
answer({"kinds": len(found), "unseen": unseen, "counts": counts, "unknown": list_unknown()})
