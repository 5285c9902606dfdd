"""What a test asserts: the two sides of each comparison, what they were made of, and what is claimed.

Two sides are *twins* when they are the same expression of two runs: ``score(y, net.predict(X))`` and
``score(y, again.predict(X))``.

Invariant: one function is read; what a helper compares is unknown.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from functools import cached_property
from typing import Final

from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about, last_name, parts

CLAIMS: Final = frozenset(
    ["determinism", "deterministic", "reproducible", "reproducibility", "reproduce", "reproduces", "reproduction", "repeatable", "repeatability", "uninterrupted"]
)  # fmt: skip
_DENIALS: Final = frozenset(
    ["non", "not", "nondeterministic", "nondeterminism", "stochastic", "no", "none", "without"]
)
_CLAIM_TEXT: Final = re.compile(
    r"(?<!non)(?<!non-)(?<!not )(?:determinis|reproducib)|bit.for.bit", re.IGNORECASE
)
_SAME_SEED: Final = re.compile(r"same seed", re.IGNORECASE)
# A number, or a collection without order, that stands for a whole run.
_AGGREGATES: Final = frozenset(
    ["mean", "sum", "len", "std", "var", "average", "median", "fsum", "nanmean", "score", "summary", "keys", "set", "sorted", "counter"]
)  # fmt: skip
_DEPTH: Final = 4


class Assertion:
    """One ``assert``, or call named ``assert…``."""

    def __init__(self, node: ast.Assert | ast.Expr) -> None:
        self.node: ast.stmt = node
        self.tested = _unwrap(node.test if isinstance(node, ast.Assert) else node.value)
        self.sides: list[ast.expr] = []
        self.is_equality = False
        messages = [node.msg] if isinstance(node, ast.Assert) and node.msg is not None else []
        tested = self.tested
        if isinstance(tested, ast.Call):
            name = last_name(tested).lower()
            self.sides = tested.args[:2]
            self.is_equality = "equal" in name and "not" not in name
            messages += [*tested.args[2:], *(each.value for each in tested.keywords)]
        elif isinstance(tested, ast.Compare) and isinstance(tested.ops[0], ast.Eq):
            self.sides = [tested.left, *tested.comparators]
            self.is_equality = True
        self.claims = any(
            isinstance(each, ast.Constant)
            and (_CLAIM_TEXT.search(str(each.value)) or _SAME_SEED.search(str(each.value)))
            for message in messages
            for each in ast.walk(message)
        )


def _unwrap(tested: ast.expr) -> ast.expr:
    """Return what ``all(…)``, ``numpy.all(…)`` or ``(…).all()`` is asked of."""
    while isinstance(tested, ast.Call) and last_name(tested) == "all":
        if tested.args:
            tested = tested.args[0]
        elif isinstance(tested.func, ast.Attribute):
            tested = tested.func.value
        else:
            break
    return tested


class TestFunction:
    """A function that asserts."""

    __test__ = False

    def __init__(self, node: ast.FunctionDef, scope: Scope) -> None:
        self.node = node
        self.scope = scope
        self.assertions: list[Assertion] = []
        self.calls: list[ast.Call] = []
        self._made: dict[str, list[tuple[int, ast.expr]]] = {}
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                self.calls.append(each)
            elif isinstance(each, ast.Assert) or (
                isinstance(each, ast.Expr) and "assert" in last_name(each.value).lower()
            ):
                self.assertions.append(Assertion(each))
            elif isinstance(each, ast.Assign):
                self._bind(each.targets[0], each.value, each.lineno)
            elif isinstance(each, (ast.For, ast.comprehension)):
                self._bind_element(each.target, each.iter)
        self.assertions.sort(key=lambda each: each.node.lineno)

    def _bind(self, target: ast.expr, value: ast.expr, line: int) -> None:
        if isinstance(target, ast.Name):
            self._made.setdefault(target.id, []).append((line, value))
        elif isinstance(target, (ast.Tuple, ast.List)):
            count = len(target.elts)
            is_display = isinstance(value, ast.Tuple) and len(value.elts) == count
            values = value.elts if is_display else [value] * count  # type: ignore[attr-defined]
            for each, its in zip(target.elts, values, strict=True):
                self._bind(each, its, line)

    def _bind_element(self, target: ast.expr, source: ast.expr) -> None:
        """Bind what a loop goes through: two things zipped, or the items of one."""
        if isinstance(source, ast.Call) and isinstance(target, ast.Tuple):
            if last_name(source) == "zip":
                self._bind(target, ast.Tuple(source.args), source.lineno)
            elif last_name(source) == "items" and isinstance(source.func, ast.Attribute):
                element = ast.Subscript(source.func.value, ast.Name("key"))
                value = ast.copy_location(element, source)
                self._bind(target.elts[-1], value, source.lineno)

    @cached_property
    def is_named_so(self) -> bool:
        """Whether the name claims determinism."""
        words = parts(self.node.name)
        return words.isdisjoint(_DENIALS) and (
            not words.isdisjoint(CLAIMS | {"seeding"}) or {"same", "seed"} <= words
        )

    @cached_property
    def claims(self) -> bool:
        """Whether the name or the docstring claims determinism."""
        text = ast.get_docstring(self.node) or ""
        is_said = _CLAIM_TEXT.search(text) is not None and "differ" not in self.node.name
        return self.is_named_so or is_said

    def expand(self, node: ast.expr, line: int) -> ast.expr:
        """Return what a name was last made of before a line; the expression itself if it is no name."""
        for _ in range(_DEPTH):
            made = self._made.get(node.id, []) if isinstance(node, ast.Name) else []
            earlier = [value for at, value in made if at <= line]
            if not earlier:
                break
            node = earlier[-1]
        return node

    def expand_sides(self, one: Assertion) -> list[ast.expr]:
        """Return both sides of an assertion, names replaced by what they were made of."""
        return [self.expand(each, one.node.lineno) for each in one.sides]

    def has_constant(self, one: Assertion) -> bool:
        """Say whether a side is a constant, or made of nothing else."""
        return any(
            not any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(each))
            for each in self.expand_sides(one)
        )

    def find_loaded(self, reads: Container[ast.Call]) -> set[str]:
        """Return the names of what some calls gave or were given, and of what was made of it."""
        found: set[str] = set()
        for call in ast.walk(self.node):
            if isinstance(call, ast.Call) and call in reads:
                given = [call.func.value] if isinstance(call.func, ast.Attribute) else []
                found |= {each.id for each in [*given, *call.args] if isinstance(each, ast.Name)}
        values = [(name, value) for name, made in self._made.items() for _, value in made]
        for _ in range(_DEPTH):
            found |= {
                name
                for name, value in values
                for each in ast.walk(value)
                if each in reads or (isinstance(each, ast.Name) and each.id in found)
            }
        return found

    def tested_parts(self, one: Assertion) -> Iterator[ast.AST]:
        """Yield what is asserted and all in it, a name replaced by what it was made of."""
        yield from ast.walk(one.node)
        for each in [one.tested, *one.sides]:
            if isinstance(each, ast.Name):
                yield from ast.walk(self.expand(each, one.node.lineno))


def shape(node: ast.AST) -> str:
    """Return an expression's text with its variables blanked; the names of functions stay."""
    if isinstance(node, ast.Name):
        return "_"
    if isinstance(node, ast.Call):
        func = node.func.id if isinstance(node.func, ast.Name) else shape(node.func)
        given = [*node.args, *(each.value for each in node.keywords)]
        return f"{func}({','.join(map(shape, given))})"
    if isinstance(node, ast.Attribute):
        return f"{shape(node.value)}.{node.attr}"
    if isinstance(node, ast.Constant):
        return repr(node.value)
    inner = [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.expr_context)]
    return f"{type(node).__name__}({','.join(map(shape, inner))})"


def are_twins(sides: list[ast.expr]) -> bool:
    """Say whether two expressions are the same but for the variables in them."""
    return len(sides) == 2 and shape(sides[0]) == shape(sides[1]) != "_"


def is_aggregate(node: ast.expr) -> bool:
    """Say whether an expression is a number, or a collection without order, that stands for a whole run."""
    if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
        return is_aggregate(node.elt)
    if isinstance(node, ast.Call):
        return about(last_name(node), _AGGREGATES)
    return isinstance(node, ast.Subscript) and last_name(node.value) in _AGGREGATES
