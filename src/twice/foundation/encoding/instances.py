"""Users' types that describe themselves: enums, dataclasses, named tuples; and opaque values.

They are written by name: ``module:qualified.name`` and member or field names, never by definition
order or by an enum's value, so that reordering a class does not change old digests. Only declared
fields are state; attributes that hang beside them are not written.

Invariant: nothing of a user's class runs except the reading of its fields.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from twice.foundation.encoding import forms
from twice.foundation.encoding.library_types import is_library_name
from twice.foundation.encoding.opaque import (
    EnumValue,
    InstanceValue,
    NamedTupleValue,
    PathValue,
    RegisteredValue,
)
from twice.foundation.encoding.opened import Opened, Opener, Sub
from twice.foundation.encoding.refusals import Refusal
from twice.foundation.encoding.scalars import PATH_KINDS, path_text_form

_BUILTIN_STATE = (
    int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, BaseException,
)  # fmt: skip


def flag_member(value: enum.Flag) -> str:
    """The single-bit names of a flag joined by ``|``, in definition order; empty for no bit.

    Raises:
        Refusal: a bit without a name is set.
    """
    named = type(value)(0)
    names = []
    for member in value:
        named |= member
        names.append(str(member._name_))
    if named._value_ != value._value_:
        raise Refusal(
            f"a {type(value).__qualname__} with bits that have no name: {value!r}",
            "Expected a flag made of named members.",
            "Name every bit that can be set, or keep the value as an integer.",
        )
    return "|".join(names)


def enum_leaf(cls: type[enum.Enum]) -> Callable[[Any], bytes]:
    """The encoder of one enum class: its name, then the member's name."""
    head = forms.ENUM + forms.name_form(forms.type_name(cls))
    is_flag = issubclass(cls, enum.Flag)
    known: dict[str | None, bytes] = {}

    def leaf(value: Any) -> bytes:
        form = known.get(value._name_)
        if form is None:
            name = flag_member(value) if is_flag else value._name_
            form = head + forms.name_form(name)
            if value._name_ is not None and len(known) < 4096:
                known[value._name_] = form
        return form

    return leaf


def _head(tag: bytes, name: str, fields: Sequence[str]) -> bytes:
    names = b"".join(map(forms.name_form, fields))
    return tag + forms.name_form(name) + forms.pack_u32(len(fields)) + names


def _field_label(names: Sequence[str]) -> Callable[[int], str]:
    return lambda index: f".{names[index]}"


def _getter(names: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if not names:
        return lambda _value: ()
    if len(names) == 1:
        only = attrgetter(names[0])
        return lambda value: (only(value),)
    return attrgetter(*names)


def dataclass_opener(cls: type[Any]) -> Opener | None:
    """The opener of a class that is itself a dataclass, not merely a subclass of one."""
    if "__dataclass_fields__" not in vars(cls) or issubclass(cls, _BUILTIN_STATE):
        return None
    names = sorted(field.name for field in dataclasses.fields(cls))
    head = _head(forms.DATACLASS, forms.type_name(cls), names)
    get, label, kind = _getter(names), _field_label(names), forms.type_name(cls)

    def open_dataclass(value: Any, _sub: Sub) -> Opened:
        try:
            return Opened((head,), get(value), label, names, kind)
        except AttributeError as error:
            raise Refusal(
                f"a {cls.__qualname__} without its field {error.name!r}",
                "Expected every declared field to be set.",
                "Set the field before the state is read.",
            ) from error

    return open_dataclass


def is_named_tuple(cls: type[Any]) -> bool:
    """Whether ``cls`` was made by ``NamedTuple`` or ``namedtuple``, or adds methods to such."""
    fields = getattr(cls, "_fields", None)
    return (
        issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(type(name) is str for name in fields)
        and callable(getattr(cls, "_make", None))
    )


def named_tuple_opener(cls: type[Any]) -> Opener | None:
    """The opener of a named tuple class."""
    if not is_named_tuple(cls):
        return None
    names: tuple[str, ...] = cls._fields
    head = _head(forms.NAMED_TUPLE, forms.type_name(cls), names)
    label, kind = _field_label(names), forms.type_name(cls)

    def open_named_tuple(value: Any, _sub: Sub) -> Opened:
        items = tuple(value)
        if len(items) != len(names):
            raise Refusal(
                f"a {cls.__qualname__} of {len(items)} items",
                f"Expected its {len(names)} fields: {', '.join(names)}.",
                "Build it through its class.",
            )
        return Opened((head,), items, label, names, kind)

    return open_named_tuple


def registered_opener(name: str, to_value: Callable[[Any], object]) -> Opener:
    """The opener of a registered type: its name and the plain value it is turned into."""
    head = forms.REGISTERED + forms.name_form(name)
    label = "" if is_library_name(name) else f".<{name}>"

    def open_registered(value: Any, _sub: Sub) -> Opened:
        return Opened((head,), (to_value(value),), lambda _index: label, (name,), name)

    return open_registered


def _open_enum_value(value: EnumValue, _sub: Sub) -> Opened:
    head = forms.ENUM + forms.name_form(value.type_name)
    return Opened((head + forms.name_form(value.member),))


def _open_instance_value(value: InstanceValue, _sub: Sub) -> Opened:
    head = _head(forms.DATACLASS, value.type_name, value.names)
    label = _field_label(value.names)
    return Opened((head,), value.values, label, value.names, value.type_name)


def _open_named_tuple_value(value: NamedTupleValue, _sub: Sub) -> Opened:
    head = _head(forms.NAMED_TUPLE, value.type_name, value.names)
    label = _field_label(value.names)
    return Opened((head,), value.values, label, value.names, value.type_name)


def _open_registered_value(value: RegisteredValue, sub: Sub) -> Opened:
    return registered_opener(value.name, lambda opaque: opaque.value)(value, sub)


def _open_path_value(value: PathValue, _sub: Sub) -> Opened:
    return Opened((forms.PATH + PATH_KINDS[value.kind] + path_text_form(value.text),))


OPAQUE: dict[type, Opener] = {
    EnumValue: _open_enum_value,
    InstanceValue: _open_instance_value,
    NamedTupleValue: _open_named_tuple_value,
    RegisteredValue: _open_registered_value,
    PathValue: _open_path_value,
}
