"""One generator serves every instance of a class, or every caller of a module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.syntax.module import Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "shared-generator"


def look(site: Site) -> Iterator[Violation]:
    """Look at a generator that is made."""
    scope = site.scope
    if scope.is_function or site.called == "jax.random.split":
        return
    kind = site.kind(site.call)
    if kind is None or not kind.is_generator:
        return
    parents = site.module.survey.parents
    parent = parents.get(site.node)
    if isinstance(parent, ast.Attribute) and parent.attr == "manual_seed":
        parent = parents.get(parents[parent])
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        target: ast.expr = parent.targets[0]
    elif isinstance(parent, ast.AnnAssign):
        target = parent.target
    else:
        return
    if not isinstance(target, ast.Name):
        return
    if scope.is_class:
        whose = f"all instances of {scope.name}"
    elif any(where.is_function for _, where in site.module.loads.of(target.id, scope)):
        whose = "all callers of the functions of this module"
    else:
        return
    yield site.found(
        NAME,
        f"{target.id} is one generator for {whose}.",
        "What one of them draws depends on how much the others have drawn before.",
    )


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.RNG,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Make it in the constructor from a seed that is passed in, or take a generator as an argument.",
        __doc__ or "",
    ),
    calls=("generators", "torch-generator"),
    look=look,
)
