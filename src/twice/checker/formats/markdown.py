"""Findings as a Markdown page: a table for each channel, for a pull request or an issue.

Invariant: no text of a program under check can end a cell, add markup or steer a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.checker.findings import Finding
from twice.checker.formats.text import headline
from twice.checker.report import Report
from twice.foundation.channels import FACTS, Channel
from twice.foundation.printable import printable

_MEANT: Final = "\\`*_{}[]<>|#~$@!"


def render(report: Report) -> str:
    """Give the page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield "# twice check"
    yield ""
    yield f"{headline(report)}."
    for channel in Channel:
        those = [each for each in report.shown if each.channel == channel.value]
        if those:
            facts = FACTS[channel]
            yield f"\n## {channel.value}\n\nSettled in {facts.artifact} {facts.sheet}. {facts.meaning}\n"
            yield "| where | severity | rule | what | do |\n|---|---|---|---|---|"
            yield from map(_row, those)


def _row(finding: Finding) -> str:
    found = finding.found
    cells = (
        f"{finding.path}:{found.place.line}",
        finding.severity.word,
        found.rule,
        f"{found.message} {found.why}",
        finding.remedy,
    )
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    return "".join(
        f"\\{each}" if each in _MEANT else each for each in printable(" ".join(text.split()))
    )
