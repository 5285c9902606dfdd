"""What an element gets by its place or its turn: a number, a partner, a drawn value; and which names hold it.

Invariant: what is paired with something made of itself is no partner by chance.
"""

from __future__ import annotations

import ast
from typing import Final

from twice.checker.syntax.survey import Scope, targets
from twice.checker.syntax.uses.following import At, Reading
from twice.checker.syntax.uses.loads import spelled
from twice.checker.syntax.uses.words import GENERATOR, about, last_name

_DRAWS: Final = frozenset(
    ["binomial", "choice", "choices", "exponential", "gauss", "integers", "normal", "permutation", "poisson",
     "randint", "random", "randrange", "sample", "shuffle", "standard_normal", "uniform"]
)  # fmt: skip
_BY_PLACE: Final = frozenset({"choice", "choices", "permutation", "sample", "shuffle"})


def is_draw(reading: Reading, node: ast.AST, scope: Scope) -> bool:
    """Say whether a node draws from a stream of random numbers."""
    if not isinstance(node, ast.Call):
        return False
    if reading.catalogue.has("global-draws", reading.names.qualified(node.func, scope)):
        return True
    if not isinstance(node.func, ast.Attribute):
        return False
    kind = reading.kinds.of(node.func.value, scope)
    if kind is not None:
        return kind.is_generator
    word = node.func.attr
    return word in _BY_PLACE or (word in _DRAWS and about(last_name(node.func.value), GENERATOR))


def by_place(reading: Reading, at: At, target: ast.AST | None) -> frozenset[str]:
    """Give the names in a target that hold a number or a partner that an element got by its place.

    Without a target, the pairs themselves are meant: ``{"*"}`` when they are pairs by place.
    """
    call = at.node
    while isinstance(call, ast.Call) and call.args and last_name(call.func) in {"list", "tuple"}:
        call = call.args[0]
    called = reading.names.qualified(call.func, at.scope) if isinstance(call, ast.Call) else None
    if called == "builtins.enumerate":
        strange = {0}
    elif called in {"builtins.zip", "itertools.zip_longest"} and isinstance(call, ast.Call):
        passed = {each.id for each in at.way if isinstance(each, ast.Name)}
        roots = [_root(each, reading, at.scope) for each in call.args]
        own = {
            root
            for root, given in zip(roots, call.args, strict=True)
            for source in (given, *assigned_values(given, reading, at.scope))
            for each in ast.walk(source)
            if each is at.way[0] or (isinstance(each, ast.Name) and each.id in passed)
        }
        strange = {place for place, root in enumerate(roots) if own and root not in own}
    else:
        return frozenset()
    if target is None:
        return frozenset({"*"} if strange else ())
    elements = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return frozenset(
        name for place, one in enumerate(elements) if place in strange for name in names_in(one)
    )


def assigned_values(node: ast.AST, reading: Reading, scope: Scope) -> list[ast.AST]:
    """Return what a name is assigned."""
    bound = reading.names.bindings(node.id, scope) if isinstance(node, ast.Name) else []
    return [each.node for each in bound if each.kind == "assign"]


def _root(node: ast.expr, reading: Reading, scope: Scope) -> str:
    """Return how the source of an iterable is written: ``s`` of ``list(s)``, ``map(f, s)``, ``s.values()``."""
    while isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in {"keys", "values"}:
            node = node.func.value
        elif node.args and reading.names.qualified(node.func, scope) in {
            "builtins.list", "builtins.map", "builtins.tuple",
        }:  # fmt: skip
            node = node.args[-1]
        else:
            break
    return spelled(node)


def names_in(target: ast.AST) -> set[str]:
    """Give the names that a target binds."""
    return {one.id for one in targets(target) if isinstance(one, ast.Name)}


def reads(node: ast.AST, names: set[str]) -> bool:
    """Say whether an expression reads one of some names."""
    return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))
