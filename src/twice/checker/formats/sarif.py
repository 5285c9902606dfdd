"""Findings as SARIF 2.1.0, which code hosts and editors read.

Every rule is declared, also those that found nothing, so that what was mended closes. What comments
and the baseline took away is there as well, marked as suppressed.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0, sections 3.13 to 3.59.

Invariant: locations are relative to the working folder, as the findings are; there is no time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from twice.checker.findings import Finding, Fix, SourceSpan
from twice.checker.formats.text import all_rules
from twice.checker.report import Report
from twice.foundation import sarif

_FINGERPRINT: Final = "twice/v1"


def render(report: Report) -> str:
    """Give a SARIF log with one run."""
    names = sorted(report.rules)
    rules = [*_rules(report, names)]
    results = [*_results(report, {name: at for at, name in enumerate(names)})]
    root = {"description": {"text": "the folder that was checked from"}}
    bases = {"%SRCROOT%": root}
    return sarif.write_log(
        "twice check", rules, results, columnKind="unicodeCodePoints", originalUriBaseIds=bases
    )


def _rules(report: Report, names: list[str]) -> Iterator[dict[str, Any]]:
    pages = {rule.name: rule.page for rule in all_rules()}
    for name in names:
        rule = report.rules[name]
        said = (pages[name].text if name in pages else "") or rule.title
        yield sarif.declare_rule(
            name, rule.title, f"{rule.title}\n\n{said}\n\n{rule.remedy}", rule.severity,
            fullDescription={"text": " ".join(said.split())},
            properties={"tags": ["determinism", rule.channel.value], "artifact": rule.channel.artifact},
        )  # fmt: skip


def _results(report: Report, indices: dict[str, int]) -> Iterator[dict[str, Any]]:
    for each in report.shown:
        state = "new" if report.has_baseline else ""
        yield _result(each, indices, state, [])
    for settled in report.suppressed:
        if settled.finding.severity < report.shown_from:
            continue
        yield _result(settled.finding, indices, "", [_why("inSource", settled.reason)])
    for settled in report.baselined:
        why = [_why("external", settled.reason)]
        yield _result(settled.finding, indices, "unchanged", why)


def _why(kind: str, reason: str) -> dict[str, str]:
    return {"kind": kind, "status": "accepted", "justification": reason}


def _result(
    finding: Finding, indices: dict[str, int], state: str, suppressions: list[dict[str, str]]
) -> dict[str, Any]:
    found = finding.found
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "ruleIndex": indices[found.rule],
        "level": sarif.LEVELS[finding.severity],
        "message": {"text": f"{found.message} {found.why} {finding.remedy}"},
        "locations": [_location(finding.path, found.place)],
        "partialFingerprints": {_FINGERPRINT: finding.fingerprint},
        "properties": {
            "severity": finding.severity.word,
            "channel": finding.channel,
            "artifact": finding.artifact,
            "certainty": finding.certainty.value,
            "confidence": found.confidence,
            "zone": finding.zone,
        },
    }
    if len(found.steps) > 1:
        steps = [
            {"location": _location(finding.path, each.place, each.text)} for each in found.steps
        ]
        result["codeFlows"] = [{"threadFlows": [{"locations": steps}]}]
    if found.fix is not None:
        result["fixes"] = [_fix(finding.path, found.fix)]
    if suppressions:
        result["suppressions"] = suppressions
    if state:
        result["baselineState"] = state
    return result


def _artifact(path: str) -> dict[str, str]:
    uri = sarif.quote_path(path)
    if path.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}


def _region(place: SourceSpan) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _location(path: str, place: SourceSpan, text: str = "") -> dict[str, Any]:
    where = {"physicalLocation": {"artifactLocation": _artifact(path), "region": _region(place)}}
    return {**where, "message": {"text": text}} if text else where


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _region(each.place), "insertedContent": {"text": each.text}}
        for each in fix.edits
    ]
    change = {"artifactLocation": _artifact(path), "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change]}
