"""How often each rule found something, the most frequent first.

Invariant: rules that found equally much stand by name.
"""

from __future__ import annotations

from twice.checker.report import Report


def render(report: Report) -> str:
    """Give a line for each rule that found something that is shown, and the numbers of the whole."""
    counts: dict[str, int] = {}
    for each in report.shown:
        counts[each.found.rule] = counts.get(each.found.rule, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = []
    for name, count in ordered:
        per_thousand = 1000 * count / max(report.lines, 1)
        rule = report.rules[name]
        rows.append(f"{count:>6}  {per_thousand:>6.2f}  {name:<28}  {rule.title}")
    head = [f"{'count':>6}  {'/kLOC':>6}  rule"] if rows else []
    return "\n".join([*head, *rows, ""]) if rows else ""
