"""Read an object of any class without running a line of the user's code.

For: attributes in ``__dict__`` and ``__slots__``, the content that a subclass of a built-in type
inherits, and the names of classes. Everything goes through the descriptors of C types, never
through ``getattr``, so a property, a ``__getattr__``, a ``__class__`` that lies or a
``__hash__`` that raises is never met.

Not for: deciding what a value means (``graphdigest``) or how it is shown (``value_preview``).

Invariant: reading an object changes nothing in it that the program could see.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from operator import itemgetter
from types import GetSetDescriptorType, MemberDescriptorType
from typing import Any

from twice.foundation.dataclass import dataclass

_MRO = type.__dict__["__mro__"]
_CLASS_DICT = type.__dict__["__dict__"]
_NAME = type.__dict__["__qualname__"]


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """What the reader of an instance must know about its class.

    Args:
        name: ``module.qualname``, the same in every process.
        lineage: names of the class and its bases, nearest first.
        bases: the classes themselves, nearest first.
        dict_getter: the C descriptor that yields ``__dict__``, when instances have one.
        slots: name and C descriptor of every slot.
        python_made: the class, or a base of it, was made by a ``class`` statement.
        is_metaclass: values of the class are classes.
    """

    name: str
    lineage: tuple[str, ...]
    bases: tuple[type, ...]
    dict_getter: Any
    slots: tuple[tuple[str, Any], ...]
    python_made: bool
    is_metaclass: bool


def class_namespace(cls: type) -> list[tuple[str, object]]:
    """Return the class's own namespace as pairs, read past any metaclass."""
    return list(_CLASS_DICT.__get__(cls).items())


def class_name(cls: type) -> str:
    """Return ``module.qualname`` of a class, read past any metaclass."""
    module = _CLASS_DICT.__get__(cls).get("__module__")
    if type(module) is not str:  # C types keep it elsewhere and compute it
        module = type.__dict__["__module__"].__get__(cls)
    return f"{module}.{_NAME.__get__(cls)}"


_FACTS: dict[int, tuple[type, ClassFacts]] = {}


def class_facts(cls: type) -> ClassFacts:
    """Return facts about a class, computed once and kept with the class alive."""
    known = _FACTS.get(id(cls))
    if known is None:
        known = _FACTS[id(cls)] = (cls, _read_class(cls))
    return known[1]


def _read_class(cls: type) -> ClassFacts:
    bases = tuple(_MRO.__get__(cls))
    dict_getter = None
    slots: list[tuple[str, Any]] = []
    python_made = False
    for base in bases:
        names = _CLASS_DICT.__get__(base)
        getter = names.get("__dict__")
        if dict_getter is None and type(getter) is GetSetDescriptorType:
            dict_getter = getter
        if "__weakref__" in names or "__slots__" in names or type(getter) is GetSetDescriptorType:
            python_made = python_made or "__module__" in names
        if "__slots__" in names:
            slots += [
                (name, member)
                for name, member in sorted(names.items())
                if type(member) is MemberDescriptorType
            ]
    return ClassFacts(
        name=class_name(cls),
        lineage=tuple(class_name(base) for base in bases),
        bases=bases,
        dict_getter=dict_getter,
        slots=tuple(slots),
        python_made=python_made,
        is_metaclass=any(base is type for base in bases),
    )


def attributes(value: object, facts: ClassFacts) -> list[tuple[str, object]]:
    """Return instance attributes of a value, sorted by name: ``__dict__`` and slots, nothing computed."""
    found: list[tuple[str, object]] = []
    if facts.dict_getter is not None:
        try:
            namespace = facts.dict_getter.__get__(value)
        except (AttributeError, TypeError):
            namespace = None
        if isinstance(namespace, dict):  # a class has a view instead
            found += [pair for pair in dict.items(namespace) if type(pair[0]) is str]
    for name, member in facts.slots:
        with suppress(AttributeError):  # a slot that was never set
            found.append((name, member.__get__(value)))
    found.sort(key=itemgetter(0))
    return found


def has_attributes(facts: ClassFacts) -> bool:
    """Return whether instances of the class can have attributes of their own."""
    return facts.dict_getter is not None or bool(facts.slots)


def all_strings(keys: Iterable[object]) -> bool:
    """Return whether every key is exactly a string."""
    return all(type(key) is str for key in keys)


def derives(facts: ClassFacts, cls: type) -> bool:
    """Return whether the class is ``cls`` or a subclass of it, asked of no metaclass."""
    return any(base is cls for base in facts.bases)
