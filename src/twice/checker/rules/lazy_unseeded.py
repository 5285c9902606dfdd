"""A generator is made without a seed when it is first asked for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.absence import is_lazy
from twice.checker.rules.seeding import is_none, is_unseeded
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import GENERATOR, about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "lazy-unseeded"


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made, and at a method that seeds."""
    if site.catalogue.has("generators", site.called):
        if not is_unseeded(site):
            return
    elif not _seeds_itself(site.call):
        return
    tested = is_lazy(site)
    if tested is None:
        return
    name = last_name(tested) or "It"
    if not site.catalogue.has("generators", site.called) and not about(name, GENERATOR):
        return
    yield site.found(
        NAME,
        f"{name} is made without a seed when {site.scope.name} is first asked for it.",
        "It starts from the system's entropy unless somebody happened to seed it before.",
    )


def _seeds_itself(call: ast.Call) -> bool:
    """Whether it is ``self.seed()``."""
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and isinstance(func.value, ast.Name)
        and func.value.id == "self"
        and all(is_none(each) for each in call.args)
        and not call.keywords
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Make it in the constructor from a seed that is required, or raise an error on use before seeding.",
        __doc__ or "",
    ),
    calls=("generators",),
    methods=("seeding",),
    look=look,
)
