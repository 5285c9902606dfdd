"""Environments that a function makes itself, and what is called on them: what two rules share.

Only a name that every binding gives an environment from a known maker, or a wrapper around the same
name, counts; whatever else there is, is somebody else's.

Invariant: one that is made with a seed is never given.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Binding, Scope
from twice.checker.syntax.uses.values import SEED_KEYWORDS
from twice.checker.syntax.uses.words import about


def holder_of_made(site: Site, name: ast.expr, *, plainly: bool = False) -> Scope | None:
    """Give the scope in which a name is an environment that was made there.

    Args:
        site: where the name is read.
        name: the name.
        plainly: whether a maker that is given the results of calls, which may have done more,
            does not count.
    """
    if not isinstance(name, ast.Name):
        return None
    names = site.module.names
    holder = names.holder(name.id, site.scope)
    if holder is None or holder.is_class:
        return None
    made = 0
    for each in holder.bindings[name.id]:
        is_made = _is_made(site, each, holder)
        if is_made and plainly and _is_given_calls(each.node):
            return None
        if not is_made and not _is_wrapped(each, name.id):
            return None
        made += is_made
    return holder if made else None


def _is_made(site: Site, binding: Binding, holder: Scope) -> bool:
    call = binding.node
    if binding.kind not in {"assign", "with"} or not isinstance(call, ast.Call):
        return False
    if any(each.arg is None or each.arg in SEED_KEYWORDS for each in call.keywords):
        return False
    return _makes(site, call, holder)


def _makes(site: Site, call: ast.Call, holder: Scope) -> bool:
    """Whether a call makes an environment, or wraps one that is made in it."""
    if call.args and isinstance(call.args[0], ast.Call) and _makes(site, call.args[0], holder):
        return not any(each.arg in SEED_KEYWORDS for each in call.keywords)
    called = site.module.names.qualified(call.func, holder)
    if called is None or site.catalogue.has("environment-makers", called):
        return called is not None
    package, _, rest = called.partition(".")
    return site.catalogue.has("environment-packages", package) and site.catalogue.has_method(
        "environment-factories", rest.rpartition(".")[2]
    )


def _is_given_calls(call: ast.AST) -> bool:
    return any(
        isinstance(inner, (ast.Call, ast.Lambda, ast.Starred))
        for each in ast.iter_child_nodes(call)
        for inner in ast.walk(each)
    )


def _is_wrapped(binding: Binding, name: str) -> bool:
    """``env = Wrapper(env)``."""
    call = binding.node
    return (
        binding.kind == "assign"
        and isinstance(call, ast.Call)
        and bool(call.args)
        and isinstance(call.args[0], ast.Name)
        and call.args[0].id == name
        and not any(each.arg is None or each.arg in SEED_KEYWORDS for each in call.keywords)
    )


def calls_on(site: Site, name: str, holder: Scope) -> Iterator[tuple[str, ast.Call]]:
    """Give what is called on a name, dotted, wherever the name is read: ``action_space.seed``."""
    parents = site.module.survey.parents
    for load, _ in site.module.loads.of(name, holder):
        trail: list[str] = []
        node: ast.AST = load
        parent = parents.get(node)
        while isinstance(parent, ast.Attribute) and parent.value is node:
            trail.append(parent.attr)
            node, parent = parent, parents.get(parent)
        if trail and isinstance(parent, ast.Call) and parent.func is node:
            yield ".".join(trail), parent


_SHOWS: Final = frozenset(
    [
        "animation",
        "drawing",
        "gif",
        "human",
        "interactive",
        "keyboard",
        "manual",
        "plot",
        "render",
        "teleop",
    ]
)
_BY_HAND: Final = frozenset({"keyboard_control", "manual", "manual_control"})


def reach_of(site: Site) -> Reach:
    """Give how loud a missing seed is here: in doubt where somebody plays or looks, by a name or a setting."""
    stem = site.module.path.rpartition("/")[2].removesuffix(".py")
    function = site.scope.method
    is_shown = about(stem, _SHOWS) or any(
        _is_by_hand(each, shown=function is not None)
        for node, scope, _ in site.module.calls
        if node.keywords and scope.method is function
        for each in node.keywords
    )
    return Reach.UNSEEN if is_shown else Reach.LOUD


def _is_by_hand(keyword: ast.keyword, *, shown: bool) -> bool:
    """Whether a keyword asks for a player at the keyboard, or, in a function, for a window."""
    value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
    return (keyword.arg in _BY_HAND and value is True) or (
        shown and keyword.arg == "render_mode" and value == "human"
    )
