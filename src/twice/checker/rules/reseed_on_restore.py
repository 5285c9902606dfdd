"""Putting a state back seeds a generator instead of setting its state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import RESUMES, is_seeder, resumes
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import last_name
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


def look(site: Site) -> Iterator[Violation]:
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


def _found(site: Site, name: str, node: ast.AST) -> Violation:
    return site.found(
        NAME,
        f"{name}() seeds a generator where it puts a state back.",
        "The restored run draws from the start of the stream again, the one that was kept went on.",
        node=node,
        confidence=0.85,
    )


def _own(site: Site, node: ast.FunctionDef) -> Iterator[Violation]:
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
    RuleFacts(
        NAME,
        Channel.REPLAY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Keep the generator's state with the snapshot and set it: random.setstate, bit_generator.state.",
        __doc__ or "",
    ),
    calls=("generators", "seeding"),
    nodes=(ast.FunctionDef,),
    look=look,
    named=RESUMES,
)
