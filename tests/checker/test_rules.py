"""Every rule finds what its page calls bad, and nothing of weight in what it calls good."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from files import findings

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.findings import Finding
from twice.checker.rule import Rule, read_page
from twice.checker.rules.engine import every_rule, index
from twice.foundation.severity import Severity

RULES = every_rule()
_MORE = Path(__file__).with_name("examples")
_CHOOSY = [rule for rule in RULES if rule.named is not None or rule.suits is not None]
each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def examples(which: str) -> Iterator[object]:
    """Every example of every rule: those of its page, and more in ``examples``."""
    for rule in RULES:
        more = _MORE / f"{rule.name}.md"
        pages = [rule.page, read_page(more)] if more.exists() else [rule.page]
        texts = [text for page in pages for text in getattr(page, which)]
        for number, text in enumerate(texts):
            yield pytest.param(rule, text, id=f"{rule.name}-{number}")


def findings_of(rule: Rule, text: str) -> list[Finding]:
    """Return the findings of a rule; rules about tests look at tests."""
    path = "tests/test_example.py" if rule.facts.channel == "divergence" else "example.py"
    return [each for each in findings(text, path) if each.found.rule == rule.name]


@pytest.mark.parametrize(("rule", "text"), [*examples("bad")])
def test_what_a_page_calls_bad_is_found(rule: Rule, text: str) -> None:
    mine = findings_of(rule, text)
    assert mine, f"{rule.name} finds nothing in:\n{text}"
    assert max(each.severity for each in mine) >= min(rule.facts.severity, Severity.LOW)


@pytest.mark.parametrize(("rule", "text"), [*examples("good")])
def test_what_a_page_calls_good_is_left_alone(rule: Rule, text: str) -> None:
    mine = findings_of(rule, text)
    assert [each for each in mine if each.severity > Severity.INFORMATIONAL] == []


@each_rule
def test_a_rule_has_a_page_with_examples_of_both_kinds(rule: Rule) -> None:
    page = rule.page
    assert rule.facts.title.endswith(".")
    assert len(page.text) > 100
    assert len(page.bad) == len(page.good) == 1
    for text in (*page.bad, *page.good):
        ast.parse(text)


@each_rule
def test_a_fix_removes_what_it_was_offered_for(rule: Rule) -> None:
    for text in rule.page.bad:
        for offered in findings_of(rule, text):
            if offered.found.fix is None:
                continue
            fixed = applied(text, offered)
            left = [
                each
                for each in findings_of(rule, fixed)
                if each.found.place.line == offered.found.place.line
                and each.severity > Severity.INFORMATIONAL
            ]
            assert left == [], f"still there after the fix:\n{fixed}"


def applied(text: str, finding: Finding) -> str:
    """Apply a finding's fix to the text, which parses then."""
    lines = text.split("\n")
    assert finding.found.fix is not None
    edits = finding.found.fix.edits
    for edit in sorted(edits, key=lambda one: (one.place.line, one.place.column), reverse=True):
        place = edit.place
        head = lines[place.line - 1][: place.column - 1]
        tail = lines[place.end_line - 1][place.end_column - 1 :]
        lines[place.line - 1 : place.end_line] = (head + edit.text + tail).split("\n")
    ast.parse("\n".join(lines))
    return "\n".join(lines)


@pytest.mark.parametrize("rule", _CHOOSY, ids=lambda rule: rule.name)
def test_the_examples_of_a_choosy_rule_are_found_without_its_choice_too(rule: Rule) -> None:
    for text in (*rule.page.bad, *rule.page.good):
        one, other = (
            analyze_file(
                "world/core.py", text, package="world", index=index((each,), shipped()),
                catalogue=shipped(), follows=True,
            )
            for each in (rule, replace(rule, named=None))
        )  # fmt: skip
        assert one.found == other.found


def test_the_rules_look_at_functions_by_name_alone_where_they_say_so() -> None:
    every = {rule.name: rule for rule in RULES}
    arranged = index((every["reduced-pickle"], every["log-diff-test"]), shipped())
    named = arranged.functions[ast.FunctionDef]
    assert [rule.name for rule in named.of("__setstate__")] == ["reduced-pickle"]
    assert [rule.name for rule in named.of("test_is_deterministic")] == ["log-diff-test"]
    assert named.of("run") == ()


def test_variables_that_a_rule_tells_to_set_are_variables_that_are_read() -> None:
    known = {*shipped().names("switches"), *shipped().names("deciding-switches")}
    word = re.compile(r"\b[A-Z]+[A-Z0-9]*_[A-Z0-9_]+\b")
    named = {(rule.name, each) for rule in RULES for each in word.findall(rule.facts.remedy)}
    assert len(named) > 5
    assert {(rule, each) for rule, each in named if each not in known} == set()
