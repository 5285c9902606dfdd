"""Any struct of Blender as values, by its own description of itself.

Blender describes every property of every struct. All that is stored is read, so that a property
which a new version adds is seen without a change here. What is left out stands in
``exclusions.toml``, a struct, a property and a reason: the blind spots. The coverage meter of the
tests allows that list alone.

A struct that is owned is read in its place; a pointer to something owned elsewhere becomes a
reference by name. What Blender keeps in no promised order is sorted.

Invariant: nothing is left out without an entry, and reading changes nothing in the scene.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import attrgetter
from typing import Any, Final

from twice.tools.errors import SceneValueRefused
from twice.tools.scenes.state import Value, float32, float64

_DEPTH_MAX: Final = 12

REFERENCES: Final = frozenset(
    {
        ("*", "enum_definition"), ("*", "from_node"), ("*", "from_socket"), ("*", "paired_output"),
        ("*", "to_node"), ("*", "to_socket"),
        ("Bone", "parent"), ("NodeTreeInterfacePanel", "parent"),
        ("NodeTreeInterfaceSocket", "parent"), ("NodesModifierBake", "node"),
        ("ParticleSystemModifier", "particle_system"), ("PoseBone", "bbone_custom_handle_end"),
        ("PoseBone", "bbone_custom_handle_start"), ("PoseBone", "parent"),
    }
)  # fmt: skip
"""Read-only pointers to what is owned elsewhere."""

SORTED: Final = frozenset(
    {
        ("Collection", "children"), ("Collection", "objects"), ("*", "nodes"), ("*", "links"),
        ("Scene", "view_layers"), ("LayerCollection", "children"),
    }
)  # fmt: skip
"""Collections whose order says nothing."""

_TELLING: Final = ("type", "bl_idname", "identifier")
"""Properties that nobody can set and that say what the struct is."""

IdReference = Callable[[Any], list[str]]
Reasons = Mapping[str, Mapping[str, str]]


@cache
def load_exclusions() -> Reasons:
    """Load what this version leaves out: reasons by property, by struct, or by ``*`` for every one."""
    return tomllib.loads(files(__package__).joinpath("exclusions.toml").read_text("utf-8"))


def is_excluded(reasons: Reasons, kind: str, name: str, rna: Any = None) -> bool:
    """Whether a property of a struct is left out; an entry holds for what is derived from it."""
    kinds = [kind, "*"]
    while rna is not None:
        kinds.append(rna.identifier)
        rna = rna.base
    return any(name in reasons.get(each, {}) for each in kinds)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How structs of one type are read: values by name, and parts by name, each with a flag."""

    kind: str
    plain: tuple[str, ...]
    plain_of: Callable[[Any], tuple[Any, ...]]
    arrays: tuple[str, ...]
    arrays_of: Callable[[Any], tuple[Any, ...]]
    pointers: tuple[tuple[str, bool], ...]  # whether the target is owned
    collections: tuple[tuple[str, bool], ...]  # whether the order counts
    registered: frozenset[str]


class Structs:
    """A reader of structs; keeps one plan per type, and one value for all that are alike.

    Args:
        id_type: the class of data that has a name of its own, ``bpy.types.ID``.
        reference: how such data is referred to.
        reasons: what is not read, and why.
    """

    def __init__(self, id_type: Any, reference: IdReference, reasons: Reasons) -> None:
        self._id = id_type
        self._reference = reference
        self._reasons = reasons
        self._plans: dict[str, _Plan] = {}
        self._alike: dict[tuple[Any, ...], Any] = {}

    def read(self, struct: Any, *, without: frozenset[str] = frozenset()) -> dict[str, Value]:
        """Read the stored properties of a struct; equal structs share one read-only object.

        Args:
            struct: anything with a description.
            without: properties that the caller reads itself; the same for every struct of a type.

        Raises:
            SceneValueRefused: E-SCENE-001, a number is not finite; the property is named.
        """
        found: dict[str, Value] = self._read(struct, without, 0)
        return found

    def _read(self, struct: Any, without: frozenset[str], depth: int) -> Any:
        kind = struct.bl_rna.identifier
        plan = self._plans.get(kind)
        if plan is None:
            plan = self._plans[kind] = self._make_plan(struct.bl_rna, kind, without)
        plain = plan.plain_of(struct)
        arrays = tuple([_flatten(values) for values in plan.arrays_of(struct)])
        parts: list[Any] = []
        for name, owned in plan.pointers:
            parts.append(self._read_target(getattr(struct, name), depth, owned=owned))
        for name, ordered in plan.collections:
            items = [self._read_target(item, depth, owned=True) for item in getattr(struct, name)]
            parts.append(self._share(tuple(items if ordered else sorted(items, key=_name_first))))
        custom = self._read_custom(struct, plan)
        key = (kind, plain, arrays, tuple(map(id, parts)), repr(custom) if custom else "")
        alike = self._alike.get(key)
        if alike is None:
            value: dict[str, Value] = {"rna": kind}
            try:
                for name, given in zip(plan.plain, plain, strict=True):
                    value[name] = _round(given)
                for name, row in zip(plan.arrays, arrays, strict=True):
                    value[name] = list(map(_round, row))
            except SceneValueRefused as error:
                raise SceneValueRefused(
                    f"{struct!r}.{name}: {error.happened}", error.expected, error.remedy
                ) from error
            names = [name for name, _ in (*plan.pointers, *plan.collections)]
            value.update(zip(names, parts, strict=True))
            if custom:
                value["custom_properties"] = custom
            alike = self._alike[key] = value
        return alike

    def _read_target(self, target: Any, depth: int, *, owned: bool) -> Value:
        if target is None:
            return None
        if isinstance(target, self._id):
            if not (owned and target.is_embedded_data):
                return self._share(tuple(self._reference(target)))
        elif not owned:
            names = [str(getattr(target, name, "")) for name in ("name", "identifier")]
            return self._share((target.bl_rna.identifier, *filter(None, names)))
        assert depth < _DEPTH_MAX, f"{target!r} is nested too deep: is it a reference?"
        return self._read(target, frozenset(), depth + 1)

    def _share(self, items: tuple[Any, ...]) -> list[Value]:
        """One list for all equal rows of texts, or of the same parts."""
        key = ("", *(item if isinstance(item, str) else id(item) for item in items))
        found: list[Value] | None = self._alike.get(key)
        if found is None:
            found = self._alike[key] = list(items)
        return found

    def _make_plan(self, rna: Any, kind: str, without: frozenset[str]) -> _Plan:
        plain: list[str] = []
        arrays: list[str] = []
        pointers: list[tuple[str, bool]] = []
        collections: list[tuple[str, bool]] = []
        for prop in sorted(rna.properties, key=lambda prop: str(prop.identifier)):
            name = prop.identifier
            either = {(kind, name), ("*", name)}
            if name in without or is_excluded(self._reasons, kind, name, rna):
                continue
            if prop.type == "POINTER":
                # A part of the struct, which is where it is read: one that nobody can set.
                part = prop.is_readonly or (kind, name) == ("GreasePencilFrame", "drawing")
                pointers.append((name, part and either.isdisjoint(REFERENCES)))
            elif prop.type == "COLLECTION":
                collections.append((name, either.isdisjoint(SORTED)))
            elif prop.is_readonly and name not in _TELLING:
                continue
            elif getattr(prop, "is_array", False) or (prop.type == "ENUM" and prop.is_enum_flag):
                arrays.append(name)
            else:
                plain.append(name)
        return _Plan(
            kind,
            tuple(plain),
            _getter(plain),
            tuple(arrays),
            _getter(arrays),
            tuple(pointers),
            tuple(collections),
            frozenset(prop.identifier for prop in rna.properties),
        )

    def _read_custom(self, struct: Any, plan: _Plan) -> list[Value]:
        try:
            names = struct.keys()
        except (AttributeError, TypeError):  # this kind of struct has no custom properties
            return []
        found: list[Value] = []
        for name in sorted(names):
            if name in plan.registered or is_excluded(self._reasons, plan.kind, name):
                continue
            value = struct[name]
            if plan.kind == "NodesModifier" and isinstance(value, bool):
                value = int(value)  # saving writes its switches so, and loading leaves them so
            found.append([name, *self._write_custom(value)])
        return found

    def _write_custom(self, value: Any) -> list[Value]:
        """Write a custom property with its type; whole numbers as text, because they have 64 bits."""
        match value:
            case bool():
                return ["bool", value]
            case int():
                return ["int", str(value)]
            case float():
                return ["double", float64(value)]
            case str():
                return ["text", value]
            case bytes():
                return ["bytes", value.hex()]
            case None:
                return ["id", None]
        if isinstance(value, self._id):
            return ["id", self._reference(value)]
        if hasattr(value, "to_dict"):
            return [
                "group",
                [[key, *self._write_custom(value[key])] for key in sorted(value.keys())],
            ]
        return ["list", [self._write_custom(item) for item in value]]


def _round(value: Value) -> Value:
    return float32(value) if type(value) is float else value


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda struct: tuple([getattr(struct, name) for name in names])


def _flatten(values: Any) -> tuple[Any, ...]:
    """Numbers in one row, whatever the sides of their matrix; the names of flags in order."""
    row = tuple(sorted(values) if isinstance(values, set | frozenset) else values)
    if row and not isinstance(row[0], str) and hasattr(row[0], "__len__"):
        return tuple(inner for part in row for inner in _flatten(part))
    return row


def _name_first(value: Value) -> tuple[str, str]:
    name = str(value.get("name", "")) if isinstance(value, dict) else ""
    return (name, repr(value))
