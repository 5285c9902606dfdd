"""What an expression is, as a value; the names of Python and numpy that give one; what operators make of two.

What libraries add stands in the catalogue; here are the names of its groups.

Invariant: what is in a container is told only where all of it is the same.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Final

PLAIN: Final = {
    "set": "set", "frozenset": "set", "Set": "set", "FrozenSet": "set", "AbstractSet": "set",
    "MutableSet": "set", "list": "list", "List": "list", "tuple": "tuple", "Tuple": "tuple",
    "dict": "dict", "Dict": "dict", "defaultdict": "dict", "OrderedDict": "dict", "Counter": "dict",
    "str": "str", "bytes": "bytes", "int": "int", "float": "float", "bool": "bool",
}  # fmt: skip
BUILT: Final = {
    "builtins.list": "list", "builtins.sorted": "list", "builtins.tuple": "tuple",
    "builtins.dict": "dict", "collections.defaultdict": "dict", "collections.OrderedDict": "dict",
    "collections.Counter": "dict", "builtins.str": "str", "builtins.repr": "str",
    "builtins.bytes": "bytes", "builtins.int": "int", "builtins.len": "int",
    "builtins.float": "float", "builtins.bool": "bool", "builtins.range": "range",
}  # fmt: skip
# Kinds that have values under keys.
TABLES: Final = {"dict", "Mapping", "MutableMapping"}
# Arrays of whole numbers.
WHOLE: Final = {
    "numpy.arange", "numpy.argsort", "numpy.argwhere", "numpy.flatnonzero", "numpy.nonzero",
    "numpy.where",
}  # fmt: skip
# Groups of the catalogue whose calls give an object of the kind.
CONSTRUCTORS: Final = {
    "numpy-generator": "numpy-generator",
    "stdlib-generator": "stdlib-generator",
    "torch-generator": "torch-generator",
    "path": "path",
    "executor": "executor",
    "pool": "pool",
    "hasher": "hasher",
    "environment": "environment",
    "lock": "lock",
    "queue": "queue",
    "process-context": "process-context",
}
# Methods that give the same kind again.
SAME: Final = {
    "path": {
        "absolute", "expanduser", "joinpath", "resolve", "with_name", "with_stem", "with_suffix",
    },
    "set": {"union", "intersection", "difference", "symmetric_difference", "copy"},
}  # fmt: skip


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


def holding(name: str, inside: Kind | None) -> Kind:
    """Give a set, list or tuple of elements of a kind."""
    return Kind(name, "" if inside is None else counted(inside), inside=inside)


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


_ON_SETS: Final = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


def combine(node: ast.BinOp, left: Kind | None, right: Kind | None) -> Kind | None:
    """Give what an operator gives for what its sides are."""
    if left is not None and left.name == "path" and isinstance(node.op, ast.Div):
        return left
    if isinstance(node.op, _ON_SETS):
        if left is not None and left.name == "set":
            if isinstance(node.op, (ast.BitOr, ast.BitXor)) and right is not None:
                return left if right.element == left.element else Kind("set")
            return left
        if _is_keys(node.left) or _is_keys(node.right):
            return _of_keys(node, left, right)
        return Kind("set") if right is not None and right.name == "set" else None
    if isinstance(node.op, ast.Add) and left is not None and left.name in {"list", "tuple", "str"}:
        return left
    if isinstance(node.op, ast.Mod) and left is not None and left.name == "str":
        return left
    for one in (left, right):
        if one is not None and one.name == "list" and one.origin in WHOLE:
            return one
    both = {each.name for each in (left, right) if each is not None}
    if left is not None and right is not None and both <= {"int", "float"}:
        return Kind("float" if "float" in both or isinstance(node.op, ast.Div) else "int")
    return None


def _of_keys(node: ast.BinOp, left: Kind | None, right: Kind | None) -> Kind:
    """Return the set that an operator on the keys of dicts gives, as far as its elements are known."""
    known = {each.element for each in (left, right) if each is not None}
    if isinstance(node.op, ast.BitAnd):
        return Kind("set", min(known & STABLE, default=""))
    if isinstance(node.op, ast.Sub):
        return Kind("set", "" if left is None else left.element)
    both = left is not None and right is not None and len(known) == 1
    return Kind("set", min(known)) if both else Kind("set")


def _is_keys(node: ast.AST) -> bool:
    """Whether it is ``x.keys()``: operators on two of them make a set."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"keys", "items"}
        and not node.args
    )
