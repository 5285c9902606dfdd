"""Findings for programs: one JSON document (``twice.findings/1``), or one line for each finding.

Invariant: the same report gives the same bytes.
"""

from __future__ import annotations

import json
from typing import Any, Final

from twice.checker.findings import Finding
from twice.checker.report import Report

FORMAT: Final = "twice.findings/1"


def render(report: Report) -> str:
    """Give one JSON document."""
    document = {
        "format": FORMAT,
        "findings": [_row(each, report) for each in report.shown],
        "summary": _summary(report),
    }
    return json.dumps(document, indent=2) + "\n"


def render_lines(report: Report) -> str:
    """Give one line of JSON for each finding."""
    return "".join(f"{json.dumps(_row(each, report))}\n" for each in report.shown)


def _row(finding: Finding, report: Report) -> dict[str, Any]:
    """Give a finding as plain values."""
    tried, found = report.tried, finding.found
    place, fix = found.place, found.fix
    return {
        "rule": found.rule,
        "channel": finding.channel,
        "severity": finding.severity.word,
        "path": finding.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "message": found.message,
        "why": found.why,
        "steps": [
            {"line": each.place.line, "column": each.place.column, "text": each.text}
            for each in found.steps
        ],
        "artifact": finding.artifact,
        "remedy": finding.remedy,
        "fix": None if fix is None else {"safe": fix.safe, "title": fix.title},
        "certainty": finding.certainty.value,
        "confidence": found.confidence,
        "zone": finding.zone,
        "symbol": found.symbol,
        "fingerprint": finding.fingerprint,
        "witness": None if tried is None else tried.witnesses.get(finding.fingerprint),
    }


def _summary(report: Report) -> dict[str, Any]:
    """Give the numbers under the findings."""
    policy = report.policy
    return {
        "files": report.files,
        "lines": report.lines,
        "unread": report.unread,
        "class": policy.kind.value,
        "scope": policy.scope.value,
        "tier": policy.tier,
        "fail_on": report.fail_on.word,
        "failing": report.failing,
        "severities": report.counts,
        "certainties": report.certainties,
        "rules": report.rule_counts,
        "suppressed": len(report.suppressed),
        "baselined": len(report.baselined),
        "stale": [
            {"path": each.path, "rule": each.rule, "fingerprint": each.fingerprint}
            for each in report.stale
        ],
        **({} if report.tried is None else {"confirmation": report.tried.summary}),
    }
