"""What an expression is, as a value.

Invariant: what is in a container is told only where all of it is the same.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

STABLE: Final = frozenset({"int", "float", "bool", "complex"})
TEXT: Final = frozenset({"str", "bytes"})


@dataclass(frozen=True, slots=True)
class Kind:
    """What an expression is.

    Args:
        name: ``set``, ``dict``, ``list``, ``str``, ``int``, ``numpy-generator``, ``path`` …, or
            ``object`` for an instance of a class of the file itself, ``enum`` for a member of one.
        element: what is in it, for a set, list or tuple: ``str``, ``int``, ``object``; the keys of a
            dict; "" unknown.
        origin: the qualified name of the class or function that it came from.
        inside: what each element of a set or list, or each value of a dict, is; None unknown.
    """

    name: str
    element: str = ""
    origin: str = ""
    inside: Kind | None = None

    @property
    def is_ordered_by_chance(self) -> bool:
        """Whether it is a set whose order another process can change."""
        return self.name == "set" and self.element not in STABLE

    @property
    def is_generator(self) -> bool:
        """Whether it is a generator of random numbers."""
        return self.name.endswith("-generator")


def holding(name: str, inside: Kind | None, origin: str = "") -> Kind:
    """Give a set, list or tuple of elements of a kind."""
    return Kind(name, "" if inside is None else counted(inside), origin, inside)


def table(keys: Kind | None, values: Kind | None, origin: str = "") -> Kind:
    """Give a dict of keys and values of a kind."""
    return Kind("dict", "" if keys is None else counted(keys), origin, values)


def counted(kind: Kind) -> str:
    """Give what a value counts as inside of a container: a tuple is as stable as what is in it."""
    if kind.name in {"tuple", "hashed"}:
        return kind.element
    if kind.name == "set":
        return kind.element if kind.element in STABLE else ""
    if kind.name == "path":
        return ""
    return kind.name if kind.name in STABLE | TEXT | {"enum"} else "object"


def is_none(node: ast.AST | None) -> bool:
    """Say whether an expression is ``None``."""
    return isinstance(node, ast.Constant) and node.value is None


def shared(kinds: set[Kind | None]) -> Kind | None:
    """Give what kinds have in common: all, or the name and what they count as."""
    known = [each for each in kinds if each is not None]
    if not known or len(known) < len(kinds):
        return None
    first = min(known, key=repr)
    if len(known) == 1:
        return first
    if len({counted(each) for each in known}) > 1:
        return None
    if len({each.name for each in known}) > 1:
        return Kind(counted(first)) if counted(first) else None
    return Kind(first.name, first.element if len({each.element for each in known}) == 1 else "")
