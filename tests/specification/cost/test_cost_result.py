"""Figures, budgets and texts on figures that were made up; rules as data; what the specification keeps."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path

import pytest
from costedprograms import SWARM, declared, made_cost, run_of, written
from hypothesis import given
from hypothesis import strategies as st
from sheets_written import write

from twice.errors import OutputUnwritable, UsageError
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import THREAD_CAPS, for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.setup import Setup
from twice.specification.cost.measurement import (
    BARE,
    EVERYTHING,
    choose_rounds,
    measure_cost,
    plan_variants,
    turn_order,
)
from twice.specification.cost.result import (
    EVIDENCE,
    Spread,
    compute_overhead,
    judge,
    write_evidence,
)
from twice.specification.cost.rules import NOT_SWITCHED, RULES, CostRule, RunVariant, choose_rules
from twice.specification.errors import WorkspaceRefused
from twice.specification.fill import fill_sheets, propose_costs
from twice.specification.location import FOLDER
from twice.specification.schema import SHEETS
from twice.specification.workspace import open_workspace

BY_NAME = {rule.name: rule for rule in RULES}
FIGURES = [
    (BY_NAME["snapshots"], Spread(20, 18, 22)),
    (BY_NAME["hash seed"], Spread(30, -5, 60)),
    (BY_NAME["compare-points"], Spread(25, 20, 28)),
]
SWITCHED = [rule for rule in RULES if not rule.whole]
NAMES = [rule.name for rule in SWITCHED]


@pytest.mark.parametrize(
    ("budget", "spread", "result", "code"),
    [
        (None, Spread(900, 800, 1000), "no-budget", 0),
        (50, Spread(40, 30, 50), "inside", 0),
        (0, Spread(-3, -5, 0), "inside", 0),
        (50, Spread(60, 51, 70), "breach", 1),
        (50, Spread(60, 50, 70), "unknown", 2),
        (50, Spread(40, 30, 51), "unknown", 2),
    ],
)
def test_a_budget_is_judged_by_the_whole_spread(
    budget: int | None, spread: Spread, result: str, code: int
) -> None:
    judged = judge(budget, spread, FIGURES)

    assert (judged.result, judged.exit_code) == (result, code)


def test_what_cannot_be_told_says_how_wide_the_spread_is() -> None:
    judged = judge(50, Spread(45, 30, 70), FIGURES)

    assert "spread of 40 points is too wide for a difference of 5" in judged.why


def test_a_breach_names_the_rule_that_costs_most_and_its_sheet() -> None:
    judged = judge(10, Spread(80, 70, 90), FIGURES)

    assert judged.costliest == FIGURES[2][0], "the hash seed's cost is not told from none"
    assert "compare-points costs most" in judged.why
    assert "sheet 05 answers" in judged.why
    assert judge(10, Spread(80, 70, 90), []).costliest is None


def test_a_program_that_is_too_short_is_not_judged() -> None:
    assert judge(50, Spread(1, 1, 1), FIGURES, too_short=True).result == "unknown"
    assert judge(None, Spread(1, 1, 1), FIGURES, too_short=True).result == "no-budget"


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        (Spread(-3, -9, 4), "not measurable (-9 to +4 %)"),
        (Spread(3, -9, 4), "not measurable (-9 to +4 %)"),
        (Spread(3, 0, 4), "not measurable (+0 to +4 %)"),
        (Spread(-3, -4, -2), "-3 % (-4 to -2)"),
        (Spread(-3, -9, -1), "not measurable (-9 to -1 %)"),
        (Spread(16, 10, 47), "not measurable (+10 to +47 %)"),
        (Spread(13.27, 12.9, 13.4), "+13.3 % (+12.9 to +13.4)"),
        (Spread(13.27, 11.4, 19.6), "+13 % (+11 to +20)"),
    ],
)
def test_a_percentage_is_told_as_far_as_its_spread_carries_it(spread: Spread, said: str) -> None:
    assert spread.to_percent() == said


def test_a_judgement_says_so_too() -> None:
    none = judge(None, Spread(3, -9, 4), FIGURES)
    some = judge(50, Spread(3, -9, 4), FIGURES)

    assert none.why == "what recording adds is not measurable (-9 to +4 %); no budget is declared"
    assert some.why == "what recording adds is not measurable (-9 to +4 %), with a budget of 50 %"


def test_differences_are_taken_round_by_round() -> None:
    on, off = [run_of(3, 100), run_of(6, 130)], [run_of(2, 90), run_of(4, 90)]
    found = compute_overhead(on, off, [run_of(1), run_of(2)])

    assert found["wall_s"] == Spread(1.5, 1, 2)
    assert found["wall_percent"] == Spread(100, 100, 100), "each round by its own bare run"
    assert found["bytes"] == Spread(25, 10, 40)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=9), st.integers(0, 10_000))
def test_a_budget_is_judged_in_one_way(seconds: list[float], budget: int) -> None:
    bare = [run_of(1.0) for _ in seconds]
    percent = compute_overhead([run_of(each) for each in seconds], bare, bare)["wall_percent"]

    inside, beyond = percent.highest <= budget, percent.lowest > budget
    expected = "inside" if inside else "breach" if beyond else "unknown"
    assert judge(budget, percent, []).result == expected
    assert percent.lowest <= percent.median <= percent.highest


def test_a_bare_run_that_takes_no_time_has_finite_percentages() -> None:
    found = compute_overhead([run_of(1.0)] * 2, [run_of(0.0)] * 2, [run_of(0.0)] * 2)

    assert math.isfinite(found["wall_percent"].median)


def test_the_document_is_the_same_bytes_and_says_what_the_gate_reads() -> None:
    document = made_cost().to_json()

    assert json.dumps(document) == json.dumps(made_cost().to_json())
    assert document["total_percent"] == 100.0
    (row,) = document["rules"]
    assert row["rule"] == "snapshots"
    assert row["performance"] == "+50.0 % (+50.0 to +50.0) wall, +50.0 % (+50.0 to +50.0) CPU"
    assert row["storage"] == "+1,000 bytes"


def test_the_first_line_answers() -> None:
    first = made_cost(budget_percent=10).to_text().splitlines()[0]

    assert first.startswith("BREACH: recording adds +100.0 % (+100.0 to +100.0), with a budget of")
    assert "snapshots costs most" in first
    assert made_cost(budget_percent=200).to_text().startswith("INSIDE: ")
    assert made_cost().to_text().startswith("MEASURED: ")


def test_every_rule_has_a_sheet_that_answers_and_a_name_of_its_own() -> None:
    every = [*RULES, *NOT_SWITCHED]

    assert len({each.name for each in every}) == len(every)
    assert {each.artifact for each in every} <= set(SHEETS)
    assert {"02", "03", "04", "05", "08", "10", "11"} <= {each.artifact for each in every}


@pytest.mark.parametrize("rule", SWITCHED, ids=NAMES)
def test_a_switch_turns_off_its_rule_and_no_other(rule: CostRule) -> None:
    variant = declared(SWARM)
    off = rule.switch_off(variant)
    changed = {*variant.surroundings.variables} - {*off.surroundings.variables}

    assert off.off == (rule.name,)
    assert off != variant
    for other in SWITCHED:
        if other is not rule:
            lost = {*variant.surroundings.variables} - {
                *other.switch_off(variant).surroundings.variables
            }
            assert not lost & changed
            assert not {*(rule.policies or {})} & {*(other.policies or {})}


def test_the_bare_run_pins_and_keeps_nothing() -> None:
    bare = plan_variants(declared(SWARM), RULES)[0][BARE]

    assert {"record written", "output captured"} <= set(bare.off)
    assert bare.in_force.missing() == ["generators", "reads", "watch", "points"]
    assert str(bare.setup.cadence) == "none"
    assert not {*THREAD_CAPS, "PYTHONHASHSEED", "TZ", "LC_ALL"} & set(bare.surroundings.variables)


def test_every_rule_that_is_in_force_is_switched_off_once(tmp_path: Path) -> None:
    variants, idle = plan_variants(declared(SWARM, files="none"), RULES)
    script = parse_program(str(written(tmp_path, "print('here')")))
    whole, _ = plan_variants(RunVariant(Setup(script, Seed(1)), for_recording({})), RULES)

    assert list(variants) == [EVERYTHING, BARE, *(name for name in NAMES if name != "files")]
    assert "not in force in this run" in idle["files"]
    assert "whole programs" in idle["library steps"]
    assert "library steps" in whole


def test_a_program_of_one_second_is_measured_within_a_minute() -> None:
    a_run_s = 1.9  # with the start of its process
    runs = len(plan_variants(declared(SWARM), RULES)[0])
    rounds = choose_rounds(runs * a_run_s)

    assert rounds >= 2
    assert (1 + rounds * runs) * a_run_s <= 60
    assert choose_rounds(0.1) == 5
    assert choose_rounds(1000) == 2


@pytest.mark.parametrize(("count", "rounds"), [(1, 2), (2, 2), (3, 2), (7, 5), (35, 5), (4, 9)])
def test_every_round_makes_every_run_once_and_begins_further_on(count: int, rounds: int) -> None:
    names = [str(at) for at in range(count)]
    found = [turn_order(names, number, rounds) for number in range(rounds)]

    assert all(sorted(order) == sorted(names) for order in found)
    if count >= rounds:
        assert len({order[0] for order in found}) == rounds, "each begins elsewhere"


def test_one_round_has_no_spread() -> None:
    with pytest.raises(UsageError, match="--rounds is 1"):
        measure_cost(declared(SWARM), rounds=1)


def test_a_rule_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no rule 'luck'"):
        choose_rules(["luck"])


def test_figures_are_kept_in_one_file_and_sheet_13_is_filled_with_what_refers_to_it(
    tmp_path: Path,
) -> None:
    write(tmp_path, {"13": {"rules": "?", "measured": "?"}})
    before = open_workspace(tmp_path)
    assert list(propose_costs(before)) == []

    write_evidence(tmp_path, made_cost("hash seed", "snapshots"))
    document = json.loads((tmp_path / FOLDER / EVIDENCE).read_bytes())
    sheet = fill_sheets(before, propose_costs(before)).workspace.require("13", "it was filled")

    assert open_workspace(tmp_path).sheets == before.sheets
    assert document == made_cost("hash seed", "snapshots").to_json()
    assert sheet.text("measured") == f"{FOLDER}/{EVIDENCE}"
    assert [row["rule"] for row in sheet.rows("rules")] == ["snapshots", "hash seed"]
    assert not [row for row in sheet.rows("rules") if "library" in row], "that is for people"


@pytest.mark.parametrize("text", ["{", "[]", '{"rules": [3]}', "\x00"])
def test_a_file_of_another_form_fills_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"13": {}})
    (tmp_path / FOLDER / EVIDENCE).parent.mkdir()
    (tmp_path / FOLDER / EVIDENCE).write_text(text, encoding="utf-8")

    assert list(propose_costs(open_workspace(tmp_path))) == []


def test_without_sheet_13_nothing_is_written(tmp_path: Path) -> None:
    write(tmp_path, {"00": {}})

    with pytest.raises(WorkspaceRefused, match="no sheet 13"):
        write_evidence(tmp_path, made_cost())
    assert not (tmp_path / FOLDER / EVIDENCE).exists()


def test_evidence_that_cannot_be_written_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"13": {}})
    evidence = tmp_path / FOLDER / EVIDENCE
    evidence.parent.mkdir()
    evidence.write_bytes(b"older evidence\n")

    def find_disk_full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", find_disk_full)
    with pytest.raises(OutputUnwritable):
        write_evidence(tmp_path, made_cost())
    assert evidence.read_bytes() == b"older evidence\n"
    assert list(evidence.parent.iterdir()) == [evidence]
