"""Whatever is broken, the check that is about it turns red, and no other."""

from __future__ import annotations

import os
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
from breaks import BREAKS, Break
from breakspage import page
from controls import CONTROLS
from gatesystems import Kept, build
from more_breaks import MORE

from tiers import sampled
from twice.cli.code_facts import read_code
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.report import GateReport, GateResult
from twice.specification.gate.runner import run_gate

ONE_PROCESSOR = len(os.sched_getaffinity(0)) == 1
TODAY = date(2026, 1, 1)
EDITED = {"5-state-that-a-restore-forgets"}
"""Of the breaks that edit the code, so that everything is recorded anew, the one outside the heavy tier."""
SLOW = {
    "11-nobody-says-what-depends-on-the-schedule",
    "10-a-vector-of-another-configuration",
    "11-a-schedule-in-no-form",
    "11-mostly-deterministic",
    "12-more-threads-than-a-library-can-have",
    "16-a-database-that-is-not-there",
    "16-a-law-that-only-a-comment-names",
    "16-a-law-that-only-a-docstring-names",
    "16-settings-that-leave-tests-out",
    "5-a-cadence-that-is-none",
}
"""Something is recorded or run anew, or 64 threads wait for each other on two processors."""
SAMPLE = EDITED | (
    {str(each) for each in (*BREAKS, *MORE) if not each.edits and not each.in_place} - SLOW
)
SAMPLE_OF_CONTROLS = {
    str(each)
    for each in CONTROLS.values()
    if not each.edits and not each.in_place and each.check in {1, 2, 4, 8, 9, 13, 15, 17}
}
"""Those for which nothing is executed that was not executed for a break."""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    return Kept(tmp_path_factory.mktemp("kept"))


def broken(kept: Kept, each: Break, place: Path) -> GateReport:
    if each.in_place:
        system = build(place, each.tier, each.edits)
    else:
        system = kept.system(each.tier, each.edits, place)
    each.sheets(system.heads)
    system.rewritten()
    each.files(system.project)
    return run_gate(system.project, read_code, TODAY, gathers=kept.gather)


@pytest.mark.integration
@pytest.mark.parametrize("tier", sampled("SML", "M"))
def test_nothing_is_red_where_nothing_is_broken(kept: Kept, tmp_path: Path, tier: str) -> None:
    system = kept.system(tier, (), tmp_path / "herd")

    report = run_gate(system.project, read_code, TODAY, gathers=kept.gather)

    assert [each.reason for each in report.checks if each.outcome is CheckOutcome.FAIL] == []
    assert report.result is (GateResult.BLOCKED if tier == "L" else GateResult.PASS)
    blocked = {each.id for each in report.checks if each.outcome is CheckOutcome.BLOCKED}
    # There is no GPU here; with one processor no other number of threads can be tried.
    assert blocked == ({13, *([12] if ONE_PROCESSOR else [])} if tier == "L" else set())


@pytest.mark.integration
@pytest.mark.parametrize("each", sampled([*BREAKS, *MORE], SAMPLE))
def test_the_check_that_it_is_about_turns_red(kept: Kept, tmp_path: Path, each: Break) -> None:
    report = broken(kept, each, tmp_path / "herd")

    red = {one.id: one.reason for one in report.checks if one.outcome is CheckOutcome.FAIL}
    assert red.keys() == {each.check, *each.also}, red
    assert report.result is GateResult.FAIL
    assert all(red.values())


@pytest.mark.integration
@pytest.mark.parametrize("each", sampled(CONTROLS.values(), SAMPLE_OF_CONTROLS))
def test_its_nearest_innocent_variant_turns_nothing_red(
    kept: Kept, tmp_path: Path, each: Break
) -> None:
    report = broken(kept, each, tmp_path / "herd")

    green = {CheckOutcome.PASS, CheckOutcome.NA}
    told = {one.id: (one.outcome, one.reason) for one in report.checks if one.outcome not in green}
    # What cannot be told here of a system in which nothing is broken.
    untold = {13, *([12] if ONE_PROCESSOR else [])} if each.tier == "L" else set()
    blocked = {number for number, one in told.items() if one[0] is CheckOutcome.BLOCKED}
    assert (told.keys(), blocked) == (untold, untold), told


def test_every_break_turns_its_check_red_alone_and_has_a_control_of_the_same_check() -> None:
    every = [*BREAKS, *MORE]
    shared = [each for each in every if each.also]

    assert Counter(each.check for each in BREAKS) == dict.fromkeys(range(1, 18), 3)
    assert len({str(each) for each in every}) == len(every)
    assert sum(not each.also for each in every) >= 95
    assert {each.name: each.check for each in every} == {
        name: each.check for name, each in CONTROLS.items()
    }
    assert len(shared) <= 2
    assert {str(each) for each in CONTROLS.values()}.isdisjoint(map(str, every))


def test_the_page_of_breaks_is_what_the_tables_say() -> None:
    kept = Path(__file__).parents[3] / "docs" / "internals" / "breaks.md"

    assert kept.read_text("utf-8") == "\n".join(page()) + "\n", "run: breakspage.py"
