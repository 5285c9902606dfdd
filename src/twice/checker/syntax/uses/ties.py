"""Whether a key that something is sorted or chosen by leaves ties, whose order stays what it was.

Only keys that evidently do: a length, a count, a field that is called a size or a priority. A key with
the element itself in it leaves none.

Invariant: a key that is not understood is taken to leave no ties.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.syntax.uses.words import about, last_name

CHOOSING: Final = frozenset({"builtins.max", "builtins.min"})
SORTING: Final = frozenset({"builtins.sorted"})
_SIZES: Final = frozenset(
    ["count", "counts", "degree", "frequency", "length", "level", "priority", "size", "sizes", "votes"]
)  # fmt: skip


def leaves_ties(call: ast.Call) -> bool:
    """Say whether a call of ``sorted``, ``max`` or ``min`` has a key that leaves ties."""
    for each in call.keywords:
        if each.arg == "key":
            return _ties(each.value)
    return False


def _ties(key: ast.expr) -> bool:
    if isinstance(key, ast.Lambda):
        names = [each.arg for each in key.args.args]
        return len(names) == 1 and _is_size(key.body)
    if isinstance(key, ast.Name):
        return key.id == "len"
    return isinstance(key, ast.Attribute) and (
        key.attr == "count" or (key.attr == "get" and about(last_name(key.value), _SIZES))
    )


def _is_size(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(_is_size, node.elts))
    if isinstance(node, ast.UnaryOp):
        return _is_size(node.operand)
    if isinstance(node, ast.Call):
        word = last_name(node)
        return word in {"len", "count"} or (word == "get" and _is_counted(node.func))
    if isinstance(node, ast.Subscript):
        return about(last_name(node.value), _SIZES)
    return isinstance(node, ast.Attribute) and about(node.attr, _SIZES)


def _is_counted(func: ast.expr) -> bool:
    return isinstance(func, ast.Attribute) and about(last_name(func.value), _SIZES)
