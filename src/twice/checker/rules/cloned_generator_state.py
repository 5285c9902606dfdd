"""Two generators are given the same state, so that they draw the same numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.seeding import is_generator
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.values import SEED_KEYWORDS
from twice.checker.syntax.uses.words import GENERATOR, about, parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "cloned-generator-state"
_KEEPING: Final = frozenset(
    [
        "snapshot",
        "save",
        "restore",
        "load",
        "state",
        "checkpoint",
        "copy",
        "deepcopy",
        "clone",
        "getstate",
        "setstate",
        "resume",
        "rollback",
        "peek",
        "preview",
        "compare",
        "equal",
        "eq",
        "context",
        "isolate",
        "reproduce",
        "test",
    ]
)
_GETTERS: Final = {
    "setstate": "getstate",
    "set_state": "get_state",
    "set_rng_state": "get_rng_state",
}


def look(site: Site) -> Iterator[Violation]:
    """Look at an assignment of a state, and at a call that sets or copies one."""
    node = site.node
    if isinstance(node, ast.Assign):
        pair = _assigned(node)
    elif isinstance(node, ast.Call):
        pair = _set(node) or _copied(site, node)
    else:
        pair = None
    if pair is None:
        return
    function = site.scope.method
    if function is not None and not _KEEPING.isdisjoint(parts(function.name)):
        return
    first, second = (site.module.shown(each) for each in pair)
    if first == second:
        return
    what = (
        f"{first} gets the state of {second}" if first else f"{second} is copied for another user"
    )
    yield site.found(
        NAME,
        f"{what}, so two streams give the same numbers.",
        "From here on both draw the same sequence, and each moves on by itself.",
    )


def _assigned(node: ast.Assign) -> tuple[ast.AST, ast.AST] | None:
    """``a.bit_generator.state = b.bit_generator.state``."""
    target, value = node.targets[0], node.value
    if (
        isinstance(target, ast.Attribute)
        and target.attr == "state"
        and isinstance(value, ast.Attribute)
        and value.attr == "state"
        and isinstance(target.value, ast.Attribute)
        and isinstance(value.value, ast.Attribute)
        and target.value.attr == value.value.attr == "bit_generator"
    ):
        return target.value.value, value.value.value
    return None


def _set(node: ast.Call) -> tuple[ast.AST, ast.AST] | None:
    """``a.setstate(b.getstate())``."""
    func = node.func
    if not isinstance(func, ast.Attribute) or len(node.args) != 1 or func.attr not in _GETTERS:
        return None
    given = node.args[0]
    if (
        isinstance(given, ast.Call)
        and isinstance(given.func, ast.Attribute)
        and given.func.attr == _GETTERS[func.attr]
    ):
        return func.value, given.func.value
    return None


def _copied(site: Site, node: ast.Call) -> tuple[ast.AST, ast.AST] | None:
    """``Thing(rng=deepcopy(self.rng))``."""
    if not node.args or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return None
    last = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
    if last not in {"deepcopy", "copy"} or site.called not in {"copy.deepcopy", "copy.copy"}:
        return None
    keyword = site.module.survey.parents.get(node)
    if isinstance(keyword, ast.Assign):
        return _given_another(site, keyword, node.args[0])
    if not isinstance(keyword, ast.keyword) or keyword.arg is None:
        return None
    if keyword.arg not in SEED_KEYWORDS and not about(keyword.arg, GENERATOR):
        return None
    return (ast.Pass(), node.args[0]) if is_generator(site, node.args[0]) else None


def _given_another(
    site: Site, node: ast.Assign, source: ast.expr
) -> tuple[ast.AST, ast.AST] | None:
    """``other.rng = deepcopy(self.rng)``: another object's, not a copy kept beside it."""
    target = node.targets[0]
    if (
        isinstance(target, ast.Attribute)
        and isinstance(source, ast.Attribute)
        and about(target.attr, GENERATOR)
        and ast.dump(target.value) != ast.dump(source.value)
        and is_generator(site, source)
    ):
        return target, source
    return None


def _suits(node: ast.Assign, scope: Scope) -> bool:
    """Whether what is assigned is called a state."""
    del scope
    return isinstance(node.value, ast.Attribute) and node.value.attr == "state"


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Give each its own stream: Generator.spawn, SeedSequence.spawn, run.rng(name).",
        __doc__ or "",
    ),
    calls=("copying", "state-setting"),
    methods=("state-setting",),
    nodes=(ast.Assign,),
    look=look,
    suits=_suits,
    applies=mentions("state", "copy"),
)
