"""What an operator gives: a set from two sets, a path from a path, a number from numbers.

Invariant: what one side alone decides is given whatever the other side is.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.syntax.constructors import WHOLE
from twice.checker.syntax.kind import STABLE, Kind

_ON_SETS: Final = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


def combined(node: ast.BinOp, left: Kind | None, right: Kind | None) -> Kind | None:
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
