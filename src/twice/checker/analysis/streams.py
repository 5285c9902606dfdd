"""Who seeds the process-wide streams of a project, and which draws from them nobody else can shift.

A stream counts as seeded for a file when the file seeds it, or a file that uses it does, or one that such a file
imports, or any file of the same package. A draw is isolated when the stream is seeded anew right before it.

Invariant: tests and tools seed nothing for anybody but themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from twice.checker.analysis.roles import is_seeder
from twice.checker.analysis.seed_expressions import is_entry_name, is_unseeded
from twice.checker.policy import Zone, is_test_file
from twice.checker.syntax.module import Module, Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import last_name

_CALL_DEPTH: Final = 3
_STATEMENTS_BETWEEN: Final = 2
_BLOCKS: Final = ("body", "orelse", "finalbody")


class StreamSeeding:
    """Who seeds what in a project.

    Args:
        facts: the name, the imports and the seeded streams of each file, by path.
        zone: gives the zone of a path.
    """

    def __init__(self, facts: Mapping[str, Any], zone: Callable[[str], Zone]) -> None:
        self._facts = facts
        self._named: dict[str, list[str]] = {}
        self._seeded: dict[str, frozenset[str]] = {}
        self._zones = zones = {path: zone(path) for path in facts}
        self._counts = {path for path in facts if zones[path] is Zone.CORE}
        self._of_package: dict[str, set[str]] = {}
        for path, one in facts.items():
            if zones[path] is not Zone.TESTS and (package := _package(one["module"])):
                self._of_package.setdefault(package, set()).update(one["seeds"])
            bits = path.removesuffix(".py").removesuffix("/__init__").split("/")
            names = {one["module"], *(".".join(bits[start:]) for start in range(len(bits)))}
            for name in sorted(names):
                self._named.setdefault(name, []).append(path)
        self._imports = {path: self._imported(one["imports"], path) for path, one in facts.items()}
        self._users: dict[str, list[str]] = {path: [] for path in facts}
        for path, imported in self._imports.items():
            for each in imported:
                self._users[each].append(path)

    def _imported(self, names: list[str], path: str) -> list[str]:
        found: dict[str, None] = {}
        folder = path.rpartition("/")[0]
        for whole in names:
            name = whole
            while name:
                paths = self._named.get(name, [])
                if "." not in name:
                    paths = [each for each in paths if _is_beside(each, folder, name)]
                if paths:
                    found.update(dict.fromkeys(paths))
                    break
                name = name.rpartition(".")[0]
        found.pop(path, None)
        return list(found)

    def imported_tests(self) -> list[str]:
        """Give the files among tests that the program itself imports, so that they are a part of it."""
        found: dict[str, None] = {}
        waiting = sorted(self._counts)
        while waiting:
            for each in self._imports[waiting.pop()]:
                if each not in found and self._zones[each] is Zone.TESTS and not is_test_file(each):
                    found[each] = None
                    waiting.append(each)
        return sorted(found)

    def is_script(self, path: str) -> bool:
        """Whether a file is in no package and imported by none."""
        return not self._users[path] and not _package(self._facts[path]["module"])

    def seeded(self, path: str) -> frozenset[str]:
        """Give the streams that are seeded for what a file draws."""
        known = self._seeded.get(path)
        if known is None:
            known = self._seeded[path] = self._find_seeded(path)
        return known

    def _find_seeded(self, path: str) -> frozenset[str]:
        users = _closure(path, self._users, set())
        package = _package(self._facts[path]["module"])
        found = set(self._of_package.get(package, ()) if package else ())
        seen: set[str] = set()
        for head in users:
            if head != path and head not in self._counts:
                continue
            for each in _closure(head, self._imports, seen):
                if each == head or each in self._counts:
                    found.update(self._facts[each]["seeds"])
        return frozenset(found)


def _package(module: str) -> str:
    """Return the top package of a module; "" if it is in no package."""
    return module.partition(".")[0] if "." in module else ""


def _closure(start: str, edges: Mapping[str, list[str]], reached: set[str]) -> list[str]:
    waiting, found = [start], []
    while waiting:
        each = waiting.pop()
        if each not in reached:
            reached.add(each)
            found.append(each)
            waiting.extend(edges[each])
    return found


def _is_beside(path: str, folder: str, name: str) -> bool:
    own = path.removesuffix("/__init__.py").removesuffix(".py")
    return own in {f"{folder}/{name}".lstrip("/"), name} or path.endswith("/__init__.py")


class Reseedings:
    """The statements of a file that seed process-wide streams, by function.

    Args:
        module: the file.
    """

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
