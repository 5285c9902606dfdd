"""Files are chosen or ordered by the time at which they were changed.

A copy, a checkout, a restore from an archive or two writes within one tick of the file system give other times, and
then another file is the newest, or the same files come in another order.

Put a number or a time into the name or the contents, and sort by that. Nothing is said of cleaning up and of
showing.

Bad:
    import os

    def ordered(files):
        files.sort(key=os.path.getmtime, reverse=True)
        return files

or:
    import glob
    import os

    def load_latest(folder):
        return open(max(glob.glob(f"{folder}/*.pt"), key=os.path.getctime))

or:
    from pathlib import Path

    def history(folder: Path):
        return sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)

Good:
    import os

    def ordered(files):
        return sorted(files)

or:
    import os

    def prune_old(files, keep):
        for path in sorted(files, key=os.path.getmtime)[:-keep]:
            os.remove(path)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule, mentions
from twice.checking.syntax.module import Site
from twice.checking.syntax.uses.outcomes import Outcome, Use
from twice.checking.syntax.uses.words import about, last_name
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


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.EFFECTS,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Sort by a number or a time that is in the name or the contents.",
    nodes=(ast.keyword,),
    look=look,
    applies=mentions("mtime", "ctime", "atime"),
)
