"""What the body of a loop does with the order of its elements, statement by statement.

Shown are: filling a sequence, writing to one file, hashing, drawing, numbering, taking a partner from elsewhere,
keeping the first or the last, stopping at one. A function of the file that is given an element is looked into.

Invariant: a statement that is not understood is ``UNSEEN`` at most.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from twice.checker.analysis.places import (
    assigned_values,
    by_place,
    is_draw,
    names_in,
    reads,
)
from twice.checker.syntax.reaching import in_own_comprehension, reaches
from twice.checker.syntax.survey import targets
from twice.checker.syntax.uses.following import At, Reading, to_sequence
from twice.checker.syntax.uses.loads import argument_place, parameter_at, spelled
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.words import TELEMETRY, about, last_name, tells

_FILLING: Final = frozenset(
    ["append", "appendleft", "extend", "insert", "push", "put", "put_nowait"]
)
_WRITING: Final = frozenset({"dump", "write", "writelines", "writerow", "writerows"})
_PARTNERS: Final = frozenset({"next", "pop", "popleft"})
_COMMUTING: Final = frozenset(
    ["add", "cancel", "clear", "close", "discard", "done", "exception", "get", "heappush", "join", "kill",
     "mkdir", "pop", "register", "remove", "result", "rmdir", "set", "setdefault", "start", "terminate",
     "touch", "unlink", "unregister", "update", "wait"]
)  # fmt: skip
_DEPTH: Final = 2


class LoopBody:
    """One loop, or a function that an element is given to.

    Args:
        reading: the file.
        at: the station of the order.
        block: the loop, or the function.
        target: what elements are given to; None when they get no name.
        taken: the expression that is the element, where it has no name.
    """

    def __init__(
        self,
        reading: Reading,
        at: At,
        block: ast.AST,
        target: ast.AST | None,
        taken: ast.AST | None = None,
    ) -> None:
        self._reading = reading
        self._at = at
        self._block = block
        self._taken = taken
        self._elements = set() if target is None else names_in(target)
        self._numbers = set(by_place(reading, at, target)) if target is not None else set()
        self._elements -= self._numbers
        self._made = set(self._elements)
        self._fresh: set[str] = set()
        self._inner: set[str] = set()
        self._direct = set(self._elements)  # Made of the element, and not of a part by its turn.
        self._conditions = 0
        self._asked: set[tuple[str, str]] = set()

    def walk(self, statements: list[ast.stmt]) -> Iterator[At | Outcome]:
        """Give what statements of the body lead to: containers to go on with, and ends."""
        for each in statements:
            self._reading.steps.left -= 1
            if self._reading.steps.left > 0:
                yield from self._statement(each)

    def _statement(self, node: ast.stmt) -> Iterator[At | Outcome]:
        at = self._at
        if isinstance(node, (ast.If, ast.While)):
            yield from self._effects(node.test)
            self._ask(node)
            self._conditions += 1
            if not (isinstance(node, ast.If) and self._finds(node.test)):
                yield from self.walk(node.body)
            yield from self.walk(node.orelse)
            self._conditions -= 1
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            yield from self._effects(node.iter)
            self._give(names_in(node.target), node.iter)
            self._inner |= names_in(node.target)
            self._direct -= self._inner
            yield from self.walk([*node.body, *node.orelse])
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                if item.optional_vars is not None:
                    self._give(names_in(item.optional_vars), item.context_expr)
            yield from self.walk(node.body)
        elif isinstance(node, ast.Try):
            handlers = [each for handler in node.handlers for each in handler.body]
            yield from self.walk([*node.body, *handlers, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.Expr):
            yield from self._expression(node.value)
        elif isinstance(node, ast.Assign):
            yield from self._effects(node.value)
            for target in node.targets:
                for one in targets(target):
                    yield from self._follow_assignment(node, one, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from self._effects(node.value)
            yield from self._follow_assignment(node, node.target, node.value)
        elif isinstance(node, ast.AugAssign):
            yield from self._effects(node.value)
            yield from self._follow_augmentation(node)
        elif isinstance(node, ast.Return) and isinstance(self._block, (ast.For, ast.AsyncFor)):
            if node.value is not None and self._mentions(node.value):
                yield at.ends(Use.RETURNED, node)
        elif isinstance(node, ast.Break) and (
            isinstance(self._block, (ast.For, ast.AsyncFor))
            and self._is_read_outside(sorted(self._made), self._block.body[-1])
        ):
            yield at.ends(Use.BRANCH, node)

    def _give(self, names: set[str], value: ast.expr) -> None:
        """Take names that are given anew for each element."""
        if self._mentions(value):
            self._made |= names
        if reads(value, self._direct):
            self._direct |= names
        self._fresh |= names

    def _mentions(self, node: ast.AST) -> bool:
        """Whether an expression has the element in it, or something that was made of it."""
        return reads(node, self._made) or (
            self._taken is not None and any(each is self._taken for each in ast.walk(node))
        )

    def _is_own(self, node: ast.AST) -> bool:
        """Whether a place is a part of what is the element's own, or stands under it as a key."""
        while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
            if isinstance(node, ast.Subscript) and self._mentions(node.slice):
                return True
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and node.id in self._made | self._fresh

    def _finds(self, test: ast.expr) -> bool:
        """Whether it holds for one element alone: ``name == wanted``, or ``wanted in names``."""
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
            return any(map(self._finds, test.values))
        if not (isinstance(test, ast.Compare) and len(test.ops) == 1):
            return False
        sides = [test.left, test.comparators[0]]
        if isinstance(test.ops[0], ast.In):
            return not self._mentions(sides[0]) and self._mentions(sides[1])
        return (
            isinstance(test.ops[0], ast.Eq)
            and sum(map(self._mentions, sides)) == 1
            and not any(last_name(each) in {"len", "type"} for each in sides)
        )

    def _ask(self, node: ast.If | ast.While) -> None:
        """Remember what is put under a key only where nothing is there yet."""
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            skips = isinstance(test.ops[0], ast.In) and isinstance(node.body[-1], ast.Continue)
            if skips or isinstance(test.ops[0], ast.NotIn):
                self._asked.add((spelled(test.left), spelled(test.comparators[0])))

    def _effects(self, node: ast.AST) -> Iterator[Outcome]:
        """Find draws and partners from elsewhere, which depend on whose turn it is."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and each is not self._taken:
                word = last_name(each.func)
                base = each.func.value if isinstance(each.func, ast.Attribute) else None
                if word == "next" and base is None and each.args:
                    base = each.args[0]
                partner = (
                    word in _PARTNERS
                    and base is not None
                    and not self._is_own(base)
                    and not any(map(self._mentions, each.args))
                    and not isinstance(self._reading.survey.parents.get(each), ast.Expr)
                    and not isinstance(base, (ast.Call, ast.GeneratorExp))
                )
                if partner or is_draw(self._reading, each, self._at.scope):
                    yield self._at.ends(Use.STATE, each)

    def _expression(self, node: ast.expr) -> Iterator[At | Outcome]:
        at = self._at
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            if node.value is not None and self._mentions(node.value):
                yield At(node, at.scope, at.way, at.calls)
            return
        yield from self._effects(node)
        call = node.value if isinstance(node, ast.Await) else node
        if isinstance(call, ast.Call):
            yield from self._follow_call(call)

    def _follow_call(self, call: ast.Call) -> Iterator[At | Outcome]:
        at, reading = self._at, self._reading
        qualified = reading.names.qualified(call.func, at.scope)
        word = last_name(call)
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        given = [*call.args, *(each.value for each in call.keywords)]
        file = next((each.value for each in call.keywords if each.arg == "file"), None)
        if word == "print" and file is not None and last_name(file) not in {"stderr", "stdout"}:
            if not self._is_own(file):
                yield at.ends(Use.STORED, call)
        elif (
            reading.catalogue.has("telemetry", qualified)
            or tells(word)
            or any(about(last_name(each), TELEMETRY) for each in (call, base) if each is not None)
        ):
            yield at.ends(Use.TELEMETRY, call)
        elif not any(map(self._mentions, given)):
            if base is not None and self._mentions(base) and word not in _COMMUTING:
                yield at.ends(Use.UNSEEN, call)
        elif reading.catalogue.has("per-file", qualified):
            return
        elif word in _WRITING:
            place = base if word != "dump" else next(iter(call.args[1:]), None)
            if place is not None and not self._is_own(place):
                yield at.ends(Use.STORED, call)
        elif (
            word == "update"
            and (kind := reading.kinds.of(base, at.scope)) is not None
            and (kind.name == "hasher" and base is not None and not self._is_own(base))
        ):
            yield at.ends(Use.DIGEST, call)
        elif base is not None and word in _FILLING:
            if not self._is_own(base):
                yield from self._follow_filling(base, call)
        elif word not in _COMMUTING:
            yield from self._enter_call(call)

    def _follow_filling(self, base: ast.expr, put: ast.AST) -> Iterator[At | Outcome]:
        """Go on where a container is read; an attribute that the file only fills is read elsewhere."""
        at, parents = self._at, self._reading.survey.parents
        found = list(to_sequence(self._reading, At(put, at.scope, at.way, at.calls), base, put))
        yield from found
        if isinstance(base, ast.Attribute) and all(
            isinstance(each, At) and last_name(parents[each.node]) in _FILLING for each in found
        ):
            yield at.ends(Use.STATE, put)

    def _enter_call(self, call: ast.Call) -> Iterator[At | Outcome]:
        """Look into the function of the file that an element is given to."""
        at = self._at
        function = self._reading.loads.called(call, at.scope)
        if function is None or at.calls >= _DEPTH:
            yield at.ends(Use.UNSEEN, call)
            return
        if function is at.scope:
            return  # What a function that calls itself does to each is seen here already.
        taken = {
            parameter_at(function, argument_place(call, each))
            for each in [*call.args, *(one.value for one in call.keywords)]
            if self._mentions(each)
        }
        inner = LoopBody(
            self._reading,
            At(call, function, (*at.way, call), at.calls + 1),
            function.node,
            None,
        )
        inner._made = {each for each in taken if each is not None}
        inner._fresh = {
            name for name, found in function.bindings.items() if found[0].kind == "assign"
        }
        body = getattr(function.node, "body", [])
        yield from inner.walk(body if isinstance(body, list) else [])

    def _follow_assignment(
        self, node: ast.stmt, target: ast.AST, value: ast.expr
    ) -> Iterator[At | Outcome]:
        at = self._at
        seldom = Use.UNSEEN if self._conditions else Use.STATE
        if isinstance(target, ast.Name):
            if not self._mentions(value):
                self._fresh.add(target.id)
            else:
                inner = isinstance(self._block, (ast.FunctionDef, ast.AsyncFunctionDef))
                if self._folds(target, value):
                    yield at.ends(Use.ADDED, node)
                elif not inner and self._is_read_outside([target.id], target):
                    yield at.ends(seldom, node)  # The last one stays.
                self._give({target.id}, value)
        elif isinstance(target, ast.Attribute):
            if self._mentions(value) and not self._is_own(target.value):
                yield at.ends(Use.ADDED if self._folds(target, value) else seldom, node)
        elif isinstance(target, ast.Subscript) and not self._is_own(target.value):
            if self._counts(value, target.value) or self._counts(target.slice, target.value):
                if self._mentions(value) or self._mentions(target.slice):
                    yield at.ends(Use.STATE, node)  # Which number it gets depends on when it comes.
            elif (spelled(target.slice), spelled(target.value)) in self._asked:
                keys = [target.slice, *assigned_values(target.slice, self._reading, at.scope)]
                if not any(map(self._is_whole, keys)) and reads(
                    value, self._elements | self._made - names_in(target.slice)
                ):
                    yield at.ends(Use.STATE, node)  # The first one with the key stays.
            elif not self._mentions(target.slice):
                if self._mentions(value):
                    yield at.ends(seldom, node)
            elif reads(value, self._direct) and last_name(target.slice) in self._inner:
                yield at.ends(Use.STATE, node)  # The last one with the key stays.

    def _is_whole(self, key: ast.AST) -> bool:
        """Whether a key has the whole element in it, so that no other one has the same."""
        if isinstance(key, ast.Call) and last_name(key) == "str":
            return any(map(self._is_whole, key.args))
        if isinstance(key, ast.JoinedStr):
            return any(self._is_whole(getattr(each, "value", each)) for each in key.values)
        if isinstance(key, ast.Tuple):
            return any(map(self._is_whole, key.elts))
        return isinstance(key, ast.Name) and key.id in self._elements

    def _counts(self, node: ast.AST, container: ast.AST) -> bool:
        """Whether a number or a partner is in it that an element gets by its place."""
        return reads(node, self._numbers) or any(
            isinstance(each, ast.Call)
            and last_name(each) == "len"
            and list(map(spelled, each.args)) == [spelled(container)]
            for each in ast.walk(node)
        )

    def _folds(self, target: ast.AST, value: ast.expr) -> bool:
        """Whether a value is made of itself and an element: a sum, a maximum, a union."""
        place = spelled(target)
        return any(
            isinstance(each, ast.expr) and spelled(each) == place for each in ast.walk(value)
        )

    def _follow_augmentation(self, node: ast.AugAssign) -> Iterator[At | Outcome]:
        """``n += 1`` commutes; ``text += line`` fills; what ``total += weight`` adds may round."""
        target = node.target
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant):
            self._numbers.add(target.id)
        if self._is_own(target) or not self._mentions(node.value):
            return
        value = self._reading.kinds.of(node.value, self._at.scope)
        total = self._reading.kinds.of(target, self._at.scope)
        if any(kind and kind.name in {"str", "list", "tuple"} for kind in (value, total)):
            yield from self._follow_filling(target, node)
        elif (
            isinstance(node.op, (ast.Add, ast.Sub, ast.Mult))
            and last_name(node.value) != "len"
            and (value is None or value.name not in {"bool", "int", "set"})
        ):
            yield self._at.ends(Use.ADDED, node)

    def _is_read_outside(self, names: Iterable[str], put: ast.AST) -> bool:
        """Whether what names hold at a place of the loop is read outside of it."""
        survey, scope = self._reading.survey, self._at.scope
        first = getattr(self._block, "lineno", 0)
        last = getattr(self._block, "end_lineno", None) or first
        return any(
            not first <= load.lineno <= last
            and not in_own_comprehension(survey, load)
            and (
                where is not scope
                or reaches(survey, put, load, self._reading.names.bindings(name, scope))
            )
            for name in names
            for load, where in self._reading.loads.of(name, scope)
        )
