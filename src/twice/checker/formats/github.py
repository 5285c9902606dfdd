"""Findings as workflow commands of GitHub Actions, which shows them at their lines.

Source: GitHub's toolkit, packages/core/src/command.ts, for what is escaped.

Invariant: no text of a program under check can end a command or begin another one.
"""

from __future__ import annotations

from typing import Final

from twice.checker.findings import Finding
from twice.checker.report import Report
from twice.foundation.printable import printable
from twice.foundation.severity import Severity

_KINDS: Final = {
    Severity.CRITICAL: "error",
    Severity.HIGH: "error",
    Severity.MEDIUM: "warning",
}


def render(report: Report) -> str:
    """Give one command for each finding."""
    return "".join(f"{_command(each)}\n" for each in report.shown)


def _command(finding: Finding) -> str:
    found, place = finding.found, finding.found.place
    kind = _KINDS.get(finding.severity, "notice")
    properties = [
        ("file", finding.path),
        ("line", str(place.line)),
        ("endLine", str(place.end_line)),
        ("title", f"twice check: {found.rule} ({finding.severity.word})"),
    ]
    if place.line == place.end_line:  # Columns of several lines are refused.
        properties[3:3] = [("col", str(place.column)), ("endColumn", str(place.end_column))]
    said = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{kind} {said}::{_data(f'{found.message} {found.why} {finding.remedy}')}"


def _data(text: str) -> str:
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
