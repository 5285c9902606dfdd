"""Threads append to one list, and its order is used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.threads import calls_in, is_within, parameter_values, started
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import COMPREHENSIONS, Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "thread-append"
_FAILURES = frozenset({"error", "errors", "exc", "exception", "exceptions", "failure", "failures"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)
_APPENDING = {"append", "extend", "appendleft"}


def look(site: Site) -> Iterator[Violation]:
    """Look at work that is given to a thread."""
    start = started(site)
    if start is None or not start.several:
        return
    module = site.module
    function = module.loads.callee(start.work, site.scope)
    if function is None:
        return
    given = parameter_values(start, function)
    for call, scope in calls_in(module, function):
        func = call.func
        if not isinstance(func, ast.Attribute) or func.attr not in _APPENDING:
            continue
        if about(last_name(func.value), _FAILURES):
            continue  # Whether there is any is what is asked.
        ends = list(_ends(site, func.value, scope, function, given))
        outcome = gravest(ends, Outcome(Use.ERASED, call))
        if outcome.use in {Use.ERASED, Use.DROPPED}:
            continue
        yield module.site(call, scope).found(
            NAME,
            f"{module.shown(func.value)} is appended to by several threads.",
            f"Which of those started in line {site.call.lineno} is done first depends on the load of "
            "the machine.",
            outcome=outcome,
            confidence=0.85,
        )


def _ends(
    site: Site, base: ast.expr, scope: Scope, function: Scope, given: dict[str, ast.expr]
) -> Iterator[Outcome]:
    """Where the order of a list ends that threads append to."""
    module = site.module
    if isinstance(base, ast.Name):
        holder = module.names.holder(base.id, scope)
        if holder is None:
            return
        if is_within(holder, function):
            one = given.get(base.id)
            if holder is not function or not isinstance(one, ast.Name) or _is_fresh(site, one):
                return
            name, where = one.id, site.scope
        elif _is_fresh(site, base):
            return
        else:
            name, where = base.id, holder
        loads: list[tuple[ast.expr, Scope]] = list(module.loads.of(name, where))
    elif (
        isinstance(base, ast.Attribute)
        and isinstance(base.value, ast.Name)
        and base.value.id == "self"
        and function.owner is not None
    ):
        loads = list(module.loads.of_attribute(base.attr, function.owner))
    else:
        return
    if any(module.loads.is_sorted(load, inner) for load, inner in loads):
        return
    for load, inner in loads:
        if not is_within(inner, function):
            yield from module.orders.follow(load, inner)


def _is_fresh(site: Site, given: ast.Name) -> bool:
    """Whether each thread is given a list of its own, made in the loop that starts it."""
    loops = [each for each in site.above() if isinstance(each, _LOOPS)]
    inside = set() if not loops else {id(each) for each in ast.walk(loops[0])}
    assigned = site.module.names.bindings(given.id, site.scope)
    return any(each.kind == "assign" and id(each.node) in inside for each in assigned)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Return the results and take them in the order of submission, or put each at its own index.",
        __doc__ or "",
    ),
    calls=("thread",),
    methods=("handing-to-threads",),
    look=look,
)
