"""Check 8: what other documents settle is referred to, and what the checker reports has a sheet."""

from __future__ import annotations

from typing import Final

from twice.specifying.gate.check import Check, gaps, outside, place, within
from twice.specifying.gate.facts import Facts, Unavailable, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Trait


def _said(facts: Facts) -> Found:
    """Judge the hand-over to an audit log's encoding."""
    if facts.situation.traits.get(Trait.AUDIT_LOG) is False:
        return Found(
            evidence=("there is no audit log that the snapshots would share an encoding with",)
        )
    sheet = facts.sheet("04")
    if sheet is None:
        return gaps(facts, "04")
    where = place(facts, "04", "audit_encoding")
    if not sheet.said("audit_encoding"):
        return Found((f"{where}: nobody said where the audit log's encoding is specified",))
    handoff = facts.handoff
    if isinstance(handoff, Unavailable):
        return Found(open=(handoff.reason,))
    if handoff.there is False:
        return Found((f"{where}: {sheet.said('audit_encoding')} is not there",))
    if handoff.copied:
        line = handoff.copied[0]
        return Found(
            (f"{sheet.path}: {len(handoff.copied)} lines are copied from there: {line!r}",)
        )
    return Found(
        evidence=(f"04 refers to {sheet.said('audit_encoding')} and copies nothing of it",)
    )


def _shown(facts: Facts) -> Found:
    code, whole, scope = there(facts.code), facts.sheet("99"), facts.sheet("00")
    covered: dict[str, str] = {}
    for row in whole.rows("findings") if whole else []:
        for rule in _rules(row.get("rules")):
            covered[rule] = str(row.get("sheet"))
    sources = scope.listed("sources") if scope else []
    reported = [each for each in code.reported if within(each.place.path, sources)]
    faults = [
        f"{each.place} is reported by {each.rule}, which 99 puts under no sheet (it belongs to {each.sheet})"
        for each in reported
        if each.rule not in covered
    ]
    if not isinstance(facts.trial, Unavailable):
        faults += outside(facts, "00", "sources", facts.trial.files)
    faults += [f"{each}: not read, so nobody knows what is in it" for each in code.unread]
    return Found(tuple(faults), (_told(sources, [each.rule for each in reported], len(covered)),))


def _told(sources: list[str], rules: list[str], covered: int) -> str:
    where = ", ".join(sources)
    if not rules:
        return f"twice check reports nothing in {where}"
    return (
        f"twice check reports {len(rules)} findings in {where}, of {len(set(rules))} rules; "
        f"99 puts {covered} rules under sheets"
    )


def _rules(said: object) -> list[str]:
    if isinstance(said, list):
        return [str(each) for each in said]
    return [each.strip() for each in str(said).split(",")]


CHECK: Final = Check(
    8,
    "Hand-over",
    "Are other documents referred to instead of copied, and has each finding of twice check a sheet?",
    ("04", "99"),
    ("code",),
    _said,
    _shown,
    wants=("handoff", "trial"),
)
