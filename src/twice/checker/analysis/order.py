"""Where an order by chance ends: of a set, of a folder's names, of what is finished first.

The burden of proof lies with the finding. An order matters where something shows it: an element is taken by its
place or numbered, elements are drawn from, joined, hashed, written, returned or kept in a sequence, or the loop
stops early. Sorting, counting, looking up and adding to a set lose it. The rest is ``UNSEEN``.

Invariant: no outcome above ``UNSEEN`` rests on what a name means.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.analysis.loop_order import LoopBody
from twice.checker.analysis.places import by_place, is_draw
from twice.checker.syntax.kind import is_none
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.reaching import is_single
from twice.checker.syntax.survey import Scope, Survey
from twice.checker.syntax.uses.following import (
    At,
    Reading,
    Trail,
    to_caller,
    to_parameter,
    to_sequence,
    to_target,
)
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.values import Values
from twice.checker.syntax.uses.words import TELEMETRY, about, last_name, tells

_SENTENCE: Final = re.compile(r"(?:^|\n)\W*[A-Z][a-z]+[ :]")
_MESSAGES: Final = ("msg", "message", "messages", "reason", "hint", "warning", "error", "err")
_JOINING: Final = frozenset({"concat", "concatenate", "hstack", "stack", "vstack"})
_LOSING: Final = frozenset(
    ["count", "difference_update", "discard", "groupby", "index", "intersection_update", "isdisjoint",
     "isin", "issubset", "issuperset", "keys", "sort", "sort_index", "sort_values", "subtract",
     "symmetric_difference_update", "union", "update"]
)  # fmt: skip
_CHANGING: Final = frozenset({"append", "clear", "extend", "insert", "remove"})
_CHOOSING: Final = frozenset({"builtins.max", "builtins.min"})
_SAVING: Final = ("dump", "save", "write")
_CARRYING: Final = (ast.Await, ast.BoolOp, ast.List, ast.NamedExpr, ast.Starred, ast.Tuple)


class Orders:
    """Follows orders in one file."""

    def __init__(self, reading: Reading, values: Values) -> None:
        self.reading = reading
        self._values = values

    def follow(self, node: ast.AST, scope: Scope) -> list[Outcome]:
        """Give the ends of the order in which an expression's elements come."""
        return self._follow(At(node, scope, (node,)))

    def filled(self, container: ast.expr, scope: Scope, put: ast.AST) -> list[Outcome]:
        """Give the ends of the order in which things are put into a container, one by one."""
        return self._ends(to_sequence(self.reading, At(put, scope, (put,)), container, put))

    def looped(
        self, loop: ast.For | ast.AsyncFor | ast.While, scope: Scope, taken: ast.expr
    ) -> list[Outcome]:
        """Give the ends of the order in which a loop takes elements by an expression in its body."""
        body = LoopBody(self.reading, At(taken, scope, (taken,)), loop, None, taken)
        return self._ends(body.walk(loop.body))

    def _follow(self, at: At) -> list[Outcome]:
        return Trail(self._look, self.reading.steps, is_order=True).follow(at)

    def _ends(self, found: Iterator[At | Outcome]) -> list[Outcome]:
        return [
            end
            for each in found
            for end in ([each] if isinstance(each, Outcome) else self._follow(each))
        ]

    def _look(self, at: At) -> Iterator[At | Outcome]:
        node = at.node
        survey = self.reading.survey
        parent = survey.parents.get(node)
        if parent is None:
            return
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            yield from self._returned(at, node)
        elif isinstance(node, ast.Name) and is_single(survey, node, node):
            yield at.ends(Use.ERASED, node)
        elif isinstance(parent, ast.keyword) and isinstance(survey.parents[parent], ast.Call):
            yield from self._argument(at, survey.parents[parent])
        elif isinstance(parent, ast.Call):
            yield from self._argument(at, parent)
        elif isinstance(parent, ast.Attribute):
            yield from self._method(at, parent)
        elif isinstance(parent, (ast.For, ast.AsyncFor)):
            yield from LoopBody(self.reading, at, parent, parent.target).walk(parent.body)
            yield at.ends(Use.ERASED, parent)
        elif isinstance(parent, ast.comprehension):
            yield from self._comprehended(at, parent)
        elif isinstance(parent, ast.Subscript):
            yield from self._picked(at, parent)
        elif isinstance(parent, ast.Compare):
            # Two lists are compared place by place; a membership asks for no place.
            empty = all(isinstance(one, (ast.List, ast.Tuple)) for one in parent.comparators)
            equal = isinstance(parent.ops[0], (ast.Eq, ast.NotEq)) and not empty
            yield at.ends(Use.BRANCH if equal else Use.ERASED, parent)
        elif (
            isinstance(parent, _CARRYING)
            or (isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Mod))
            or (isinstance(parent, ast.IfExp) and parent.test is not node)
        ):
            yield at.on(parent)
        elif isinstance(parent, (ast.FormattedValue, ast.BinOp)):
            yield from self._text(parent, at)
        elif isinstance(parent, (ast.Set, ast.UnaryOp, ast.IfExp, ast.If, ast.While, ast.Assert)):
            yield at.ends(Use.ERASED, parent)
        elif isinstance(parent, (ast.Return, ast.YieldFrom)):
            yield from self._returned(at, parent)
        elif isinstance(parent, ast.Yield):
            yield at.ends(Use.RETURNED, parent)
        elif isinstance(parent, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
            for target in targets:
                yield from self._assigned(at, target)
        elif isinstance(parent, ast.withitem) and parent.optional_vars is not None:
            yield from to_target(self.reading, at, parent.optional_vars)
        else:
            yield at.ends(Use.DROPPED if isinstance(parent, ast.Expr) else Use.UNSEEN, parent)

    def _returned(self, at: At, node: ast.AST) -> Iterator[At | Outcome]:
        """Go on at the callers in the file; where none of them minds, others are not taken to."""
        found = list(to_caller(self.reading, at, node, is_value=False))
        seen = self._ends(iter([each for each in found if isinstance(each, At)]))
        yield from seen
        harmless = bool(seen) and all(each.use <= Use.ADDED for each in seen)
        for each in found:
            if isinstance(each, Outcome):
                yield replace(each, use=Use.UNSEEN) if harmless else each

    def _assigned(self, at: At, target: ast.AST) -> Iterator[At | Outcome]:
        """Go on where a name or a place is read; a later sort erases the order."""
        if isinstance(target, (ast.Tuple, ast.List)):
            only = len(target.elts) == 1 and not isinstance(target.elts[0], ast.Starred)
            yield at.ends(Use.ERASED if only else Use.STATE)
            return
        line = self.reading.loads.sorted_in(target, at.scope)
        if line:
            yield at.ends(Use.ERASED, target)
        reads = [
            each
            for each in to_target(self.reading, at, target)
            if not line or (isinstance(each, At) and getattr(each.node, "lineno", line) < line)
        ]
        yield from reads
        is_kept = isinstance(target, ast.Attribute) or at.scope.is_class
        if is_kept and not line and not last_name(target).startswith("_"):
            kind = self.reading.kinds.of(at.node, at.scope)
            statement = self.reading.survey.statement
            own = statement(target)
            ends = self._ends(iter([each for each in reads if statement(each.node) is not own]))
            if (
                kind is not None
                and kind.name in {"list", "tuple"}
                and not (ends and all(each.use < Use.UNSEEN for each in ends))
            ):
                yield at.ends(Use.STATE, target)  # Other code reads the list, too.

    def _text(self, node: ast.expr | ast.FormattedValue, at: At) -> Iterator[Outcome]:
        """Follow a text made of an order; one for people is a label unless it is written or hashed."""
        told = _is_message(self.reading.survey, node)
        for each in self._values.follow(node, at.scope):
            end = each.node
            if isinstance(end, ast.Call) and last_name(end) == "len":
                yield replace(each, use=Use.ERASED)  # An order does not change the length.
            elif (isinstance(end, ast.Call) and tells(last_name(end))) or (
                told and Use.LABEL < each.use < Use.STORED
            ):
                yield replace(each, use=Use.LABEL)
            else:
                yield each

    def _picked(self, at: At, parent: ast.Subscript) -> Iterator[At | Outcome]:
        """One element by its position, or a stretch of them."""
        if parent.value is not at.node or not isinstance(parent.ctx, ast.Load):
            return
        if isinstance(parent.slice, ast.Slice):
            yield at.on(parent)
        elif is_single(self.reading.survey, parent, parent.value):
            yield at.ends(Use.ERASED, parent)
        else:
            yield from self._values.follow(parent, at.scope)

    def _method(self, at: At, parent: ast.Attribute) -> Iterator[At | Outcome]:
        call = self.reading.survey.parents.get(parent)
        if not (isinstance(call, ast.Call) and call.func is parent):
            yield at.ends(Use.UNSEEN, parent)
        elif parent.attr in _LOSING:
            yield at.ends(Use.ERASED, call)
        elif parent.attr in {"pop", "popleft"}:
            yield from self._values.follow(call, at.scope)
        elif parent.attr in _CHANGING:
            yield at.ends(Use.DROPPED, call)
        else:
            yield at.on(call)

    def _comprehended(self, at: At, parent: ast.comprehension) -> Iterator[At | Outcome]:
        whole = self.reading.survey.parents[parent]
        partners = by_place(self.reading, at, parent.target)
        made = ast.walk(whole)
        if parent.iter is not at.node:
            yield at.ends(Use.ERASED, whole)
        elif any(is_draw(self.reading, each, at.scope) for each in made) or (
            isinstance(whole, ast.DictComp)
            and any(isinstance(each, ast.Name) and each.id in partners for each in ast.walk(whole))
        ):
            yield at.ends(Use.STATE, whole)
        elif isinstance(whole, (ast.SetComp, ast.DictComp)):
            yield at.ends(Use.ERASED, whole)
        else:
            yield at.on(whole)

    def _argument(self, at: At, call: ast.AST) -> Iterator[At | Outcome]:
        assert isinstance(call, ast.Call), "asked before"
        reading, catalogue = self.reading, self.reading.catalogue
        qualified = reading.names.qualified(call.func, at.scope)
        word = last_name(call.func)
        is_method = isinstance(call.func, ast.Attribute)
        if leaves_ties(call, qualified):
            ends = self._values.follow(call, at.scope) if qualified in _CHOOSING else [at.on(call)]
            yield from ends
        elif qualified in {"builtins.sum", "math.fsum", "statistics.mean", "statistics.fmean"}:
            whole = reading.kinds.of(at.node, at.scope)
            counted = whole is not None and whole.element in {"int", "bool"}
            yield at.ends(Use.ERASED if counted or "fsum" in qualified else Use.ADDED, call)
        elif (
            catalogue.has("erasing-order", qualified)
            or qualified == "builtins.dict.fromkeys"
            or (is_method and word in _LOSING)
            or (is_method and catalogue.has_method("erasing-order", word))
        ):
            yield at.ends(Use.ERASED, call)
        elif qualified in {"builtins.dict", "collections.OrderedDict"}:
            yield at.ends(Use.STATE if by_place(reading, at, None) else Use.ERASED, call)
        elif catalogue.has("keeping-order", qualified) or word in _JOINING:
            yield at.on(call)
        elif is_draw(reading, call, at.scope):
            yield at.ends(Use.STATE, call)
        elif qualified == "builtins.next" and self._asks_for_any(call):
            yield at.ends(Use.ERASED, call)
        elif catalogue.has("picking", qualified) or (
            qualified is None and word in {"join", "format"}
        ):
            yield from self._text(call, at)
        elif self._tells(call, qualified):
            yield at.ends(Use.TELEMETRY, call)
        elif is_method and word in {"extend", "append"}:
            assert isinstance(call.func, ast.Attribute), "asked before"
            yield from to_sequence(reading, at, call.func.value, call)
        elif catalogue.has("hashing", qualified):
            yield at.ends(Use.DIGEST, call)
        elif catalogue.has("storing", qualified) or (is_method and word.startswith(_SAVING)):
            yield at.ends(Use.STORED, call)
        elif word.endswith(("Error", "Exception", "Warning")):
            yield at.ends(Use.LABEL, call)
        elif qualified is not None and qualified[0] != LOCAL and word[:1].isupper():
            yield at.ends(Use.STATE, call)  # An object of a library keeps it.
        else:
            yield from to_parameter(reading, at, call, lambda: Use.UNSEEN)

    def _asks_for_any(self, call: ast.Call) -> bool:
        """Whether it is asked if there is a first one at all: ``not next(iter(s), None)``."""
        parent = self.reading.survey.parents.get(call)
        if isinstance(parent, ast.Compare):
            return any(map(is_none, parent.comparators))
        return len(call.args) == 2 and isinstance(
            parent, (ast.UnaryOp, ast.If, ast.While, ast.BoolOp)
        )

    def _tells(self, call: ast.Call, qualified: str | None) -> bool:
        """Whether a call logs, by its name or by the name of what it is called on."""
        base = call.func.value if isinstance(call.func, ast.Attribute) else call
        return self.reading.catalogue.has("telemetry", qualified) or any(
            about(last_name(each), TELEMETRY) for each in (call, base)
        )


def leaves_ties(call: ast.Call, qualified: str | None) -> bool:
    """Say whether elements are sorted or chosen by a length or a count, which several have."""
    if qualified not in {"builtins.max", "builtins.min", "builtins.sorted"}:
        return False
    for each in call.keywords:
        if each.arg == "key":
            key: ast.expr = each.value
            if isinstance(key, ast.Lambda):
                key = key.body.func if isinstance(key.body, ast.Call) else key.body
            return last_name(key) in {"count", "len"}
    return False


def _is_message(survey: Survey, node: ast.AST) -> bool:
    """Say whether a text is put into a name for a message, or next to a sentence."""
    statement = survey.statement(node)
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if last_name(target).lower().endswith(_MESSAGES):
            return True
    elif isinstance(statement, ast.Raise):
        return True
    around: ast.AST | None = node
    while isinstance(around, (ast.expr, ast.FormattedValue)):
        if isinstance(around, (ast.JoinedStr, ast.BinOp)) and any(
            isinstance(each, ast.Constant)
            and isinstance(each.value, str)
            and _SENTENCE.search(each.value)
            for each in ast.walk(around)
        ):
            return True
        around = survey.parents.get(around)
    return False
