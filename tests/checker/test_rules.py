"""Every rule finds what its page calls bad, and nothing of weight in what it calls good."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from twice.checker.analyzer import analyze_file
from twice.checker.catalogue import shipped
from twice.checker.driver import judge
from twice.checker.findings import Finding
from twice.checker.policy import Policy
from twice.checker.rule import Rule, read_page
from twice.checker.rules.engine import every_rule, index
from twice.foundation.determinism_class import Scope
from twice.foundation.severity import Severity

RULES = every_rule()
_MORE = Path(__file__).with_name("examples")
STRICT = Policy(scope=Scope.CROSS_HOST)


def findings(text: str, path: str = "example.py") -> tuple[Finding, ...]:
    """Return the findings of a check of one file, under the strictest promise."""
    looked = analyze_file(
        path,
        text,
        package="",
        index=index(RULES, shipped()),
        catalogue=shipped(),
        follows=True,
    )
    return judge({path: looked}, STRICT)


def examples(which: str) -> Iterator[object]:
    """Every example of every rule: those of its page, and more in ``examples``."""
    for rule in RULES:
        more = _MORE / f"{rule.name}.md"
        pages = [rule.page, read_page(more)] if more.exists() else [rule.page]
        texts = [text for page in pages for text in getattr(page, which)]
        for number, text in enumerate(texts):
            yield pytest.param(rule, text, id=f"{rule.name}-{number}")


def path_of(rule: Rule) -> str:
    """Rules about tests look at tests."""
    return "tests/test_example.py" if rule.facts.channel == "divergence" else "example.py"


@pytest.mark.parametrize(("rule", "text"), [*examples("bad")])
def test_what_a_page_calls_bad_is_found(rule: Rule, text: str) -> None:
    mine = [each for each in findings(text, path_of(rule)) if each.found.rule == rule.name]
    assert mine, f"{rule.name} finds nothing in:\n{text}"
    assert max(each.severity for each in mine) >= min(rule.facts.severity, Severity.LOW)


@pytest.mark.parametrize(("rule", "text"), [*examples("good")])
def test_what_a_page_calls_good_is_left_alone(rule: Rule, text: str) -> None:
    mine = [
        each
        for each in findings(text, path_of(rule))
        if each.found.rule == rule.name and each.severity > Severity.INFORMATIONAL
    ]
    assert mine == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_has_a_page_with_examples_of_both_kinds(rule: Rule) -> None:
    page = rule.page
    assert rule.facts.title.endswith(".")
    assert len(page.text) > 100
    assert page.bad
    assert page.good
    for text in (*page.bad, *page.good):
        ast.parse(text)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_fix_removes_what_it_was_offered_for(rule: Rule) -> None:
    for text in rule.page.bad:
        for found in findings(text, path_of(rule)):
            if found.found.rule != rule.name or found.found.fix is None:
                continue
            mended = applied(text, found)
            ast.parse(mended)
            left = [
                each
                for each in findings(mended, path_of(rule))
                if each.found.rule == rule.name
                and each.found.place.line == found.found.place.line
                and each.severity > Severity.INFORMATIONAL
            ]
            assert left == [], f"still there after the fix:\n{mended}"


def applied(text: str, finding: Finding) -> str:
    """Apply a finding's fix to the text."""
    lines = text.split("\n")
    fix = finding.found.fix
    assert fix is not None
    for edit in sorted(
        fix.edits, key=lambda each: (each.place.line, each.place.column), reverse=True
    ):
        place = edit.place
        head = lines[place.line - 1][: place.column - 1]
        tail = lines[place.end_line - 1][place.end_column - 1 :]
        lines[place.line - 1 : place.end_line] = (head + edit.text + tail).split("\n")
    return "\n".join(lines)
