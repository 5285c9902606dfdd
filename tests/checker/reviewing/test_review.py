"""Tables of the review hold for every rule, and its Markdown carries any text."""

from __future__ import annotations

import pytest

from twice.checker.reviewing.judgement import (
    KINDS,
    KINDS_BY_RULE,
    RISKS,
    RISKS_BY_RULE,
    Kind,
    Standing,
    kind_of,
    risk_of,
    standing_of,
)
from twice.checker.reviewing.patterns import PATTERNS
from twice.checker.reviewing.sequence import SPINE
from twice.checker.rule import Rule
from twice.checker.rules.engine import every_rule
from twice.foundation.channels import Channel

RULES = every_rule()


def test_every_channel_has_a_kind_and_a_risk() -> None:
    assert list(KINDS) == list(Channel)
    assert list(RISKS) == list(Channel)


@pytest.mark.parametrize("rule", RULES, ids=lambda each: each.name)
def test_every_rule_is_judged(rule: Rule) -> None:
    victim, risk = risk_of(rule.name, rule.facts.channel, rule.facts.breaks)

    assert kind_of(rule.name, rule.facts.channel) in Kind
    assert victim
    assert risk.endswith(".")


def test_what_is_said_of_single_rules_is_said_of_rules_that_there_are() -> None:
    names = {rule.name for rule in RULES}

    assert sorted({*KINDS_BY_RULE, *RISKS_BY_RULE} - names) == []


def test_a_kind_of_a_single_rule_differs_from_its_channels() -> None:
    channels = {rule.name: rule.facts.channel for rule in RULES}

    assert all(KINDS[channels[name]] is not kind for name, kind in KINDS_BY_RULE.items())


def test_standing_follows_what_is_there() -> None:
    assert standing_of("07", None) is Standing.NO_SPECIFICATION
    assert standing_of("07", frozenset({"02"})) is Standing.UNSPECIFIED
    assert standing_of("07", frozenset({"07"})) is Standing.MISMATCH


def test_patterns_have_names_needs_and_remedies() -> None:
    assert len({each.name for each in PATTERNS}) == len(PATTERNS)
    for each in PATTERNS:
        assert each.needs
        assert each.within in {"class", "file", "project"}
        assert each.why.endswith(".")
        assert each.remedy.endswith(".")


def test_signs_of_patterns_name_channels_and_rules_that_there_are() -> None:
    rules = {rule.name for rule in RULES}
    channels = {each.value for each in Channel}
    for pattern in PATTERNS:
        for need in pattern.needs:
            for name in sorted(need):
                kind, _, rest = name.partition(":")
                assert kind != "channel" or rest in channels
                assert kind != "rule" or rest in rules


def test_the_spine_has_every_artifact_that_a_channel_needs_once() -> None:
    numbers = [number for number, _, _ in SPINE]

    assert len(set(numbers)) == len(numbers)
    assert {each.artifact for each in Channel} <= set(numbers)
