"""Findings as JUnit XML: a test suite for each file with some, a failing test for each that fails.

Invariant: the document is well-formed whatever the program under check holds: what XML has no way to write
is made visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from twice.checker.findings import Finding
from twice.checker.report import Report
from twice.foundation.printable import printable, printable_lines

_NOTHING: Final = """\
  <testsuite name="twice check" tests="1" failures="0">
    <testcase classname="twice check" name="nothing found"/>
  </testsuite>
"""


def render(report: Report) -> str:
    """Give the document; what is below the severity to fail on is a passed test with its text."""
    shown = report.shown
    suites = [_suite(path, [*those], report) for path, those in groupby(shown, _path)]
    if not suites:
        suites = [_NOTHING]
    failing = sum(each.severity >= report.fail_on for each in shown)
    head = f'<testsuites name="twice check" tests="{len(shown) or 1}" failures="{failing}">\n'
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}{"".join(suites)}</testsuites>\n'


def _path(finding: Finding) -> str:
    return finding.path


def _suite(path: str, findings: Sequence[Finding], report: Report) -> str:
    failing = sum(each.severity >= report.fail_on for each in findings)
    counts = f'tests="{len(findings)}" failures="{failing}"'
    cases = "".join(_case(each, report) for each in findings)
    return f"  <testsuite name={_attribute(path)} {counts}>\n{cases}  </testsuite>\n"


def _case(finding: Finding, report: Report) -> str:
    found, place = finding.found, finding.found.place
    name = f"{found.rule} at {place.line}:{place.column}"
    at = f'line="{place.line}"'
    head = f"    <testcase classname={_attribute(finding.path)} name={_attribute(name)} {at}>\n"
    text = f"{found.why}\n{finding.remedy}"
    if finding.severity >= report.fail_on:
        attributes = f'type="{finding.severity.word}" message={_attribute(found.message)}'
        body = f"      <failure {attributes}>{_text(text)}</failure>\n"
    else:
        said = f"{finding.severity.word}: {found.message}\n{text}"
        body = f"      <system-out>{_text(said)}</system-out>\n"
    return f"{head}{body}    </testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(printable(text))


def _text(text: str) -> str:
    return escape(printable_lines(text))
