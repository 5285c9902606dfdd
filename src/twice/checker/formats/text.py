"""Text for people: findings with their way, their certainty and what to do, numbers, and the pages of rules.

Invariant: without colour the text is plain ASCII but for what the program's own source holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from twice.checker.findings import Certainty, Finding, Step
from twice.checker.housekeeping import BANNED_NAME, HOUSEKEEPING
from twice.checker.report import Report
from twice.checker.rule import Breaks, Rule
from twice.errors import UsageError
from twice.foundation.channels import FACTS, Channel
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
_CERTAINTIES: Final = {
    Certainty.WRONG: "wrong, whatever is declared",
    Certainty.CHOICE: "a choice, right once it is recorded, pinned or declared",
    Certainty.UNKNOWN: "unknown, no effect on the result was seen",
}
_PROMISES: Final = {
    Breaks.STATISTICAL: "the same distribution",
    Breaks.LOGICAL: "the same decisions",
    Breaks.BIT_EXACT: "the same bits on one host",
    Breaks.CROSS_HOST: "the same bits on every host",
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


def render_statistics(report: Report) -> str:
    """Give a line for each rule with findings that are shown, the most frequent first, and the numbers of the whole."""
    ordered = sorted(report.rule_counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [f"{'count':>6}  {'/kLOC':>6}  rule"] if ordered else []
    for name, count in ordered:
        per_thousand = 1000 * count / max(report.lines, 1)
        rows.append(f"{count:>6}  {per_thousand:>6.2f}  {name:<28}  {report.rules[name].title}")
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
    yield f"    certainty: {_CERTAINTIES[finding.certainty]}"
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


def all_rules() -> tuple[Rule, ...]:
    """Give all rules, those on the checker's own work at the end."""
    from twice.checker.rules.engine import every_rule

    return (*every_rule(), BANNED_NAME, *HOUSEKEEPING)


def explain_rule(name: str) -> str:
    """Give a rule's page.

    Raises:
        UsageError: E-USE-001: there is no such rule.
    """
    rules = {each.name: each for each in all_rules()}
    if name not in rules:
        raise UsageError(
            f"There is no rule {name!r}.",
            f"Expected one of: {', '.join(rules)}.",
            "See: twice check --list",
        )
    facts, page = rules[name].facts, rules[name].page
    channel = FACTS[facts.channel]
    rows = [f"{name}: {facts.title}", "", *([page.text, ""] if page.text else [])]
    rows += [
        f"severity:    {facts.severity.word}, in the core, where the value is seen to arrive",
        f"breaks:      {_PROMISES[facts.breaks]}",
        f"channel:     {facts.channel.value}",
        f"decided in:  {channel.artifact} {channel.sheet}",
        f"do:          {facts.remedy}",
    ]
    for heading, examples in (("Bad", page.bad), ("Good", page.good)):
        for number, example in enumerate(examples):
            rows += ["", f"{heading}:" if number == 0 else "or:", ""]
            rows += [f"    {line}".rstrip() for line in example.rstrip().splitlines()]
    return "\n".join(rows) + "\n"


def list_rules() -> str:
    """Give all rules by channel, one line each."""
    rules = all_rules()
    width = max(len(rule.name) for rule in rules)
    rows = []
    for channel in Channel:
        those = [rule.facts for rule in rules if rule.facts.channel is channel]
        if those:
            rows.append(f"{channel.value} ({FACTS[channel].artifact} {FACTS[channel].sheet})")
            rows += [
                f"  {each.name:<{width}}  {each.severity.word:<8}  {each.title}" for each in those
            ]
    return "\n".join(rows) + "\n"
