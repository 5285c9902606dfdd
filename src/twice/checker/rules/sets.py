"""Where the elements of a set are taken one by one: shared by the rules about the order of sets.

Invariant: each place where a set is taken is reported by one rule: which one, its elements decide.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from twice.checker.findings import Fix
from twice.checker.syntax.kind import Kind
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.reaching import is_single
from twice.checker.syntax.survey import Binding
from twice.checker.syntax.uses.loads import argument_place, parameter_at
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.ties import CHOOSING, SORTING, leaves_ties
from twice.checker.syntax.uses.words import last_name

_TAKING: Final = (
    ast.For, ast.AsyncFor, ast.comprehension, ast.Starred, ast.Assign, ast.YieldFrom, ast.FormattedValue,
)  # fmt: skip
_METHODS: Final = {"join", "extend", "writelines", "choice", "choices", "sample"}


@dataclass(frozen=True, slots=True)
class Taken:
    """A set whose elements are taken in turn.

    Args:
        site: where they are taken.
        node: the set.
        kind: what it is.
        outcome: where its order ends.
        is_handed: whether it is given to a function of the file that does not know that it is a set.
    """

    site: Site
    node: ast.expr
    kind: Kind
    outcome: Outcome
    is_handed: bool = False

    @property
    def words(self) -> str:
        """How its order comes to be used, as the end of a sentence."""
        if self.is_handed:
            return "and a function that it is given to uses its order"
        return "and its order is used"


def has_sets(module: Module) -> bool:
    """Say whether a file speaks of sets at all."""
    return module.has_sets


@lru_cache(maxsize=1)  # Two rules ask for each file in turn.
def taken(module: Module) -> tuple[Taken, ...]:
    """Give the sets of a file whose elements are taken in turn, and not in an order that is lost."""
    found: list[Taken] = []
    for kind in _TAKING:
        for node, scope in module.survey.nodes.get(kind, ()):
            found.extend(_taken(module.site(node, scope)))
    for call, scope, name in module.calls:
        if _may_take(module, call, name):
            found.extend(_taken(module.site(call, scope)))
        if _is_own(call, name):
            found.extend(_handed(module.site(call, scope)))
    return tuple(found)


def _may_take(module: Module, call: ast.Call, name: str | None) -> bool:
    """Whether a call is one of those that take elements one by one."""
    func = call.func
    if isinstance(func, ast.Attribute) and (func.attr == "pop" or func.attr in _METHODS):
        return True
    catalogue = module.catalogue
    return name is not None and (
        catalogue.has("keeping-order", name)
        or catalogue.has("picking", name)
        or catalogue.has("order-dependent", name)
        or (name in CHOOSING | SORTING and leaves_ties(call))
    )


def _is_own(call: ast.Call, name: str | None) -> bool:
    """Whether a call calls a function of the file, or a method of its own object."""
    func = call.func
    if isinstance(func, ast.Attribute):
        return isinstance(func.value, ast.Name) and func.value.id in {"self", "cls"}
    return name is not None and name[0] == LOCAL


def _taken(site: Site) -> Iterator[Taken]:
    for each in _candidates(site):
        kind = site.kind(each)
        if (
            kind is not None
            and kind.is_ordered_by_chance
            and not (
                _is_empty(each)
                or is_single(site.module.survey, site.node, each)
                or _is_one(site, each)
                or (not kind.element and _holds_numbers(site, each))
            )
        ):
            outcome = _outcome(site, each)
            if outcome.use is not Use.ERASED:
                yield Taken(site, each, kind, outcome)


def _is_empty(each: ast.expr) -> bool:
    return isinstance(each, ast.Call) and not each.args and last_name(each) in {"set", "frozenset"}


def _is_one(site: Site, each: ast.expr) -> bool:
    """Whether a set is made with one element, and nothing is seen to join it."""
    if not isinstance(each, ast.Name):
        return False
    bound = site.module.names.bindings(each.id, site.scope)
    made = bound[0].node if len(bound) == 1 and bound[0].kind == "assign" else None
    if isinstance(made, ast.BinOp) and isinstance(made.op, (ast.BitAnd, ast.Sub)):
        sides = [made.left, made.right] if isinstance(made.op, ast.BitAnd) else [made.left]
        made = next((each for each in sides if isinstance(each, ast.Set)), None)
    if isinstance(made, ast.Call) and len(made.args) == 1 and site.kind(made) is not None:
        made = made.args[0]
    if not isinstance(made, (ast.Set, ast.List, ast.Tuple)) or len(made.elts) != 1:
        return False
    around = [
        site.module.survey.parents.get(load)
        for load, _ in site.module.loads.of(each.id, site.scope)
    ]
    return not any(isinstance(one, ast.Attribute) for one in around)


def _candidates(site: Site) -> list[ast.expr]:
    node = site.node
    if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
        return [node.iter]
    if isinstance(node, ast.Starred):
        return [node.value] if isinstance(node.ctx, ast.Load) else []
    if isinstance(node, (ast.YieldFrom, ast.FormattedValue)):
        return [node.value]
    if isinstance(node, ast.Assign):
        one = node.targets[0]
        return [node.value] if isinstance(one, (ast.Tuple, ast.List)) else []
    return _of_call(site, node) if isinstance(node, ast.Call) else []


def _of_call(site: Site, node: ast.Call) -> list[ast.expr]:
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr == "pop" and not node.args:
            return [func.value]
        if func.attr in _METHODS:
            return list(node.args[:1])
    qualified = site.called
    catalogue = site.catalogue
    if qualified is None:
        return []
    if qualified == "builtins.hash":
        return []  # A frozenset's hash minds no order.
    if catalogue.has("keeping-order", qualified) or catalogue.has("picking", qualified):
        return list(node.args)
    if catalogue.has("order-dependent", qualified) or (
        qualified in CHOOSING | SORTING and leaves_ties(node)
    ):
        return list(node.args[:1])
    return []


def _outcome(site: Site, each: ast.expr) -> Outcome:
    node = site.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "pop":
            return _popped(site, node)
        if node.func.attr in {"choice", "choices", "sample"}:
            return Outcome(Use.STATE, node)
    if isinstance(node, ast.Assign):
        single = len(getattr(node.targets[0], "elts", ())) == 1
        return Outcome(Use.ERASED if single else Use.STATE, node)
    outcome = site.order(each)
    if isinstance(node, ast.FormattedValue) and outcome.use < Use.STATE:
        return Outcome(Use.ERASED, node)
    return outcome


def _popped(site: Site, node: ast.Call) -> Outcome:
    """Classify a popped element: the only one, or one of a heap of work that is done to the end."""
    assert isinstance(node.func, ast.Attribute), "looked at before"
    word = site.module.source(node.func.value)
    for around in site.above():
        if isinstance(around, ast.While) and word and word in site.module.source(around.test):
            ends = site.module.orders.worked(node, site.scope, around)
            return gravest(ends, Outcome(Use.UNSEEN, node))
    return site.value()


_PLACES: Final = (
    "ids",
    "inds",
    "indices",
    "idx",
    "idxs",
    "indexes",
    "positions",
    "ints",
    "numbers",
)


def _holds_numbers(site: Site, each: ast.expr) -> bool:
    """Whether names say that a set holds places in an array: whole numbers, whose order is the same."""
    names = [last_name(each)]
    if isinstance(each, ast.Call) and each.args and isinstance(each.args[0], ast.Name):
        names.append(each.args[0].id)
    statement = site.module.survey.statement(each)
    if isinstance(statement, ast.Assign):
        names.append(last_name(statement.targets[0]))
    return any(name.lower().endswith(_PLACES) for name in names) or _is_reckoned(site)


def _is_reckoned(site: Site) -> bool:
    """Whether elements are counted with where they are taken: only numbers can be."""
    node = site.node
    if not isinstance(node, (ast.For, ast.comprehension)) or not isinstance(node.target, ast.Name):
        return False
    parents = site.module.survey.parents
    around = node if isinstance(node, ast.For) else parents[node]
    return any(
        isinstance(each, ast.Name) and each.id == node.target.id and _reckons(parents[each], each)
        for each in ast.walk(around)
    )


def _reckons(node: ast.AST, element: ast.Name) -> bool:
    """Whether an operation is one of numbers alone: ``x // 2``, ``n % x``, ``1 << x``, ``abs(x)``."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in {"abs", "range", "divmod"}
    if not isinstance(node, ast.BinOp):
        return False
    other = node.right if node.left is element else node.left
    if isinstance(node.op, (ast.FloorDiv, ast.LShift, ast.RShift)):
        return True
    if isinstance(node.op, ast.Mod):
        return node.left is element  # On the right, it may go into a text.
    return (
        isinstance(node.op, (ast.Add, ast.Sub))
        and isinstance(other, ast.Constant)
        and isinstance(other.value, int)
    )


def _handed(site: Site) -> Iterator[Taken]:
    """Give sets that a function of the file is called with, which does not know that they are sets."""
    call = site.call
    for argument in [*call.args, *(each.value for each in call.keywords)]:
        if not isinstance(argument, (ast.Name, ast.Set, ast.SetComp, ast.Call)):
            continue
        if isinstance(argument, ast.Call) and last_name(argument) not in {"set", "frozenset"}:
            continue
        kind = site.kind(argument)
        if kind is None or not kind.is_ordered_by_chance:
            continue
        function = site.module.loads.called(call, site.scope)
        if function is None:
            break
        name = parameter_at(function, argument_place(call, argument))
        parameters = function.bindings.get(name or "", [])
        if not parameters or not _is_unsaid(parameters):
            continue
        outcome = site.order(argument)
        if any(_is_kept(each) for each in (*outcome.way, outcome.node)):
            continue  # Who keeps it knows what it was given.
        if outcome.use > Use.UNSEEN or (
            outcome.use is Use.UNSEEN and not isinstance(outcome.node, ast.Call)
        ):
            yield Taken(site, argument, kind, outcome, is_handed=True)


def _is_kept(node: ast.AST) -> bool:
    """Whether a set is put into an attribute or an entry as a whole."""
    return isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store)


def _is_unsaid(parameters: list[Binding]) -> bool:
    """Whether a parameter's annotation says nothing of a set."""
    for each in parameters:
        if isinstance(each.node, ast.arg):
            said = "" if each.node.annotation is None else ast.unparse(each.node.annotation)
            return "et[" not in said and said not in {"set", "frozenset", "Set"}
    return False


def sorting(each: Taken) -> Fix | None:
    """Give the fix that sorts a set of strings where it is taken."""
    node = each.site.node
    if each.is_handed or each.kind.element != "str" or isinstance(node, ast.Assign):
        return None
    if isinstance(node, ast.Call) and last_name(node.func) == "pop":
        return None
    if not each.site.has_builtin("sorted"):
        return None
    # None among the strings, which is not seen, has no place in an order.
    return Fix("Sort the set", safe=False, edits=each.site.wrapped(each.node, "sorted(", ")"))
