"""A generator is seeded with an integer that was drawn from another one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_generator, is_global_draw, is_named_seed
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Use
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "child-seed-from-draw"


def look(site: Site) -> Iterator[Violation]:
    """Look at an integer that is drawn."""
    func = site.call.func
    if not isinstance(func, ast.Attribute):
        return
    if func.attr == "random_":
        parent, words = site.keyword("generator"), "torch's process-wide stream"
        if parent is not None:
            words = site.module.shown(parent)
    else:
        parent, words = _parent(func.value), site.module.shown(func.value)
        if is_global_draw(site, site.call) or not is_generator(site, parent):
            return  # Rules about process-wide streams say the former.
    outcome = site.value()
    if outcome.use is not Use.SEED and not (is_named_seed(site) and outcome.use >= Use.UNSEEN):
        return
    yield site.found(
        NAME,
        f"A seed is an integer that {func.attr}() draws from {words}.",
        "The child's numbers depend on how many draws its parent had made before.",
        outcome=outcome if outcome.use is Use.SEED else None,
    )


def _parent(node: ast.expr) -> ast.expr:
    """Give the generator itself for ``rng.bit_generator``."""
    if isinstance(node, ast.Attribute) and node.attr in {"bit_generator", "_bit_generator"}:
        return node.value
    return node


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Derive it by name or spawn it: run.rng(name), SeedSequence.spawn, Generator.spawn, fold_in.",
        __doc__ or "",
    ),
    methods=("draws-integer",),
    look=look,
)
