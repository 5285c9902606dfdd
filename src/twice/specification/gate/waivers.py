"""Waivers: a check may fail for now, for a reason that somebody answers for.

A waiver stands in the head of the sheet that the check judges. It holds for the sheet as it was when it was
given, until a day. What cannot be waived: that sheets are there and their versions honest, and the tier.

Invariant: a waiver that does not hold changes nothing but the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Final, NamedTuple

from twice.specification.gate.model import Check, CheckOutcome, CheckResult, GateFacts
from twice.specification.sheet import Sheet
from twice.specification.workspace import Workspace

_SAID: Final = ("owner", "reason", "permits", "reactivate")


class Waiver(NamedTuple):
    """One row of ``waivers``, in a sheet, at ``file:line``; texts are "" for a missing one."""

    sheet: Sheet
    where: str
    texts: dict[str, str]

    def find_refusal(self, check: Check, today: date, *, firm: bool) -> str:
        """Return why it does not apply; "" when it does."""
        missing = [name for name in (*_SAID, "until") if not self.texts[name]]
        if not check.is_waivable or firm:
            return f"check {check.id} cannot be waived: the tier requires it"
        if self.sheet.number != check.sheets[0]:
            return f"it is in sheet {self.sheet.number}, and check {check.id} reads waivers of sheet {check.sheets[0]}"
        if missing:
            return f"it has no {missing[0]}"
        if date.fromisoformat(self.texts["until"]) < today:
            return f"it ended on {self.texts['until']}"
        if self.texts["digest"] != str(self.sheet.digest()):
            return f"the sheet has changed since; its digest is now {self.sheet.digest()}"
        return ""


def read_waivers(workspace: Workspace, check: int) -> list[Waiver]:
    """Return the waivers of a check, from every sheet."""
    found = []
    for sheet in workspace.sheets.values():
        for at, row in enumerate(sheet.rows("waivers")):
            if row.get("check") == check:
                line = min(sheet.head.entries["waivers"].rows[at].values())
                texts = {name: str(row.get(name, "")) for name in (*_SAID, "until", "digest")}
                found.append(Waiver(sheet, f"{sheet.path}:{line}", texts))
    return found


def apply_waivers(
    result: CheckResult, check: Check, facts: GateFacts, *, firm: bool
) -> CheckResult:
    """Apply the waivers of a check to its result."""
    waivers = read_waivers(facts.workspace, check.id)
    if result.outcome is not CheckOutcome.FAIL:
        needless = tuple(f"{each.where}: the waiver is not needed" for each in waivers)
        return replace(result, evidence=result.evidence + needless)
    refused = []
    for each in waivers:
        why = each.find_refusal(check, facts.today, firm=firm)
        if not why:
            owner, *rest = (each.texts[name] for name in _SAID)
            words = f"waived by {owner} until {each.texts['until']}: {'; '.join(rest)}"
            reason = f"{words} ({result.reason})"
            return replace(result, outcome=CheckOutcome.WAIVED, reason=reason)
        refused.append(f"{each.where}: the waiver does not apply: {why}")
    return replace(result, reason="; ".join([result.reason, *refused]))


def list_ended(checks: Sequence[CheckResult], workspace: Workspace, today: date) -> tuple[str, ...]:
    """Return the waived checks whose waivers are all over by a day."""
    told = []
    for each in checks:
        if each.outcome is CheckOutcome.WAIVED:
            last = max((one.texts["until"] for one in read_waivers(workspace, each.id)), default="")
            if last and date.fromisoformat(last) < today:
                told.append(f"the waiver of check {each.id}, which ended on {last}")
    return tuple(told)
