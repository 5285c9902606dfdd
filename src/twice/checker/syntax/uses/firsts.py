"""What a loop keeps of several elements: the first with a key, the largest, or all of them added up.

The first one kept depends on the order, unless it says no more than its key; the largest value and a sum
do not, while who had the largest value does, because of ties.

Invariant: places are compared as they are written; what is written otherwise is another place.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.following import Reading
from twice.checker.syntax.uses.loads import spelled

_BOUNDING: Final = (ast.Gt, ast.GtE, ast.Lt, ast.LtE)
_ADDING: Final = (ast.Add, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor)
_JOINING: Final = {"union", "intersection", "difference", "symmetric_difference"}
_ONE_BY_ONE: Final = {"str", "list", "tuple"}


class Firsts:
    """What one loop keeps only where nothing is there yet.

    Args:
        reading: the file.
        scope: where the loop stands.
    """

    def __init__(self, reading: Reading, scope: Scope) -> None:
        self._reading = reading
        self._scope = scope
        self._asked: set[tuple[str, str]] = set()

    def ask(self, node: ast.If) -> None:
        """Remember what is put under a key only where nothing is there yet."""
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            skips = isinstance(test.ops[0], ast.In) and isinstance(node.body[-1], ast.Continue)
            if skips or isinstance(test.ops[0], ast.NotIn):
                self._asked.add((spelled(test.left), spelled(test.comparators[0])))

    def is_kept(self, target: ast.Subscript, value: ast.expr, own: set[str]) -> bool:
        """Say whether the first of several elements with one key is kept, and says more than the key."""
        key = target.slice
        if (spelled(key), spelled(target.value)) not in self._asked:
            return False
        made = self._made(key)
        told = {
            spelled(part) for one in made for part in ast.walk(one) if isinstance(part, ast.expr)
        }
        whole = {
            each.id
            for one in made
            for each in (one.elts if isinstance(one, ast.Tuple) else [one])
            if isinstance(each, ast.Name)
        }
        return _says_more(value, told, own - whole)

    def _made(self, key: ast.expr) -> list[ast.expr]:
        """Return a key as written, and the values assigned to it."""
        found = [key]
        if isinstance(key, ast.Name):
            bindings = self._reading.names.bindings(key.id, self._scope)
            found += [each.node for each in bindings if isinstance(each.node, ast.expr)]
        return found


def _says_more(value: ast.AST, told: set[str], own: set[str]) -> bool:
    """Whether a value has more of its element in it than its key has."""
    if isinstance(value, ast.Name):
        return value.id in own
    if isinstance(value, ast.expr) and spelled(value) in told:
        return False
    return any(_says_more(each, told, own) for each in ast.iter_child_nodes(value))


def compared(test: ast.expr) -> set[tuple[str, str]]:
    """Give the pairs of places that a condition holds against each other: ``w > best``."""
    found = set()
    for each in ast.walk(test):
        if (
            isinstance(each, ast.Compare)
            and len(each.ops) == 1
            and isinstance(each.ops[0], _BOUNDING)
        ):
            sides = spelled(each.left), spelled(each.comparators[0])
            found |= {sides, sides[::-1]}
    return found


def is_extreme(value: ast.AST, target: ast.AST, asked: set[tuple[str, str]]) -> bool:
    """Whether it is ``x = max(x, …)``, ``x = x or …``, or ``x = w`` where ``w > x`` was asked."""
    if (spelled(target), spelled(value)) in asked:
        return True
    if isinstance(value, ast.BoolOp):
        return any(ast.dump(each) == spelled(target) for each in value.values)
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id in {"max", "min"}
        and any(ast.dump(each) == spelled(target) for each in value.args)
    )


def is_sum(reading: Reading, scope: Scope, value: ast.AST, target: ast.AST) -> bool:
    """Whether it is ``x = x + n`` of numbers, or ``x = x.union(s)``: in any order it comes to the same."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return value.func.attr in _JOINING and spelled(value.func.value) == spelled(target)
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, (*_ADDING, ast.Sub)):
        return False
    place = spelled(target)
    if spelled(value.left) == place:
        other = value.right
    elif spelled(value.right) == place and not isinstance(value.op, ast.Sub):
        other = value.left
    else:
        return False
    kind = reading.kinds.of(other, scope)
    whole = reading.kinds.of(value, scope)
    if whole is not None and whole.name in _ONE_BY_ONE:
        return False
    if kind is not None:
        return kind.name not in _ONE_BY_ONE
    return not isinstance(value.op, ast.Add) or _is_counted(reading, scope, target)


def _is_counted(reading: Reading, scope: Scope, target: ast.AST) -> bool:
    """Whether a name begins as a number."""
    if not isinstance(target, ast.Name):
        return False
    return any(
        isinstance(each.node, ast.Constant) and isinstance(each.node.value, (int, float))
        for each in reading.names.bindings(target.id, scope)
    )
