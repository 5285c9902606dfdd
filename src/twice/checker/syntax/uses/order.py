"""Where the order of a collection ends: a set made into a list, the names in a folder.

``sorted``, ``len``, ``max``, membership and a loop whose body commutes end it harmlessly; a subscript,
a join or a draw by position turn it into a value, which is followed as such.

Invariant: a use that is not recognised is ``UNSEEN``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.syntax.kind import is_none
from twice.checker.syntax.reaching import is_single
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.following import (
    At,
    Reading,
    Trail,
    to_caller,
    to_parameter,
    to_sequence,
    to_target,
)
from twice.checker.syntax.uses.loops import Loops
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.pairing import in_step, is_with_itself, numbered
from twice.checker.syntax.uses.texts import is_message, is_sentence
from twice.checker.syntax.uses.ties import CHOOSING, SORTING, leaves_ties
from twice.checker.syntax.uses.values import Values
from twice.checker.syntax.uses.words import (
    LOGGING,
    MEMBERS,
    REMOVING,
    TELEMETRY,
    about,
    last_name,
    tells,
)

_SORTING: Final = {"sort"}
_COUNTING: Final = {"index", "count", "issubset", "issuperset", "isdisjoint", "keys"}
_JOINING: Final = frozenset({"concat", "concatenate", "hstack", "stack", "vstack"})
_DICTS: Final = {"builtins.dict", "collections.OrderedDict"}
# Called with several, these give the same in any order.
_COMMUTING: Final = frozenset({"Add", "And", "Intersection", "Max", "Min", "Or", "Union", "Xor"})
_JOINED: Final = frozenset({"and", "has", "intersection", "max", "min", "or", "union", "xor"})
_LEFT_OUT: Final = frozenset({"remove", "removed", "delete", "deleted", "discard", "drop", "evict"})
_INTO_SET: Final = {
    "update",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
}


class Orders:
    """Follows orders in one file.

    Args:
        reading: the file.
        values: follows what an order is turned into.
    """

    def __init__(self, reading: Reading, values: Values) -> None:
        self._reading = reading
        self._values = values
        self._loops = Loops(reading)

    def follow(self, node: ast.AST, scope: Scope) -> list[Outcome]:
        """Give the ends of the order in which an expression's elements come."""
        return Trail(self._look, self._reading.steps, is_order=True).follow(
            At(node, scope, (node,))
        )

    def filled(self, container: ast.expr, scope: Scope, put: ast.AST) -> list[Outcome]:
        """Give the ends of the order in which things are put into a container, one by one."""
        found: list[Outcome] = []
        for each in to_sequence(self._reading, At(put, scope, (put,)), container, put):
            if isinstance(each, Outcome):
                found.append(each)
            else:
                found.extend(Trail(self._look, self._reading.steps, is_order=True).follow(each))
        return found

    def worked(self, popped: ast.Call, scope: Scope, loop: ast.While) -> list[Outcome]:
        """Give the ends of the order in which a heap of work is popped from until it is empty."""
        found: list[Outcome] = []
        for each in self._loops.work(At(popped, scope, (popped,)), loop, popped):
            if isinstance(each, Outcome):
                found.append(each)
            else:
                found.extend(Trail(self._look, self._reading.steps, is_order=True).follow(each))
        return found

    def _look(self, at: At) -> Iterator[At | Outcome]:
        node = at.node
        parent = self._reading.survey.parents.get(node)
        if parent is None:
            return
        if isinstance(node, ast.Name) and is_single(self._reading.survey, node, node):
            yield at.ends(Use.ERASED, node)
        elif isinstance(parent, ast.keyword):
            call = self._reading.survey.parents[parent]
            if parent.arg is not None and about(parent.arg, MEMBERS):
                yield at.ends(Use.LABEL, parent)
            elif isinstance(call, ast.Call):
                yield from self._argument(at, call)
            else:
                yield at.ends(Use.UNSEEN, parent)
        elif isinstance(parent, ast.Call):
            yield from self._argument(at, parent)
        elif isinstance(parent, ast.Attribute):
            yield from self._method(at, parent)
        elif isinstance(parent, (ast.For, ast.AsyncFor)):
            yield from self._loops.look(at, parent)
        elif isinstance(parent, ast.comprehension):
            yield from self._comprehended(at, parent)
        elif isinstance(parent, ast.Subscript):
            if parent.value is node and isinstance(parent.ctx, ast.Load):
                yield from self._picked(at, parent)
        elif isinstance(parent, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
            yield from self._compared(at, parent)
        elif isinstance(parent, (ast.FormattedValue, ast.BinOp)):
            yield from self._written(at, parent)
        elif isinstance(
            parent, (ast.List, ast.Tuple, ast.Starred, ast.Await, ast.NamedExpr, ast.IfExp)
        ):
            yield from self._carried(at, parent)
        elif isinstance(parent, (ast.Set, ast.Dict)):
            yield at.ends(Use.UNSEEN if isinstance(parent, ast.Dict) else Use.ERASED, parent)
        elif isinstance(parent, ast.YieldFrom):
            yield from to_caller(self._reading, at, parent, is_value=False)
        elif isinstance(parent, ast.Yield):
            yield at.ends(Use.RETURNED, parent)
        elif isinstance(parent, ast.stmt):
            yield from self._statement(at, parent)
        elif isinstance(parent, ast.withitem) and parent.optional_vars is not None:
            yield from to_target(self._reading, at, parent.optional_vars)
        else:
            yield at.ends(Use.UNSEEN, parent)

    def _statement(self, at: At, parent: ast.stmt) -> Iterator[At | Outcome]:
        reading = self._reading
        if isinstance(parent, ast.Expr):
            yield at.ends(Use.DROPPED, parent)
        elif isinstance(parent, ast.Assign):
            for target in parent.targets:
                yield from self._assigned(at, target)
        elif isinstance(parent, (ast.AnnAssign, ast.AugAssign)):
            yield from self._assigned(at, parent.target)
        elif isinstance(parent, ast.Return):
            yield from to_caller(reading, at, parent, is_value=False)
        elif isinstance(parent, (ast.If, ast.While, ast.Assert)):
            yield at.ends(Use.ERASED, parent)
        else:
            yield at.ends(Use.UNSEEN, parent)

    def _assigned(self, at: At, target: ast.AST) -> Iterator[At | Outcome]:
        """Go on after the assignment of an order to a name or a place; a later sort erases it."""
        if isinstance(target, (ast.Tuple, ast.List)):
            only = len(target.elts) == 1 and not isinstance(target.elts[0], ast.Starred)
            yield at.ends(
                Use.ERASED if only else Use.STATE
            )  # Each name holds whichever element came there.
        elif isinstance(target, ast.Attribute) and about(target.attr, MEMBERS):
            yield at.ends(Use.LABEL, target)
        elif isinstance(target, ast.Name) and about(target.id, _LEFT_OUT):
            yield at.ends(Use.ERASED, target)  # Things are gone in whatever order they go.
        elif line := self._reading.loads.sorted_in(target, at.scope):
            yield at.ends(Use.ERASED, target)
            yield from (
                each
                for each in to_target(self._reading, at, target)
                if isinstance(each, At) and getattr(each.node, "lineno", line) < line
            )
        else:
            yield from self._kept(at, target)
            yield from to_target(self._reading, at, target)

    def _kept(self, at: At, target: ast.AST) -> Iterator[Outcome]:
        """Report a list in a public attribute, which other code may read as well."""
        if isinstance(target, ast.Attribute) and not target.attr.startswith("_"):
            kind = self._reading.kinds.of(at.node, at.scope)
            if kind is not None and kind.name in {"list", "tuple"}:
                yield at.ends(Use.UNSEEN, target)

    def _carried(self, at: At, parent: ast.AST) -> Iterator[At | Outcome]:
        if isinstance(parent, ast.IfExp) and parent.test is at.node:
            yield at.ends(Use.ERASED, parent)
        else:
            yield at.on(parent)

    def _compared(self, at: At, parent: ast.expr) -> Iterator[At | Outcome]:
        if isinstance(parent, ast.BoolOp):
            yield at.on(parent)
        elif isinstance(parent, ast.Compare) and all(
            isinstance(each, (ast.Eq, ast.NotEq)) for each in parent.ops
        ):
            others = [each for each in [parent.left, *parent.comparators] if each is not at.node]
            empty = all(
                isinstance(each, (ast.List, ast.Tuple)) and not each.elts for each in others
            )
            yield at.ends(Use.ERASED if empty else Use.BRANCH, parent)
        else:
            yield at.ends(Use.ERASED, parent)

    def _written(self, at: At, parent: ast.expr) -> Iterator[At | Outcome]:
        """Text made of it is a value; a list added to another, or a set without another, is still an order."""
        if isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.Mod):
            yield at.on(parent)
        else:
            yield from self._texted(parent, at)

    def _texted(self, node: ast.expr, at: At) -> Iterator[Outcome]:
        """Follow a text made of an order; the order does not change the text's length.

        Treat a sentence for people, or a value named as a message, as a label,
        unless it is written or hashed.
        """
        survey = self._reading.survey
        hushed = is_message(survey, node) or is_sentence(survey, node)
        for each in self._values.follow(node, at.scope):
            counts = isinstance(each.node, ast.Call) and (
                self._reading.names.qualified(each.node.func, at.scope) == "builtins.len"
            )
            if counts:
                yield replace(each, use=Use.ERASED)
            elif self._is_told(each.node) or (hushed and Use.LABEL < each.use < Use.STORED):
                yield replace(each, use=Use.LABEL)
            else:
                yield each

    def _is_told(self, node: ast.AST) -> bool:
        """Whether a text is given to something that shows it: ``printer.fail(text)``."""
        return isinstance(node, ast.Call) and tells(last_name(node))

    def _picked(self, at: At, parent: ast.Subscript) -> Iterator[At | Outcome]:
        """One element by its position, or a stretch of them."""
        if isinstance(parent.slice, ast.Slice):
            yield at.on(parent)
        elif isinstance(at.node, ast.expr) and is_single(self._reading.survey, parent, at.node):
            yield at.ends(Use.ERASED, parent)
        else:
            yield from self._values.follow(parent, at.scope)

    def _method(self, at: At, parent: ast.Attribute) -> Iterator[At | Outcome]:
        call = self._reading.survey.parents.get(parent)
        if not (isinstance(call, ast.Call) and call.func is parent):
            yield at.ends(Use.UNSEEN, parent)
        elif parent.attr in _SORTING or parent.attr in _COUNTING:
            yield at.ends(Use.ERASED, call)
        elif parent.attr == "pop":
            yield from self._values.follow(call, at.scope)
        elif parent.attr in {"append", "extend", "insert", "remove", "clear"}:
            yield at.ends(Use.DROPPED, call)
        else:
            yield at.on(call)

    def _comprehended(self, at: At, parent: ast.comprehension) -> Iterator[At | Outcome]:
        whole = self._reading.survey.parents[parent]
        if parent.iter is not at.node:
            yield at.ends(Use.ERASED, whole)
        elif numbered(self._reading, at.node, at.scope) and not isinstance(whole, ast.SetComp):
            # Which number, or which partner, an element gets is a value.
            if in_step(self._reading, at):
                yield at.on(whole)
            else:
                yield from self._valued(whole, at)
        elif isinstance(whole, (ast.SetComp, ast.DictComp)):
            yield at.ends(Use.ERASED, whole)
        elif self._draws(whole, at.scope):
            yield at.ends(Use.STATE, whole)
        else:
            yield at.on(whole)

    def _valued(self, node: ast.AST, at: At) -> Iterator[Outcome]:
        """Keep pairs made by chance, unless their uses are clearly harmless."""
        for each in self._values.follow(node, at.scope):
            yield replace(each, use=Use.STATE) if each.use is Use.UNSEEN else each

    def _draws(self, whole: ast.AST, scope: Scope) -> bool:
        for each in ast.walk(whole):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                kind = self._reading.kinds.of(each.func.value, scope)
                if kind is not None and kind.is_generator:
                    return True
        return False

    def _argument(self, at: At, call: ast.Call) -> Iterator[At | Outcome]:
        catalogue = self._reading.catalogue
        qualified = self._reading.names.qualified(call.func, at.scope)
        word = last_name(call.func)
        if qualified in CHOOSING | SORTING and leaves_ties(call):
            yield from self._tied(at, call, chooses=qualified in CHOOSING)
        elif (
            catalogue.has("erasing-order", qualified)
            or qualified == "builtins.dict.fromkeys"
            or self._into_set(call, at.scope)
            or (
                isinstance(call.func, ast.Attribute) and catalogue.has_method("erasing-order", word)
            )
        ):
            yield at.ends(Use.ERASED, call)
        elif catalogue.has("keeping-order", qualified) or word in _JOINING:
            if qualified not in _DICTS:
                yield at.on(call)
            elif numbered(self._reading, at.node, at.scope):
                yield from self._valued(call, at)
            elif is_with_itself(self._reading, at.node, at.scope):
                yield at.ends(Use.ERASED, call)
            else:
                yield at.on(call)
        elif catalogue.has("global-draws", qualified) or self._by_generator(call, at.scope):
            yield at.ends(Use.STATE, call)
        elif qualified == "builtins.next" and self._is_asked_for(call):
            yield at.ends(Use.ERASED, call)
        elif catalogue.has("picking", qualified) or (
            qualified is None and word in {"join", "format"}
        ):
            yield from self._texted(call, at)
        elif self._is_logged(call, qualified):
            yield at.ends(Use.TELEMETRY, call)
        elif about(word, REMOVING) and isinstance(self._reading.survey.parents.get(call), ast.Expr):
            yield at.ends(Use.ERASED, call)  # Things are gone in whatever order they go.
        elif isinstance(call.func, ast.Attribute) and word in {"extend", "append"}:
            yield from to_sequence(self._reading, at, call.func.value, call)
        elif catalogue.has("hashing", qualified):
            yield at.ends(Use.DIGEST, call)
        elif catalogue.has("storing", qualified):
            yield at.ends(Use.STORED, call)
        elif word.endswith(("Error", "Exception", "Warning")):
            yield at.ends(Use.LABEL, call)
        elif (
            self._is_erased(call, at.scope)
            or word in _COMMUTING
            or word.lower().rpartition("_")[2] in _JOINED
        ):
            yield at.ends(Use.ERASED, call)
        elif qualified is not None and qualified[0] != "." and word[:1].isupper():
            yield at.ends(Use.STATE, call)  # An object of a library keeps it.
        else:
            yield from to_parameter(self._reading, at, call, lambda: Use.UNSEEN)

    def _is_asked_for(self, call: ast.Call) -> bool:
        """Whether it is asked if there is a first one at all: ``not next(iter(s), None)``."""
        parent = self._reading.survey.parents.get(call)
        if isinstance(parent, ast.Compare):
            return any(is_none(each) for each in parent.comparators)
        return len(call.args) == 2 and (
            isinstance(parent, (ast.UnaryOp, ast.If, ast.While, ast.BoolOp))
        )

    def _is_logged(self, call: ast.Call, qualified: str | None) -> bool:
        """Whether a call logs, by its name or by the name of what it is called on."""
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        return (
            self._reading.catalogue.has("telemetry", qualified)
            or about(last_name(call), TELEMETRY)
            or (base is not None and about(last_name(base), LOGGING))
        )

    def _tied(self, at: At, call: ast.Call, *, chooses: bool) -> Iterator[Outcome]:
        """Follow a value sorted or chosen by a key with ties, whose frequency is unknown."""
        if chooses:
            ends = self._values.follow(call, at.scope)
        else:
            ends = Trail(self._look, self._reading.steps, is_order=True).follow(at.on(call))
        for each in ends:
            yield replace(each, use=min(each.use, Use.UNSEEN))

    def _is_erased(self, call: ast.Call, scope: Scope) -> bool:
        """Whether what a call gives is counted or made a set at once."""
        parent = self._reading.survey.parents.get(call)
        return isinstance(parent, ast.Call) and self._reading.catalogue.has(
            "erasing-order", self._reading.names.qualified(parent.func, scope)
        )

    def _by_generator(self, call: ast.Call, scope: Scope) -> bool:
        """Whether a generator draws from it by position."""
        if not isinstance(call.func, ast.Attribute):
            return False
        kind = self._reading.kinds.of(call.func.value, scope)
        return (kind is not None and kind.is_generator) or (
            call.func.attr in {"choice", "choices", "sample", "shuffle", "permutation"}
        )

    def _into_set(self, call: ast.Call, scope: Scope) -> bool:
        """Whether it is given to a method that treats it as a set."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr not in _INTO_SET:
            return False
        kind = self._reading.kinds.of(call.func.value, scope)
        return kind is None or kind.name in {"set", "dict"}
