"""A generator of random numbers is made without a seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.absence import is_lazy
from twice.checker.rules.roles import own_attribute
from twice.checker.rules.seeding import is_set_later, is_unseeded
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.uses.words import GENERATOR, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unseeded-generator"
_FROM_ENTROPY = {"numpy.random.seed", "random.seed"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made."""
    if not is_unseeded(site) or is_lazy(site) or is_set_later(site) or _is_never_read(site):
        return
    if _attribute(site):
        return  # conclude() says it.
    if site.catalogue.has("seeding", site.called):
        if site.called not in _FROM_ENTROPY:
            return
        yield site.found(
            NAME,
            f"{site.called}() is called without a seed.",
            "The process-wide stream then starts from the system's entropy.",
        )
        return
    yield _found(site)


def _found(site: Site) -> Violation:
    return site.found(
        NAME,
        f"{site.called}() is made without a seed.",
        "It starts from the system's entropy, so no second run has the same numbers.",
    )


def gather(module: Module) -> dict[str, Any] | None:
    """Give the generators that become attributes, and the attributes of other objects that are set."""
    kept = []
    for node, scope, called in module.calls:
        if module.catalogue.has("generators", called):
            site = module.site(node, scope)
            name = _attribute(site)
            if name and is_unseeded(site) and not is_lazy(site) and not is_set_later(site):
                kept.append({"attribute": name, "found": _found(site).to_json()})
    replaced = {
        target.attr
        for node, _ in module.survey.nodes.get(ast.Assign, ())
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Attribute)
        and about(target.attr, GENERATOR)
        and not (isinstance(target.value, ast.Name) and target.value.id == "self")
    }
    return {"kept": kept, "replaced": sorted(replaced)} if kept or replaced else None


def conclude(facts: Mapping[str, Any]) -> Iterator[tuple[str, Violation]]:
    """Report the attributes; with doubt where the project puts another generator in such a place."""
    replaced = {name for one in facts.values() for name in one["replaced"]}
    for path, one in facts.items():
        for each in one["kept"]:
            found = Violation.from_json(each["found"])
            if each["attribute"] in replaced:
                found = replace(found, reach=Reach.UNSEEN, confidence=0.5)
            yield path, found


def _attribute(site: Site) -> str:
    """Give the attribute of ``self`` that is set to a generator; "" when it is none."""
    parent = site.module.survey.parents.get(site.node)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    return "" if target is None else own_attribute(target)


def _is_never_read(site: Site) -> bool:
    """Whether it is the default of a parameter that the function never reads."""
    module = site.module
    arguments = module.survey.parents.get(site.node)
    if not isinstance(arguments, ast.arguments) or not module.follows:
        return False
    inner = next((each for each in site.scope.inner if _takes(each.node, arguments)), None)
    places = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(places[len(places) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    return inner is not None and any(
        default is site.node and not module.loads.of(argument.arg, inner)
        for argument, default in pairs
    )


def _takes(function: ast.AST, arguments: ast.arguments) -> bool:
    return getattr(function, "args", None) is arguments


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Give it a seed that comes from the run's own: run.rng(name), or SeedSequence.spawn.",
        __doc__ or "",
    ),
    calls=("generators", "seeding", "seeding-from-entropy"),
    look=look,
    gather=gather,
    conclude=conclude,
)
