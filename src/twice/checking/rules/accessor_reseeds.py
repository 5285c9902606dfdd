"""Asking for something seeds the streams of the whole process.

A function that is called to get something, and sets a seed when none was set, starts ``random``, numpy and all
others that it seeds anew in the middle of whatever is going on. Which numbers everybody draws then depends on who
asked first.

Raise an error where no seed was set, or make a generator of its own.

Bad:
    import random

    stream = None

    def set_seed(seed):
        global stream
        random.seed(seed)
        stream = random.Random(seed)

    def get_stream():
        if stream is None:
            set_seed(0)
        return stream

or:
    from tools import seed_everything

    class Seeds:
        @property
        def seed(self):
            if self._seed is None:
                self._seed = seed_everything(7)
            return self._seed

Good:
    stream = None

    def get_stream():
        if stream is None:
            raise RuntimeError("set a seed first")
        return stream

or:
    import random

    class Seeds:
        def get_stream(self):
            if self._stream is None:
                self._stream = random.Random(self.seed)
            return self._stream
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.absence import none_test
from twice.checking.rules.roles import is_seeder
from twice.checking.syntax.module import Module, Site
from twice.checking.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "accessor-reseeds"
_GETS: Final = frozenset({"get", "current", "fetch"})
_SETS: Final = frozenset({"set", "setup", "init", "reset"})


def _applies(module: Module) -> bool:
    return module.speaks_of_seeds


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.RNG,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Raise an error where no seed was set, or make a generator of its own.",
    nodes=(ast.FunctionDef,),
    look=look,
    applies=_applies,
)
