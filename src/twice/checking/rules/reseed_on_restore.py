"""Putting a state back seeds a generator instead of setting its state.

A run that was kept after a thousand draws goes on, restored, at the first draw again: numbers that
were already used come once more, and the restored run is not the one that was kept.

Keep the generator's state (bit_generator.state, getstate, get_rng_state) with the snapshot and set it.
A project's own function that seeds, as its name says, counts as well.
Nothing is said where the state is set in the same function.

Bad:
    import random

    class World:
        def set_state(self, state):
            self.agents = state["agents"]
            self.random = random.Random(self.seed)

or:
    import numpy as np
    import pickle

    def resume(path, seed):
        np.random.seed(seed)
        with open(path, "rb") as file:
            return pickle.load(file)

or:
    from tools import set_seed

    class Trainer:
        def restore(self, folder):
            saved = self.load(folder)
            self.seed = saved["seed"]
            set_seed(self.seed)
            self.epoch = saved["epoch"]

Good:
    import random

    class World:
        def set_state(self, state):
            self.agents = state["agents"]
            self.random.setstate(state["random"])

or:
    import random

    class World:
        def __setstate__(self, state):
            self.random = random.Random(0)
            self.random.setstate(state["random"])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.roles import RESUMES, is_seeder, resumes
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "reseed-on-restore"
_SETS: Final = {
    "setstate",
    "set_state",
    "set_rng_state",
    "set_rng_state_all",
    "state",
    "__setstate__",
}
_ELSE: Final = {"jax.random.split", "jax.random.fold_in"}


def look(site: Site) -> Iterator[Found]:
    """Look at a generator that is made, at a seeding, or at a function that puts a state back."""
    if isinstance(site.node, ast.FunctionDef):
        yield from _own(site, site.node)
        return
    function = site.scope.method
    if function is None or not resumes(function.name) or site.called in _ELSE:
        return
    if _sets_state(function.node) or _is_drawn_afresh(site):
        return
    call = site.call
    if not call.args and not call.keywords:
        return  # unseeded-generator says it.
    yield _found(site, function.name, site.node)


def _found(site: Site, name: str, node: ast.AST) -> Found:
    return site.found(
        NAME,
        f"{name}() seeds a generator where it puts a state back.",
        "The restored run draws from the start of the stream again, the one that was kept went on.",
        node=node,
        confidence=0.85,
    )


def _own(site: Site, node: ast.FunctionDef) -> Iterator[Found]:
    """Find a call to a project's own seeding function in a function that restores state."""
    if not resumes(node.name) or not site.module.speaks_of_seeds or _sets_state(node):
        return
    for each in ast.walk(node):
        if (
            isinstance(each, ast.Call)
            and (each.args or each.keywords)
            and is_seeder(last_name(each))
            and not _is_known(site, each)
        ):
            yield _found(site, node.name, each)
            return


def _is_known(site: Site, call: ast.Call) -> bool:
    """Whether it is a library's, which is looked at by itself."""
    called = site.qualified(call.func)
    return site.catalogue.has("seeding", called) or site.catalogue.has("generators", called)


def _sets_state(node: ast.AST) -> bool:
    """Whether a generator's state is set as well."""
    for each in ast.walk(node):
        if isinstance(each, ast.Call):
            func = each.func
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name in _SETS and not _is_super(func):
                return True
        elif (
            isinstance(each, ast.Attribute)
            and each.attr == "state"
            and isinstance(each.ctx, ast.Store)
            and not _is_self(each.value)
        ):
            return True
    return False


def _is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _is_drawn_afresh(site: Site) -> bool:
    """Whether the seed is one that was kept with the state: a position in the stream of its own."""
    call = site.call
    given = call.args[0] if call.args else call.keywords[0].value
    function = site.scope.method
    assert function is not None, "looked at before"
    arguments = {name for name, found in function.bindings.items() if found[0].kind == "argument"}
    return isinstance(given, ast.Subscript) and any(
        isinstance(each, ast.Name) and each.id in arguments - {"self"} for each in ast.walk(given)
    )


RULE = Rule(
    name=NAME,
    channel=Channel.REPLAY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Keep the generator's state with the snapshot and set it: random.setstate, bit_generator.state.",
    calls=("generators", "seeding"),
    nodes=(ast.FunctionDef,),
    look=look,
    named=RESUMES,
)
