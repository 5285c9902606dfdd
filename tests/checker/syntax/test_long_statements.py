"""What is found many times in one statement, or in one long block, is not looked through each time anew."""

from __future__ import annotations

import ast

import pytest

from sourcefiles import call_of, module_of
from twice.checker.syntax.module import Module
from twice.checker.syntax.reaching import is_single


def test_the_text_of_a_statement_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = module_of("x = [\n" + "    f(),\n" * 200 + "]\n")
    made = []
    texts = Module._texts
    monkeypatch.setattr(Module, "_texts", lambda self, node: made.append(1) or texts(self, node))
    calls = [node for node, _ in module.survey.nodes.get(ast.Call)]
    whole = {module.statement_text(node, whole=True) for node in calls}
    short = {module.statement_text(node) for node in calls}
    assert len(calls) == 200
    assert len(made) == len(whole) == len(short) == 1
    assert whole != short


@pytest.mark.parametrize(
    ("before", "after", "single"),
    [
        ("assert len(s) == 1", "", True),
        ("", "assert len(s) == 1", False),
        ("if len(s) != 1:\n    raise ValueError", "", True),
        ("if len(s) != 1:\n    print(s)", "", False),
        ("if len(s) > 1:\n    raise ValueError", "", True),
    ],
)
def test_a_set_of_one_is_one_after_it_was_asserted(before: str, after: str, single: bool) -> None:
    module = module_of(f"{before}\nx = f(s)\n{after}\n")
    call = call_of(module, "f(s)").node
    assert isinstance(call, ast.Call)
    assert is_single(module.survey, call, call.args[0]) is single
