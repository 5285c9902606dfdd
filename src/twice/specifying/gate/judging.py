"""From a check and the facts to a line of the report.

Invariant: what is wrong in a sheet is told even where no evidence could be made.
"""

from __future__ import annotations

from twice.specifying.gate.check import Check, shortened
from twice.specifying.gate.facts import Facts, Unavailable
from twice.specifying.gate.outcome import Found, Judged, Outcome
from twice.specifying.gate.waiving import with_waivers


def judge(check: Check, facts: Facts) -> Judged:
    """Judge one check."""
    reason = check.precondition(facts)
    if reason:
        return Judged(check.id, check.title, Outcome.NA, (), reason)
    found = check.said(facts)
    missing = _unavailable(check, facts)
    if missing and not found.open:
        found += Found(open=missing)
    elif not missing:
        found += check.shown(facts)
    judged = _judged(check, found)
    return with_waivers(judged, check, facts, firm=found.firm)


def _unavailable(check: Check, facts: Facts) -> tuple[str, ...]:
    reasons = []
    for need in check.needs:
        value = getattr(facts, need)
        if isinstance(value, Unavailable):
            reasons.append(value.reason)
    return tuple(dict.fromkeys(reasons))


def _judged(check: Check, found: Found) -> Judged:
    outcome, reason = Outcome.PASS, ""
    if found.faults:
        outcome, reason = Outcome.FAIL, shortened(found.faults)
    elif found.open:
        outcome, reason = Outcome.BLOCKED, shortened(found.open)
    return Judged(check.id, check.title, outcome, found.evidence, reason, found.faults)
