"""A variable that holds several options is overwritten whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from twice.checker.findings import Fix, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.switches import Setting, variables
from twice.checker.syntax.module import Module, Site
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "overwritten-flags"
_LISTS = {"XLA_FLAGS", "TF_XLA_FLAGS", "LD_PRELOAD", "NVCC_APPEND_FLAGS"}


def look(site: Site) -> Iterator[Violation]:
    """Look at what a whole file sets."""
    module = site.module
    for each in variables(module):
        if each.name not in _LISTS or not each.forced or each.value is None:
            continue
        if not _is_fresh(module, each) or _was_asked(module, each):
            continue
        inner = module.site(each.node, each.scope)
        yield inner.found(
            NAME,
            f"{each.name} is overwritten: what it held before is dropped.",
            "Options that the environment asked for, deterministic kernels among them, are lost silently.",
            fix=_fix(inner, each),
        )


def _is_fresh(module: Module, each: Setting) -> bool:
    """Whether the new value is made of constants alone."""
    assert each.value is not None, "looked at before"
    for node in ast.walk(each.value):
        if isinstance(node, (ast.Name, ast.Call, ast.Attribute, ast.Subscript)):
            if "environ" in module.source(node) or isinstance(node, (ast.Call, ast.Subscript)):
                return False
            if isinstance(node, ast.Name) and not isinstance(each.value, ast.JoinedStr):
                return False
    return True


def _was_asked(module: Module, each: Setting) -> bool:
    """Whether a condition around it, or an earlier line of the function, asks for the variable."""
    for around in module.survey.above(each.node):
        if isinstance(around, ast.If) and each.name in module.source(around.test):
            return True
    return any(
        isinstance(node, ast.Constant) and node.value == each.name and node is not each.node
        for call, scope, _ in module.calls
        if scope is each.scope
        for node in call.args
    )


def _fix(site: Site, each: Setting) -> Fix | None:
    if not isinstance(each.value, ast.Constant) or not isinstance(
        site.module.survey.parents.get(each.value), ast.Assign
    ):
        return None
    old = f'os.environ.get("{each.name}", "") + " " + '
    if site.module.names.named("os", each.scope) != "os":
        return None
    return Fix("Add to it", safe=False, edits=site.wrapped(each.value, old, ""))


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.GPU,
        Breaks.BIT_EXACT,
        Severity.MEDIUM,
        'Add to it: os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --option".',
        __doc__ or "",
    ),
    nodes=(ast.Module,),
    look=look,
)
