"""The rule about means of tests in a program: mocks, patches, and functions of modules that are replaced."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks
from twice.checker.rules.engine import rule
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

_TESTS: Final = frozenset(
    ["test", "tests", "testing", "unittest", "pytest", "mock", "mocks", "fixture", "fixtures", "conftest"]
)  # fmt: skip
_NAMED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _replaces_attribute(node: ast.Assign, _: Scope) -> bool:
    """Whether an attribute is set that may be a module's: ``time.time = …``."""
    return any(
        isinstance(each, ast.Attribute)
        and isinstance(each.value, (ast.Name, ast.Attribute))
        and getattr(each.value, "id", "") != "self"
        for each in node.targets
    )


@rule(
    Channel.EFFECTS,
    Breaks.LOGICAL,
    Severity.MEDIUM,
    "Hand the part in as an argument, and give a real stand-in where one is needed.",
    calls=("mocks",),
    nodes=(ast.Assign,),
    suits=_replaces_attribute,
    once_per_function=True,
)
def mock_outside_tests(site: Site) -> Iterator[Violation]:
    """Code that is no test replaces parts of the program by mocks."""
    node, module = site.node, site.module
    if isinstance(node, ast.Assign):
        world = site.catalogue.together("clock", "entropy", "global-draws")
        named = [each for each in node.targets if isinstance(each, ast.Attribute)]
        replaced = [each for each in named if site.qualified(each) in world]
        what = f"{module.shown(replaced[0])} is replaced" if replaced else ""
    else:
        what = f"{module.shown(site.call.func)}() is called"
    if not what or _is_of_tests(site):
        return
    decorated = [each for each in site.scope.inner if each.node is module.survey.parents.get(node)]
    yield site.at(node, decorated[0] if decorated else site.scope).violation(
        f"{what} by code that is no test.",
        "While a mock is active, another program runs than the one that is read and recorded.",
    )


def _is_of_tests(site: Site) -> bool:
    """Whether the file, or a function or class around the place, is called a test or a fixture."""
    module = site.module
    folders = module.path.removesuffix(".py").split("/")
    around = [each.name for each in site.above() if isinstance(each, _NAMED)]
    if any(about(each, _TESTS) for each in (*folders, *around)):
        return True
    return "pytest" in module.imported or module.speaks_of("unittest.TestCase")
