"""State that an object gains while it runs is left out when it is pickled."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.roles import method, own_attribute
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import GENERATOR, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "dropped-on-pickle"
_RUNS: Final = GENERATOR | frozenset(
    [
        "buffer",
        "buffers",
        "replay",
        "optimizer",
        "optimizers",
        "optimiser",
        "optim",
        "moment",
        "moments",
        "momentum",
        "velocity",
        "velocities",
        "physics",
        "sim",
        "simulation",
        "history",
        "memory",
        "episode",
        "episodes",
        "counter",
        "epoch",
        "population",
    ]
)
"""What attributes are called that hold what a run has come to."""
_MADE: Final = frozenset(
    [
        "lock", "logger", "log", "file", "session", "client", "thread", "window", "viewer", "cache",
        "cached", "fn", "fun", "func", "function", "op", "ops", "compiled", "handle", "connection",
        "conn", "executor", "pool", "process", "event", "callback", "hook", "writer", "stream", "device",
        "weakref", "parent", "owner", "shared", "gui", "renderer", "render", "manager", "cls", "factory",
        "class", "type", "hooks", "proxy", "ref", "refs", "future", "display", "size", "spec",
    ]
)  # fmt: skip
"""What they are called that hold what is made again."""


def look(site: Site) -> Iterator[Violation]:
    """Look at ``__getstate__``."""
    node, owner = site.node, site.scope
    if not isinstance(node, ast.FunctionDef) or node.name != "__getstate__" or not owner.is_class:
        return
    if not _copies(node):
        return
    dropped = [
        (name, where)
        for name, where in _dropped(node)
        if about(name, _RUNS) and not about(name, _MADE)
    ]
    setter = method(owner, "__setstate__")
    kept = _texts(node) - {name for name, _ in dropped}
    lost = [
        (name, where)
        for name, where in dropped
        if (setter is None or not _comes_back(setter, name))
        and not _is_kept_otherwise(node, name, kept)
    ]
    if not lost:
        return
    names = ", ".join(dict.fromkeys(name for name, _ in lost))
    yield site.found(
        NAME,
        f"{owner.name}.__getstate__() leaves out {names}.",
        "A restored object has it empty or new, where the one that was kept had what its run came to.",
        node=lost[0][1],
        confidence=0.85,
    )


def _copies(node: ast.FunctionDef) -> bool:
    """Whether it starts from all that the object has."""
    return any(
        (isinstance(each, ast.Attribute) and each.attr in {"__dict__", "__getstate__"})
        or (isinstance(each, ast.Name) and each.id == "vars")
        for each in ast.walk(node)
    )


def _dropped(node: ast.FunctionDef) -> Iterator[tuple[str, ast.AST]]:
    """Give the entries that are taken out of the copy, and where."""
    for each in ast.walk(node):
        if isinstance(each, ast.Delete):
            for target in each.targets:
                yield from _entry(target, each)
        elif isinstance(each, ast.Assign):
            if isinstance(each.value, ast.Constant) and each.value.value is None:
                yield from _entry(each.targets[0], each)
        elif isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):
            call = each.value
            if isinstance(call.func, ast.Attribute) and call.func.attr == "pop" and call.args:
                for name in _constants(call.args[0]):
                    yield name, each
        elif isinstance(each, ast.DictComp) and each.generators[0].ifs:
            for one in each.generators[0].ifs:
                if isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.NotEq, ast.NotIn)):
                    for name in _constants(one.comparators[0]):
                        yield name, each


def _entry(target: ast.expr, where: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(target, ast.Subscript):
        for name in _constants(target.slice):
            yield name, where


def _constants(node: ast.expr) -> Iterator[str]:
    inside = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    for each in inside:
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def _texts(node: ast.AST) -> set[str]:
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def _comes_back(setter: Scope, name: str) -> bool:
    """Whether ``__setstate__`` makes it from what was kept."""
    assert isinstance(setter.node, ast.FunctionDef), "methods are functions"
    arguments = {each.arg for each in setter.node.args.args[1:]}
    for each in ast.walk(setter.node):
        if isinstance(each, (ast.Assign, ast.AnnAssign)) and each.value is not None:
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            if any(own_attribute(one) == name for one in targets) and any(
                isinstance(one, ast.Name) and one.id in arguments for one in ast.walk(each.value)
            ):
                return True
        elif (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and own_attribute(each.func.value) == name
        ):
            return True  # self.optimizer.load_state_dict(…)
    return False


def _is_kept_otherwise(node: ast.FunctionDef, name: str, kept: set[str]) -> bool:
    """Whether something is taken from it into the state under another name."""
    return any(
        isinstance(each, ast.Assign)
        and isinstance(each.targets[0], ast.Subscript)
        and any(own_attribute(one) == name for one in ast.walk(each.value))
        for each in ast.walk(node)
    ) or any(name.strip("_") in each and each.strip("_") != name.strip("_") for each in kept)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Keep its state (state_dict(), its arrays, bit_generator.state) and put it back in __setstate__.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=frozenset({"__getstate__"}),
    applies=mentions("__getstate__"),
)
