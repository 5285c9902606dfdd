"""Weighing: what the rules found in every file becomes findings with a severity and a fingerprint.

Suppressions and baselines take findings away afterwards, in ``settling``.

Invariant: findings are sorted by path, line, column and rule; the rules themselves are not needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from twice.checker.findings import Finding, Violation
from twice.checker.policy import Policy, Zone
from twice.checker.rule import RuleFacts
from twice.foundation.digests import Algorithm, raw_digest

Stretches = Mapping[str, Sequence[tuple[int, int]]]


def weighed(
    every: Iterable[tuple[str, Violation]],
    table: Mapping[str, RuleFacts],
    policy: Policy,
    boundaries: Stretches,
    lent: Collection[str] = (),
) -> tuple[Finding, ...]:
    """Weigh what was found.

    Args:
        every: what rules found, each with its file.
        table: what is known of each rule.
        policy: what was promised.
        boundaries: for each file the lines, first and last, that declare themselves a boundary.
        lent: files among tests that the program itself imports.
    """
    zones: dict[str, Zone] = {}
    findings = []
    for path, found in every:
        zone = zones.get(path)
        if zone is None:
            zone = policy.zone(path)
            if zone is Zone.TESTS and path in lent:
                zone = policy.lent_zone(path)
            zones[path] = zone
        if zone is Zone.CORE and path in boundaries and _inside(found, boundaries[path]):
            zone = Zone.BOUNDARY
        findings.append(_finding(path, found, table[found.rule], policy, zone))
    findings.sort(key=_in_order)
    return _fingerprinted(findings, policy)


def _inside(found: Violation, stretches: Sequence[tuple[int, int]]) -> bool:
    return any(first <= found.place.line <= last for first, last in stretches)


def _finding(path: str, found: Violation, rule: RuleFacts, policy: Policy, zone: Zone) -> Finding:
    return Finding(
        found=found,
        path=path,
        channel=rule.channel.value,
        artifact=rule.channel.artifact,
        severity=policy.severity(found, rule, zone),
        zone=zone.value,
        remedy=rule.remedy,
    )


def _in_order(finding: Finding) -> tuple[str, int, int, str, str]:
    place = finding.found.place
    return finding.path, place.line, place.column, finding.found.rule, finding.found.message


def _fingerprinted(findings: Sequence[Finding], policy: Policy) -> tuple[Finding, ...]:
    """Name each finding by what it is about, so that lines added above do not rename it."""
    sha256 = raw_digest(Algorithm.SHA256)
    seen: dict[tuple[str, str, str, str], int] = {}
    named = []
    for each in findings:
        found = each.found
        key = (found.rule, policy.placed(each.path), found.symbol, found.statement)
        occurrence = seen[key] = seen.get(key, -1) + 1
        text = "\0".join([*key, str(occurrence)]).encode("utf-8", "surrogatepass")
        named.append(replace(each, fingerprint=sha256(text).hex()[:24]))
    return tuple(named)
