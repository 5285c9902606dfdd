"""The rules about the orders of sets, which follow the hash seed of the process or addresses in memory.

Invariant: each place where a set is taken is reported by one rule: which one, its elements decide.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from twice.checker.analysis.order import leaves_ties
from twice.checker.findings import Fix, Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.rules.orders import report, weigh
from twice.checker.syntax.kind import Kind
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.reaching import is_single
from twice.checker.syntax.uses.loads import argument_place, parameter_at
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import last_name
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_TAKING: Final = (
    ast.For, ast.AsyncFor, ast.comprehension, ast.Starred, ast.Assign, ast.YieldFrom, ast.FormattedValue,
)  # fmt: skip
_METHODS: Final = {"join", "extend", "writelines", "choice", "choices", "pop", "sample"}
_NARROWED: Final = {"builtins.frozenset", "builtins.set", "builtins.tuple"}
_NUMBERS: Final = (
    "ids", "inds", "indices", "idx", "idxs", "indexes", "positions", "ints", "numbers",
)  # fmt: skip

_ANY: Final = "The order of a set follows the hash seed, or addresses in memory."
_TEXTS: Final = "The order of a set of strings follows the hash seed of the process."
_OBJECTS: Final = "The order of a set of objects follows their addresses in memory."


class _Taken(NamedTuple):
    """A set whose elements are taken in turn: where, the set, what it is, and where its order ends."""

    site: Site
    node: ast.expr
    kind: Kind
    outcome: Outcome
    words: str


@lru_cache(maxsize=1)  # Two rules ask for each file in turn.
def _collect_taken(module: Module) -> tuple[_Taken, ...]:
    """Return the sets of a file whose elements are taken in turn, in an order that is not lost."""
    found: list[_Taken] = []
    for kind in _TAKING:
        for node, scope in module.survey.nodes.get(kind, ()):
            found.extend(_iterate_taken(module.site(node, scope)))
    for call, scope, name in module.calls:
        func = call.func
        if name is not None or (isinstance(func, ast.Attribute) and func.attr in _METHODS):
            found.extend(_iterate_taken(module.site(call, scope)))
        if (name or LOCAL)[0] == LOCAL and (call.args or call.keywords):
            found.extend(_iterate_handed(module.site(call, scope)))
    return tuple(found)


def _iterate_taken(site: Site) -> Iterator[_Taken]:
    for each in _candidates(site):
        kind = site.kind(each) or _narrow(site, each)
        if (
            kind is not None
            and kind.is_ordered_by_chance
            and not _has_one(site, each)
            and not (not kind.element and _holds_numbers(site, each))
        ):
            outcome = _weigh_taken(site, each)
            if outcome is not None:
                yield _Taken(site, each, kind, outcome, "and its order is used")


def _candidates(site: Site) -> list[ast.expr]:
    node = site.node
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.Starred):
        return [node.value] if isinstance(node.ctx, ast.Load) else []
    if isinstance(node, (ast.YieldFrom, ast.FormattedValue)):
        return [node.value]
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        several = isinstance(target, (ast.Tuple, ast.List)) and len(target.elts) > 1
        return [node.value] if several else []
    assert isinstance(node, ast.Call), "no other kind is asked for"
    if isinstance(node.func, ast.Attribute):
        if node.func.attr == "pop":
            return [] if node.args else [node.func.value]
        if node.func.attr in _METHODS:
            return list(node.args[:1])
    called, catalogue = site.called, site.catalogue
    if called is None or called == "builtins.hash":
        return []  # A frozenset's hash minds no order.
    if catalogue.has("keeping-order", called) or catalogue.has("picking", called):
        return list(node.args)
    if catalogue.has("order-dependent", called) or leaves_ties(node, called):
        return list(node.args[:1])
    return []


def _narrow(site: Site, node: ast.expr) -> Kind | None:
    """Return the kind of a name that is asked for being a set: ``if isinstance(x, (tuple, set))``."""
    if isinstance(node, ast.Name) and site.module.speaks_of("isinstance"):
        for each in site.above():
            test = each.test if isinstance(each, (ast.If, ast.IfExp)) else None
            if (
                isinstance(test, ast.Call)
                and last_name(test) == "isinstance"
                and isinstance(test.args[0], ast.Name)
                and test.args[0].id == node.id
            ):
                kinds = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else test.args[1:]
                named = {site.qualified(one) for one in kinds}
                if named <= _NARROWED and named != {"builtins.tuple"}:
                    return Kind("set")
    return None


def _has_one(site: Site, node: ast.expr) -> bool:
    """Whether a set has no more than one element there."""
    if isinstance(node, ast.Call) and not node.args and last_name(node) in {"set", "frozenset"}:
        return True
    if is_single(site.module.survey, site.node, node):
        return True
    if not isinstance(node, ast.Name):
        return False
    made = site.module.names.bindings(node.id, site.scope)
    loads = site.module.loads.of(node.id, site.scope)
    parents = site.module.survey.parents
    return (
        len(made) == 1
        and _is_one(made[0].node)
        and not any(isinstance(parents.get(load), ast.Attribute) for load, _ in loads)
    )


def _is_one(node: ast.AST) -> bool:
    """Whether an expression gives one element at most: ``{x}``, ``{x} & others``."""
    if isinstance(node, ast.BinOp):
        sides = [node.left, node.right] if isinstance(node.op, ast.BitAnd) else [node.left]
        return isinstance(node.op, (ast.BitAnd, ast.Sub)) and any(map(_is_one, sides))
    return (
        isinstance(node, ast.Set)
        and len(node.elts) == 1
        and not isinstance(node.elts[0], ast.Starred)
    )


def _holds_numbers(site: Site, node: ast.expr) -> bool:
    """Whether a set of unknown elements holds whole numbers, whose order is the same in each run."""
    names = [last_name(node)]
    if isinstance(node, ast.Call) and node.args:
        names.append(last_name(node.args[0]))
    statement = site.module.survey.statement(node)
    if isinstance(statement, ast.Assign):
        names.append(last_name(statement.targets[0]))
    if any(name.lower().endswith(_NUMBERS) for name in names):
        return True
    loop = site.node
    if not isinstance(loop, (ast.For, ast.comprehension)) or not isinstance(loop.target, ast.Name):
        return False
    parents = site.module.survey.parents
    around = loop if isinstance(loop, ast.For) else parents[loop]
    return any(
        isinstance(each, ast.Name)
        and each.id == loop.target.id
        and _is_reckoned(parents[each], each)
        for each in ast.walk(around)
    )


def _is_reckoned(node: ast.AST, element: ast.Name) -> bool:
    """Whether an operation is one of numbers alone: ``x // 2``, ``1 << x``, ``x + 1``, ``range(x)``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"abs", "range", "divmod"}
    if not isinstance(node, ast.BinOp):
        return False
    other = node.right if node.left is element else node.left
    return (
        isinstance(node.op, (ast.FloorDiv, ast.LShift, ast.RShift))
        or (
            isinstance(node.op, ast.Mod) and node.left is element
        )  # On the right of a text, it is put in.
        or (isinstance(other, ast.Constant) and isinstance(other.value, int))
    )


def _weigh_taken(site: Site, node: ast.expr) -> Outcome | None:
    at, orders = site.node, site.module.orders
    if not site.module.follows:
        return Outcome(Use.UNSEEN, at)
    if isinstance(at, ast.Assign):
        return Outcome(Use.STATE, at)
    if isinstance(at, ast.Call) and isinstance(at.func, ast.Attribute):
        if at.func.attr in {"choice", "choices", "sample"}:
            return Outcome(Use.STATE, at)
        if at.func.attr == "pop":
            word = site.module.source(node)
            for around in site.above():
                if (
                    isinstance(around, ast.While)
                    and word
                    and word in site.module.source(around.test)
                ):
                    return weigh(
                        orders.looped(around, site.scope, at)
                    )  # Work that is done to its end.
            return weigh(site.ends())
    outcome = weigh(orders.follow(node, site.scope))
    is_text = isinstance(at, ast.FormattedValue)
    return None if is_text and outcome is not None and outcome.use < Use.STATE else outcome


def _iterate_handed(site: Site) -> Iterator[_Taken]:
    """Yield sets that a function of the file is called with, which does not know that they are sets."""
    call, loads = site.call, site.module.loads
    for argument in [*call.args, *(each.value for each in call.keywords)]:
        if isinstance(argument, (ast.Name, ast.Set, ast.SetComp)) or (
            isinstance(argument, ast.Call) and last_name(argument) in {"set", "frozenset"}
        ):
            kind = site.kind(argument)
            function = (
                loads.called(call, site.scope) if kind and kind.is_ordered_by_chance else None
            )
            name = (
                None if function is None else parameter_at(function, argument_place(call, argument))
            )
            if kind is None or function is None or name is None:
                continue
            bound = function.bindings.get(name, [])
            said = any(isinstance(each.node, ast.arg) and each.node.annotation for each in bound)
            outcome = None if said else weigh(site.module.orders.follow(argument, site.scope))
            # Who keeps a set as a whole knows what it was given.
            kept = () if outcome is None else (*outcome.way, outcome.node)
            if (
                outcome is not None
                and outcome.use is not Use.UNSEEN
                and not any(
                    isinstance(each, (ast.Attribute, ast.Subscript))
                    and isinstance(each.ctx, ast.Store)
                    for each in kept
                )
            ):
                words = "and a function that it is given to uses its order"
                yield _Taken(site, argument, kind, outcome, words)


def _report_taken(site: Site, *, objects: bool) -> Iterator[Violation]:
    """Report the sets of objects, or all others."""
    for each in _collect_taken(site.module):
        if (each.kind.element == "object") is objects:
            what, why, node, words = "a set", _ANY, each.node, each.words
            if objects:
                # Objects have no order to be sorted by: it is mended where they are collected.
                what, why, node = "a set of objects", _OBJECTS, _find_made(each)
                words += "" if node is each.node else f" in line {each.node.lineno}"
            elif each.kind.element in {"str", "bytes"}:
                why = _TEXTS
            message = f"{site.module.shown(each.node)} is {what}, {words}."
            here = Site(site.module, each.site.node, each.site.scope, site.rule)
            fix = None if objects else _offer_sort(each)
            yield from report(here, each.outcome, message, why, node=node, fix=fix)


def _find_made(each: _Taken) -> ast.expr:
    """Return where a set is made, if it has a name and one value, else where it is taken."""
    name = each.node.id if isinstance(each.node, ast.Name) else ""
    bound = each.site.module.names.bindings(name, each.site.scope)
    value = bound[0].node if len(bound) == 1 and bound[0].kind == "assign" else each.node
    return value if isinstance(value, ast.expr) and not isinstance(value, ast.Name) else each.node


def _offer_sort(each: _Taken) -> Fix | None:
    """Return the fix that sorts a set of strings where it is taken."""
    node = each.site.node
    if each.kind.element != "str" or isinstance(node, ast.Assign) or "function" in each.words:
        return None
    if last_name(node) == "pop" or not each.site.has_builtin("sorted"):
        return None
    # None among the strings, which is not seen, has no place in an order.
    return Fix("Sort the set", safe=False, edits=each.site.wrapped(each.node, "sorted(", ")"))


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Sort it, or build a dict in its place: dict.fromkeys(items) keeps the order of insertion.",
    nodes=(ast.Module,),
    applies=lambda module: module.has_sets,
)
def set_order(site: Site) -> Iterator[Violation]:
    """The order of a set decides something."""
    yield from _report_taken(site, objects=False)


@rule(
    Channel.CONCURRENCY,
    Breaks.LOGICAL,
    Severity.HIGH,
    "Keep the objects in a list or a dict, or sort them by a number or name of their own.",
    nodes=(ast.Module,),
    applies=lambda module: module.has_sets,
)
def object_set_order(site: Site) -> Iterator[Violation]:
    """The order of a set of objects decides something."""
    yield from _report_taken(site, objects=True)
