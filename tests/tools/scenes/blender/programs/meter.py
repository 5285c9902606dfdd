"""Changes every settable property of one thing of each kind, and answers those that nobody sees.

A thing is found anew by its path before every change, because some changes replace what they touch.
A change counts as seen when the digest of its own block moves, or else the fingerprint of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import rich
from answering import answer, request

from twice.errors import TwiceError
from twice.foundation.digests import digest_value
from twice.tools.scenes.blender import snapshot
from twice.tools.scenes.blender.structs import Exclusions, load_exclusions
from twice.tools.scenes.state import ALGORITHM, Block, scene_state

Path = tuple[tuple[str, Any], ...]
DEPTH_MAX = 9


def everything(scene: Any) -> None:
    """One modifier, constraint, node, light, texture and force of each kind."""
    thing = bpy.data.objects.new("everything", rich._mesh("everything", 21))
    scene.collection.objects.link(thing)
    for kind in thing.modifiers.bl_rna.functions["new"].parameters["type"].enum_items.keys():
        try:
            thing.modifiers.new(kind, kind).show_viewport = False
        except (RuntimeError, TypeError, AttributeError):
            continue
    for kind in thing.constraints.bl_rna.functions["new"].parameters["type"].enum_items.keys():
        thing.constraints.new(kind).enabled = False
    for kind in bpy.types.Light.bl_rna.properties["type"].enum_items.keys():
        bpy.data.lights.new(f"light {kind}", kind).use_fake_user = True
    for kind in bpy.types.Texture.bl_rna.properties["type"].enum_items.keys():
        bpy.data.textures.new(f"texture {kind}", kind).use_fake_user = True
    thing.field.type = "WIND"
    trees = {
        "ShaderNode": bpy.data.materials["paint 0"].node_tree,
        "GeometryNode": bpy.data.node_groups["scatter"],
        "CompositorNode": scene.node_tree,
    }
    for prefix, tree in trees.items():
        for name in sorted(dir(bpy.types)):
            if name.startswith((prefix, "FunctionNode")):
                try:
                    tree.nodes.new(name)
                except RuntimeError:
                    continue
    bpy.data.images.new("image", 4, 4).use_fake_user = True
    bpy.data.linestyles.new("line").use_fake_user = True
    bpy.data.speakers.new("speaker").use_fake_user = True
    bpy.data.hair_curves.new("strands").use_fake_user = True
    bpy.data.grease_pencils_v3.new("drawing").use_fake_user = True
    for kind in ("SPHERE", "PLANE", "VOLUME"):
        bpy.data.lightprobes.new(f"probe {kind}", kind).use_fake_user = True
    bpy.data.masks.new("mask").use_fake_user = True
    bpy.data.volumes.new("volume").use_fake_user = True


def found(path: Path) -> Any:
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
            if load_exclusions().excludes(kind, name, struct.bl_rna):
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

    for section in snapshot.BlenderReader(bpy).sections:
        for data in sorted(getattr(bpy.data, section), key=lambda data: data.name):
            if data.users:
                walk(data, ((".", section), ("[]", data.name)))
    return there


def other(struct: Any, prop: Any) -> Iterator[Any]:
    """Values that the property may have instead of its own."""
    old = getattr(struct, prop.identifier)
    if prop.type == "POINTER":
        if old is not None:
            yield None
        for section in snapshot.BlenderReader(bpy).sections:
            for data in sorted(getattr(bpy.data, section), key=lambda data: data.name):
                if data.users and data != old and isinstance(data, _class(prop)):
                    yield data
                    break
        return
    if prop.is_array if prop.type in ("BOOLEAN", "INT", "FLOAT") else False:
        flat = [list(x) if hasattr(x, "__len__") else x for x in old]
        first = flat[0] if not isinstance(flat[0], list) else flat[0][0]
        for new in _numbers(first, prop):
            yield (
                [new, *flat[1:]]
                if not isinstance(flat[0], list)
                else [[new, *flat[0][1:]], *flat[1:]]
            )
    elif prop.type in ("BOOLEAN", "INT", "FLOAT"):
        yield from _numbers(old, prop)
    elif prop.type == "ENUM":
        if prop.is_enum_flag:
            yield {item.identifier for item in prop.enum_items} ^ old
        else:
            yield from (item.identifier for item in prop.enum_items if item.identifier != old)
    else:
        yield f"{old}x"


def _declaring(rna: Any, name: str) -> str:
    """Return the struct that a property is inherited from: tried once, not once for each kind of node."""
    while rna.base is not None and name in rna.base.properties:
        rna = rna.base
    return str(rna.identifier)


def _lost(path: Path) -> bool:
    """Return whether an earlier change removed the target of the path."""
    try:
        return found(path) is None
    except (AttributeError, KeyError, IndexError):
        return True


def _class(prop: Any) -> Any:
    return getattr(bpy.types, prop.fixed_type.identifier, bpy.types.ID)


def _numbers(old: Any, prop: Any) -> list[Any]:
    if prop.type == "BOOLEAN":
        return [not old]
    steps = (1, -1) if prop.type == "INT" else (0.25, -0.25, 0.01, 1.0)
    return [old + s for s in steps if prop.hard_min <= old + s <= prop.hard_max]


def settable(struct: Any) -> Iterator[Any]:
    for prop in struct.bl_rna.properties:
        # What begins with bl_ belongs to the class of a node, for all scenes.
        if prop.is_readonly or prop.type == "COLLECTION" or prop.identifier.startswith("bl_"):
            continue
        if prop.type == "POINTER" and not _is_id(prop.fixed_type):
            continue
        yield prop


def _is_id(kind: Any) -> bool:
    while kind is not None:
        if kind.identifier == "ID":
            return True
        kind = kind.base
    return False


class Meter:
    """Tells whether a change is seen, by the nearest digest that is a part of the fingerprint."""

    def __init__(self) -> None:
        self.reading = snapshot.BlenderReader(bpy)
        self._inside: dict[str, bool] = {}

    def near(self, path: Path) -> str:
        """Return the digest of a struct, where its value is a part of its block's; else of the block."""
        struct = found(path)
        if len(path) > 2 and self._is_inside(struct, path):
            return str(digest_value(self.reading.structs.read(struct), ALGORITHM))
        section, data = path[0][1], found(path[:2])
        block = Block(
            self.reading.block_type(data), data.name, "", self.reading.read_value(section, data)
        )
        return scene_state({}, {section: [block]}).fingerprint

    def _is_inside(self, struct: Any, path: Path) -> bool:
        """Equal structs are one value, so a part of a block is known by identity; looked at once."""
        kind = struct.bl_rna.identifier
        if kind not in self._inside:
            part = self.reading.structs.read(struct)
            whole = self.reading.read_value(path[0][1], found(path[:2]))
            self._inside[kind] = _holds(whole, part)
        return self._inside[kind]

    def whole(self) -> str:
        return snapshot.read_snapshot(bpy, {}, evaluated=False).fingerprint

    def _far(self, path: Path, name: str, old: Any, new: Any) -> bool:
        """Return whether the change shows anywhere else."""
        after = self.whole()
        setattr(found(path), name, old)
        before = self.whole()
        setattr(found(path), name, new)
        return before != after

    def try_one(self, path: Path, name: str) -> str:
        """``seen``, ``unseen`` or ``unchanged``."""
        struct = found(path)
        if name not in struct.bl_rna.properties:
            return "lost"
        prop = struct.bl_rna.properties[name]
        old = _plain(getattr(struct, name))
        if name == "name" and len(path) == 2:  # the path itself: data stays where it is
            before = self.whole()
            struct.name = f"{old}x"
            seen = self.whole() != before
            struct.name = old
            return "seen" if seen else "unseen"
        for new in other(struct, prop):
            before = self.near(path)
            try:
                setattr(struct, name, new)
                if _plain(getattr(found(path), name)) == old:
                    continue
            except (TypeError, ValueError, RuntimeError, AttributeError):
                continue
            except (KeyError, IndexError):
                return "seen"  # what the path led to has another name or kind now
            try:
                seen = self.near(path) != before or self._far(path, name, old, new)
            except (TwiceError, KeyError, IndexError):
                seen = True
            try:
                setattr(found(path), name, old)
            except (TypeError, ValueError, RuntimeError, AttributeError, KeyError, IndexError):
                pass
            return "seen" if seen else "unseen"
        return "unchanged"


def _holds(value: Any, part: Any) -> bool:
    if value is part:
        return True
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_holds(each, part) for each in inner)


def _plain(value: Any) -> Any:
    if isinstance(value, str | bytes | bpy.types.ID) or not hasattr(value, "__len__"):
        return value
    return set(value) if isinstance(value, set | frozenset) else [_plain(item) for item in value]


def unknown() -> list[str]:
    """Entries of the list that name what this Blender does not have."""
    kinds = {name: getattr(bpy.types, name, None) for name in load_exclusions().reasons}
    return [
        f"{kind}.{name}"
        for kind, names in load_exclusions().reasons.items()
        for name in names
        if kind != "*" and (kinds[kind] is None or name not in kinds[kind].bl_rna.properties)
    ]


asked = request() or {}
if asked.get("blind"):  # a hole that is not in the list
    blind = {**load_exclusions().reasons, asked["only"]: {asked["blind"]: "planted"}}
    snapshot.load_exclusions = lambda: Exclusions(blind)
scene = rich.build()
everything(scene)
bpy.context.view_layer.update()
meter, unseen, covered, tried = Meter(), [], {}, set()
for kind, path in sorted(targets().items()):
    if kind != asked.get("only", kind):
        continue
    for name in sorted(prop.identifier for prop in settable(found(path))):
        declared = (_declaring(found(path).bl_rna, name), name) if not _lost(path) else None
        if declared is None:
            verdict = "lost"
        elif declared in tried:
            verdict = "inherited"
        elif load_exclusions().excludes(kind, name, found(path).bl_rna):
            verdict = "listed"
        else:
            verdict = meter.try_one(path, name)
        tried.add(declared)
        covered[verdict] = covered.get(verdict, 0) + 1
        if verdict == "unseen":
            unseen.append(f"{kind}.{name}")
answer({"kinds": len(targets()), "unseen": unseen, "counts": covered, "unknown": unknown()})
