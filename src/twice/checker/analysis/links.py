"""Values that leave their file, followed on: into functions of other files, and out of functions to their callers.

A violation keeps the open ends of its value. The files that they lead to are read a second time, for these
questions alone, and answer with where the value ends there, and where it leaves again. Answers are plain JSON values
and depend on one file, so that they are cached with it.

Invariant: an end that nobody can look after stays what the file alone said of it. A violation never
becomes quieter because of tests.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

from twice.checker.analysis.project_names import ProjectNames
from twice.checker.findings import OpenEnd, Violation
from twice.checker.syntax.module import Module
from twice.checker.syntax.names import LOCAL
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.loads import parameter_at
from twice.checker.syntax.uses.outcomes import Outcome, Use, gravest

_ROUNDS: Final = 4
_SAME_NAME_MAX: Final = 4
"""How many methods of one name may be meant; of more the name says little."""

_Leaving: TypeAlias = tuple[str, OpenEnd]
"""A file, and an end of a value in it."""

Question: TypeAlias = "tuple[OpenEnd, tuple[str, ...]]"
"""An end, and the names under which a file may know its function."""
Asking: TypeAlias = "Callable[[str, Sequence[Question]], list[Any]]"
"""Gives for each question to a file the use, its line and the ends that leave the file again; None for nothing."""


class Links:
    """Open ends of a project and their answers.

    Args:
        names: finds the project's definitions.
        is_test: says of a path whether it is a test.
        ask: has a file answer questions.
    """

    def __init__(self, names: ProjectNames, is_test: Callable[[str], bool], ask: Asking) -> None:
        self._names = names
        self._is_test = is_test
        self._ask = ask
        self._answers: dict[_Leaving, list[tuple[Use, str, list[_Leaving]]]] = {}
        self._known: dict[_Leaving, tuple[Use, str]] = {}

    def follow(self, ends: Iterable[_Leaving]) -> None:
        """Have the files answer, and ask on where their answers lead, a few files far."""
        waiting = set(ends)
        for _ in range(_ROUNDS):
            by_file: dict[str, list[tuple[_Leaving, Question]]] = {}
            for each in sorted(waiting - self._answers.keys()):
                self._answers[each] = []
                for path, names in self._find_files(*each):
                    by_file.setdefault(path, []).append((each, (each[1], names)))
            waiting = set()
            for path, asked in sorted(by_file.items()):
                answers = self._ask(path, [question for _, question in asked])
                for (each, _), said in zip(asked, answers, strict=True):
                    if said is not None:
                        use, line, leaving = said
                        on = [(path, OpenEnd(*end)) for end in leaving]
                        self._answers[each].append((Use(use), f"{path}:{line}", on))
                        waiting.update(on)

    def _find_files(self, path: str, end: OpenEnd) -> list[tuple[str, tuple[str, ...]]]:
        """Find the files that an end leads to, with the names under which each may know its function."""
        if end.function.startswith(LOCAL):
            methods = self._names.methods(end.function[1:])
            found = [each for each in methods if not self._is_test(each[0])]
            return [(each[0], each[1:]) for each in found if len(found) <= _SAME_NAME_MAX]
        if end.way == "into":
            called = self._names.callee(path, end.function)
            return [] if called is None else [(called[0], called[1:])]
        if end.way != "out":
            return []
        function = end.function.removeprefix(f"{self._names.module(path)}.")
        names = (LOCAL + function, *self._names.names(path, function))
        lenders = [each for each in self._names.users[path] if each.endswith("/__init__.py")]
        users = {
            each
            for lender in (path, *lenders)
            for each in self._names.users[lender]
            if each != path and not self._is_test(each)
        }
        return [(path, names), *((each, names[1:]) for each in sorted(users))]

    def end(self, path: str, end: OpenEnd) -> tuple[Use, str]:
        """Give where a value that left its file ends, and in which line; the line is "" where nobody can tell."""
        known = self._known.get((path, end))
        if known is None:
            self._known[path, end] = Use.DROPPED, ""  # One that comes back to itself adds nothing.
            known = self._known[path, end] = self._end(path, end)
        return known

    def _end(self, path: str, end: OpenEnd) -> tuple[Use, str]:
        unknown = Use.UNSEEN if end.way in {"into", "unseen"} else Use.RETURNED
        best: tuple[Use, str] | None = None
        for use, place, leaving in self._answers.get((path, end), ()):
            back = OpenEnd("returned" if use is Use.RETURNED else "")
            for where, each in leaving or [(path, back)]:
                if end.way == "into" and each.way in {"out", "returned"}:
                    one = Use(end.back), ""  # Its result is followed where it was called alone.
                else:
                    one = self.end(where, each) if each.way else (use, place)
                if best is None or one[0] > best[0]:
                    best = (one[0], one[1] or place)
        if best is None:
            return unknown, ""
        is_public = not end.function.rpartition(".")[2].startswith("_")
        if end.way == "out" and is_public and best[0] < Use.UNSEEN:
            return Use.UNSEEN, ""  # Callers outside of the project may do more with it.
        return best

    def close(self, path: str, found: Violation) -> Violation:
        """Give a violation of a file with what other files say of the ends of its value."""
        ends = [self.end(path, each) for each in found.open]
        use, place = max(ends, key=lambda each: each[0])
        if use.reach is found.reach:
            return found
        why = f"{found.why.rstrip('.')}; {use.words} in {place}." if place else found.why
        unsure = use is Use.UNSEEN and found.open[0].is_order  # As in ``rules.orders.report``.
        confidence = 0.5 if unsure else found.confidence
        return replace(found, reach=use.reach, why=why, confidence=confidence)


def answer(module: Module, questions: Sequence[Question]) -> list[Any]:
    """Give for each question the gravest use in a file, its line, and the ends that leave the file again."""
    return [_answer_one(module, end, names) for end, names in questions]


def _answer_one(module: Module, end: OpenEnd, names: Sequence[str]) -> Any:
    module.renew_steps()
    if end.way == "out":
        calls = [(call, scope) for call, scope, name in module.calls if name in names]
        return _gravest(module, calls, end) if calls else None
    function = module.loads.function(LOCAL + names[0])
    if function is None:
        owner = module.survey.root.bindings.get(names[0], [])
        made = owner[0].node if len(owner) == 1 else None
        is_record = isinstance(made, ast.Call) and module.loads.is_record(LOCAL + names[0])
        if made is None or not (is_record or isinstance(made, ast.ClassDef)):
            return None
        return [Use.STATE, module.place(made).line, []]  # A field: there is no constructor.
    parameter = parameter_at(function, end.parameter)
    if parameter is None:
        return None
    loads = module.loads.of(parameter, function)
    if not loads:
        return [Use.DROPPED, getattr(function.node, "lineno", 1), []]
    return _gravest(module, loads, end)


def _gravest(module: Module, starts: Sequence[tuple[ast.expr, Scope]], end: OpenEnd) -> Any:
    engine = module.orders if end.is_order else module.values
    ends = [
        each
        for node, scope in starts
        for each in engine.follow(node, scope)
        if each.use is not Use.ADDED  # Another rule's matter, except where workers race.
    ]
    best = gravest(ends, Outcome(Use.UNSEEN, starts[0][0]))
    return [best.use, module.place(best.node).line, [list(each) for each in best.open]]
