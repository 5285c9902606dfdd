"""Tables of the review hold for every rule, and its Markdown carries any text."""

from __future__ import annotations

import pytest

from twice.checker.review.review import SpecStatus
from twice.checker.review.risks import PATTERNS, RISKS, RISKS_BY_RULE, SPINE, assess_risk
from twice.checker.rule import Rule
from twice.checker.rules.engine import every_rule
from twice.checker.workspace import Workspace
from twice.foundation.channels import Channel

RULES = every_rule()


def test_every_channel_has_a_risk() -> None:
    assert list(RISKS) == list(Channel)


@pytest.mark.parametrize("rule", RULES, ids=lambda each: each.name)
def test_every_rule_has_a_risk(rule: Rule) -> None:
    assert assess_risk(rule.facts).text.endswith(".")


def test_the_risk_of_a_single_rule_is_of_a_rule_that_there_is_and_differs_from_its_channels() -> (
    None
):
    channels = {rule.name: rule.facts.channel for rule in RULES}

    assert all(RISKS[channels[name]] != risk for name, risk in RISKS_BY_RULE.items())


def test_the_status_follows_the_artifacts_that_are_there() -> None:
    assert SpecStatus.from_workspace("07", None) is SpecStatus.NO_SPECIFICATION
    assert SpecStatus.from_workspace("07", Workspace({"02": "02-a.md"})) is SpecStatus.UNSPECIFIED
    assert SpecStatus.from_workspace("07", Workspace({"07": "07-b.md"})) is SpecStatus.MISMATCH


def test_patterns_have_names_needs_and_remedies() -> None:
    assert len({each.name for each in PATTERNS}) == len(PATTERNS)
    for each in PATTERNS:
        assert each.needs
        assert each.within in {"class", "file", "project"}
        assert each.why.endswith(".")
        assert each.remedy.endswith(".")


def test_the_spine_has_every_artifact_that_a_channel_needs_once() -> None:
    numbers = [number for number, _, _ in SPINE]

    assert len(set(numbers)) == len(numbers)
    assert {each.artifact for each in Channel} <= set(numbers)
