"""A library's function seeds the stream that the whole process shares."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.seeding import is_entry
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import SEED, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "global-reseed"


def look(site: Site) -> Iterator[Violation]:
    """Look at a call that seeds a process-wide stream."""
    function = site.scope.method
    if function is None or about(function.name, SEED):
        return
    if is_entry(site) and not _is_in_ticks(site):
        return
    yield site.found(
        NAME,
        f"{function.name} seeds the process-wide stream by {site.called}().",
        "Everybody else in the process draws from that stream, and starts again with it.",
    )


def _is_in_ticks(site: Site) -> bool:
    """Whether a site is in the loop of a run's ticks: ``for tick in run.ticks(10)``."""
    for each in site.above():
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return False
        if isinstance(each, ast.For) and isinstance(each.iter, ast.Call):
            called = each.iter.func
            if isinstance(called, ast.Attribute) and called.attr == "ticks":
                return True
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.LOW,
        "Make a generator of its own from the seed, and draw from that.",
        __doc__ or "",
    ),
    calls=("seeding",),
    look=look,
)
