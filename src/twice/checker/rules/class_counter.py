"""A counter of the class, or of the module, numbers what a run makes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.checker.syntax.uses.outcomes import Use
from twice.checker.syntax.uses.words import TELEMETRY, about
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME: Final = "class-counter"
_PLACES: Final = frozenset(
    [
        "binding",
        "fig",
        "figure",
        "shader",
        "slot",
        "texture",
        "thread",
        "widget",
        "window",
        "worker",
    ]
)
"""What a counter is called that numbers places of a machine or a screen, and nothing of a run."""


def look(site: Site) -> Iterator[Violation]:
    """Look at an assignment in a class's body or at the top of a module."""
    node, scope = site.node, site.scope
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    value = getattr(node, "value", None)
    if not isinstance(target, ast.Name) or value is None:
        return
    if _counts(site, value):
        found = _is_drawn(site, target.id, scope)
    elif isinstance(value, ast.Constant) and type(value.value) is int and scope.is_class:
        found = _is_stepped(site, target.id, scope)
    else:
        return
    if not found or about(target.id, TELEMETRY) or about(target.id, _PLACES):
        return
    whose = f"the class {scope.name}" if scope.is_class else "the module"
    yield site.found(
        NAME,
        f"{target.id} is a counter of {whose}, and numbers what a run makes.",
        "It goes on over runs in one process, and is no part of a state that is restored.",
        confidence=0.8,
    )


def _counts(site: Site, value: ast.expr) -> bool:
    """Whether it is ``itertools.count()``, or a table of such."""
    if not isinstance(value, ast.Call):
        return False
    called = site.qualified(value.func)
    if site.catalogue.has("counters", called):
        return True
    if called not in {"collections.defaultdict", "functools.partial"} or not value.args:
        return False
    first = value.args[0]
    if isinstance(first, ast.Lambda):
        first = first.body
    return site.catalogue.has("counters", site.qualified(first)) or _counts(site, first)


def _is_drawn(site: Site, name: str, scope: Scope) -> bool:
    """Whether a function takes the counter's next number and does something with it."""
    survey = site.module.survey
    for node, where in survey.nodes.get(ast.Call, ()):
        if (
            isinstance(node, ast.Call)
            and where.is_function
            and isinstance(node.func, ast.Name)
            and node.func.id == "next"
            and len(node.args) == 1
            and _is_it(node.args[0], name, scope, where)
            and not isinstance(survey.parents.get(node), ast.Expr)
        ):
            return True
    return False


def _is_it(node: ast.expr, name: str, scope: Scope, where: Scope) -> bool:
    """Whether an expression is the counter, or one of a table of counters."""
    if isinstance(node, ast.Subscript):
        node = node.value
    if scope.is_class:
        return (
            isinstance(node, ast.Attribute)
            and node.attr == name
            and (where.owner is scope or _is_named(node.value, scope.name))
        )
    return isinstance(node, ast.Name) and node.id == name


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_stepped(site: Site, name: str, scope: Scope) -> bool:
    """Whether a method counts up the class's attribute, and another place takes its number."""
    steps: list[ast.AugAssign] = []
    for node, where in site.module.survey.nodes.get(ast.AugAssign, ()):
        if (
            isinstance(node, ast.AugAssign)
            and isinstance(node.op, ast.Add)
            and isinstance(node.target, ast.Attribute)
            and node.target.attr == name
            and where.owner is scope
            and _is_class(node.target.value, scope.name)
        ):
            steps.append(node)
    if not steps:
        return False
    for load, where in site.module.loads.of_attribute(name, scope):
        statement = site.module.survey.statement(load)
        if where.owner is scope and isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            own = isinstance(target, ast.Attribute) and target.attr == name
            if not own and not _is_label(site, load, where):
                return True
    return False


def _is_label(site: Site, load: ast.AST, where: Scope) -> bool:
    """Whether a number that is taken ends in names and logs alone."""
    if not site.module.follows:
        return False
    ends = site.module.values.follow(load, where)
    return bool(ends) and all(Use.DROPPED < each.use <= Use.TELEMETRY for each in ends)


def _is_class(node: ast.expr, name: str) -> bool:
    """Whether an expression is the class: by its name, ``cls``, ``type(self)`` or ``self.__class__``."""
    if isinstance(node, ast.Name):
        return node.id in {name, "cls"}
    if isinstance(node, ast.Attribute):
        return node.attr == "__class__"
    return isinstance(node, ast.Call) and _is_named(node.func, "type")


def _suits(node: ast.AST, scope: Scope) -> bool:
    """Whether an assignment stands in a class's body or at the top of a module."""
    del node
    return not scope.is_function


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.SNAPSHOT,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Count in the run's own state, or derive the number from what is numbered.",
        __doc__ or "",
    ),
    nodes=(ast.Assign, ast.AnnAssign),
    look=look,
    suits=_suits,
)
