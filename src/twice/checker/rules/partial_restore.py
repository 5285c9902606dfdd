"""Putting a state back restores less of it than there is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import RESTORES, captures, methods, restores
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "partial-restore"
_PARTS: Final = frozenset({"qpos", "qvel"})
_REST: Final = ("mj_setState", "qacc_warmstart", "setState", "set_state_spec")
_NAMED: Final = frozenset({"state", "restore", "snapshot", "rewind", "rollback"})
_PAIRS: Final = {
    "__setstate__": "__getstate__", "load_state_dict": "state_dict", "load_state": "save_state",
    "restore_state": "save_state", "restore": "snapshot", "restore_snapshot": "snapshot",
}  # fmt: skip


def look(site: Site) -> Iterator[Violation]:
    """Look at a method that puts a state back."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not site.scope.is_class:
        return
    if about(node.name, _NAMED) and not captures(node.name) and _is_positions_alone(site, node):
        yield site.found(
            NAME,
            f"{node.name}() puts back positions and velocities alone.",
            "Time, activations and the solver's warm start stay those of the run that was interrupted.",
            confidence=0.85,
        )
    elif restores(node.name):
        left = _left_out(site.scope, node)
        if left:
            shown = ", ".join(repr(each) for each in left[:3])
            yield site.found(
                NAME,
                f"{node.name}() does not read {shown}, which the getter gives.",
                "What is not put back keeps the value of the run that was interrupted.",
                confidence=0.8,
            )


def _is_positions_alone(site: Site, node: ast.FunctionDef) -> bool:
    if not site.module.speaks_of("qpos"):
        return False
    stored: set[str] = set()
    for each in ast.walk(node):
        target = each.value if isinstance(each, ast.Subscript) else each
        if (
            isinstance(each, (ast.Subscript, ast.Attribute))
            and isinstance(each.ctx, ast.Store)
            and isinstance(target, ast.Attribute)
        ):
            stored.add(target.attr)
    if not stored >= _PARTS or "time" in stored:
        return False
    text = site.module.source(node)
    return not any(each in text for each in _REST)


def _left_out(owner: Scope, node: ast.FunctionDef) -> list[str]:
    """List the keys that the getter gives and the setter does not read."""
    wanted = _PAIRS.get(node.name, node.name.replace("set_", "get_", 1))
    getter = [each for each in methods(owner) if each.name == wanted and each.name != node.name]
    if len(getter) != 1 or len(node.args.args) != 2 or node.args.kwarg or node.args.vararg:
        return []
    given = _given(getter[0].node)
    read = _read(node, node.args.args[1].arg)
    if given is None or not read:
        return []
    return [each for each in given if each not in read]


def _given(node: ast.AST) -> list[str] | None:
    """List the keys of the dictionary that a getter returns, if it is literal."""
    returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
    if len(returned) != 1 or not isinstance(returned[0], ast.Dict):
        return None
    keys = [each.value if isinstance(each, ast.Constant) else None for each in returned[0].keys]
    names = [each for each in keys if isinstance(each, str)]
    return names if len(names) == len(keys) and len(names) > 1 else None


def _read(node: ast.FunctionDef, name: str) -> set[str]:
    """Return the keys read from an argument, or none if it has any other use."""
    parents = {child: each for each in ast.walk(node) for child in ast.iter_child_nodes(each)}
    found: set[str] = set()
    for each in ast.walk(node):
        if not isinstance(each, ast.Name) or each.id != name:
            continue
        parent = parents[each]
        key: ast.AST | None = None
        if isinstance(parent, ast.Subscript) and parent.value is each:
            key = parent.slice
        elif isinstance(parent, ast.Attribute) and parent.attr in {"get", "pop"}:
            call = parents[parent]
            key = call.args[0] if isinstance(call, ast.Call) and call.args else None
        elif isinstance(parent, ast.Compare) and each in parent.comparators:
            key = parent.left  # "key" in state
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return set()
        found.add(key.value)
    return found


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.REPLAY,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        "Put back whatever the getter gives; for MuJoCo: mj_setState with mjSTATE_INTEGRATION.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=_NAMED | RESTORES,
)
