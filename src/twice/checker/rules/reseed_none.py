"""Starting again falls back to a stored seed that may be None."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts, mentions
from twice.checker.rules.roles import own_attribute
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.words import about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "reseed-none"


def look(site: Site) -> Iterator[Violation]:
    """Look at a fallback from an argument to an attribute."""
    found = _fallback(site.node)
    if found is None:
        return
    name, stored = found
    function, owner = site.scope.method, site.scope.owner
    if function is None or owner is None or function.name == "__init__":
        return
    if not about(name, frozenset({"seed", "rng", "random"})) and not about(
        stored, frozenset({"seed"})
    ):
        return
    if _may_be_none(site, owner, stored) and _seeds(site, function, name):
        yield site.found(
            NAME,
            f"{function.name}() without {name} seeds with self.{stored}, which may be None.",
            "Seeding with None starts from the system's entropy, so the same call gives another run.",
            confidence=0.85,
        )


def _fallback(node: ast.AST) -> tuple[str, str] | None:
    """Return argument and attribute of ``if seed is None: seed = self.seed``, or its short forms."""
    if isinstance(node, ast.If):
        if len(node.body) != 1 or not isinstance(node.body[0], ast.Assign):
            return None
        name, value = _none_test(node.test), node.body[0].value
        target = node.body[0].targets[0]
        if not isinstance(target, ast.Name) or target.id != name:
            return None
    elif isinstance(node, ast.IfExp):
        name, value = _none_test(node.test), node.body
    else:
        return None
    stored = own_attribute(value)
    return (name, stored) if name and stored else None


def _none_test(node: ast.AST) -> str:
    if (
        isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Name)
        and len(node.ops) == 1
        and isinstance(node.ops[0], ast.Is)
        and isinstance(node.comparators[0], ast.Constant)
        and node.comparators[0].value is None
    ):
        return node.left.id
    return ""


def _may_be_none(site: Site, owner: Scope, stored: str) -> bool:
    """Whether the constructor puts an argument there that is None when it is left out."""
    for binding, scope, _ in site.module.attributes.of(owner).get(stored, ()):
        node = binding.node.value if isinstance(binding.node, ast.AnnAssign) else binding.node
        if (
            isinstance(node, ast.Name)
            and scope.method is not None
            and scope.method.name == "__init__"
            and _default_is_none(scope.node, node.id)
            and not _is_given_value(scope, node.id)
        ):
            return True
    return False


def _default_is_none(function: ast.AST, name: str) -> bool:
    if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
    pairs.extend(
        (one, default)
        for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        if default is not None
    )
    return any(
        one.arg == name and isinstance(default, ast.Constant) and default.value is None
        for one, default in pairs
    )


def _is_given_value(scope: Scope, name: str) -> bool:
    """Whether ``if seed is None: seed = …`` on the way gives it a value in every case."""
    for statement in scope.node.body:  # type: ignore[attr-defined]
        if isinstance(statement, ast.If) and _none_test(statement.test) == name:
            return True
        if isinstance(statement, ast.Assign) and any(
            isinstance(each, ast.Name) and each.id == name for each in statement.targets
        ):
            return True
    return False


def _seeds(site: Site, function: Scope, name: str) -> bool:
    """Whether the function gives the argument to a generator or to a seeding."""
    for node in ast.walk(function.node):
        if not isinstance(node, ast.Call):
            continue
        given = [*node.args, *(each.value for each in node.keywords)]
        if not any(isinstance(each, ast.Name) and each.id == name for each in given):
            continue
        called = site.module.names.qualified(node.func, function)
        if site.catalogue.has("generators", called) or site.catalogue.has("seeding", called):
            return True
        if isinstance(node.func, ast.Attribute) and node.func.attr == "seed":
            return True
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.REPLAY,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Draw a seed once where none is given, store the drawn one, and reset with it.",
        __doc__ or "",
    ),
    nodes=(ast.If, ast.IfExp),
    look=look,
    applies=mentions("seed", "rng", "random"),
)
