"""A test of determinism compares what was logged and nothing else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.checker.rules.comparing import CLAIMING, claims, comparisons, inner_scope
from twice.checker.syntax.module import Site
from twice.checker.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "log-diff-test"
_LOGS: Final = {"readouterr", "stdout", "stderr", "caplog", "capsys", "capfd", "getvalue", "output"}
_CAPTURED: Final = {"capsys", "capfd", "caplog", "capsysbinary", "redirect_stdout"}


def look(site: Site) -> Iterator[Violation]:
    """Look at a function that is called a test of determinism."""
    node = site.node
    assert isinstance(node, ast.FunctionDef), "functions are asked for"
    if not node.name.startswith("test") or not claims(node.name):
        return
    if not _captures_output(node):
        return
    function = inner_scope(site)
    compared = [_is_of_logs(each, function) for each in comparisons(node)]
    if compared and all(compared):
        yield site.found(
            NAME,
            f"{node.name}() compares what was printed or logged alone.",
            "Runs with other states can print the same, rounded as it is.",
            confidence=0.85,
        )


def _captures_output(node: ast.FunctionDef) -> bool:
    return any(each.arg in _CAPTURED for each in node.args.args) or any(
        isinstance(each, ast.Attribute) and each.attr == "redirect_stdout"
        for each in ast.walk(node)
    )


def _is_of_logs(node: ast.expr, function: Scope) -> bool:
    """Whether what is compared is text that was captured."""
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and each.attr in _LOGS | {"out", "err"}:
            return True
        if isinstance(each, ast.Name):
            if each.id in _CAPTURED:
                return True
            for binding in function.bindings.get(each.id, ()):
                if any(
                    isinstance(one, ast.Name) and one.id in _CAPTURED
                    for one in ast.walk(binding.node)
                ):
                    return True
    return False


RULE = Rule(
    RuleFacts(
        NAME,
        Channel.DIVERGENCE,
        Breaks.LOGICAL,
        Severity.MEDIUM,
        "Compare states, events or their digests.",
        __doc__ or "",
    ),
    nodes=(ast.FunctionDef,),
    look=look,
    named=CLAIMING,
)
