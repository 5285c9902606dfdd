"""A finding weighs by what was promised, how far the value was seen to travel, and where the file is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from projects import CLOCK, LISTING, Project

from twice.checker.findings import Certainty, Reach, SourceSpan, Violation
from twice.checker.policy import Policy, Zone, certainty_of
from twice.checker.rule import Breaks, RuleFacts
from twice.foundation.channels import Channel
from twice.foundation.determinism_class import DeterminismClass, Scope
from twice.foundation.severity import Severity

RULE = RuleFacts(
    "some-rule", Channel.CONCURRENCY, Breaks.BIT_EXACT, Severity.HIGH, remedy="", title=""
)
FOUND = Violation("some-rule", SourceSpan(1, 1, 1, 1), "", "")
EFFECTS = replace(RULE, channel=Channel.EFFECTS)
TESTS_OF_TREND = (
    "import random\n\n\ndef permuted(rows):\n    random.shuffle(rows)\n    return rows\n"
)
HANDED = "import os\nfrom ours import use\n\n\ndef f(folder):\n    use(os.listdir(folder))\n"


@pytest.mark.parametrize(
    ("zone", "rule", "expected"),
    [
        (Zone.CORE, RULE, Severity.HIGH),
        (Zone.BOUNDARY, RULE, Severity.MEDIUM),
        (Zone.TOOLING, RULE, Severity.MEDIUM),
        (Zone.TESTS, RULE, Severity.LOW),
        (Zone.TESTS, replace(RULE, channel=Channel.DIVERGENCE), Severity.HIGH),
        # In tests even a critical finding is low, and none is lost.
        (Zone.TESTS, replace(RULE, severity=Severity.CRITICAL), Severity.LOW),
        (Zone.TESTS, replace(RULE, severity=Severity.MEDIUM), Severity.LOW),
        # Scripts ask the world on purpose, and leave nothing else to chance.
        (Zone.TOOLING, EFFECTS, Severity.MEDIUM),
        (Zone.TOOLING, replace(EFFECTS, severity=Severity.MEDIUM), Severity.LOW),
        (Zone.TOOLING, replace(RULE, severity=Severity.MEDIUM), Severity.MEDIUM),
    ],
)
def test_a_zone_weighs(zone: Zone, rule: RuleFacts, expected: Severity) -> None:
    assert Policy().severity(FOUND, rule, zone) is expected


@pytest.mark.parametrize(
    ("tier", "reach", "confidence", "expected"),
    [
        (None, Reach.UNSEEN, 0.9, Severity.MEDIUM),
        ("M", Reach.UNSEEN, 0.9, Severity.MEDIUM),
        ("L", Reach.UNSEEN, 0.9, Severity.HIGH),
        ("XL", Reach.UNSEEN, 0.1, Severity.HIGH),
        ("XL", Reach.QUIET, 0.9, Severity.INFORMATIONAL),
        # What was not followed and is often harmless weighs two less.
        (None, Reach.UNSEEN, 0.6, Severity.MEDIUM),
        (None, Reach.UNSEEN, 0.59, Severity.LOW),
        (None, Reach.LOUD, 0.1, Severity.HIGH),
    ],
)
def test_how_far_a_value_was_followed_weighs(
    tier: str | None, reach: Reach, confidence: float, expected: Severity
) -> None:
    found = replace(FOUND, reach=reach, confidence=confidence)
    assert Policy(tier=tier).severity(found, RULE, Zone.CORE) is expected


@pytest.mark.parametrize(
    ("kind", "scope", "strictest"),
    [
        (DeterminismClass.STATISTICAL, Scope.HOST, Breaks.STATISTICAL),
        (DeterminismClass.LOGICAL, Scope.HOST, Breaks.LOGICAL),
        (DeterminismClass.BIT_EXACT, Scope.HOST, Breaks.BIT_EXACT),
        (DeterminismClass.BIT_EXACT, Scope.CROSS_HOST, Breaks.CROSS_HOST),
    ],
)
def test_what_was_not_promised_is_a_note(
    kind: DeterminismClass, scope: Scope, strictest: Breaks
) -> None:
    for breaks in Breaks:
        said = Policy(kind=kind, scope=scope).severity(
            FOUND, replace(RULE, breaks=breaks), Zone.CORE
        )
        assert said is (Severity.HIGH if breaks <= strictest else Severity.INFORMATIONAL)


@pytest.mark.parametrize(
    ("fields", "channel", "zone", "expected"),
    [
        ({}, Channel.CONCURRENCY, Zone.CORE, Certainty.WRONG),
        ({}, Channel.CONCURRENCY, Zone.BOUNDARY, Certainty.CHOICE),
        ({}, Channel.EFFECTS, Zone.CORE, Certainty.CHOICE),
        ({}, Channel.GPU, Zone.TOOLING, Certainty.CHOICE),
        ({}, Channel.FLOATING_POINT, Zone.CORE, Certainty.CHOICE),
        ({"severity": Severity.LOW}, Channel.EFFECTS, Zone.CORE, Certainty.WRONG),
        ({"reach": Reach.UNSEEN}, Channel.CONCURRENCY, Zone.CORE, Certainty.UNKNOWN),
        ({"reach": Reach.QUIET}, Channel.EFFECTS, Zone.CORE, Certainty.UNKNOWN),
        ({"confidence": 0.59}, Channel.SEEDS, Zone.CORE, Certainty.UNKNOWN),
    ],
)
def test_certainty_follows_from_reach_and_rule(
    fields: dict[str, object], channel: Channel, zone: Zone, expected: Certainty
) -> None:
    found = replace(FOUND, **fields)  # type: ignore[arg-type]
    assert certainty_of(found, replace(RULE, channel=channel), zone) is expected


def test_the_severity_of_a_ban_is_not_read_from_its_message() -> None:
    found = replace(FOUND, severity=Severity.CRITICAL)
    assert Policy().severity(found, RULE, Zone.CORE) is Severity.CRITICAL


def test_a_file_among_tests_that_the_program_imports_is_a_part_of_it(project: Project) -> None:
    project.write(
        stats__tests__trend=TESTS_OF_TREND,
        stats__tests__unused=TESTS_OF_TREND,
        stats__core="from stats.tests.trend import permuted\n\n\ndef run(rows):\n    return permuted(rows)\n",
    )
    first, second = project.findings(), project.findings()
    assert {each["path"]: each["zone"] for each in first} == {
        "stats/tests/trend.py": "core", "stats/tests/unused.py": "tests",
    }  # fmt: skip
    assert first == second


def test_tests_that_import_each_other_stay_tests(project: Project) -> None:
    project.write(
        stats__tests__trend=TESTS_OF_TREND,
        stats__tests__test_trend="from stats.tests.trend import permuted\n\nprint(permuted([1]))\n",
        stats__core="from stats.tests import test_trend\n\nprint(test_trend)\n",
    )
    assert {each["zone"] for each in project.findings()} == {"tests"}


def test_a_value_in_unread_code_stays_unknown_where_it_counts_in_full(project: Project) -> None:
    project.write(a=HANDED)
    (full,), (less,) = project.findings("--tier", "L"), project.findings()
    assert (full["severity"], less["severity"]) == ("high", "low")
    assert full["certainty"] == less["certainty"] == "unknown"


def test_text_and_documents_say_how_certain_a_finding_is(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)
    text, document = project.check().out, project.check("--json").document
    sarif = project.check("--format", "sarif").document["runs"][0]["results"]
    assert "certainty: wrong" in text
    assert "certainty: a choice" in text
    assert [each["certainty"] for each in document["findings"]] == ["wrong", "choice"]
    assert [each["properties"]["certainty"] for each in sarif] == ["wrong", "choice"]
    assert document["summary"]["certainties"] == {"wrong": 1, "choice": 1, "unknown": 0}
