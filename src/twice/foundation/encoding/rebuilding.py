"""Named types from their parts: the loaded class where there is one, else an opaque value.

A class is filled field by field through ``object.__new__`` and ``object.__setattr__``: neither its
``__init__`` nor its ``__setattr__`` runs, because neither ran when the state was read.

Invariant: what is built encodes to the bytes it was built from, or ``Malformed`` is raised.
"""

from __future__ import annotations

import dataclasses
import enum

from twice.foundation.encoding import forms
from twice.foundation.encoding.cursor import Malformed
from twice.foundation.encoding.instances import flag_member, is_named_tuple
from twice.foundation.encoding.opaque import (
    EnumValue,
    InstanceValue,
    NamedTupleValue,
    RegisteredValue,
)
from twice.foundation.encoding.refusals import Refusal
from twice.foundation.encoding.registry import Registry
from twice.foundation.encoding.resolving import Resolve


def enum_member(type_name: str, member: str, resolve: Resolve | None) -> object:
    """A member of a loaded enum, or an ``EnumValue``."""
    cls = resolve(type_name) if resolve is not None else None
    if cls is None:
        return EnumValue(type_name, member)
    if not issubclass(cls, enum.Enum):
        raise Malformed(f"{type_name} is not an enum here")
    members = cls._member_map_
    try:
        if not issubclass(cls, enum.Flag):
            value = members[member]
            same = value._name_ == member
        else:
            value = cls(0)
            for name in filter(None, member.split("|")):
                value = cls(value.value | members[name].value)
            same = flag_member(value) == member
    except (KeyError, ValueError, TypeError, Refusal):
        same = False
    if not same or forms.type_name(cls) != type_name:
        raise Malformed(f"{type_name} has no member {member[:40]!r} here")
    return value


def instance(
    type_name: str, names: tuple[str, ...], values: tuple[object, ...], resolve: Resolve | None
) -> object:
    """An instance of a loaded dataclass, or an ``InstanceValue``."""
    cls = resolve(type_name) if resolve is not None else None
    if cls is None:
        return InstanceValue(type_name, names, values)
    fields = vars(cls).get("__dataclass_fields__")
    declared = sorted(f.name for f in dataclasses.fields(cls)) if fields is not None else []
    if fields is None or tuple(declared) != names or forms.type_name(cls) != type_name:
        raise Malformed(
            f"{type_name} has the fields {', '.join(declared) or 'of no dataclass'} here and "
            f"{', '.join(names)} in the bytes"
        )
    try:
        built: object = object.__new__(cls)
        for name, value in zip(names, values, strict=True):
            object.__setattr__(built, name, value)
    except (TypeError, AttributeError) as error:
        raise Malformed(f"{type_name} cannot be filled without running it: {error}") from error
    return built


def named_tuple(
    type_name: str, names: tuple[str, ...], values: tuple[object, ...], resolve: Resolve | None
) -> object:
    """A loaded named tuple, or a ``NamedTupleValue``."""
    cls = resolve(type_name) if resolve is not None else None
    if cls is None:
        return NamedTupleValue(type_name, names, values)
    if not is_named_tuple(cls) or cls._fields != names or forms.type_name(cls) != type_name:
        raise Malformed(f"{type_name} does not have the fields {', '.join(names)} here")
    built: object = tuple.__new__(cls, values)
    return built


def registered(name: str, value: object, registry: Registry, resolve: Resolve | None) -> object:
    """A value of a registered type, or a ``RegisteredValue``."""
    known = registry.named(name) if resolve is not None else None
    return RegisteredValue(name, value) if known is None else known.from_value(value)
