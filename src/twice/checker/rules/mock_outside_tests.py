"""Code that is no test replaces parts of the program by mocks."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.syntax.module import Site
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "mock-outside-tests"
_TESTS: Final = frozenset(
    [
        "test",
        "tests",
        "testing",
        "unittest",
        "pytest",
        "mock",
        "mocks",
        "fixture",
        "fixtures",
        "conftest",
    ]
)


def look(site: Site) -> Iterator[Violation]:
    """Look at an import."""
    node = site.node
    if isinstance(node, ast.Import):
        names = [each.name for each in node.names]
    else:
        assert isinstance(node, ast.ImportFrom), "imports are asked for"
        base = node.module or ""
        names = [base, *(f"{base}.{each.name}" for each in node.names)] if not node.level else []
    if not any(each in {"unittest.mock", "mock"} for each in names):
        return
    module = site.module
    if any(about(each, _TESTS) for each in module.path.removesuffix(".py").split("/")):
        return
    if not module.imported.isdisjoint({"pytest"}) or module.speaks_of("unittest.TestCase"):
        return
    if not _is_used_here(site):
        return
    yield site.found(
        NAME,
        "unittest.mock is imported by code that is no test.",
        "While a mock is active, another program runs than the one that is read and recorded.",
        confidence=0.9,
    )


def _is_used_here(site: Site) -> bool:
    """Whether it is imported where it runs, not in a function that is a test of itself."""
    function = site.scope.method
    return function is None or not about(function.name, _TESTS)


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.EFFECTS,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Hand the part in as an argument, and give a real stand-in where one is needed.",
        __doc__ or "",
    ),
    nodes=(ast.Import, ast.ImportFrom),
    look=look,
    applies=mentions("mock"),
)
