"""A test of determinism compares what was logged and nothing else.

A log shows what somebody chose to print, rounded: runs whose states differ print the same, and
runs that agree print other times. It is no evidence of the state.

Compare states, events or their digests; keep the log for people.

Bad:
    def test_run_is_deterministic(capsys):
        run(seed=1)
        first = capsys.readouterr().out
        run(seed=1)
        second = capsys.readouterr().out
        assert first == second

or:
    def test_reproducible_training(caplog):
        train(seed=1)
        first = caplog.text
        caplog.clear()
        train(seed=1)
        assert caplog.text == first

Good:
    def test_run_is_deterministic(capsys):
        first, second = run(seed=1), run(seed=1)
        assert first.digest() == second.digest()

or:
    def test_report_is_printed(capsys):
        report()
        assert capsys.readouterr().out == "done"
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from twice.checking.findings import Found
from twice.checking.rule import Breaks, Rule
from twice.checking.rules.comparing import CLAIMING, claims, comparisons, inner_scope
from twice.checking.syntax.module import Site
from twice.checking.syntax.survey import Scope
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

NAME = "log-diff-test"
_LOGS: Final = {"readouterr", "stdout", "stderr", "caplog", "capsys", "capfd", "getvalue", "output"}
_CAPTURED: Final = {"capsys", "capfd", "caplog", "capsysbinary", "redirect_stdout"}


def look(site: Site) -> Iterator[Found]:
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
    name=NAME,
    channel=Channel.DIVERGENCE,
    breaks=Breaks.LOGICAL,
    severity=Severity.MEDIUM,
    remedy="Compare states, events or their digests.",
    nodes=(ast.FunctionDef,),
    look=look,
    named=CLAIMING,
)
