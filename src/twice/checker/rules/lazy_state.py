"""State is made on its first use, in a class that captures its state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.analysis.seed_expressions import is_generator, is_global_draw, is_none, none_test
from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.roles import captures, mentioned, methods, own_attribute, restores
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import TELEMETRY, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "lazy-state"
_QUIET: Final = TELEMETRY | {"cache", "cached", "viewer", "window", "lock", "memo"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a question for an attribute of the object itself, or at what is drawn where there is none."""
    owner, function = site.scope.owner, site.scope.method
    if owner is None or function is None or function.name == "__init__":
        return
    name = _find_asked(site.node) if isinstance(site.node, ast.Call) else _find_drawn(site)
    if not name:
        return
    every = list(methods(owner))
    getters = [each for each in every if captures(each.name)]
    if not getters or captures(function.name) or restores(function.name) or about(name, _QUIET):
        return
    if not any(restores(each.name) for each in every):
        return
    bindings = site.module.attributes.of(owner).get(name, [])
    made_in = {
        scope.method.name
        for binding, scope, _ in bindings
        if scope.method is not None and not is_none(binding.node)
    }
    kept = {each for one in getters for each in mentioned(one)}
    if any(_is_setter(each.node) for each in every if each.name == function.name):
        return  # Whoever restores it sets it by that.
    if made_in != {function.name} or name in kept or "__dict__" in kept:
        return
    yield site.found(
        NAME,
        f"self.{name} is made on its first use, in {function.name}(), and is in no snapshot.",
        "A snapshot from before the first use leaves the later value in place.",
        confidence=0.85,
    )


def _find_asked(call: ast.Call) -> str:
    """Return the attribute that ``hasattr(self, "visited")`` asks for."""
    match call.args[:2]:
        case [ast.Name(id="self"), ast.Constant(value=str(name))]:
            return name
    return ""


def _find_drawn(site: Site) -> str:
    """Return the attribute that is drawn where it is None; what is only computed may be computed again."""
    statement = site.node
    assert isinstance(statement, ast.Assign), "those are asked for"
    name, above = own_attribute(statement.targets[0]), next(iter(site.above()), None)
    if not name or not isinstance(above, ast.If) or statement not in above.body:
        return ""
    tested = none_test(above.test)
    if tested is None or not tested[1] or own_attribute(tested[0]) != name:
        return ""
    draws = any(
        is_global_draw(site, each)
        or (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and site.catalogue.has_method("drawing", each.func.attr)
            and is_generator(site, each.func.value)
        )
        for each in ast.walk(statement.value)
    )
    return name if draws else ""


def _is_setter(node: ast.AST) -> bool:
    """Whether a method is the setter of a property."""
    return any(
        isinstance(each, ast.Attribute) and each.attr == "setter"
        for each in getattr(node, "decorator_list", ())
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Make it in the constructor, capture it and put it back.",
        __doc__ or "",
    ),
    calls=("asking",),
    nodes=(ast.Assign,),
    look=look,
)
