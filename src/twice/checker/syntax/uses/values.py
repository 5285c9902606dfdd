"""Where a value ends: the time that a clock gave, the bytes of a digest, a drawn number.

Arithmetic, conversions and containers carry a value on; a log or a time limit ends it harmlessly.

Invariant: a use that is not recognised is ``UNSEEN``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.nodes import has_own_text, own_attribute
from twice.checker.syntax.survey import COMPREHENSIONS, Scope
from twice.checker.syntax.uses.following import (
    At,
    Reading,
    Trail,
    constant_key,
    to_caller,
    to_container,
    to_name,
    to_parameter,
    to_target,
)
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.words import (
    IDENTITIES,
    LABEL,
    LIMITS,
    LOGS,
    NAMING,
    OWN_NAMES,
    SEED_KEYWORDS,
    SHOWING,
    STAMPS,
    TELEMETRY,
    TIMING,
    about,
    last_name,
    last_part,
)

_CARRIES: Final = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.JoinedStr, ast.FormattedValue, ast.Tuple, ast.List,
    ast.Set, ast.Dict, ast.Starred, ast.Await, ast.NamedExpr, ast.Slice, *COMPREHENSIONS,
)  # fmt: skip
_PUTS: Final = {
    "append", "appendleft", "add", "insert", "extend", "update", "setdefault", "put", "put_nowait", "push",
}  # fmt: skip
_WRITES: Final = {
    "write", "writelines", "writerow", "writerows", "write_text", "write_bytes", "dump", "send", "sendall",
}  # fmt: skip
_COPIES: Final = {"_replace", "copy", "evolve", "model_copy", "replace"}  # Of records.


class Values:
    """Follows values in one file."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._running: set[ast.AST] = set()
        self._results: dict[tuple[ast.Call, bool], Use] = {}
        self._loops = 0
        self._is_time = False

    def follow(self, node: ast.AST, scope: Scope, *, is_time: bool = False) -> list[Outcome]:
        """Give the ends of an expression's value.

        Args:
            node: the expression.
            scope: where it is evaluated.
            is_time: whether it is a clock's time, of which differences are durations.
        """
        self._is_time = is_time
        return Trail(self._look, self._reading.steps).follow(At(node, scope, (node,)))

    def _look(self, at: At) -> Iterator[At | Outcome]:
        node = at.node
        parent = self._reading.survey.parents.get(node)
        if parent is None:
            return
        if isinstance(parent, ast.Dict):
            yield self._displayed(at, parent)
        elif self._is_time and isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub):
            # A duration is judged where it ends; what it starts from tells nothing by itself.
            yield at.ends(Use.TIMING, parent) if parent.right is node else at.passing(parent)
        elif self._is_time and (isinstance(parent, ast.Tuple) or has_own_text(parent)):
            yield at.passing(parent)
        elif isinstance(parent, _CARRIES):
            yield at.on(parent)
        elif isinstance(parent, ast.keyword):
            call = self._reading.survey.parents[parent]
            if isinstance(call, ast.Call):
                yield from self._argument(at, call, parent.arg)
            else:
                yield at.ends(Use.UNSEEN, parent)
        elif isinstance(parent, ast.Call):
            if parent.func is node:
                yield at.on(parent)
            else:
                yield from self._argument(at, parent, None)
        elif isinstance(parent, ast.Attribute):
            yield self._attribute(at, parent)
        elif isinstance(parent, ast.Subscript):
            yield from self._subscript(at, parent)
        elif isinstance(parent, ast.stmt):
            yield from self._statement(at, parent)
        elif isinstance(parent, ast.withitem) and parent.optional_vars is not None:
            yield from to_target(self._reading, at, parent.optional_vars)
        elif isinstance(parent, ast.IfExp):
            yield at.ends(self._decision(at), parent) if parent.test is node else at.on(parent)
        elif isinstance(parent, ast.Compare):
            yield from self._compared(at, parent)
        elif isinstance(parent, ast.YieldFrom) and isinstance(at.way[-1], ast.Return):
            yield at.on(parent)  # What a generator returns is the value of ``yield from``.
        elif isinstance(parent, (ast.Yield, ast.YieldFrom)):
            yield at.ends(Use.RETURNED, parent)
        elif isinstance(parent, ast.comprehension):
            yield from self._comprehended(at, parent)
        elif isinstance(parent, ast.Lambda) and at.scope.parent is not None:
            yield at.to(parent, at.scope.parent, parent)  # Whoever has the function gets the value.
        elif isinstance(parent, ast.arguments):
            yield at.ends(Use.STATE, node)
        else:
            yield at.ends(Use.UNSEEN, parent)

    def _displayed(self, at: At, parent: ast.Dict) -> At | Outcome:
        """Follow a value in a dictionary, whose key names its purpose and is a step of its way."""
        for key, value in zip(parent.keys, parent.values, strict=True):
            if value is at.node and isinstance(key, ast.Constant) and isinstance(key.value, str):
                if about(key.value, TELEMETRY):
                    return at.ends(Use.TELEMETRY, key)
                return replace(at.passing(parent, key), key=key.value)
        return at.on(parent)

    def _attribute(self, at: At, parent: ast.Attribute) -> At | Outcome:
        """Follow a value into a method or a part of it; ``get`` of another key leaves it behind."""
        call = self._reading.survey.parents.get(parent)
        if parent.attr in {"get", "pop"} and isinstance(call, ast.Call) and call.func is parent:
            asked = call.args[0] if call.args else None
            if at.key and isinstance(asked, ast.Constant) and asked.value != at.key:
                return at.ends(Use.DROPPED, call)
        return replace(at.on(parent), key="") if at.key else at.on(parent)

    def _subscript(self, at: At, parent: ast.Subscript) -> Iterator[At | Outcome]:
        if parent.value is at.node:
            key = constant_key(parent)
            if at.key and key and key != at.key:
                yield at.ends(Use.DROPPED, parent)
            elif isinstance(parent.ctx, ast.Load):
                yield replace(at.on(parent), key="") if key else at.on(parent)
            return
        above = self._reading.survey.parents.get(parent)
        if about(last_name(parent.value), TELEMETRY):
            yield at.ends(Use.TELEMETRY, parent)
        elif isinstance(above, ast.Attribute) and above.attr in _PUTS:
            # It chooses what is filled: ``rooms[chosen].append(guest)``.
            yield at.ends(Use.KEY, parent)
        elif isinstance(parent.ctx, ast.Load):
            yield at.passing(parent)  # what it looks up
        else:
            yield at.ends(Use.KEY, parent)

    def _statement(self, at: At, parent: ast.stmt) -> Iterator[At | Outcome]:
        reading = self._reading
        if isinstance(parent, ast.Expr):
            yield at.ends(Use.DROPPED, parent)
        elif isinstance(parent, ast.Assign):
            for target in parent.targets:
                if isinstance(target, ast.Name) and (use := _announce_use(target.id)) is not None:
                    yield from self._hushed(at, target, use)
                else:
                    yield from self._assigned(at, target)
        elif isinstance(parent, (ast.AnnAssign, ast.AugAssign)):
            yield from self._assigned(at, parent.target)
        elif isinstance(parent, ast.Return):
            yield from to_caller(reading, at, parent, is_value=True)
        elif isinstance(parent, (ast.If, ast.While)):
            yield at.ends(min(self._branch(parent), self._decision(at)), parent)
        elif isinstance(parent, (ast.For, ast.AsyncFor)):
            yield from to_target(reading, at, parent.target)
        elif isinstance(parent, ast.Raise):
            yield at.ends(Use.LABEL, parent)
        elif isinstance(parent, ast.Assert):
            yield at.ends(Use.LABEL if parent.msg is at.node else Use.BRANCH, parent)
        else:
            yield at.ends(Use.UNSEEN, parent)

    def _hushed(self, at: At, target: ast.Name, use: Use) -> Iterator[Outcome]:
        """Treat a value named as a name or a limit as one, unless it is hashed or seeds."""
        yield at.ends(use, target)
        if target in self._running:
            return
        self._running.add(target)
        trail = Trail(self._look, self._reading.steps)
        for one in to_name(self._reading, at, target):
            ends = [one] if isinstance(one, Outcome) else trail.follow(one)
            yield from (
                each
                for each in ends
                if each.use >= Use.DIGEST or own_attribute(each.node) in OWN_NAMES
            )
        self._running.discard(target)

    def _assigned(self, at: At, target: ast.expr) -> Iterator[At | Outcome]:
        """Treat an attribute or an entry named as a seed as one, whoever reads it."""
        name = target.attr if isinstance(target, ast.Attribute) else ""
        if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
            name = str(target.slice.value)
        if name.lower().endswith(("seed", "seeds")):
            yield at.ends(Use.SEED, target)
        elif not self._is_time and name in OWN_NAMES and own_attribute(target):
            yield at.ends(Use.STATE, target)  # What it is called, whoever asks.
        yield from to_target(self._reading, at, target)

    def _comprehended(self, at: At, parent: ast.comprehension) -> Iterator[At | Outcome]:
        if parent.iter is at.node:
            whole = self._reading.survey.parents[parent]
            yield at.on(whole)
            yield from to_target(self._reading, at, parent.target)
        else:
            yield at.ends(Use.BRANCH, parent.target)

    def _compared(self, at: At, parent: ast.Compare) -> Iterator[At | Outcome]:
        others = [each for each in [parent.left, *parent.comparators] if each is not at.node]
        if any(isinstance(each, ast.Constant) and each.value is None for each in others):
            yield at.ends(Use.DROPPED, parent)
        elif any(
            isinstance(each, (ast.Name, ast.Attribute)) and about(last_name(each), TIMING)
            for each in (ast.walk(parent) if self._is_time else others)
        ):
            yield at.ends(Use.TIMING, parent)
        else:
            yield at.passing(parent) if self._is_time else at.on(parent)

    def _decision(self, at: At) -> Use:
        """Classify a condition: a time that is compared with nothing says that there is one, and decides nothing."""
        compared = not self._is_time or any(isinstance(each, ast.Compare) for each in at.way)
        return Use.BRANCH if compared else Use.DROPPED

    def _branch(self, parent: ast.If | ast.While) -> Use:
        """Classify a branch: one that only logs, delays or gives up decides nothing."""
        if isinstance(parent, ast.While):
            calls = [
                each for one in parent.body for each in ast.walk(one) if isinstance(each, ast.Call)
            ]
            if any(last_name(each) == "sleep" for each in calls):
                return Use.TIMING
            # How often a loop goes round by the clock matters when it keeps what it makes.
            return Use.UNSEEN if self._is_time else Use.BRANCH
        if parent.orelse:
            return Use.BRANCH
        uses = [self._harmless(each) for each in parent.body]
        return Use.BRANCH if None in uses else max(each for each in uses if each is not None)

    def _harmless(self, statement: ast.stmt) -> Use | None:
        if isinstance(statement, ast.Raise):
            return Use.TIMING
        if self._is_time and isinstance(statement, (ast.Break, ast.Return, ast.Continue, ast.Pass)):
            # Whoever gives up or waits for the next time hands nothing on.
            value = getattr(statement, "value", None)
            return Use.TIMING if value is None or isinstance(value, ast.Constant) else None
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
            called = last_name(statement.value)
            if self._is_telemetry(statement.value) or about(called, SHOWING):
                return Use.TELEMETRY
            return None
        if isinstance(statement, (ast.Assign, ast.AugAssign)):
            one = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            name = last_name(one)
            return Use.TELEMETRY if about(name, TELEMETRY) or about(name, TIMING) else None
        return None

    def _argument(self, at: At, call: ast.Call, keyword: str | None) -> Iterator[At | Outcome]:
        reading, catalogue = self._reading, self._reading.catalogue
        qualified = reading.names.qualified(call.func, at.scope)
        word = last_name(call.func)
        if isinstance(reading.survey.parents.get(call), ast.Raise):
            yield at.ends(Use.LABEL, call)
            return
        if (
            catalogue.has("seeding", qualified)
            or catalogue.has("generators", qualified)
            or keyword in SEED_KEYWORDS
            or (word in catalogue.methods.get("seeding", ()) and _is_method(call, qualified))
        ):
            yield at.ends(Use.SEED, call)
        elif catalogue.has("hashing", qualified) or self._is_hasher(call, at.scope):
            yield at.ends(Use.DIGEST, call)
        elif catalogue.has("carrying", qualified) or (
            qualified is None and word in {"format", "join", "render"}
        ):
            yield at.passing(call) if self._is_time and has_own_text(call) else at.on(call)
        elif (
            self._is_telemetry(call)
            or catalogue.has("telemetry", qualified)
            or (keyword is not None and about(keyword, TELEMETRY))
        ):
            yield at.ends(Use.TELEMETRY, call)
        elif catalogue.has("waiting", qualified) or (
            keyword is not None and about(keyword, TIMING)
        ):
            yield at.ends(Use.TIMING, call)
        elif keyword is not None and (
            (word[:1].isupper() and _is_stamp(at, keyword))
            or (isinstance(call.func, ast.Attribute) and word in _COPIES)
        ):
            yield at.ends(Use.STATE, call)  # a record gets its time or its identity
        elif (
            catalogue.has("naming", qualified)
            or (keyword is not None and about(keyword, LABEL))
            or word.endswith(("Error", "Exception", "Warning"))
        ):
            yield at.ends(Use.LABEL, call)
        elif isinstance(call.func, ast.Attribute) and word in _PUTS:
            yield from to_container(reading, at, call.func.value, call)
        elif _inserts(call):
            yield at.ends(Use.STORED, call)
        elif catalogue.has("storing", qualified) or (qualified is None and word in _WRITES):
            yield at.ends(Use.STORED if self._is_stored(at, call, qualified) else Use.LABEL, call)
        elif reading.loads.is_record(qualified):
            yield at.ends(Use.STATE, call)
        else:
            yield from to_parameter(reading, at, call, lambda: self._result(call, at.scope))

    def _result(self, call: ast.Call, scope: Scope) -> Use:
        """Return where the result of a call ends; ``UNSEEN`` for one in a loop of them."""
        asked, loops = (call, self._is_time), self._loops
        if asked in self._results:
            return self._results[asked]
        if call in self._running:
            self._loops += 1
            return Use.UNSEEN
        self._running.add(call)
        nothing = Outcome(Use.UNSEEN, call)
        use = gravest(self.follow(call, scope, is_time=self._is_time), nothing).use
        self._running.discard(call)
        if self._loops == loops:  # Else it may be what the middle of a loop of calls sees of it.
            self._results[asked] = use
        return use

    @staticmethod
    def _is_stored(at: At, call: ast.Call, qualified: str | None) -> bool:
        """Whether it is what is written, and not the name of the file that it is written to."""
        numpy = qualified is not None and qualified.startswith("numpy.")
        return at.node not in call.args or (call.args.index(at.node) == 0) is not numpy

    def _is_hasher(self, call: ast.Call, scope: Scope) -> bool:
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
            return False
        kind = self._reading.kinds.of(call.func.value, scope)
        return kind is not None and kind.name == "hasher"

    def _is_telemetry(self, call: ast.Call) -> bool:
        """Whether a call logs, by its name or by the name of what it is called on."""
        func = call.func
        if isinstance(func, ast.Attribute):
            if func.attr in self._reading.catalogue.methods.get("telemetry", ()):
                return True
            return about(last_name(func.value), TELEMETRY) or about(func.attr, TELEMETRY)
        return isinstance(func, ast.Name) and (func.id == "print" or about(func.id, TELEMETRY))


def _inserts(call: ast.Call) -> bool:
    """Whether a call is given a statement that writes rows into a table."""
    text = getattr(call.args[0], "value", None) if call.args else None
    return isinstance(text, str) and text.lstrip()[:7].upper() in {"INSERT ", "UPDATE ", "REPLACE"}


def _is_stamp(at: At, keyword: str) -> bool:
    """Whether a record is told by an argument, or by an entry of one, when it was made or which one it is."""
    return about(keyword, STAMPS | IDENTITIES) or any(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and about(each.value, STAMPS)
        for each in at.way
    )


def _is_method(call: ast.Call, qualified: str | None) -> bool:
    """Whether a call is one of a method of an object that is not an imported module."""
    return isinstance(call.func, ast.Attribute) and (qualified is None or qualified[0] == LOCAL)


def _announce_use(name: str) -> Use | None:
    """Return the use that a variable's name announces: a label, a log, a limit."""
    for words, use in ((NAMING, Use.LABEL), (LOGS, Use.TELEMETRY), (LIMITS, Use.TIMING)):
        if about(last_part(name) if use is Use.LABEL else name, words):
            return use
    return None
