"""A pool hands back results in the order in which its workers finish.

``imap_unordered`` gives the results of whichever worker is done first, and callbacks of ``apply_async``
run in that order. ``imap`` works just as lazily and keeps the order of the inputs.

Nothing is said where the results are put under their own key, sorted or only counted.

Bad:
    from multiprocessing import Pool

    def sweep(run, settings):
        rows = []
        with Pool(4) as pool:
            for row in pool.imap_unordered(run, settings):
                rows.extend(row)
        return rows

or:
    import multiprocessing

    def sweep(run, settings):
        rows = []
        pool = multiprocessing.Pool(4)
        for each in settings:
            pool.apply_async(run, (each,), callback=rows.append)
        pool.close()
        pool.join()
        return rows

Good:
    from multiprocessing import Pool

    def sweep(run, settings):
        with Pool(4) as pool:
            return list(pool.imap(run, settings))

or:
    from multiprocessing import Pool

    def sweep(run, settings):
        with Pool(4) as pool:
            return sorted(pool.imap_unordered(run, settings))
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checking.findings import Fix, Found
from twice.checking.rule import Breaks, Rule
from twice.checking.syntax.module import Site
from twice.checking.syntax.survey import COMPREHENSIONS
from twice.checking.syntax.uses.outcomes import Outcome, Use, gravest
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "unordered-pool"
_WHY = "Which worker is done first depends on the load of the machine."


def look(site: Site) -> Iterator[Found]:
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


def _called_back(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.CONCURRENCY,
    breaks=Breaks.LOGICAL,
    severity=Severity.HIGH,
    remedy="Use imap or map, which keep the order of the inputs.",
    methods=("unordered-pool", "calling-back"),
    look=look,
)
