"""How rules are made and found, and which of them look at what.

A module here holds the rules of one channel. A rule is a function of a site with ``@rule``, or one of the facts of
all files with ``@project_rule``; its name is its rule's, its docstring the rule's title.

Rules are imported when a file has to be read anew; findings from the cache need none of them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final

from twice.checker.catalogue import Catalogue
from twice.checker.rule import Breaks, Concluding, Gathering, Looking, Rule, RuleFacts
from twice.checker.syntax.uses.words import parts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def rule(
    channel: Channel, breaks: Breaks, severity: Severity, remedy: str, **triggers: Any
) -> Callable[[Looking], Rule]:
    """Make a rule of a function of a site.

    Args:
        channel: through which of the ten the difference comes in.
        breaks: the weakest promise that is broken.
        severity: how badly, in the core of a program that made that promise.
        remedy: one sentence: what to do.
        **triggers: the other fields of ``Rule``, by name.
    """

    def decorate(look: Looking) -> Rule:
        return Rule(_facts_of(look, channel, breaks, severity, remedy), look=look, **triggers)

    return decorate


def project_rule(
    channel: Channel, breaks: Breaks, severity: Severity, remedy: str, *, gather: Gathering
) -> Callable[[Concluding], Rule]:
    """Make a rule of a function of the facts of all files, which ``gather`` takes from one file."""

    def decorate(conclude: Concluding) -> Rule:
        facts = _facts_of(conclude, channel, breaks, severity, remedy)
        return Rule(facts, gather=gather, conclude=conclude)

    return decorate


def _facts_of(
    function: Any, channel: Channel, breaks: Breaks, severity: Severity, remedy: str
) -> RuleFacts:
    title = (function.__doc__ or "").partition("\n")[0]
    name = function.__name__.replace("_", "-")
    return RuleFacts(name, channel, breaks, severity, remedy, title)


@lru_cache(maxsize=1)
def every_rule() -> tuple[Rule, ...]:
    """Give all rules, sorted by name."""
    package = __name__.rpartition(".")[0]
    found = {
        each.name: each
        for info in iter_modules(import_module(package).__path__)
        for each in vars(import_module(f"{package}.{info.name}")).values()
        if isinstance(each, Rule)
    }
    return tuple(found[name] for name in sorted(found))


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
        once: names of rules whose first finding in a function stands for all of them.
        superseded: for a rule's name those whose findings at the same place say less.
    """

    calls: dict[str, tuple[Rule, ...]]
    methods: dict[str, tuple[Rule, ...]]
    nodes: dict[type[ast.AST], tuple[Rule, ...]]
    functions: dict[type[ast.AST], Named]
    conditional: tuple[Rule, ...]
    gathering: dict[str, Gathering]
    once: frozenset[str]
    superseded: dict[str, tuple[str, ...]]

    @property
    def wanted(self) -> frozenset[type[ast.AST]]:
        """The kinds of syntax that some rule asks for."""
        return frozenset((*self.nodes, *self.functions))


class Named:
    """Which rules look at a function, by its name."""

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
                    each
                    for each in self._rules
                    if each.named is None or name in each.named or not words.isdisjoint(each.named)
                ]
            )
        return known


def index(rules: tuple[Rule, ...], catalogue: Catalogue) -> Index:
    """Arrange rules by what they look at."""
    calls: dict[str, list[Rule]] = {}
    methods: dict[str, list[Rule]] = {}
    nodes: dict[type[ast.AST], list[Rule]] = {}
    for each in rules:
        _enter(calls, each, (name for group in each.calls for name in catalogue.names(group)))
        _enter(
            methods,
            each,
            (name for group in each.methods for name in catalogue.methods.get(group, ())),
        )
        for kind in each.nodes:
            nodes.setdefault(kind, []).append(each)
    return Index(
        {name: tuple(found) for name, found in calls.items()},
        {name: tuple(found) for name, found in methods.items()},
        {kind: tuple(found) for kind, found in nodes.items() if kind not in _FUNCTIONS},
        {kind: Named(tuple(found)) for kind, found in nodes.items() if kind in _FUNCTIONS},
        tuple(each for each in rules if each.applies is not None),
        {each.fact_name: each.gather for each in rules if each.gather is not None},
        frozenset(each.name for each in rules if each.once_per_function),
        {each.name: each.supersedes for each in rules if each.supersedes},
    )


def _enter(table: dict[str, list[Rule]], one: Rule, names: Iterable[str]) -> None:
    for name in names:
        found = table.setdefault(name, [])
        if one not in found:
            found.append(one)
