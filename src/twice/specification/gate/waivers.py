"""Waivers: a check may fail for now, for a reason that somebody answers for.

A waiver stands in the head of the sheet that the check judges. It holds for the sheet as it was when it was
given, until a day. What cannot be waived: that sheets are there and their versions honest, and the tier.

Invariant: a waiver that does not hold changes nothing but the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from twice.specification.gate.model import Check, CheckOutcome, CheckResult, GateFacts

_SAID: Final = ("owner", "reason", "permits", "reactivate")


@dataclass(frozen=True, slots=True)
class Waiver:
    """One row of ``waivers``, in the sheet of a number, at ``file:line``."""

    number: str
    where: str
    row: Mapping[str, object]

    def text(self, name: str) -> str:
        """Return what the row says; "" for what nobody said."""
        return str(self.row.get(name, ""))

    def find_refusal(self, check: Check, facts: GateFacts, *, firm: bool) -> str:
        """Return why it does not hold; "" when it does."""
        sheet = facts.workspace.sheets[self.number]
        missing = [name for name in (*_SAID, "until") if not self.text(name)]
        if not check.is_waivable or firm:
            return f"check {check.id} cannot be waived here: what a tier asks for is there, or it is not"
        if self.number != check.sheets[0]:
            return f"it stands in sheet {self.number}, and check {check.id} judges sheet {check.sheets[0]}"
        if missing:
            return f"nobody said its {missing[0]}"
        if date.fromisoformat(self.text("until")) < facts.today:
            return f"it ended on {self.text('until')}"
        if self.text("digest") != str(sheet.digest()):
            return f"it was given for the sheet as it was; its digest is {sheet.digest()} now"
        return ""


def read_waivers(facts: GateFacts, check: int) -> list[Waiver]:
    """Return the waivers of a check, whichever sheet they stand in."""
    found = []
    for number, sheet in facts.workspace.sheets.items():
        entry = sheet.head.entries.get("waivers")
        for at, row in enumerate(sheet.rows("waivers")):
            if row.get("check") == check:
                assert entry is not None, "rows come from an entry"
                line = min(entry.rows[at].values())
                found.append(Waiver(number, f"{sheet.path}:{line}", row))
    return found


def apply_waivers(
    result: CheckResult, check: Check, facts: GateFacts, *, firm: bool
) -> CheckResult:
    """Apply the waivers of a check to what it came to."""
    waivers = read_waivers(facts, check.id)
    if result.outcome is not CheckOutcome.FAIL:
        needless = tuple(f"{each.where}: the waiver is not needed" for each in waivers)
        return replace(result, evidence=result.evidence + needless)
    refused = []
    for each in waivers:
        why = each.find_refusal(check, facts, firm=firm)
        if not why:
            owner, *rest = map(each.text, _SAID)
            words = f"waived by {owner} until {each.text('until')}: {'; '.join(rest)}"
            reason = f"{words} ({result.reason})"
            return replace(result, outcome=CheckOutcome.WAIVED, reason=reason)
        refused.append(f"{each.where}: the waiver does not hold: {why}")
    return replace(result, reason="; ".join([result.reason, *refused]))


def list_ended(checks: Sequence[CheckResult], facts: GateFacts) -> tuple[str, ...]:
    """Return the waived checks whose waivers are all over by the day of the facts."""
    told = []
    for each in checks:
        if each.outcome is CheckOutcome.WAIVED:
            ends = [one.text("until") for one in read_waivers(facts, each.id)]
            last = max(ends, default="")
            if last and date.fromisoformat(last) < facts.today:
                told.append(f"the waiver of check {each.id}, which ended on {last}")
    return tuple(told)
