"""Findings for people: each with its way, what settles it and what to do; then one line of numbers.

Invariant: without colour the text is plain ASCII but for what the program's own source holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from twice.checker.findings import Finding, Step
from twice.checker.report import Report
from twice.foundation.channels import FACTS
from twice.foundation.printable import pluralize, printable, printable_lines
from twice.foundation.severity import Severity

_SHEETS: Final = {facts.artifact: facts.sheet for facts in FACTS.values()}
_COLOURS: Final = {
    Severity.CRITICAL: "1;31",
    Severity.HIGH: "31",
    Severity.MEDIUM: "33",
    Severity.LOW: "36",
    Severity.INFORMATIONAL: "2",
}
_STEPS_MAX: Final = 5
_UNSEEN: Final = """\
Reading cannot see what depends on values: code that is called by name or comes from elsewhere,
compiled libraries, drivers, and data. Running can:
  twice vary PROGRAM --seed 1     which surroundings does the result depend on?
  twice verify RUN                does a recorded run come out the same again?
  twice diagnose A B              where do two runs part, and why?
"""


def render(report: Report, *, colour: bool = False) -> str:
    """Give every finding in full."""
    rows: list[str] = []
    path = ""
    for each in report.shown:
        if each.path != path:
            rows.append("")
            path = each.path
        rows.extend(_finding(each, colour=colour))
        if report.tried is not None:
            rows.append(f"    {printable(report.tried.lines.get(each.fingerprint, 'not tried'))}")
    rows.extend(_under(report))
    return "\n".join(rows).lstrip("\n") + "\n"


def concise(report: Report, *, colour: bool = False) -> str:
    """Give one line for each finding."""
    rows = [_headline(each, colour=colour) for each in report.shown]
    return "\n".join([*rows, headline(report)]) + "\n"


def _headline(finding: Finding, *, colour: bool) -> str:
    place = finding.found.place
    severity = _painted(finding.severity, colour=colour)
    at = f"{printable(finding.path)}:{place.line}:{place.column}"
    return f"{at} {severity} {finding.found.rule}  {printable(finding.found.message)}"


def _painted(severity: Severity, *, colour: bool) -> str:
    return f"\033[{_COLOURS[severity]}m{severity.word}\033[0m" if colour else severity.word


def _finding(finding: Finding, *, colour: bool) -> Iterator[str]:
    found = finding.found
    yield _headline(finding, colour=colour)
    yield f"    why: {printable(found.why)}"
    yield from _way(found.steps)
    yield f"    decided in: {finding.artifact} {_SHEETS.get(finding.artifact, '')}"
    yield f"    do: {printable(finding.remedy)}"
    if found.fix is not None:
        how = "--fix" if found.fix.safe else "--fix --unsafe-fixes"
        yield f"    {how}: {printable(found.fix.title)}"


def _way(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the steps of a value; of a long sequence, its beginning and its end."""
    if len(steps) < 2:
        return
    kept = steps if len(steps) <= _STEPS_MAX else (*steps[:2], *steps[-2:])
    for number, step in enumerate(kept):
        if number == 2 and kept is not steps:
            yield f"      ... {len(steps) - len(kept)} more"
        yield f"      {step.place.line}: {printable(step.text)}"


def _under(report: Report) -> Iterator[str]:
    for each in report.stale:
        yield printable(f"{each.path}: the baseline's {each.rule} ({each.fingerprint}) is gone")
    if report.stale:
        yield "Take what is gone out of the baseline: --baseline-update"
    if report.tried is not None:
        yield ""
        yield printable_lines(report.tried.text)
    if report.shown or report.stale or report.tried is not None:
        yield ""
    yield headline(report)
    if not report.failing and not report.unread and report.tried is None:
        yield ""
        yield _UNSEEN.rstrip("\n")


def headline(report: Report) -> str:
    """Give the one line that says what came of it."""
    counts = [f"{count} {word}" for word, count in report.counts.items() if count]
    hidden = len(report.findings) - len(report.shown)
    said = ", ".join(counts) or "nothing found"
    parts = [
        f"{pluralize(report.files, 'file')}, {pluralize(report.lines, 'line')}, {report.promise}: {said}"
    ]
    if hidden:
        parts.append(f"{hidden} of these not shown")
    if report.suppressed:
        parts.append(f"{len(report.suppressed)} suppressed")
    if report.baselined:
        parts.append(f"{len(report.baselined)} in the baseline")
    if report.unread:
        parts.append(f"{report.unread} not read")
    if report.tried is not None and report.tried.parted:
        parts.append("runs part")
    verdict = pluralize(report.failing, "finding fails", "findings fail")
    verdict += f" the check ({report.fail_on.word} and worse)"
    parts.append(verdict if report.failing else f"none {report.fail_on.word} or worse")
    return "; ".join(parts)
