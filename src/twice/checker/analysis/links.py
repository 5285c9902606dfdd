"""Values that leave their file, followed on: into functions of other files, and out of functions to their callers.

A violation keeps the open ends of its value. The files that they lead to are read a second time, for these
questions alone, and answer with where the value ends there, and where it leaves again. Answers are plain JSON values
and depend on one file, so that they are cached with it.

Invariant: an end that nobody can look after stays what the file alone said of it. A violation never
becomes quieter because of tests.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from twice.checker.findings import OpenEnd, Violation
from twice.checker.syntax.module import Module
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.loads import parameter_at
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest

FACTS: Final = "links"
"""What the facts of a file for this are kept under."""
_ROUNDS: Final = 4
_ALIASES_MAX: Final = 8
_SAME_NAME_MAX: Final = 4

Question: TypeAlias = "tuple[OpenEnd, tuple[str, ...]]"
"""An end, and the names under which a file may know its function."""
Asking: TypeAlias = "Callable[[str, Sequence[Question]], list[Any]]"
"""Gives for each question to a file the use, its line and the ends that leave the file again; None for nothing."""


def gather(module: Module) -> dict[str, Any]:
    """Give under which name a file is imported, and what it imports."""
    survey = module.survey
    bound = {
        name: bindings[0].target
        for name, bindings in survey.root.bindings.items()
        if bindings[0].kind == "import" and "." in bindings[0].target
    }
    imported = sorted({*survey.imported, *survey.stars})
    methods: dict[str, list[str]] = {}
    for scope in survey.scopes:
        if scope.is_function and scope.parent is not None and scope.parent.is_class:
            methods.setdefault(scope.name, []).append(module.in_function(scope))
    facts = {"module": module.name, "bound": bound, "stars": survey.stars, "imported": imported}
    return {**facts, "methods": methods}


@dataclass(slots=True)
class Project:
    """The files of a project, by what they define and import.

    Args:
        facts: for each file what ``gather`` gave.
        is_test: says of a path whether it is a test.
    """

    facts: Mapping[str, Mapping[str, Any]]
    is_test: Callable[[str], bool]
    _paths: dict[str, str] = field(default_factory=dict)
    _importers: dict[str, list[str]] = field(default_factory=dict)
    _aliases: dict[str, set[str]] = field(default_factory=dict)
    _methods: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path, one in self.facts.items():
            self._paths.setdefault(one["module"], path)
            if not self.is_test(path):
                for name, methods in one["methods"].items():
                    self._methods.setdefault(name, []).extend((path, each) for each in methods)
        for path, one in self.facts.items():
            for name in one["imported"]:
                self._importers.setdefault(name, []).append(path)
            for name, target in one["bound"].items():
                self._alias(f"{one['module']}.{name}", target)
            for target in one["stars"]:
                self._alias(one["module"], target)

    def _alias(self, name: str, target: str) -> None:
        if self.defining(target) is not None and name != target:
            self._aliases.setdefault(target, set()).add(name)

    def defining(self, name: str) -> tuple[str, str] | None:
        """Give the file that a qualified name lies in, and the rest of the name; None outside of the project."""
        module, rest = name, ""
        while module:
            if module in self._paths:
                return self._paths[module], rest
            module, _, last = module.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None

    def methods(self, name: str) -> list[tuple[str, str]]:
        """Give the methods with a name, each with its file; none when so many have it that it says little."""
        found = self._methods.get(name, [])
        return found if len(found) <= _SAME_NAME_MAX else []

    def names(self, function: str) -> tuple[str, ...]:
        """Give the names under which a function is imported anywhere, its own first."""
        found = {function: None}
        for name in found:
            if len(found) > _ALIASES_MAX:
                break
            outer, rest = name, ""
            while outer:
                for alias in sorted(self._aliases.get(outer, ())):
                    found = {**found, f"{alias}.{rest}" if rest else alias: None}
                outer, _, last = outer.rpartition(".")
                rest = f"{last}.{rest}" if rest else last
        return tuple(found)

    def callers(self, names: Iterable[str], own: str) -> list[str]:
        """Give the files that may call a function: its own, and those but tests that import a name of it."""
        found = {own}
        for name in names:
            outer = name
            while outer:
                found.update(self._importers.get(outer, ()))
                outer = outer.rpartition(".")[0]
        return sorted(each for each in found if each == own or not self.is_test(each))


class Links:
    """Open ends of a project and their answers.

    Args:
        project: its files.
        ask: has a file answer questions.
    """

    def __init__(self, project: Project, ask: Asking) -> None:
        self._project = project
        self._ask = ask
        self._answers: dict[OpenEnd, list[Any]] = {}
        self._known: dict[OpenEnd, tuple[Use, str]] = {}

    def follow(self, ends: Iterable[OpenEnd]) -> None:
        """Have the files answer, and ask on where their answers lead, a few files far."""
        waiting = set(ends)
        for _ in range(_ROUNDS):
            by_file: dict[str, list[Question]] = {}
            for end in sorted(waiting - self._answers.keys()):
                self._answers[end] = []
                for path, names in self._find_files(end):
                    by_file.setdefault(path, []).append((end, names))
            waiting = set()
            for path in sorted(by_file):
                for (end, _), answer in zip(
                    by_file[path], self._ask(path, by_file[path]), strict=True
                ):
                    if answer is not None:
                        use, line, leaving = answer
                        on = [OpenEnd(*each) for each in leaving]
                        self._answers[end].append((Use(use), f"{path}:{line}", on))
                        waiting.update(on)

    def _find_files(self, end: OpenEnd) -> list[tuple[str, tuple[str, ...]]]:
        if end.function.startswith(LOCAL):
            return [(path, (rest,)) for path, rest in self._project.methods(end.function[1:])]
        found = self._project.defining(end.function) if end.function else None
        if found is None:
            return []
        path, rest = found
        if end.way == "into":
            return [(path, (rest,))]
        names = self._project.names(end.function)
        return [(each, (*names, rest)) for each in self._project.callers(names, path)]

    def end(self, end: OpenEnd) -> tuple[Use, str]:
        """Give where a value that left its file ends, and in which line; the line is "" where nobody can tell."""
        known = self._known.get(end)
        if known is None:
            self._known[end] = Use.DROPPED, ""  # One that comes back to itself adds nothing.
            known = self._known[end] = self._end(end)
        return known

    def _end(self, end: OpenEnd) -> tuple[Use, str]:
        unknown = Use.UNSEEN if end.way in {"into", "unseen"} else Use.RETURNED
        best: tuple[Use, str] | None = None
        for use, place, leaving in self._answers.get(end, ()):
            for each in leaving or [OpenEnd("returned" if use is Use.RETURNED else "")]:
                if end.way == "into" and each.way in {"out", "returned"}:
                    one = Use(end.back), ""  # Its result is followed where it was called alone.
                else:
                    one = self.end(each) if each.way else (use, place)
                if best is None or one[0] > best[0]:
                    best = (one[0], one[1] or place)
        if best is None:
            return unknown, ""
        is_public = not end.function.rpartition(".")[2].startswith("_")
        if end.way == "out" and is_public and best[0] < Use.UNSEEN:
            return Use.UNSEEN, ""  # Callers outside of the project may do more with it.
        return best

    def close(self, found: Violation) -> Violation:
        """Give a violation with what other files say of the ends of its value."""
        use, place = max((self.end(each) for each in found.open), key=lambda each: each[0])
        if use.reach is found.reach:
            return found
        why = f"{found.why.rstrip('.')}; {use.words} in {place}." if place else found.why
        unsure = use is Use.UNSEEN and found.open[0].is_order  # As in ``rules.orders.report``.
        confidence = 0.5 if unsure else found.confidence
        return replace(found, reach=use.reach, why=why, confidence=confidence)


def answer(module: Module, questions: Sequence[Question]) -> list[Any]:
    """Give for each question the gravest use in a file, its line, and the ends that leave the file again."""
    return [_answer_one(module, end, names) for end, names in questions]


def _answer_one(module: Module, end: OpenEnd, names: tuple[str, ...]) -> Any:
    module.renew_steps()
    if end.way == "out":
        return _answer_out(module, end, names)
    (path,) = names
    function = module.loads.function(LOCAL + path)
    if function is None:
        return _elsewhere(module, end, path)
    parameter = parameter_at(function, end.parameter)
    if parameter is None:
        return None
    loads = module.loads.of(parameter, function)
    if not loads:
        return [Use.DROPPED, getattr(function.node, "lineno", 1), []]
    return _gravest(module, [(load, scope) for load, scope in loads], end)


def _elsewhere(module: Module, end: OpenEnd, path: str) -> Any:
    """Lead on to where a name is imported from, or to the base of a class that lacks a method."""
    first, _, rest = path.partition(".")
    root = module.survey.root
    bindings = root.bindings.get(first, [])
    only = bindings[0] if len(bindings) == 1 else None
    target = "" if only is None else only.target
    if (
        only is not None
        and isinstance(only.node, ast.Call)
        and module.loads.is_record(LOCAL + path)
    ):
        return [Use.STATE, only.node.lineno, []]
    if only is None and module.survey.stars:
        target = f"{module.survey.stars[0]}.{first}"
    elif only is not None and isinstance(only.node, ast.ClassDef):
        bases = [module.names.qualified(each, root) for each in only.node.bases]
        target = next((each for each in bases if each), "")
        if target.startswith(LOCAL):
            target = module.name + target
        elif not target and not rest:
            return [Use.STATE, only.node.lineno, []]  # A field of a class without a constructor.
    on = end._replace(function=f"{target}.{rest}" if rest else target)
    return [Use.UNSEEN, 1, [list(on)]] if target and on != end else None


def _answer_out(module: Module, end: OpenEnd, names: tuple[str, ...]) -> Any:
    *known, rest = names
    function = (
        module.loads.function(LOCAL + rest) if end.function.startswith(f"{module.name}.") else None
    )
    calls: list[tuple[ast.AST, Scope]] = []
    if function is not None:
        calls += module.loads.calls_of(function)
    wanted = set(known)
    calls += [(call, scope) for call, scope, name in module.calls if name in wanted]
    return _gravest(module, calls, end) if calls else None


def _gravest(module: Module, starts: Sequence[tuple[ast.AST, Scope]], end: OpenEnd) -> Any:
    engine = module.orders if end.is_order else module.values
    ends = [
        each
        for node, scope in starts
        for each in engine.follow(node, scope)
        if each.use is not Use.ADDED  # Another rule's matter, except where workers race.
    ]
    best = gravest(ends, Outcome(Use.UNSEEN, starts[0][0]))
    return [best.use, module.place(best.node).line, [list(each) for each in best.open]]
