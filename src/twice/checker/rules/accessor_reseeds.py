"""Asking for something seeds the streams of the whole process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.absence import none_test
from twice.checker.rules.roles import is_seeder
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "accessor-reseeds"
_GETS: Final = frozenset({"get", "current", "fetch"})
_SETS: Final = frozenset({"set", "setup", "init", "reset"})


def _applies(module: Module) -> bool:
    return module.speaks_of_seeds


def look(site: Site) -> Iterator[Violation]:
    """Look at a function that is called to get something."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    decorators = {last_name(each) for each in node.decorator_list}
    gets = about(node.name, _GETS) and not about(node.name, _SETS)
    if not gets and decorators.isdisjoint({"property", "cached_property"}):
        return
    for each in node.body:
        if not isinstance(each, ast.If):
            continue
        tested = none_test(each.test)
        if tested is None or not tested[1]:
            continue
        for one in ast.walk(each):
            if isinstance(one, ast.Call) and (one.args or one.keywords) and _seeds(one):
                yield site.found(
                    NAME,
                    f"{node.name}() seeds the whole process by {last_name(one)}() when nothing was set.",
                    "Every stream starts anew in the middle of a run, and who asks first decides when.",
                    node=one,
                    confidence=0.85,
                )
                return


def _seeds(call: ast.Call) -> bool:
    """Whether it is a function that seeds everything, and no method of one generator."""
    return isinstance(call.func, ast.Name) and is_seeder(call.func.id)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Raise an error where no seed was set, or make a generator of its own.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    applies=_applies,
)
