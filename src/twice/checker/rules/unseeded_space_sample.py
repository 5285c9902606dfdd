"""Actions are sampled from a space that never got a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.environments import calls_on, holder_of_made, reach_of
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-space-sample"
_SPACES = {"action_space", "observation_space", "single_action_space"}
_ACTING: Final = frozenset({"act", "action", "actions", "explore", "sample", "select"})
_WHY: Final = "A space starts from the system's entropy; seeding the environment does not seed it."


def look(site: Site) -> Iterator[Violation]:
    """Look at a call of ``sample``."""
    func = site.call.func
    assert isinstance(func, ast.Attribute), "methods are asked for"
    space = func.value.func if isinstance(func.value, ast.Call) else func.value
    if func.attr != "sample" or not isinstance(space, ast.Attribute) or space.attr not in _SPACES:
        return
    holder = holder_of_made(site, space.value, plainly=True)
    if holder is None:
        return
    assert isinstance(space.value, ast.Name), "it has a holder"
    first = True
    for called, call in calls_on(site, space.value.id, holder):
        if called.endswith("space.seed") or _is_seeded(site, call):
            return
        if called in {space.attr, f"{space.attr}.sample"}:
            if first and call not in {site.call, func.value}:
                return
            first = False
    yield site.found(
        NAME,
        f"{space.value.id}.{space.attr}.sample() draws from a space that never got a seed.",
        _WHY,
        reach=reach_of(site),
        confidence=0.8,
    )


def _is_seeded(site: Site, call: ast.Call) -> bool:
    """Whether a call is the space in ``env.action_space(agent).seed(3)``."""
    parent = site.module.survey.parents.get(call)
    return isinstance(parent, ast.Attribute) and parent.attr == "seed"


def gather(module: Module) -> dict[str, Any] | None:
    """Give the spaces that policies of a file sample, and whether the file seeds any."""
    if not module.speaks_of("space"):
        return None
    if module.speaks_of("space.seed(", "spaces.seed("):
        return {"seeds": True, "samples": []}
    if not module.speaks_of("space.sample("):
        return None
    found: dict[tuple[str, int], Violation] = {}
    for node, scope, _ in module.calls:
        func = node.func
        function = scope.method
        if (
            isinstance(func, ast.Attribute)
            and func.attr == "sample"
            and function is not None
            and last_name(func.value).endswith("_space")
            and _is_kept(func.value)
            and about(function.name, _ACTING)
        ):
            message = (
                f"{module.shown(func)}() draws from a space that nothing in the project seeds."
            )
            place = (function.name, getattr(function.node, "lineno", 0))
            site = module.site(node, scope)
            found.setdefault(place, site.found(NAME, message, _WHY, confidence=0.8))
    if not found:
        return None
    return {"seeds": False, "samples": [each.to_json() for each in found.values()]}


def _is_kept(node: ast.expr) -> bool:
    """Whether it is an attribute of ``self``, or of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report them where no file seeds a space."""
    if any(one["seeds"] for one in facts.values()):
        return
    for path, one in facts.items():
        for each in one["samples"]:
            yield path, Violation.from_json(each)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Seed the space once after the environment is made: env.action_space.seed(seed).",
        __doc__ or "",
    ),
    methods=("draws",),
    look=look,
    gather=gather,
    conclude=conclude,
)
