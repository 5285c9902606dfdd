"""Waivers: a check may fail for now, for a reason that somebody answers for.

A waiver stands in the head of the sheet that the check judges. It holds for the sheet as it was when it was
given, until a day. What cannot be waived: that sheets are there and their versions honest, and the tier.

Invariant: a waiver that does not hold changes nothing but the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from twice.specifying.gate.model import Check, CheckOutcome, CheckResult, GateFacts


@dataclass(frozen=True, slots=True)
class Waiver:
    """One row of ``waivers``.

    Args:
        check: the check's number.
        sheet: the sheet that it stands in.
        where: ``file:line``.
        digest: of the sheet, as it was when the waiver was given.
        until: the last day on which it holds; "" when nobody said.
        said: owner, reason, what it permits and when it is looked at again.
    """

    check: int
    sheet: str
    where: str
    digest: str
    until: str
    said: tuple[tuple[str, str], ...]

    @property
    def words(self) -> str:
        """Say who waived what, and until when."""
        owner, *rest = (value for _, value in self.said)
        return f"waived by {owner} until {self.until}: {'; '.join(rest)}"

    def find_refusal(self, check: Check, facts: GateFacts, *, firm: bool) -> str:
        """Return why it does not hold; "" when it does."""
        sheet = facts.spec.sheet(self.sheet)
        assert sheet is not None, "a waiver was read from a sheet"
        missing = [name for name, value in self.said if not value]
        if not check.is_waivable or firm:
            return f"check {check.id} cannot be waived here: what a tier asks for is there, or it is not"
        if self.sheet != check.sheets[0]:
            return f"it stands in sheet {self.sheet}, and check {check.id} judges sheet {check.sheets[0]}"
        if missing or not self.until:
            return f"nobody said its {(missing or ['until'])[0]}"
        if date.fromisoformat(self.until) < facts.today:
            return f"it ended on {self.until}"
        if self.digest != str(sheet.digest()):
            return f"it was given for the sheet as it was; its digest is {sheet.digest()} now"
        return ""


def read_waivers(facts: GateFacts, check: int) -> list[Waiver]:
    """Return the waivers of a check, whichever sheet they stand in."""
    found = []
    for number, sheet in facts.workspace.artifacts.items():
        entry = sheet.head.entries.get("waivers")
        for at, row in enumerate(sheet.rows("waivers")):
            if row.get("check") == check:
                assert entry is not None, "rows come from an entry"
                line = min(entry.rows[at].values())
                said = tuple(
                    (name, str(row.get(name, "")))
                    for name in ("owner", "reason", "permits", "reactivate")
                )
                until, digest = str(row.get("until", "")), str(row.get("digest", ""))
                found.append(Waiver(check, number, f"{sheet.path}:{line}", digest, until, said))
    return found


def apply_waivers(
    judged: CheckResult, check: Check, facts: GateFacts, *, firm: bool
) -> CheckResult:
    """Apply the waivers of a check to what it came to."""
    waivers = read_waivers(facts, check.id)
    if judged.outcome is not CheckOutcome.FAIL:
        needless = tuple(f"{each.where}: the waiver is not needed" for each in waivers)
        return replace(judged, evidence=judged.evidence + needless)
    refused = []
    for each in waivers:
        why = each.find_refusal(check, facts, firm=firm)
        if not why:
            return replace(
                judged, outcome=CheckOutcome.WAIVED, reason=f"{each.words} ({judged.reason})"
            )
        refused.append(f"{each.where}: the waiver does not hold: {why}")
    return replace(judged, reason="; ".join([judged.reason, *refused]))


def list_ended(checks: Sequence[CheckResult], facts: GateFacts) -> tuple[str, ...]:
    """Return the waived checks whose waivers are all over by the day of the facts."""
    told = []
    for each in checks:
        if each.outcome is CheckOutcome.WAIVED:
            ends = [one.until for one in read_waivers(facts, each.id) if one.until]
            if ends and date.fromisoformat(max(ends)) < facts.today:
                told.append(f"the waiver of check {each.id}, which ended on {max(ends)}")
    return tuple(told)
