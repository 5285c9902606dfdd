"""Rules that say which functions and nodes they look at miss none that they would find something in."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.rules.engine import every_rule, index

_CHOOSY = [rule for rule in every_rule() if rule.named is not None or rule.suits is not None]
_ALL = {rule.name: rule for rule in every_rule()}


@pytest.mark.parametrize("rule", _CHOOSY, ids=lambda rule: rule.name)
def test_the_examples_of_a_choosy_rule_are_found_without_its_choice_too(rule) -> None:  # type: ignore[no-untyped-def]
    for text in (*rule.page.bad, *rule.page.good):
        found = []
        for one in (rule, replace(rule, named=None)):
            looked = analyze_file(
                "world/core.py",
                text,
                package="world",
                index=index((one,), shipped()),
                catalogue=shipped(),
                follows=True,
            )
            found.append(looked.found)
        assert found[0] == found[1]


def test_the_rules_look_at_functions_by_name_alone_where_they_say_so() -> None:
    arranged = index((_ALL["reduced-pickle"], _ALL["log-diff-test"]), shipped())
    named = arranged.functions[ast.FunctionDef]
    assert [rule.name for rule in named.of("__setstate__")] == ["reduced-pickle"]
    assert [rule.name for rule in named.of("test_is_deterministic")] == ["log-diff-test"]
    assert named.of("run") == ()
