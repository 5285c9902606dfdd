"""A pool hands back results in the order in which its workers finish."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Fix, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import COMPREHENSIONS
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unordered-pool"
_WHY = "Which worker is done first depends on the load of the machine."


def look(site: Site) -> Iterator[Violation]:
    """Look at a method that hands work to a pool."""
    func = site.call.func
    if not isinstance(func, ast.Attribute):
        return
    if func.attr == "apply_async":
        yield from _called_back(site)
        return
    outcome = site.order()
    if outcome.use is Use.ERASED:
        return
    fix = None
    if func.attr == "imap_unordered":
        place = site.module.place(func)
        start = place.end_column - len(func.attr)
        if start > 0:
            name = ast.Name(func.attr)
            name.lineno = name.end_lineno = place.end_line
            name.end_col_offset = func.end_col_offset or 0
            name.col_offset = name.end_col_offset - len(func.attr)
            fix = Fix("Use imap", safe=True, edits=(site.replaced(name, "imap"),))
    yield site.found(
        NAME,
        f"{func.attr}() gives results in the order in which workers finish.",
        _WHY,
        outcome=outcome,
        fix=fix,
    )


def _called_back(site: Site) -> Iterator[Violation]:
    """Find a callback that appends, for one of several calls."""
    callback = site.keyword("callback")
    if (
        not isinstance(callback, ast.Attribute)
        or callback.attr not in {"append", "extend", "appendleft"}
        or not any(isinstance(each, (ast.For, ast.While, *COMPREHENSIONS)) for each in site.above())
    ):
        return
    module = site.module
    nothing = Outcome(Use.UNSEEN, callback)
    ends: list[Outcome] = []
    if isinstance(callback.value, ast.Name):
        for load, scope in module.loads.of(callback.value.id, site.scope):
            if load is not callback.value:
                ends.extend(module.orders.follow(load, scope))
        if module.loads.is_sorted(callback.value, site.scope):
            return
    outcome = gravest(ends, nothing)
    if outcome.use is not Use.ERASED:
        yield site.found(
            NAME,
            f"{module.shown(callback)} is called back in the order in which workers finish.",
            _WHY,
            outcome=outcome,
        )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.CONCURRENCY,
        Breaks.LOGICAL,
        Severity.HIGH,
        "Use imap or map, which keep the order of the inputs.",
        __doc__ or "",
    ),
    methods=("unordered-pool", "calling-back"),
    look=look,
)
