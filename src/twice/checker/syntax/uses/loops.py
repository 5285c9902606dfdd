"""Whether the order in which a loop goes matters: what its body does, statement by statement.

Adding to a set, counting, taking a maximum, writing under the element's own key: these commute.
Appending, drawing, breaking off, calling what is not known: these do not.

Invariant: a statement that is not understood makes the order matter.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.reaching import in_own_comprehension, reaches
from twice.checker.syntax.survey import Scope, targets
from twice.checker.syntax.uses.belonging import Belonging, uses
from twice.checker.syntax.uses.firsts import Firsts, compared, is_extreme, is_sum
from twice.checker.syntax.uses.following import At, Reading, to_caller, to_sequence
from twice.checker.syntax.uses.loads import spelled
from twice.checker.syntax.uses.methods import DRAWS, ERASING, PUTTING
from twice.checker.syntax.uses.outcomes import Outcome, Use
from twice.checker.syntax.uses.touching import Touching
from twice.checker.syntax.uses.words import (
    CHECKING,
    FILING,
    GENERATOR,
    TELEMETRY,
    about,
    last_name,
    tells,
)

_COMMUTES: Final = (
    ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor,
)  # fmt: skip


class Loops:
    """Looks at loops of one file.

    Args:
        reading: the file.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._touching = Touching(reading)

    def look(self, at: At, loop: ast.For | ast.AsyncFor) -> Iterator[At | Outcome]:
        """Give what the order of a loop leads to: containers to go on with, and ends."""
        inside = _Inside(self._reading, self._touching, at, loop, loop.target)
        yield from inside.body(loop.body)
        yield at.ends(Use.ERASED, loop)

    def work(self, at: At, loop: ast.While, popped: ast.Call) -> Iterator[At | Outcome]:
        """Give what the order leads to in which a heap of work is taken from, to the end."""
        statement = self._reading.survey.statement(popped)
        target = None
        if isinstance(statement, ast.Assign) and statement.value is popped:
            target = statement.targets[0]
        inside = _Inside(self._reading, self._touching, at, loop, target, popped)
        yield from inside.body(
            [each for each in loop.body if target is None or each is not statement]
        )
        yield at.ends(Use.ERASED, loop)


class _Inside:
    """One loop: which names are its elements' own."""

    def __init__(
        self,
        reading: Reading,
        touching: Touching,
        at: At,
        loop: ast.For | ast.AsyncFor | ast.While,
        target: ast.expr | None,
        popped: ast.Call | None = None,
    ) -> None:
        self._reading = reading
        self._touching = touching
        self._at = at
        self._scope: Scope = at.scope
        self._its = Belonging(target, popped)
        self._counters = _counters(reading, loop, at.scope)
        self._changed = _changed(loop)
        self._firsts = Firsts(reading, self._scope)
        self._extremes: set[tuple[str, str]] = set()
        self._loop = loop

    def body(self, statements: list[ast.stmt]) -> Iterator[At | Outcome]:
        for each in statements:
            yield from self._statement(each)

    def _statement(self, node: ast.stmt) -> Iterator[At | Outcome]:
        at = self._at
        if isinstance(
            node, (ast.Continue, ast.Pass, ast.Raise, ast.Assert, ast.Delete, ast.Import)
        ):
            return
        if isinstance(node, (ast.If, ast.While)):
            yield from self._draws(node.test)
            if isinstance(node, ast.If):
                self._firsts.ask(node)
                self._extremes |= compared(node.test)
            if isinstance(node, ast.If) and self._its.finds(node.test):
                yield from self.body(node.orelse)
            else:
                yield from self.body([*node.body, *node.orelse])
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._its.enter(node)
            yield from self.body([*node.body, *node.orelse])
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                self._its.open(item)
            yield from self.body(node.body)
        elif isinstance(node, ast.Try):
            handlers = [each for handler in node.handlers for each in handler.body]
            yield from self.body([*node.body, *handlers, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.Expr):
            yield from self._expression(node.value)
        elif isinstance(node, ast.Assign):
            yield from self._assigned(node)
        elif isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name):
                self._its.give(node.target.id, node.value or node.target)
        elif isinstance(node, ast.AugAssign):
            yield from self._augmented(node)
        elif isinstance(node, ast.Return):
            if node.value is not None and self._its.mentions(node.value):
                yield at.ends(Use.RETURNED, node)
        elif isinstance(node, ast.Break):
            if self._picked():
                yield at.ends(Use.BRANCH, node)
        else:
            yield at.ends(Use.UNSEEN, node)

    def _expression(self, node: ast.expr) -> Iterator[At | Outcome]:
        at = self._at
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            here = At(node, self._scope, at.way, at.calls)
            yield from to_caller(self._reading, here, node, is_value=False)
            return
        if isinstance(node, ast.Await):
            node = node.value
        if not isinstance(node, ast.Call):
            return
        yield from self._draws(node)
        qualified = self._reading.names.qualified(node.func, self._scope)
        if self._reading.catalogue.has("telemetry", qualified) or about(last_name(node), TELEMETRY):
            yield at.ends(Use.TELEMETRY, node)
            return
        if self._reading.catalogue.has("per-file", qualified) or self._to_own_file(node, qualified):
            return
        if tells(last_name(node)):
            yield at.ends(Use.TELEMETRY, node)
            return
        if self._is_for_itself(node):
            return
        if isinstance(node.func, ast.Attribute):
            base, method = node.func.value, node.func.attr
            if method in ERASING or about(last_name(base), TELEMETRY):
                return
            if method in PUTTING:
                if not self._its.has(base):
                    here = At(node, self._scope, at.way, at.calls)
                    yield from to_sequence(self._reading, here, base, node)
                return
            if self._is_fresh(base) and all(map(self._is_own_or_constant, node.args)):
                return  # An object that a library made for this element alone.
            yield at.ends(Use.UNSEEN, node)
        elif not self._recurs(node):
            yield at.ends(Use.UNSEEN, node)
        elif self._fills(node):
            yield at.ends(Use.RETURNED, node)

    def _is_for_itself(self, call: ast.Call) -> bool:
        """Whether a call is about one element alone, or about none of them."""
        word = last_name(call)
        own = frozenset(self._its.own)
        if not self._its.mentions(call):
            return about(word, FILING) or not self._meets(call)
        if about(word, FILING) or self._touching.removes(call, own):
            return True  # What is done to one file, another one does not mind.
        if about(word, CHECKING) or (word == "heappush" and not _counts(call)):
            return True
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        return base is not None and (
            self._its.is_alone(base, call) and self._touching.is_of_one(call, self._scope, own)
        )

    def _meets(self, call: ast.Call) -> bool:
        """Whether a call sees something that the loop fills, and so what came before."""
        return any(
            isinstance(each, (ast.Name, ast.Attribute)) and spelled(each) in self._changed
            for each in ast.walk(call)
        )

    def _is_fresh(self, base: ast.expr) -> bool:
        """Whether a name of the loop holds what a library's function gave for this element."""
        if not (isinstance(base, ast.Name) and base.id in self._its.own):
            return False
        names = self._reading.names
        made = names.bindings(base.id, self._scope)
        called = [
            names.qualified(each.node.func, self._scope) or LOCAL
            for each in made
            if isinstance(each.node, ast.Call)
        ]
        return len(called) == len(made) > 0 and not any(
            each.startswith((LOCAL, "builtins.")) for each in called
        )

    def _is_own_or_constant(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Constant) or self._its.has(node)

    def _to_own_file(self, call: ast.Call, qualified: str | None) -> bool:
        """Whether something is written to a file that was opened for this element alone."""
        return self._reading.catalogue.has("storing", qualified) and any(
            isinstance(each, ast.Name) and each.id in self._its.opened for each in call.args
        )

    def _recurs(self, call: ast.Call) -> bool:
        """Whether a function calls itself: what it does to each is seen here already."""
        return isinstance(call.func, ast.Name) and call.func.id == self._scope.name

    def _fills(self, call: ast.Call) -> bool:
        """Whether it hands itself a dict that it puts things into, and returns."""
        given = {each.id for each in call.args if isinstance(each, ast.Name)} - self._its.own
        filled: set[str] = set()
        returned: set[str] = set()
        for each in ast.walk(self._scope.node) if given else ():
            if isinstance(each, ast.Return):
                returned.add(last_name(each.value) if each.value is not None else "")
            elif (
                isinstance(each, ast.Subscript)
                and isinstance(each.ctx, ast.Store)
                and isinstance(each.value, ast.Name)
            ):
                filled.add(each.value.id)
        return bool(given & filled & returned)

    def _assigned(self, node: ast.Assign) -> Iterator[At | Outcome]:
        at = self._at
        yield from self._draws(node.value)
        for target in node.targets:
            for one in targets(target):
                if isinstance(one, ast.Name):
                    if self._is_temporary(one) or not self._its.mentions(node.value):
                        self._its.give(one.id, node.value)
                    elif not self._is_gathered(node.value, one):
                        yield at.ends(self._folded(node.value, one), node)
                elif isinstance(one, ast.Subscript):
                    yield from self._put_under(one, node)
                elif (
                    isinstance(one, ast.Attribute)
                    and not self._its.has(one.value)
                    and self._its.mentions(node.value)
                    and not self._is_gathered(node.value, one)
                ):
                    yield at.ends(Use.STATE, node)

    def _is_gathered(self, value: ast.expr, target: ast.expr) -> bool:
        return is_extreme(value, target, self._extremes) or is_sum(
            self._reading, self._scope, value, target
        )

    def _folded(self, value: ast.expr, target: ast.expr) -> Use:
        """Classify a value that other code makes of itself and an element; it may be the same."""
        given = (
            [*value.args, *(one.value for one in value.keywords)]
            if isinstance(value, ast.Call)
            else []
        )
        return Use.UNSEEN if spelled(target) in map(spelled, given) else Use.STATE

    def _put_under(self, target: ast.Subscript, node: ast.Assign) -> Iterator[Outcome]:
        """``d[element] = …`` commutes; under a key that several elements have, the last one wins."""
        at = self._at
        if self._its.has(target.value):
            return
        if self._counted(target.slice) or self._counted(node.value):
            yield at.ends(Use.STATE, node)  # Which number it gets depends on when it comes.
        elif not self._its.mentions(target.slice):
            if self._its.mentions(node.value, self._its.made | self._its.inner):
                yield at.ends(Use.STATE, node)
        elif self._is_first(target, node.value):
            yield at.ends(Use.STATE, node)
        elif (
            uses(target.slice, self._its.inner)
            and not uses(target.slice, self._its.elements)
            and self._its.mentions(node.value)
        ):
            yield at.ends(Use.UNSEEN, node)

    def _counted(self, node: ast.AST) -> bool:
        return uses(node, self._counters)

    def _augmented(self, node: ast.AugAssign) -> Iterator[At | Outcome]:
        """``n += 1`` commutes; ``text += line`` does not; ``total += weight`` does unless it rounds."""
        if isinstance(node.target, ast.Subscript) and self._its.mentions(node.target.slice):
            return
        if isinstance(node.target, ast.Name) and node.target.id in self._its.own:
            return
        kind = self._reading.kinds.of(node.value, self._scope)
        if not isinstance(node.op, _COMMUTES) or (
            kind is not None and kind.name in {"str", "list", "tuple"}
        ):
            here = At(node, self._scope, self._at.way, self._at.calls)
            yield from to_sequence(self._reading, here, node.target, node)

    def _draws(self, node: ast.AST) -> Iterator[Outcome]:
        """Find draws inside the loop, which depend on the order of the elements."""
        for each in ast.walk(node):
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
                kind = self._reading.kinds.of(each.func.value, self._scope)
                qualified = self._reading.names.qualified(each.func, self._scope)
                handed = each.func.attr in DRAWS and about(last_name(each.func.value), GENERATOR)
                if (
                    handed
                    or (kind is not None and kind.is_generator)
                    or self._reading.catalogue.has("global-draws", qualified)
                ):
                    yield self._at.ends(Use.STATE, each)

    def _is_first(self, target: ast.Subscript, value: ast.expr) -> bool:
        """Whether the first of several elements with one key is kept, and the others are not."""
        key = target.slice
        if isinstance(key, ast.Name) and key.id in self._its.elements:
            return False
        return self._its.mentions(key) and self._firsts.is_kept(target, value, self._its.own)

    def _is_temporary(self, name: ast.Name) -> bool:
        """Whether a name is read inside of the loop alone."""
        end = self._loop.end_lineno or self._loop.lineno
        survey, bindings = self._reading.survey, self._reading.names.bindings(name.id, self._scope)
        return all(
            self._loop.lineno <= load.lineno <= end
            or in_own_comprehension(survey, load)
            or (scope is self._scope and not reaches(survey, name, load, bindings))
            for load, scope in self._reading.loads.of(name.id, self._scope)
        )

    def _picked(self) -> bool:
        """Whether what the loop broke off at is read after it."""
        end = self._loop.end_lineno or self._loop.lineno
        return any(
            load.lineno > end and not self._is_anew(load, scope)
            for name in sorted(self._its.own)
            for load, scope in self._reading.loads.of(name, self._scope)
        )

    def _is_anew(self, load: ast.Name, scope: Scope) -> bool:
        """Whether what is read after the loop was assigned after it."""
        bindings = self._reading.names.bindings(load.id, self._scope)
        survey = self._reading.survey
        return in_own_comprehension(survey, load) or (
            scope is self._scope and not reaches(survey, self._loop.body[-1], load, bindings)
        )


def _counters(reading: Reading, loop: ast.For | ast.AsyncFor | ast.While, scope: Scope) -> set[str]:
    """Give the names that hold an element's number: ``i`` in ``for i, x in enumerate(…)``."""
    if (
        not isinstance(loop, ast.While)
        and isinstance(loop.iter, ast.Call)
        and isinstance(loop.target, (ast.Tuple, ast.List))
        and loop.target.elts
        and isinstance(loop.target.elts[0], ast.Name)
        and reading.names.qualified(loop.iter.func, scope) == "builtins.enumerate"
    ):
        return {loop.target.elts[0].id}
    return set()


def _changed(loop: ast.AST) -> frozenset[str]:
    """Give the places that a loop assigns or fills, as they are written."""
    found = set()
    for each in ast.walk(loop):
        if isinstance(each, (ast.Name, ast.Attribute)) and isinstance(each.ctx, ast.Store):
            found.add(spelled(each))
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Store):
            found.add(spelled(each.value))
        elif (
            isinstance(each, ast.Call)
            and isinstance(each.func, ast.Attribute)
            and (each.func.attr in PUTTING or each.func.attr in ERASING)
        ):
            found.add(spelled(each.func.value))
    return frozenset(found)


def _counts(call: ast.Call) -> bool:
    """Whether a number goes along that says when it came: ``next(counter)``."""
    return any(isinstance(each, ast.Call) and last_name(each) == "next" for each in ast.walk(call))
