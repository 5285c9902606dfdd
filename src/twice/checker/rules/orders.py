"""The rules about orders that are taken over: of a folder, of times of files, of a dict that was filled in one.

Invariant: of an order that is lost, or that only people see, nothing is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from twice.checker.findings import Fix, Violation
from twice.checker.rule import Breaks, mentions
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import about, last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_PASSING: Final = frozenset({"enumerate", "list", "reversed", "track", "tqdm", "tuple"})
_GOING_THROUGH: Final = frozenset({"enumerate", "iter", "islice", "list", "next", "tuple", "zip"})
_TABLES: Final = frozenset(
    {"json.dump", "json.dumps", "pandas.DataFrame", "pandas.Series", "yaml.dump"}
)
_WALKS: Final = {"walk", "fwalk"}
_SET: Final = "a set"
_WHOLE: Final = {"builtins.list", "builtins.tuple", "builtins.enumerate"}
_FOLDERS: Final = frozenset({"dir", "directory", "folder", "path", "root"})
_TIMES: Final = frozenset(
    ["getmtime", "getctime", "getatime", "st_mtime", "st_ctime", "st_atime", "st_mtime_ns", "st_ctime_ns"]
)  # fmt: skip
_CLEANS: Final = frozenset(
    ["clean", "cleanup", "clear", "delete", "evict", "expire", "old", "oldest", "prune", "purge", "remove",
     "rotate", "show", "stale", "trim", "watch"]
)  # fmt: skip


def weigh(ends: Iterable[Outcome], *, races: bool = False) -> Outcome | None:
    """Give the gravest end of an order, or None where it is lost or only shown.

    What is added up is a matter of ``order-dependent-sum``, except where workers race.
    """
    found = [
        each for each in ends if each.use >= Use.UNSEEN and (races or each.use is not Use.ADDED)
    ]
    return gravest(found, found[0]) if found else None


def report(
    site: Site, outcome: Outcome | None, message: str, why: str, **more: Any
) -> Iterator[Violation]:
    """Yield a finding of an order that ends somewhere; of code that was not followed, an unsure one."""
    if outcome is not None:
        if outcome.use is Use.UNSEEN:
            more["confidence"] = 0.5
        yield site.violation(message, why, outcome=outcome, **more)


@rule(
    Channel.CONCURRENCY,
    Breaks.BIT_EXACT,
    Severity.HIGH,
    "Sort what is listed: sorted(os.listdir(folder)), sorted(path.iterdir()).",
    calls=("listing",),
    methods=("listing",),
)
def unsorted_listing(site: Site) -> Iterator[Violation]:
    """The names in a folder are used in the order in which the file system gives them."""
    word = last_name(site.call.func)
    if not (site.catalogue.has("listing", site.called) or _lists_path(site)) or _has_an_order(site):
        return
    order: ast.AST | None = site.node
    message = f"{word}() gives names in the file system's order."
    if word in _WALKS:
        message = f"{word}() goes through folders and their names in the file system's order."
        order = _find_walked(site)
    outcome = None if order is None else weigh(site.module.orders.follow(order, site.scope))
    if word not in _WALKS or (outcome is not None and outcome.use is not Use.UNSEEN):
        why = "Another machine or a copied folder lists the same files in another order."
        yield from report(site, outcome, message, why, fix=_offer_sorted(site))


def _lists_path(site: Site) -> bool:
    """Whether a method of this name lists a folder: its object is a path, or is called one."""
    func = site.call.func
    if not isinstance(func, ast.Attribute) or func.attr == "listdir":
        return False
    kind = site.kind(func.value)
    if kind is not None or func.attr == "walk":
        return kind is not None and kind.name == "path"
    pattern = site.call.args[0] if len(site.call.args) == 1 else None
    has_pattern = isinstance(pattern, ast.Constant) and "*" in str(pattern.value)
    return func.attr != "glob" or (about(last_name(func.value), _FOLDERS) and has_pattern)


def _has_an_order(site: Site) -> bool:
    """Whether ``glob`` is given a name without a pattern, or what is listed has an order."""
    given: ast.AST | None = site.argument(0, "pathname")
    if given is not None and "/proc/" in site.module.source(given):
        return True  # The kernel lists by number.
    if isinstance(given, ast.Name):
        bound = site.module.names.bindings(given.id, site.scope)
        given = bound[0].node if len(bound) == 1 else None
    return (
        (site.called or "").startswith("glob.")
        and isinstance(given, ast.Constant)
        and not any(sign in str(given.value) for sign in "*?[")
    )


def _find_walked(site: Site) -> ast.AST | None:
    """Return what has the order of a walk through folders: a loop's, or the first names alone."""
    parents = site.module.survey.parents
    around = parents.get(site.node)
    if isinstance(around, ast.Call) and last_name(around) == "next":
        picked = parents.get(around)
        return picked if isinstance(picked, ast.Subscript) else None
    if isinstance(around, (ast.For, ast.AsyncFor)) and isinstance(around.target, ast.Tuple):
        names = {last_name(each) for each in around.target.elts[1:2]}
        for each in ast.walk(around):  # ``folders.sort()``, ``folders[:] = sorted(kept)``
            call = each.value if isinstance(each, ast.Assign) else each
            if (
                isinstance(call, ast.Call)
                and last_name(call) in {"sort", "sorted"}
                and any(isinstance(one, ast.Name) and one.id in names for one in ast.walk(each))
            ):
                return None
        return site.node
    return site.node if isinstance(around, (ast.For, ast.comprehension)) else None


def _offer_sorted(site: Site) -> Fix | None:
    """Return a fix where a list is given, or where nothing but a loop or a builtin sees the iterator."""
    word, called = last_name(site.call.func), site.called or ""
    parent = site.module.survey.parents.get(site.node)
    at_once = isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is site.node
    if isinstance(parent, ast.Call):
        at_once = site.qualified(parent.func) in _WHOLE
    if word in {*_WALKS, "scandir"} or not site.has_builtin("sorted"):
        return None
    if called not in {"os.listdir", "glob.glob"} and not at_once:
        return None
    known = called.startswith(("os.", "glob.", "pathlib."))
    if not known and isinstance(site.call.func, ast.Attribute):
        kind = site.kind(site.call.func.value)
        known = kind is not None and kind.name == "path"
    safe = known and not site.module.survey.stars  # A star may bring a ``sorted``.
    return Fix("Sort what is listed", safe=safe, edits=site.wrapped(site.node, "sorted(", ")"))


@rule(
    Channel.EFFECTS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Sort by a number or a time that is in the name or the contents.",
    nodes=(ast.keyword,),
    applies=mentions("mtime", "ctime", "atime"),
    suits=lambda node, _: node.arg == "key",
)
def modification_time_order(site: Site) -> Iterator[Violation]:
    """Files are chosen or ordered by the time at which they were changed."""
    keyword, module = site.node, site.module
    call = module.survey.parents[keyword]
    assert isinstance(keyword, ast.keyword), "keywords are asked for"
    if not isinstance(call, ast.Call) or not any(
        isinstance(each, (ast.Attribute, ast.Name)) and last_name(each) in _TIMES
        for each in ast.walk(keyword.value)
    ):
        return
    word = last_name(call)
    function = site.scope.method
    if function is not None and about(function.name, _CLEANS):
        return
    outcome: Outcome | None = None
    if word == "sort" or (
        word in {"max", "min"}
        and isinstance(module.survey.parents.get(call), (ast.Call, ast.Return))
    ):
        outcome = Outcome(Use.STATE, call)
    elif word in {"max", "min"}:
        outcome = weigh(site.ends(call))
    elif word in {"sorted", "nlargest", "nsmallest"}:
        outcome = weigh(module.orders.follow(call, site.scope))
    kind = "choice" if word in {"max", "min"} else "order"
    message = f"The {kind} of files goes by when they were changed."
    why = "A copied folder, or two writes at one time, give another order"
    yield from report(site, outcome, message, why, node=call, confidence=0.85)


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Fill it in a sorted order, or sort where it is gone through or written.",
    calls=("from-keys",),
    nodes=(ast.For, ast.AsyncFor, ast.DictComp),
)
def set_built_dict(site: Site) -> Iterator[Violation]:
    """A dict remembers the order of a set, a folder or a race, and goes on to use it."""
    node = site.node
    source = node.iter if isinstance(node, (ast.For, ast.AsyncFor)) else None
    filled: list[tuple[ast.AST, Iterable[tuple[ast.AST, Scope]]]] = [(node, [(node, site.scope)])]
    if isinstance(node, (ast.For, ast.AsyncFor)):
        filled = [
            (each, [*_iterate_reads(site, each.value, node)])
            for each in _iterate_puts(node.body)
            if not isinstance(each.slice, ast.Constant)
            and (kind := site.kind(each.value)) is not None
            and kind.name == "dict"
        ]
    elif isinstance(node, ast.DictComp):
        source = node.generators[0].iter
    elif site.call.args:
        source = site.call.args[0]
    words = _name_chance(site, source) if source is not None and filled else None
    for target, reads in filled if words else ():
        ends = [end for load, scope in reads for end in _iterate_orders(site, load, scope)]
        # A folder's names, or what was done, are mostly keys that are looked up.
        given = (load for load, _ in reads if words == _SET and _is_returned(site, load))
        ends += [Outcome(Use.RETURNED, each) for each in given]
        outcome = weigh(ends)
        for found in report(
            site,
            outcome,
            f"The order of this dict comes from {words}, and it is used.",
            "A dict comes in the order in which it was filled.",
            node=target,
            confidence=0.85,
        ):
            is_handed_out = outcome is not None and outcome.use is Use.RETURNED
            yield replace(found, severity=Severity.MEDIUM) if is_handed_out else found


def _is_returned(site: Site, node: ast.AST) -> bool:
    """Whether a dict is handed out as it is, by its name or where it is made."""
    parent = site.module.survey.parents.get(node)
    if site.scope.name.startswith("_"):
        return False
    if isinstance(parent, ast.Assign) and isinstance(target := parent.targets[0], ast.Name):
        loads = site.module.loads.of(target.id, site.scope)
        return any(
            isinstance(site.module.survey.parents.get(load), ast.Return) for load, _ in loads
        )
    return isinstance(parent, ast.Return)


def _name_chance(site: Site, source: ast.expr, depth: int = 0) -> str | None:
    """Name in words an iterable whose order is due to chance, or return None."""
    if isinstance(source, ast.Call):
        called, word = site.qualified(source.func), last_name(source)
        if word in _PASSING and source.args:
            return _name_chance(site, source.args[0], depth)
        if site.catalogue.has("listing", called) and word not in _WALKS:
            return "a listing of files"
        if site.catalogue.has("completion-order", called) or word == "imap_unordered":
            return "what is finished first"
    elif isinstance(source, ast.ListComp) and len(source.generators) == 1:
        return _name_chance(site, source.generators[0].iter, depth)
    elif isinstance(source, ast.Name) and not depth:
        bound = site.module.names.bindings(source.id, site.scope)
        only = bound[0].node if len(bound) == 1 and bound[0].kind == "assign" else None
        if isinstance(only, (ast.Call, ast.ListComp)):
            statement = site.module.survey.statement(only)
            target = statement.targets[0] if isinstance(statement, ast.Assign) else only
            is_sorted = site.module.loads.is_sorted(target, site.scope)
            return None if is_sorted else _name_chance(site, only, depth + 1)
    kind = site.kind(source)
    return _SET if kind is not None and kind.is_ordered_by_chance else None


def _iterate_puts(statements: list[ast.stmt]) -> Iterator[ast.Subscript]:
    """Yield the targets of assignments to a key, in branches and blocks too."""
    for statement in statements:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Subscript):
                    yield target
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            yield from _iterate_puts([*statement.body, *getattr(statement, "orelse", [])])


def _iterate_reads(
    site: Site, place: ast.expr, loop: ast.For | ast.AsyncFor
) -> Iterator[tuple[ast.AST, Scope]]:
    """Yield where a dict is read: after the loop, or anywhere when it is an attribute."""
    loads = site.module.loads
    if isinstance(place, ast.Name):
        end = loop.end_lineno or loop.lineno
        yield from ((load, at) for load, at in loads.of(place.id, site.scope) if load.lineno > end)
    elif isinstance(place, ast.Attribute) and site.scope.owner is not None:
        for load, at in loads.of_attribute(place.attr, site.scope.owner):
            if isinstance(load.value, ast.Name) and load.value.id == "self":
                yield load, at


def _iterate_orders(site: Site, node: ast.AST, scope: Scope, depth: int = 0) -> Iterator[Outcome]:
    """Yield where the order of a dict ends, as far as it is used as an order."""
    module = site.module
    parent = module.survey.parents.get(node)
    if isinstance(parent, ast.Attribute) and parent.attr in {"items", "keys", "values"}:
        yield from module.orders.follow(module.survey.parents[parent], scope)
    elif isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is node:
        yield from module.orders.follow(node, scope)
    elif isinstance(parent, ast.Call):
        if last_name(parent) in _GOING_THROUGH:
            yield from module.orders.follow(node, scope)
        elif module.names.qualified(parent.func, scope) in _TABLES and parent.args[:1] == [node]:
            said = [
                module.source(each.value) for each in parent.keywords if each.arg == "sort_keys"
            ]
            usual = "True" if module.source(parent.func).startswith("yaml") else "False"
            if (said or [usual])[0] == "False":
                yield Outcome(Use.STORED, parent)
    elif isinstance(parent, ast.Assign) and parent.value is node and not depth:
        name = parent.targets[0]
        for load, where in module.loads.of(name.id, scope) if isinstance(name, ast.Name) else ():
            if load.lineno > parent.lineno:
                yield from _iterate_orders(site, load, where, depth + 1)
