"""Every rule there is: one for each file in ``rules``, sorted by name.

Rules are imported when a file has to be read anew; findings from the cache need none of them.

Invariant: a rule's file is its name with underscores.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from twice.checking import rules as rules_package
from twice.checking.catalogue import Catalogue
from twice.checking.rule import Gathering, Rule, page_of
from twice.checking.syntax.uses.words import parts

_PACKAGE: Final = rules_package.__name__
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=1)
def every_rule() -> tuple[Rule, ...]:
    """Give all rules, each with its page."""
    found = []
    for info in iter_modules(rules_package.__path__):
        module = import_module(f"{_PACKAGE}.{info.name}")
        rule = getattr(module, "RULE", None)
        if rule is not None:  # a module that rules share has none
            assert isinstance(rule, Rule), f"{info.name}.RULE is a Rule"
            assert rule.name == info.name.replace("_", "-"), f"{info.name} is named as its file"
            found.append(replace(rule, page=page_of(module.__doc__ or "")))
    return tuple(sorted(found, key=lambda each: each.name))


@dataclass(frozen=True, slots=True)
class Index:
    """Which rules look at what.

    Args:
        calls: rules by the qualified name that is called.
        methods: rules by the bare name of the method that is called.
        nodes: rules by kind of syntax, functions left out.
        functions: rules for functions with ``def``, by kind of syntax.
        conditional: rules that say whether a file can hold anything for them.
        gathering: for each name of facts the function that gathers them.
    """

    calls: dict[str, tuple[Rule, ...]]
    methods: dict[str, tuple[Rule, ...]]
    nodes: dict[type[ast.AST], tuple[Rule, ...]]
    functions: dict[type[ast.AST], Named]
    conditional: tuple[Rule, ...]
    gathering: dict[str, Gathering]

    @property
    def wanted(self) -> frozenset[type[ast.AST]]:
        """The kinds of syntax that some rule asks for."""
        return frozenset((*self.nodes, *self.functions))


class Named:
    """Which rules look at a function, by its name.

    Args:
        rules: those that look at functions.
    """

    __slots__ = ("_known", "_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._known: dict[str, tuple[Rule, ...]] = {}

    def of(self, name: str) -> tuple[Rule, ...]:
        """Give the rules that look at a function of a name."""
        known = self._known.get(name)
        if known is None:
            words = parts(name)
            known = self._known[name] = tuple(
                [
                    rule
                    for rule in self._rules
                    if rule.named is None or name in rule.named or not words.isdisjoint(rule.named)
                ]
            )
        return known


def index(rules: tuple[Rule, ...], catalogue: Catalogue) -> Index:
    """Arrange rules by what they look at."""
    calls: dict[str, list[Rule]] = {}
    methods: dict[str, list[Rule]] = {}
    nodes: dict[type[ast.AST], list[Rule]] = {}
    for rule in rules:
        _enter(calls, rule, (name for group in rule.calls for name in catalogue.names(group)))
        _enter(
            methods,
            rule,
            (name for group in rule.methods for name in catalogue.methods.get(group, ())),
        )
        for kind in rule.nodes:
            nodes.setdefault(kind, []).append(rule)
    return Index(
        {name: tuple(found) for name, found in calls.items()},
        {name: tuple(found) for name, found in methods.items()},
        {kind: tuple(found) for kind, found in nodes.items() if kind not in _FUNCTIONS},
        {kind: Named(tuple(found)) for kind, found in nodes.items() if kind in _FUNCTIONS},
        tuple(rule for rule in rules if rule.applies is not None),
        {rule.fact_name: rule.gather for rule in rules if rule.gather is not None},
    )


def _enter(table: dict[str, list[Rule]], rule: Rule, names: object) -> None:
    for name in names:  # type: ignore[attr-defined]
        found = table.setdefault(name, [])
        if rule not in found:
            found.append(rule)
