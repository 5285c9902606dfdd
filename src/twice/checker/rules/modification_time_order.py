"""Files are chosen or ordered by the time at which they were changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "modification-time-order"
_TIMES: Final = {
    "getmtime", "getctime", "getatime", "st_mtime", "st_ctime", "st_atime", "st_mtime_ns", "st_ctime_ns",
}  # fmt: skip
_ORDERS: Final = {
    "builtins.sorted",
    "builtins.max",
    "builtins.min",
    "heapq.nlargest",
    "heapq.nsmallest",
}
_CLEANS: Final = frozenset(
    [
        "prune", "clean", "cleanup", "clear", "delete", "remove", "rotate", "purge", "evict", "expire", "gc",
        "trim", "old", "oldest", "stale", "show", "display", "print", "report", "plot", "render", "watch",
    ]
)  # fmt: skip


def look(site: Site) -> Iterator[Violation]:
    """Look at a keyword argument: the key of an order."""
    keyword = site.node
    assert isinstance(keyword, ast.keyword), "keywords are asked for"
    if keyword.arg != "key" or not _is_time(keyword.value):
        return
    call = site.module.survey.parents[keyword]
    if not isinstance(call, ast.Call):
        return
    sorts = isinstance(call.func, ast.Attribute) and call.func.attr == "sort"
    called = site.qualified(call.func)
    if not sorts and called not in _ORDERS:
        return
    function = site.scope.method
    if function is not None and about(function.name, _CLEANS):
        return
    ordered = site.module.site(call, site.scope)
    if sorts:
        outcome = Outcome(Use.STATE, call)
    elif called in {"builtins.max", "builtins.min"}:
        outcome = Outcome(Use.STATE, call) if _is_taken(site, call) else ordered.value()
    else:
        outcome = ordered.order()
    if outcome.use is Use.ERASED or outcome.use is Use.DROPPED:
        return
    yield site.found(
        NAME,
        f"{'The choice' if called in {'builtins.max', 'builtins.min'} else 'The order'} of files goes by when they were changed.",
        "A copied folder, or two writes at one time, give another order",
        node=call,
        outcome=outcome,
        confidence=0.85,
    )


def _is_taken(site: Site, call: ast.Call) -> bool:
    """Whether the chosen file is used on the spot."""
    return isinstance(site.module.survey.parents.get(call), (ast.Call, ast.Return))


def _is_time(node: ast.expr) -> bool:
    if isinstance(node, ast.Lambda):
        return any(
            isinstance(each, (ast.Attribute, ast.Name)) and last_name(each) in _TIMES
            for each in ast.walk(node.body)
        )
    return isinstance(node, (ast.Attribute, ast.Name)) and last_name(node) in _TIMES


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Sort by a number or a time that is in the name or the contents.",
        __doc__ or "",
    ),
    nodes=(ast.keyword,),
    look=look,
    applies=mentions("mtime", "ctime", "atime"),
)
