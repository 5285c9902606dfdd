"""Which types have a canonical form: built in, described by themselves, or registered by users.

Enums, dataclasses and named tuples describe themselves. They are written by name,
``module:qualified.name`` and member or field names, never by definition order or by an enum's
value, so that reordering a class does not change old digests. Only declared fields are state.

A registry answers for an exact type, never for a subclass of a described one: a subclass can have
state that twice does not see.

Invariant: one name is one type and one type has one name. No code of a user's class runs, except to read its
fields.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from twice.errors import TypeNameTaken
from twice.foundation.encoding import format as fmt
from twice.foundation.encoding import library_types
from twice.foundation.encoding.arrays import find_numpy_decomposer
from twice.foundation.encoding.built_in_types import (
    CONTAINERS,
    LEAVES,
    Decomposed,
    Decomposer,
    EncodeKey,
    LeafEncoder,
    Refusal,
    find_library_leaf,
    make_leaf_decomposer,
    refuse_type,
)
from twice.foundation.encoding.opaque import OpaqueKind, OpaqueValue
from twice.foundation.printable import pluralize

_BUILTIN_STATE = (
    int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, BaseException,
)  # fmt: skip


def name_flag_bits(value: enum.Flag) -> str:
    """Return the single-bit names of a flag joined by ``|``, in definition order; ``""`` for no bit."""
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


def is_named_tuple(cls: type[Any]) -> bool:
    """Return whether ``cls`` was made by ``NamedTuple`` or ``namedtuple``, or adds methods to such."""
    fields = getattr(cls, "_fields", None)
    return (
        issubclass(cls, tuple)
        and isinstance(fields, tuple)
        and all(type(name) is str for name in fields)
        and callable(getattr(cls, "_make", None))
    )


def _make_enum_encoder(cls: type[enum.Enum]) -> LeafEncoder:
    head = fmt.ENUM + fmt.encode_name(fmt.type_name(cls))
    is_flag = issubclass(cls, enum.Flag)
    known: dict[str | None, bytes] = {}

    def encode_member(value: Any) -> bytes:
        form = known.get(value._name_)
        if form is None:
            form = head + fmt.encode_name(name_flag_bits(value) if is_flag else value._name_)
            if value._name_ is not None and len(known) < 4096:
                known[value._name_] = form
        return form

    return encode_member


def _describe_fields(
    tag: bytes, name: str, fields: Sequence[str]
) -> tuple[tuple[bytes], Callable[[int], str]]:
    """Return the head of a type with named fields, and how each field is reached."""
    names = b"".join(map(fmt.encode_name, fields))
    head = tag + fmt.encode_name(name) + fmt.pack_u32(len(fields)) + names
    return (head,), lambda index: f".{fields[index]}"


def _make_dataclass_decomposer(cls: type[Any]) -> Decomposer:
    kind = fmt.type_name(cls)
    names = sorted(field.name for field in dataclasses.fields(cls))
    head, label = _describe_fields(fmt.DATACLASS, kind, names)
    get: Callable[[Any], Any] = attrgetter(*names) if names else lambda _value: ()
    is_single = len(names) == 1

    def decompose_dataclass(value: Any, _encode_key: EncodeKey) -> Decomposed:
        try:
            values = (get(value),) if is_single else get(value)
        except AttributeError as error:
            raise Refusal(
                f"a {cls.__qualname__} without its field {error.name!r}",
                "Expected every declared field to be set.",
                "Set the field before the state is read.",
            ) from error
        return Decomposed(head, values, label, names, kind)

    return decompose_dataclass


def _make_named_tuple_decomposer(cls: type[Any]) -> Decomposer:
    kind, names = fmt.type_name(cls), cls._fields
    head, label = _describe_fields(fmt.NAMED_TUPLE, kind, names)

    def decompose_named_tuple(value: Any, _encode_key: EncodeKey) -> Decomposed:
        items = tuple(value)
        if len(items) != len(names):
            raise Refusal(
                f"a {cls.__qualname__} of {pluralize(len(items), 'item')}",
                f"Expected its {pluralize(len(names), 'field')}: {', '.join(names)}.",
                "Build it through its class.",
            )
        return Decomposed(head, items, label, names, kind)

    return decompose_named_tuple


def _make_registered_decomposer(name: str, to_value: Callable[[Any], object]) -> Decomposer:
    head = (fmt.REGISTERED + fmt.encode_name(name),)
    # A path leads through a library's value as if it were the plain one.
    label = "" if library_types.is_library_name(name) else f".<{name}>"
    return lambda value, _encode_key: Decomposed(
        head, (to_value(value),), lambda _index: label, (name,), name
    )


def _decompose_opaque(value: OpaqueValue, encode_key: EncodeKey) -> Decomposed:
    match value.kind:
        case OpaqueKind.ENUM:
            names = fmt.encode_name(value.name) + fmt.encode_name(str(value.value))
            return Decomposed((fmt.ENUM + names,))
        case OpaqueKind.PATH:
            letter = fmt.PATH_LETTERS[value.name]
            return Decomposed((fmt.PATH + letter + fmt.encode_path_text(str(value.value)),))
        case OpaqueKind.REGISTERED:
            return _make_registered_decomposer(value.name, lambda _opaque: value.value)(
                value, encode_key
            )
    tag = fmt.DATACLASS if value.kind is OpaqueKind.DATACLASS else fmt.NAMED_TUPLE
    fields = [name for name, _ in value.fields]
    head, label = _describe_fields(tag, value.name, fields)
    return Decomposed(head, [one for _, one in value.fields], label, fields, value.name)


BUILT_IN: Final[dict[type, Decomposer]] = {
    **{cls: make_leaf_decomposer(leaf) for cls, leaf in LEAVES.items()},
    **CONTAINERS,
    OpaqueValue: _decompose_opaque,
}


class Registration(NamedTuple):
    """A user's type with its name and the way to a plain value and back."""

    cls: type[Any]
    name: str
    to_value: Callable[[Any], object]
    from_value: Callable[[Any], object]


class Registry:
    """The types that a state can contain, besides the built-in ones.

    Enums, dataclasses and named tuples need no registration. Registering is done before the first
    value is encoded, at import, once.

    Attributes:
        decomposers: how to take a value of each known type apart.
        encoder: the encoder that was made for it, which a newly registered type outdates.
    """

    def __init__(self) -> None:
        self._by_name: dict[str, Registration] = {}
        self._by_type: dict[type, Registration] = {}
        self.decomposers: dict[type, Decomposer] = dict(BUILT_IN)
        self._unknown: set[type] = set()
        self.encoder: Any = None

    def register(
        self,
        cls: type[Any],
        name: str,
        to_value: Callable[[Any], object],
        from_value: Callable[[Any], object],
    ) -> None:
        """Register a canonical form for a type.

        Args:
            cls: the exact type; its subclasses are not included.
            name: its name in the bytes, such as ``physics.Quaternion``. Keep it for ever.
            to_value: turns an instance into a value that has a canonical form; no side effects.
            from_value: turns such a value back into an instance.

        Raises:
            TypeNameTaken: E-ENCODE-005, the name or the type is registered or built in already.
        """
        taken = self._by_name.get(name) or self._by_type.get(cls)
        if taken is not None or cls in BUILT_IN or not name:
            held = (
                f"{taken.name!r} stands for {taken.cls.__qualname__}" if taken else "it is built in"
            )
            raise TypeNameTaken(
                f"{cls.__qualname__} cannot be registered as {name!r}: {held}.",
                "Expected a type and a name that are both new to this registry.",
                "Register each type once, at import, under a name of its own.",
                type=cls.__qualname__,
                name=name,
            )
        self._by_name[name] = self._by_type[cls] = Registration(cls, name, to_value, from_value)
        # A dataclass, say, may have been met before it was registered.
        self.decomposers.pop(cls, None)
        self._unknown.discard(cls)
        self.encoder = None

    def find(self, name: str) -> Registration | None:
        """Return the registration under a name, or None."""
        known = self._by_name.get(name)
        if known is None and (cls := library_types.find_loaded_class(name)) is not None:
            return self._adopt(cls)
        return known

    def _adopt(self, cls: type) -> Registration | None:
        """Register a type of a library that is known here; None for any other, and where the name is taken."""
        found = library_types.find_library_type(cls)
        if found is None or found[0] in self._by_name:
            return None
        registration = Registration(cls, found[0], *found[1])
        self._by_name[registration.name] = self._by_type[cls] = registration
        return registration

    def find_decomposer(self, cls: type) -> Decomposer:
        """Return how to take a value of exactly this type apart, or raise ``Refusal``."""
        known = self.decomposers.get(cls)
        if known is None:
            known = self.decomposers[cls] = self._make_decomposer(cls)
        return known

    def knows(self, cls: type) -> bool:
        """Return whether values of exactly this type have a canonical form."""
        if cls in self._unknown:
            return False
        try:
            self.find_decomposer(cls)
        except Refusal:
            self._unknown.add(cls)
            return False
        return True

    def _make_decomposer(self, cls: type) -> Decomposer:
        registration = self._by_type.get(cls) or self._adopt(cls)
        if registration is not None:
            return _make_registered_decomposer(registration.name, registration.to_value)
        leaf = find_library_leaf(cls)
        if leaf is not None:
            return make_leaf_decomposer(leaf)
        if issubclass(cls, enum.Enum):
            return make_leaf_decomposer(_make_enum_encoder(cls))
        # Itself a dataclass, not merely a subclass of one, and without a built-in type's content.
        if "__dataclass_fields__" in vars(cls) and not issubclass(cls, _BUILTIN_STATE):
            return _make_dataclass_decomposer(cls)
        if is_named_tuple(cls):
            return _make_named_tuple_decomposer(cls)
        numpy_decomposer = find_numpy_decomposer(cls)
        if numpy_decomposer is None:
            raise refuse_type(cls)
        return numpy_decomposer


registry = Registry()
"""The registry that is used when none is named."""

register = registry.register
"""Gives a type a canonical form in the default registry; see ``Registry.register``."""
