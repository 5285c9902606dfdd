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


def rule(**fields: object) -> RuleFacts:
    """Build a rule that breaks bit-exactness badly, except for the fields given."""
    known: dict[str, object] = {
        "name": "some-rule",
        "channel": Channel.CONCURRENCY,
        "breaks": Breaks.BIT_EXACT,
        "severity": Severity.HIGH,
        "remedy": "",
        "title": "",
    }
    return RuleFacts(**{**known, **fields})  # type: ignore[arg-type]


def weight(
    policy: Policy,
    *,
    reach: Reach = Reach.LOUD,
    zone: Zone = Zone.CORE,
    confidence: float = 0.9,
    **fields: object,
) -> Severity:
    """How a finding weighs."""
    found = Violation(
        "some-rule", SourceSpan(1, 1, 1, 1), "", "", reach=reach, confidence=confidence
    )
    return policy.severity(found, rule(**fields), zone)


@pytest.mark.parametrize(
    ("zone", "channel", "expected"),
    [
        (Zone.CORE, Channel.CONCURRENCY, Severity.HIGH),
        (Zone.BOUNDARY, Channel.CONCURRENCY, Severity.MEDIUM),
        (Zone.TOOLING, Channel.CONCURRENCY, Severity.MEDIUM),
        (Zone.TOOLING, Channel.EFFECTS, Severity.MEDIUM),
        (Zone.TESTS, Channel.CONCURRENCY, Severity.LOW),
        (Zone.TESTS, Channel.DIVERGENCE, Severity.HIGH),
    ],
)
def test_a_zone_weighs(zone: Zone, channel: Channel, expected: Severity) -> None:
    assert weight(Policy(), zone=zone, channel=channel) is expected


def test_scripts_ask_the_world_on_purpose_and_leave_nothing_else_to_chance() -> None:
    medium = {"zone": Zone.TOOLING, "severity": Severity.MEDIUM}
    assert weight(Policy(), channel=Channel.EFFECTS, **medium) is Severity.LOW  # type: ignore[arg-type]
    assert weight(Policy(), channel=Channel.SEEDS, **medium) is Severity.MEDIUM  # type: ignore[arg-type]


def test_in_tests_even_a_critical_finding_is_low_and_none_is_lost() -> None:
    assert weight(Policy(), zone=Zone.TESTS, severity=Severity.CRITICAL) is Severity.LOW
    assert weight(Policy(), zone=Zone.TESTS, severity=Severity.MEDIUM) is Severity.LOW


@pytest.mark.parametrize(
    ("tier", "expected"),
    [(None, Severity.MEDIUM), ("M", Severity.MEDIUM), ("L", Severity.HIGH), ("XL", Severity.HIGH)],
)
def test_from_tier_l_on_a_value_in_unread_code_weighs_in_full(
    tier: str | None, expected: Severity
) -> None:
    assert weight(Policy(tier=tier), reach=Reach.UNSEEN) is expected


@pytest.mark.parametrize(
    ("kind", "scope", "breaks", "is_told"),
    [
        (DeterminismClass.STATISTICAL, Scope.HOST, Breaks.STATISTICAL, True),
        (DeterminismClass.STATISTICAL, Scope.HOST, Breaks.LOGICAL, False),
        (DeterminismClass.LOGICAL, Scope.HOST, Breaks.LOGICAL, True),
        (DeterminismClass.LOGICAL, Scope.HOST, Breaks.BIT_EXACT, False),
        (DeterminismClass.BIT_EXACT, Scope.HOST, Breaks.BIT_EXACT, True),
        (DeterminismClass.BIT_EXACT, Scope.HOST, Breaks.CROSS_HOST, False),
        (DeterminismClass.BIT_EXACT, Scope.CROSS_HOST, Breaks.CROSS_HOST, True),
    ],
)
def test_what_was_not_promised_is_a_note(
    kind: DeterminismClass, scope: Scope, breaks: Breaks, *, is_told: bool
) -> None:
    told = weight(Policy(kind=kind, scope=scope), breaks=breaks)
    assert (told is Severity.HIGH) is is_told


def test_what_ends_in_telemetry_is_a_note_wherever_it_is() -> None:
    assert weight(Policy(tier="XL"), reach=Reach.QUIET) is Severity.INFORMATIONAL


TESTS_OF_TREND = (
    "import random\n\n\ndef permuted(rows):\n    random.shuffle(rows)\n    return rows\n"
)


def test_a_file_among_tests_that_the_program_imports_is_a_part_of_it(project: Project) -> None:
    project.write(
        stats__tests__trend=TESTS_OF_TREND,
        stats__tests__unused=TESTS_OF_TREND,
        stats__core="from stats.tests.trend import permuted\n\n\ndef run(rows):\n    return permuted(rows)\n",
    )

    first, second = project.check("--json").document, project.check("--json").document
    zones = {each["path"]: each["zone"] for each in first["findings"]}

    assert zones == {"stats/tests/trend.py": "core", "stats/tests/unused.py": "tests"}
    assert first == second


def test_tests_that_import_each_other_stay_tests(project: Project) -> None:
    project.write(
        stats__tests__trend=TESTS_OF_TREND,
        stats__tests__test_trend="from stats.tests.trend import permuted\n\nprint(permuted([1]))\n",
        stats__core="from stats.tests import test_trend\n\nprint(test_trend)\n",
    )

    zones = {each["zone"] for each in project.check("--json").document["findings"]}

    assert zones == {"tests"}


@pytest.mark.parametrize(
    ("confidence", "expected"), [(0.6, Severity.MEDIUM), (0.59, Severity.LOW), (0.1, Severity.LOW)]
)
def test_what_was_not_followed_and_is_often_harmless_weighs_two_less(
    confidence: float, expected: Severity
) -> None:
    assert weight(Policy(), reach=Reach.UNSEEN, confidence=confidence) is expected
    assert weight(Policy(), reach=Reach.LOUD, confidence=confidence) is Severity.HIGH
    assert weight(Policy(tier="L"), reach=Reach.UNSEEN, confidence=confidence) is Severity.HIGH


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
    found = replace(Violation("some-rule", SourceSpan(1, 1, 1, 1), "", ""), **fields)  # type: ignore[arg-type]

    assert certainty_of(found, rule(channel=channel), zone) is expected


def test_the_severity_of_a_ban_is_not_read_from_its_message() -> None:
    found = Violation("banned-name", SourceSpan(1, 1, 1, 1), "", "", severity=Severity.CRITICAL)

    assert Policy().severity(found, rule(severity=Severity.HIGH), Zone.CORE) is Severity.CRITICAL


def test_a_value_in_unread_code_stays_unknown_where_it_counts_in_full(project: Project) -> None:
    project.write(a=HANDED)

    (found,) = project.check("--json", "--tier", "L").document["findings"]
    (less,) = project.check("--json").document["findings"]

    assert (found["severity"], less["severity"]) == ("high", "low")
    assert found["certainty"] == less["certainty"] == "unknown"


HANDED = "import os\nfrom ours import use\n\n\ndef f(folder):\n    use(os.listdir(folder))\n"


def test_text_and_documents_say_how_certain_a_finding_is(project: Project) -> None:
    project.write(a=LISTING, b=CLOCK)

    text, document = project.check().out, project.check("--json").document
    sarif = project.check("--format", "sarif").document["runs"][0]["results"]

    assert "certainty: wrong" in text
    assert "certainty: a choice" in text
    assert [each["certainty"] for each in document["findings"]] == ["wrong", "choice"]
    assert [each["properties"]["certainty"] for each in sarif] == ["wrong", "choice"]
    assert document["summary"]["certainties"] == {"wrong": 1, "choice": 1, "unknown": 0}
