"""Who seeds the process-wide streams of a project, and which draws from them nobody else can shift.

A stream counts as seeded for a file when the file seeds it, or a file that uses it does, or one that such a file
imports, or any file of the same package. A draw is isolated when the stream is seeded anew right before it.

Invariant: tests and tools seed nothing for anybody but themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from twice.checker.analysis.roles import is_seeder
from twice.checker.analysis.seed_expressions import is_entry_name, is_unseeded
from twice.checker.policy import Zone, is_test_file
from twice.checker.rule import ProjectFacts
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name

_CALL_DEPTH: Final = 3
_STATEMENTS_BETWEEN: Final = 2
_BLOCKS: Final = ("body", "orelse", "finalbody")


class StreamSeeding:
    """Who seeds what in a project.

    Args:
        facts: the streams that each file seeds.
    """

    def __init__(self, facts: ProjectFacts) -> None:
        self._facts, self._names = facts, facts.names
        self._zones = {path: facts.zone(path) for path in facts}
        self._counts = {path for path in facts if self._zones[path] is Zone.CORE}
        self._seeded: dict[str, frozenset[str]] = {}
        self._of_package: dict[str, set[str]] = {}
        for path, one in facts.items():
            if self._zones[path] is not Zone.TESTS:
                package = self._names.package(path)
                self._of_package.setdefault(package, set()).update(one["seeds"] if package else ())

    def imported_tests(self) -> list[str]:
        """Give the files among tests that the program itself imports, so that they are a part of it."""
        found: dict[str, None] = {}
        waiting = sorted(self._counts)
        while waiting:
            for each in self._names.imports[waiting.pop()]:
                if each not in found and self._zones[each] is Zone.TESTS and not is_test_file(each):
                    found[each] = None
                    waiting.append(each)
        return sorted(found)

    def is_script(self, path: str) -> bool:
        """Whether a file is in no package and imported by none."""
        return not self._names.users[path] and not self._names.package(path)

    def seeded(self, path: str) -> frozenset[str]:
        """Give the streams that are seeded for what a file draws."""
        known = self._seeded.get(path)
        if known is None:
            found = set(self._of_package.get(self._names.package(path), ()))
            seen: set[str] = set()
            for head in _closure(path, self._names.users, set()):
                if head != path and head not in self._counts:
                    continue
                for each in _closure(head, self._names.imports, seen):
                    if each == head or each in self._counts:
                        found.update(self._facts[each]["seeds"])
            known = self._seeded[path] = frozenset(found)
        return known


def _closure(start: str, edges: Mapping[str, list[str]], reached: set[str]) -> list[str]:
    waiting, found = [start], []
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            found.append(each)
            waiting.extend(edges[each])
    return found


class Reseedings:
    """The statements of a file that seed process-wide streams, by function."""

    def __init__(self, module: Module) -> None:
        self._module = module

    @cached_property
    def _by_function(self) -> dict[Scope | None, list[tuple[ast.Expr, frozenset[str]]]]:
        """Each with the streams that it seeds; none for a function that seeds everything, by its name."""
        module = self._module
        found: dict[Scope | None, list[tuple[ast.Expr, frozenset[str]]]] = {}
        known = module.catalogue.names("seeding")
        for call, scope, called in module.calls:
            statement = module.survey.parents.get(call)
            if not isinstance(statement, ast.Expr) or is_unseeded(module.site(call, scope)):
                continue
            if called in known or is_seeder(last_name(call)):
                streams = frozenset(known.get(called or "", "").split())
                found.setdefault(scope.method, []).append((statement, streams))
        return found

    def precede(self, site: Site, stream: str) -> bool:
        """Say whether a draw follows on a seeding of its stream, whoever calls its function.

        At the top of a file and in ``main`` much may happen in between: there it has to follow at once.
        """
        return bool(self._by_function) and self._precede(site, stream, _CALL_DEPTH)

    def _precede(self, site: Site, stream: str, depth: int) -> bool:
        function = site.scope.method
        if self._is_seeded_before(site, stream):
            return True
        if function is None or depth == 0 or function.name.startswith("__"):
            return False
        calls = self._module.loads.calls_of(function) if self._module.follows else []
        return bool(calls) and all(
            scope.method not in {None, function}
            and self._precede(self._module.site(call, scope), stream, depth - 1)
            for call, scope in calls
        )

    def _is_seeded_before(self, site: Site, stream: str) -> bool:
        function, survey = site.scope.method, self._module.survey
        around = [site.node, *site.above()]
        for statement, streams in self._by_function.get(function, ()):
            if streams and stream not in streams:
                continue
            parent = survey.parents.get(statement)
            for name in _BLOCKS:
                block = getattr(parent, name, ())
                if not isinstance(block, list) or statement not in block:
                    continue
                here = next((each for each in around if each in block), None)
                between = block.index(here) - block.index(statement) - 1 if here in block else -1
                if between == 0 or (between > 0 and streams and self._is_near(site, between)):
                    return True
        return False

    @staticmethod
    def _is_near(site: Site, between: int) -> bool:
        if site.scope.method is None:
            return between <= _STATEMENTS_BETWEEN
        return not is_entry_name(site.scope.method.name)
