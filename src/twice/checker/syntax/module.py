"""One file as rules see it: its tree, its names and kinds, and where values in it end.

Following values costs time and is done for the few sites that ask for it; it can be switched off, and
then everything is ``UNSEEN``.

Invariant: a rule learns of a file only through this.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from twice.checker.analysis.order import Orders
from twice.checker.catalogue import Catalogue
from twice.checker.findings import Edit, Fix, Reach, SourceSpan, Step, Violation
from twice.checker.syntax.attributes import Attributes
from twice.checker.syntax.handed import Handed
from twice.checker.syntax.kind import Kind
from twice.checker.syntax.kinds import Kinds
from twice.checker.syntax.names import Names
from twice.checker.syntax.survey import Scope, Survey
from twice.checker.syntax.uses.following import STEPS, Reading
from twice.checker.syntax.uses.loads import Loads
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest
from twice.checker.syntax.uses.values import Values
from twice.checker.syntax.vocabulary import Vocabulary
from twice.foundation.digests import Algorithm, digest_bytes

ALWAYS_WANTED: Final[frozenset[type[ast.AST]]] = frozenset({
    ast.Call, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.withitem, ast.Set, ast.SetComp, ast.For,
    ast.AsyncFor, ast.comprehension, ast.Starred, ast.YieldFrom, ast.FormattedValue,
})  # fmt: skip
_STATEMENT_LENGTH_MAX: Final = 200
_SETS: Final = ("set(", "set[", "Set[", "frozenset(", "FrozenSet[", "AbstractSet[", "MutableSet[")
_SHOWN_LENGTH_MAX: Final = 60


class Module:
    """A parsed file.

    Args:
        path: where it is, as findings name it.
        text: its source.
        tree: its syntax.
        package: its dotted package, for relative imports; "" outside of any.
        catalogue: API names in force.
        wanted: the kinds of nodes that rules ask for.
        follows: whether values are followed to where they end.
    """

    def __init__(
        self,
        path: str,
        text: str,
        tree: ast.Module,
        *,
        package: str,
        catalogue: Catalogue,
        wanted: frozenset[type[ast.AST]],
        follows: bool,
    ) -> None:
        self.path = path
        self.text = text
        self.tree = tree
        self.package = package
        self.catalogue = catalogue
        self.follows = follows
        self._statements: dict[ast.stmt, tuple[str, str]] = {}
        self.survey = Survey(tree, package, wanted | ALWAYS_WANTED)
        self.names = Names(self.survey)
        self.attributes = Attributes(self.survey)
        self.kinds = Kinds(self.survey, self.names, catalogue, self.attributes)

    @cached_property
    def lines(self) -> list[str]:
        """The source's lines, split as the parser splits them."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @property
    def name(self) -> str:
        """The dotted name under which the file is imported."""
        stem = self.path.rpartition("/")[2].removesuffix(".py")
        if stem == "__init__":
            return self.package
        return f"{self.package}.{stem}" if self.package else stem

    @cached_property
    def speaks_of_seeds(self) -> bool:
        """Whether the word stands anywhere in the file: most rules about seeds look no further."""
        return "seed" in self._vocabulary.words.lower()

    @cached_property
    def imported(self) -> frozenset[str]:
        """The top-level packages that the file imports."""
        survey = self.survey
        return frozenset(each.partition(".")[0] for each in (*survey.imported, *survey.stars))

    def speaks_of(self, *words: str) -> bool:
        """Say whether the text has one of some words in it, inside of others too: ``.sample(``."""
        return self._vocabulary.has(words)

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary(self.text)

    @cached_property
    def has_sets(self) -> bool:
        """Whether the file speaks of sets at all."""
        return (
            any(map(self.survey.nodes.get, (ast.Set, ast.SetComp)))
            or any(map(self._vocabulary.begins, _SETS))
            or self.speaks_of(".keys()", ": set", "> set", "(set)", "=set)", ", set)")
        )

    @cached_property
    def calls(self) -> list[tuple[ast.Call, Scope, str | None]]:
        """Every call with its scope and the qualified name of what it calls, in source order."""
        qualified = self.names.qualified
        found = [
            (node, scope, qualified(node.func, scope))
            for node, scope in self.survey.nodes.get(ast.Call, ())
            if isinstance(node, ast.Call)
        ]
        handed = Handed(self.survey, self.names, self.attributes, self.catalogue, self.text)
        if handed.is_empty:
            return found
        return [(node, scope, handed.of(node.func, scope, name)) for node, scope, name in found]

    @cached_property
    def called(self) -> dict[ast.AST, str | None]:
        """The qualified name of what each call calls."""
        return {node: name for node, _, name in self.calls}

    @cached_property
    def loads(self) -> Loads:
        """Where names are read."""
        return Loads(self.survey, self.names)

    @cached_property
    def values(self) -> Values:
        """Follows values."""
        return Values(self._reading)

    @cached_property
    def orders(self) -> Orders:
        """Follows orders."""
        return Orders(self._reading, self.values)

    @cached_property
    def _reading(self) -> Reading:
        is_script = self.speaks_of("__main__") and self.speaks_of("__name__ ==")
        known = (self.survey, self.names, self.kinds, self.catalogue, self.loads, self.attributes)
        return Reading(*known, self.name, is_script=is_script)

    def renew_steps(self) -> None:
        """Let values be followed as far as in a file of which nothing was asked yet."""
        self._reading.steps.left = STEPS

    def close(self) -> None:
        """Break the one cycle that holds the tree, so that no collector has to find it."""
        for scope in self.survey.scopes:
            scope.inner.clear()

    def in_function(self, scope: Scope) -> str:
        """Give the dotted path of the function or class that a scope is."""
        return Names.path(scope)

    def site(self, node: ast.AST, scope: Scope) -> Site:
        """Give a place in this file, for rules."""
        return Site(self, node, scope)

    def place(self, node: ast.AST) -> SourceSpan:
        """Give where a node stands, in lines and characters from 1."""
        while "lineno" not in node._attributes and (part := next(ast.iter_child_nodes(node), None)):
            node = part  # A comprehension, a withitem: it stands where its first part does.
        line = getattr(node, "lineno", 1)
        end = getattr(node, "end_lineno", None) or line
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            end = line  # The header: a finding of a whole class is not 400 lines long.
            return SourceSpan(line, self._column(line, node.col_offset), line, self._width(line))
        column = self._column(line, getattr(node, "col_offset", 0))
        end_column = self._column(end, getattr(node, "end_col_offset", None) or 0)
        return SourceSpan(line, column, end, end_column)

    def _column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return offset + 1
        return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "replace")) + 1

    def _width(self, line: int) -> int:
        return len(self.lines[line - 1]) + 1 if line <= len(self.lines) else 1

    def source(self, node: ast.AST) -> str:
        """Give the text of a node, as it is written; "" when it has no place."""
        if getattr(node, "end_lineno", None) is None:
            return ""
        place = self.place(node)
        if place.line == place.end_line:
            return self.lines[place.line - 1][place.column - 1 : place.end_column - 1]
        first = self.lines[place.line - 1][place.column - 1 :]
        last = self.lines[place.end_line - 1][: place.end_column - 1]
        return "\n".join([first, *self.lines[place.line : place.end_line - 1], last])

    def shown(self, node: ast.AST) -> str:
        """Give the text of a node for a sentence: on one line, its end cut off when it is long."""
        text = " ".join(self.source(node).split())
        return text if len(text) <= _SHOWN_LENGTH_MAX else f"{text[: _SHOWN_LENGTH_MAX - 2]} …"

    def statement_text(self, node: ast.AST, *, whole: bool = False) -> str:
        """Give the statement of a node on one line, a compound one's header alone.

        A long one is cut off, or, when all of it has to count, ends in a digest of what is cut off.
        """
        statement = self.survey.statement(node)
        known = self._statements.get(statement)
        if known is None:
            known = self._statements[statement] = self._texts(statement)
        return known[whole]

    def _texts(self, statement: ast.stmt) -> tuple[str, str]:
        """Return a statement's text twice: cut off, and with a digest of all if it is long."""
        end = statement.end_lineno or statement.lineno
        body = getattr(statement, "body", None)
        if isinstance(body, list) and body:
            end = max(statement.lineno, body[0].lineno - 1)
        text = " ".join("\n".join(self.lines[statement.lineno - 1 : end]).split())
        if len(text) <= _STATEMENT_LENGTH_MAX:
            return text, text
        rest = digest_bytes(text.encode("utf-8", "surrogatepass"), Algorithm.SHA256).hex
        return text[:_STATEMENT_LENGTH_MAX], f"{text[: _STATEMENT_LENGTH_MAX - 18]} {rest[:16]}"


@dataclass(slots=True, eq=False)  # Not frozen: one is made for every node that a rule asks for.
class Site:
    """A node that a rule looks at."""

    module: Module
    node: ast.AST
    scope: Scope
    rule: str = ""

    @property
    def call(self) -> ast.Call:
        """The node as the call that it is."""
        assert isinstance(self.node, ast.Call), "asked for at a call"
        return self.node

    @property
    def called(self) -> str | None:
        """The qualified name of what the call calls."""
        return self.module.called.get(self.node)

    @property
    def catalogue(self) -> Catalogue:
        """API names in force."""
        return self.module.catalogue

    def qualified(self, node: ast.AST) -> str | None:
        """Give the qualified name of another expression at this place."""
        return self.module.names.qualified(node, self.scope)

    def kind(self, node: ast.AST | None) -> Kind | None:
        """Give what another expression at this place is."""
        return self.module.kinds.of(node, self.scope)

    def has_builtin(self, name: str) -> bool:
        """Say whether a name is the builtin here, and nothing that the file calls so."""
        return self.module.names.named(name, self.scope) == f"builtins.{name}"

    def keyword(self, name: str) -> ast.expr | None:
        """Give the value of a keyword argument of the call."""
        for each in self.call.keywords:
            if each.arg == name:
                return each.value
        return None

    def argument(self, position: int, name: str) -> ast.expr | None:
        """Give an argument of the call by position or name; None too when it comes by a star."""
        call = self.call
        if position < len(call.args) and not any(
            isinstance(each, ast.Starred) for each in call.args[: position + 1]
        ):
            return call.args[position]
        return self.keyword(name)

    @property
    def has_star(self) -> bool:
        """Whether arguments of the call come by a star, so that some are not seen."""
        call = self.call
        return any(isinstance(each, ast.Starred) for each in call.args) or any(
            each.arg is None for each in call.keywords
        )

    def value(self, node: ast.AST | None = None) -> Outcome:
        """Give the gravest end of a value: the node's own, or another's."""
        return gravest(self.ends(node), Outcome(Use.UNSEEN, self.node if node is None else node))

    def ends(self, node: ast.AST | None = None) -> list[Outcome]:
        """Give every end of a value: the node's own, or another's."""
        if not self.module.follows:
            return []
        start = self.node if node is None else node
        is_time = self.catalogue.has("clock", self.module.called.get(start))
        return self.module.values.follow(start, self.scope, is_time=is_time)

    def order(self, node: ast.AST | None = None) -> Outcome:
        """Give the gravest end of the order in which an expression's elements come."""
        start = self.node if node is None else node
        if not self.module.follows:
            return Outcome(Use.UNSEEN, start)
        nothing = Outcome(Use.UNSEEN, start)
        return gravest(self.module.orders.follow(start, self.scope), nothing)

    def above(self) -> list[ast.AST]:
        """Give the nodes around this one, innermost first."""
        return list(self.module.survey.above(self.node))

    def at(self, node: ast.AST, scope: Scope | None = None) -> Site:
        """Give another place in the file, for the same rule."""
        return Site(self.module, node, scope or self.scope, self.rule)

    def found(self, rule: str, message: str, why: str, **more: Any) -> Violation:
        """Give a violation of another rule here."""
        self.rule = rule
        return self.violation(message, why, **more)

    def violation(
        self,
        message: str,
        why: str,
        *,
        node: ast.AST | None = None,
        reach: Reach = Reach.LOUD,
        outcome: Outcome | None = None,
        confidence: float = 0.9,
        fix: Fix | None = None,
    ) -> Violation:
        """Give a finding here.

        Args:
            message: one sentence with the names in it.
            why: one sentence: how this makes two runs differ.
            node: the syntax to point at; this site's own by default.
            reach: how far the value was seen to travel, where it was not followed.
            outcome: where the value ends; gives reach, the steps and the end of ``why``.
            confidence: 0 to 1.
            fix: what would mend it.
        """
        module = self.module
        at = self.node if node is None else node
        steps: tuple[Step, ...] = ()
        if outcome is not None:
            reach = outcome.use.reach
            steps = self._steps(outcome)
            if outcome.node is not at:
                why = f"{why.rstrip('.')}; {outcome.words(module.place(outcome.node).line)}."
        return Violation(
            rule=self.rule,
            place=module.place(at),
            message=message,
            why=why,
            reach=reach,
            confidence=confidence,
            symbol=Names.path(self.scope),
            statement=module.statement_text(at, whole=True),
            steps=steps,
            fix=fix,
            open=() if outcome is None else outcome.open,
        )

    def _steps(self, outcome: Outcome) -> tuple[Step, ...]:
        nodes = [*outcome.way, outcome.node]
        steps: list[Step] = []
        for node in nodes:
            place = self.module.place(node)
            if not steps or steps[-1].place.line != place.line:
                steps.append(Step(place, self.module.statement_text(node)))
        return tuple(steps)

    def replaced(self, node: ast.AST, text: str) -> Edit:
        """Give the edit that puts a text where a node stands."""
        return Edit(self.module.place(node), text)

    def wrapped(self, node: ast.AST, before: str, after: str) -> tuple[Edit, ...]:
        """Give the edits that put text before and after a node."""
        place = self.module.place(node)
        start = SourceSpan(place.line, place.column, place.line, place.column)
        end = SourceSpan(place.end_line, place.end_column, place.end_line, place.end_column)
        return (Edit(start, before), Edit(end, after))
