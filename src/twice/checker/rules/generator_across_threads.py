"""One generator of random numbers is drawn from by several threads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.threads import Started, calls_in, is_within, parameter_values, started
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "generator-across-threads"


def look(site: Site) -> Iterator[Violation]:
    """Look at work that is given to a thread."""
    start = started(site)
    if start is None or not start.several:
        return
    drawn = _drawn(site, start)
    if drawn is None:
        return
    yield site.found(
        NAME,
        f"{site.module.shown(start.work) or 'The function'} is run by several threads and draws from "
        f"{drawn}, which they share.",
        "Which thread draws next is a race, so each gets other numbers in another run.",
        confidence=0.85,
    )


def _drawn(site: Site, start: Started) -> str | None:
    """Name the shared generator in words, or return None."""
    module, work = site.module, start.work
    if isinstance(work, ast.Attribute):
        kind = site.kind(work.value)
        if kind is not None and kind.is_generator:
            return module.shown(work.value)
    if isinstance(work, (ast.Name, ast.Attribute)):
        name = site.qualified(work)
        if site.catalogue.has("global-draws", name):
            return f"the process-wide stream of {(name or '').rpartition('.')[0]}"
    function = module.loads.callee(work, site.scope)
    if function is None:
        return None
    given = parameter_values(start, function)
    for call, scope in calls_in(module, function):
        if not isinstance(call.func, (ast.Attribute, ast.Name)):
            continue
        name = module.names.qualified(call.func, scope)
        if module.catalogue.has("global-draws", name):
            return f"the process-wide stream of {(name or '').rpartition('.')[0]}"
        if isinstance(call.func, ast.Attribute) and _is_shared(
            site, call.func.value, scope, function, given
        ):
            return module.shown(call.func.value)
    return None


def _is_shared(
    site: Site, base: ast.expr, scope: Scope, function: Scope, given: dict[str, ast.expr]
) -> bool:
    """Whether a generator in a function comes from outside of it."""
    module = site.module
    if isinstance(base, ast.Name):
        holder = module.names.holder(base.id, scope)
        if holder is None:
            return False
        if is_within(holder, function):
            one = given.get(base.id)
            kind = None if one is None or holder is not function else site.kind(one)
            return kind is not None and kind.is_generator and isinstance(one, ast.Name)
    elif not (
        isinstance(base, ast.Attribute)
        and isinstance(base.value, ast.Name)
        and base.value.id == "self"
        and function.owner is not None
    ):
        return False
    kind = module.kinds.of(base, scope)
    return kind is not None and kind.is_generator


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Spawn a generator for each task from the run's seed: SeedSequence.spawn, or run.rng(name, number).",
        __doc__ or "",
    ),
    calls=("thread",),
    methods=("handing-to-threads",),
    look=look,
)
