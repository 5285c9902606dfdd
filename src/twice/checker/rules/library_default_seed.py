"""A library's function draws at random, and its seed is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Reach, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_none
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "library-default-seed"
_ESTIMATORS: Final = frozenset({"base_estimator", "estimator", "final_estimator"})
_ENSEMBLES: Final = ("Classifier", "Regressor")


def look(site: Site) -> Iterator[Violation]:
    """Look at a call that draws unless it is told from what."""
    called = site.called
    assert called is not None, "names are asked for"
    takes, _, condition = site.catalogue.names("draws-by-default")[called].partition(" when ")
    given = [site.keyword(each) for each in takes.split()]
    if site.has_star or any(each is not None and not is_none(each) for each in given):
        return
    if condition and not _is_true(site.keyword(condition)):
        return
    if called.endswith("train_test_split") and _is_false(site.keyword("shuffle")):
        return
    yield site.found(
        NAME,
        f"{called}() draws at random, and {takes.split()[0]} is left out.",
        "It then draws from a process-wide stream or from the system's entropy.",
        reach=Reach.UNSEEN if _is_a_part(site) else Reach.LOUD,
    )


def _is_a_part(site: Site) -> bool:
    """Whether it is made for an ensemble, which gives each of its estimators a seed of its own."""
    parent = site.module.survey.parents.get(site.node)
    if isinstance(parent, ast.keyword):
        return parent.arg in _ESTIMATORS
    return isinstance(parent, ast.Call) and (
        ast.unparse(parent.func) == "super().__init__"
        or last_name(parent.func).endswith(_ENSEMBLES)
    )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_false(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SEEDS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Pass random_state (or seed, or rng) from the run's seed.",
        __doc__ or "",
    ),
    calls=("draws-by-default",),
    look=look,
)
