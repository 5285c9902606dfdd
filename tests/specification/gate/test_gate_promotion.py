"""Traits force the tier that asks for their sheet, and what runs and code show of them is never passed over."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gatefacts import facts, good_evidence, good_heads, with_ending
from gatesystems import Heads

from twice.specification.gate.checks import CHECKS
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.runner import judge
from twice.specification.tiers import Trait

BY_NUMBER = {each.id: each for each in CHECKS}
NO_GPU = {"told": True, "reached": [], "driver": "", "cards": [], "switches": {}}


def with_concurrency(tier: str) -> Heads:
    heads = good_heads(tier)
    for each in heads["00"]["traits"]:
        each["here"] = each["here"] or each["name"] == "concurrency"
    return heads


@pytest.mark.parametrize("tier", ["S", "M", "L"])
def test_what_runs_at_once_forces_the_tier_that_asks_for_its_strategy(
    tmp_path: Path, tier: str
) -> None:
    heads = with_concurrency(tier)
    if tier == "M":
        heads["07"] = good_heads("L")["07"]

    judged = judge(BY_NUMBER[1], facts(tmp_path, tier, heads=heads))

    assert (judged.outcome is CheckOutcome.FAIL) is (tier == "S")
    assert ("a strategy, in sheet 07, which tier M promises; declared is S" in judged.reason) is (
        tier == "S"
    )


def test_below_its_tier_the_sheet_itself_answers_for_what_runs_at_once(tmp_path: Path) -> None:
    heads = with_concurrency("S")
    heads["07"] = good_heads("L")["07"]
    trial = with_ending(good_evidence(heads)["trial"], lineages={"main/task/task": 2})

    known = facts(tmp_path, "S", heads=heads, trial=trial)

    assert [judge(BY_NUMBER[number], known).outcome for number in (1, 11)] == [
        CheckOutcome.PASS,
        CheckOutcome.PASS,
    ]


@pytest.mark.parametrize(
    ("name", "number"), [("concurrency", 11), ("gpu", 13), ("external-effects", 14)]
)
@pytest.mark.parametrize("denied", [True, False])
def test_code_speaks_against_a_trait_that_is_denied_though_no_run_shows_it(
    tmp_path: Path, name: str, number: int, denied: bool
) -> None:
    heads = good_heads("L")
    for row in heads["00"]["traits"]:
        row["here"] = row["here"] and not (denied and row["name"] == name)
    good = good_evidence(good_heads("L"))
    if denied:
        heads = {key: each for key, each in heads.items() if key not in {"07", "09", "10"}}
        quiet = {"lineages": {"main/task": 1}, "asked": {}, "gpu": NO_GPU}
        good["trial"] = with_ending(good["trial"], **quiet)
    shown = replace(good["code"], present={Trait(name): "src/herd.py:9: a call"})

    judged = judge(
        BY_NUMBER[number], facts(tmp_path, "L", heads=heads, trial=good["trial"], code=shown)
    )

    assert (judged.outcome is CheckOutcome.FAIL) is denied
    told = f"by sheet 00 the system has no {name}, and the code has: src/herd.py:9: a call"
    assert (told in judged.reason) is denied


@pytest.mark.parametrize(("asked", "is_red"), [("network.connect", True), ("clock.time", False)])
def test_what_other_machines_answer_is_listed_at_every_tier(
    tmp_path: Path, asked: str, is_red: bool
) -> None:
    heads = good_heads("M")
    del heads["10"]
    trial = with_ending(good_evidence(heads)["trial"], asked={asked: 1})

    judged = judge(BY_NUMBER[14], facts(tmp_path, heads=heads, trial=trial))

    assert judged.outcome is (CheckOutcome.FAIL if is_red else CheckOutcome.PASS)
    assert ("the trial asked network.connect, and there is no sheet 10" in judged.reason) is is_red
