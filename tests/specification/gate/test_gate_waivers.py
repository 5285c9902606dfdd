"""A waiver holds for one check, one state of one sheet, and until a day."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from gatefacts import facts, good_heads
from gatesystems import Heads, laid

from twice.specification.errors import SheetRefused
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.model import CheckOutcome, CheckResult
from twice.specification.gate.runner import judge
from twice.specification.workspace import open_workspace

BY_NUMBER = {each.id: each for each in CHECKS}
WAIVER = {
    "check": 17,
    "owner": "herd team",
    "reason": "the budget is argued about",
    "permits": "a slower run",
    "reactivate": "when the release is out",
    "until": "2026-06-30",
}


def waived(project: Path, sheet: str = "13", digest: str = "", **other: Any) -> Heads:
    """Break a budget, and return heads with a waiver for it."""
    heads = good_heads("M")
    heads["13"]["budget_percent"] = 5
    laid(project, heads)
    now = str(open_workspace(project).sheets[sheet].digest())
    heads[sheet]["waivers"] = [{**WAIVER, "digest": digest or now, **other}]
    return heads


def judged(project: Path, heads: Heads, number: int = 17, **other: Any) -> CheckResult:
    return judge(BY_NUMBER[number], facts(project, heads=heads, **other))


def test_a_waiver_turns_a_failure_into_waived(tmp_path: Path) -> None:
    found = judged(tmp_path, waived(tmp_path))

    assert found.outcome is CheckOutcome.WAIVED
    assert "waived by herd team until 2026-06-30: the budget is argued about" in found.reason
    assert "a slower run; when the release is out" in found.reason
    assert found.faults


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"until": "2025-12-31"}, "it ended on 2025-12-31"),
        ({"digest": f"blake3:{'0' * 64}"}, "its digest is"),
        ({"owner": "?"}, "it has no owner"),
        ({"permits": "?"}, "it has no permits"),
        ({"reactivate": "?"}, "it has no reactivate"),
        ({"until": "?"}, "it has no until"),
    ],
)
def test_a_waiver_that_does_not_hold_changes_nothing(
    tmp_path: Path, values: dict[str, Any], words: str
) -> None:
    found = judged(tmp_path, waived(tmp_path, **values))

    assert found.outcome is CheckOutcome.FAIL
    assert words in found.reason
    assert "13-cost-of-determinism.md:" in found.reason


def test_a_waiver_in_another_sheet_does_not_hold(tmp_path: Path) -> None:
    found = judged(tmp_path, waived(tmp_path, sheet="05"))

    assert found.outcome is CheckOutcome.FAIL
    assert "it is in sheet 05, and check 17 reads waivers of sheet 13" in found.reason


def test_the_last_day_counts(tmp_path: Path) -> None:
    assert (
        judged(tmp_path, waived(tmp_path), today=date(2026, 6, 30)).outcome is CheckOutcome.WAIVED
    )
    assert judged(tmp_path, waived(tmp_path), today=date(2026, 7, 1)).outcome is CheckOutcome.FAIL


@pytest.mark.parametrize(("number", "sheet"), [(1, "00"), (9, "99")])
def test_sheets_and_versions_cannot_be_waived(tmp_path: Path, number: int, sheet: str) -> None:
    heads = good_heads("M")
    heads["05"]["owner"] = "?"
    heads["99"]["rule"] = "?"
    laid(tmp_path, heads)
    now = str(open_workspace(tmp_path).sheets[sheet].digest())
    heads[sheet]["waivers"] = [{**WAIVER, "check": number, "digest": now}]

    found = judged(tmp_path, heads, number)

    assert found.outcome is CheckOutcome.FAIL
    assert f"check {number} cannot be waived" in found.reason


def test_the_tier_cannot_be_waived(tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["01"]["closed_world"] = False
    laid(tmp_path, heads)
    now = str(open_workspace(tmp_path).sheets["10"].digest())
    heads["10"]["waivers"] = [{**WAIVER, "check": 14, "digest": now}]

    found = judged(tmp_path, heads, 14)

    assert found.outcome is CheckOutcome.FAIL
    assert "check 14 cannot be waived" in found.reason


def test_a_waiver_that_is_not_needed_is_said_to_be_so(tmp_path: Path) -> None:
    heads = waived(tmp_path)
    heads["13"]["budget_percent"] = 50

    found = judged(tmp_path, heads)

    assert found.outcome is CheckOutcome.PASS
    assert "the waiver is not needed" in found.evidence[-1]


def test_a_waiver_without_owner_is_refused_with_its_line(tmp_path: Path) -> None:
    heads = waived(tmp_path)
    del heads["13"]["waivers"][0]["owner"]
    laid(tmp_path, heads)

    with pytest.raises(
        SheetRefused, match=r"13-cost-of-determinism\.md:\d+: item 1 of waivers has no 'owner'"
    ):
        open_workspace(tmp_path)
