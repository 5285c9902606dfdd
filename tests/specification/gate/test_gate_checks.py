"""Each check, on facts that turn it green and on facts that turn it red."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from breaks import BREAKS, Break, nothing, untouched
from gatefacts import (
    BLOCKED,
    BY_NUMBER,
    FAIL,
    HERE,
    NA,
    PASS,
    RAINED,
    Change,
    changed,
    ended,
    facts,
    failed,
    given,
    good_evidence,
    good_heads,
    judged,
    outcomes,
    planted,
    replayed,
    reports,
    varied,
    with_ending,
)
from more_breaks import MORE

from twice.diagnosis.log_comparison import PointRef
from twice.foundation.environment import BlasFacts
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.evidence.context import ReportedFinding
from twice.specification.gate.evidence.trials import OperationTrial
from twice.specification.gate.plan import list_varied
from twice.specification.gate.runner import judge
from twice.specification.lock import Lock
from twice.specification.scaffold.lock import DriftStatus
from twice.specification.workspace import open_workspace

UNRECORDED = {
    "source": "network.connect", "class": "unsupported", "allowed": False, "why": "nothing records it"
}  # fmt: skip


@pytest.mark.parametrize(
    ("tier", "na", "blocked"),
    [("S", {11, 13, 16}, set()), ("M", {11, 13}, set()), ("L", set(), set())],
)
def test_good_facts_are_green(tmp_path: Path, tier: str, na: set[int], blocked: set[int]) -> None:
    found = outcomes(tmp_path, tier)

    assert {number for number, each in found.items() if each is FAIL} == set()
    assert {number for number, each in found.items() if each is NA} == na
    assert {number for number, each in found.items() if each is BLOCKED} == blocked


def test_a_reason_stands_in_place_of_a_seed_that_matters(tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["02"]["seedless"] = "whoever calls it draws"
    heads["12"]["properties"].remove("seed-matters")

    found = outcomes(tmp_path, "M", heads=heads, reseeded=None)

    assert {number for number, each in found.items() if each is FAIL} == set()


SAID = [
    each
    for each in (*BREAKS, *MORE)
    if each.sheets is not nothing
    and not (each.edits or each.files is not untouched)
    and each.name
    not in {"a database that is not there", *(one.name for one in BREAKS if one.check == 8)}
]
"""Breaks of sheets that show without anything being run."""


@pytest.mark.parametrize("each", SAID, ids=str)
def test_a_sheet_that_says_it_otherwise_turns_its_check_red(tmp_path: Path, each: Break) -> None:
    heads = good_heads(each.tier)
    each.sheets(heads)

    found = outcomes(tmp_path, each.tier, heads=heads)

    assert {number for number, one in found.items() if one is FAIL} == {each.check}


def gpu(**values: Any) -> Change:
    def change(good: dict[str, Any]) -> dict[str, Any]:
        known = good["trial"].gpu
        fields = {name: values[name] for name in ("driver", "cards") if name in values}
        switches = {**known["switches"], **{each: values[each] for each in {*values} - {*fields}}}
        found = {**known, **fields, "switches": switches}
        return {"trial": with_ending(good["trial"], gpu=found)}

    return change


def blas(name: str, threads: int) -> BlasFacts:
    return BlasFacts(
        library="blas",
        internal_api=name,
        version="3.9",
        architecture="",
        threads=threads,
        where=name,
    )


def also_loaded(one: BlasFacts) -> Change:
    return lambda good: {"policies": replace(good["policies"], blas=(*good["policies"].blas, one))}


def other_libc(good: dict[str, Any]) -> dict[str, Any]:
    here = good["policies"]
    return {"policies": replace(here, os=replace(here.os, libc="musl 3.9"))}


def recorded_elsewhere(good: dict[str, Any]) -> dict[str, Any]:
    trial = good["trial"]
    return {"trial": replace(trial, environment=replace(trial.environment, libraries={}, blas=()))}


SHOWN: list[tuple[int, str, Change, str]] = [
    (3, "M", changed("code", orphans=(HERE,)), "src/herd.py:3: random.random() has no owner"),
    (3, "M", changed("code", orphans=(replace(HERE, fault="is seeded with 42"),)), "src/herd.py:3: random.random() is seeded with 42"),
    (4, "M", changed("code", shared=(HERE,)), "one generator serves several"),
    (4, "M", ended(globals_used=["global/numpy"]), "everybody draws from numpy"),
    (3, "S", given(reseeded=False), "another seed gives the same run"),
    (4, "M", given(taken="'herd' was taken before"), "may not have"),
    (5, "M", changed("restored", failed=("herd: it differs",), missing=("herd.age",)), "herd.age"),
    (5, "M", ended(tracked_twice=[["herd", "flock"]]), "tracks one object as 'herd' and 'flock'"),
    (6, "M", given(planted=planted(result="unlocalised")), "is unlocalised"),
    (6, "M", given(planted=planted(compare_point=PointRef(4, 3, "tick"))), "at tick 3"),
    (6, "M", given(planted=planted(components=("weather",))), "placed in weather"),
    (6, "M", given(planted=planted(operation=replace(planted().divergence.operation, file="src/herd.py"))), "src/herd.py:30 was named as the operation"),
    (6, "M", given(planted=planted(operation=None)), "no operation was named"),
    (13, "L", reports("atomic-scatter"), "none is stated, and twice check reports"),
    (7, "M", lambda _: {"operations": (OperationTrial("step", worked=False, told="no"),)}, "step"),
    (8, "M", changed("code", reported=(ReportedFinding("time-seed", "02", HERE),)), "belongs to 02"),
    (8, "M", changed("code", unread=(HERE,)), "not read"),
    (9, "M", given(laid=(DriftStatus("a/seeds.py", "edited", (), holds=False),)), "a/seeds.py: what the scaffold laid down is edited: twice scaffold NAME --replace"),
    (9, "M", given(laid=(DriftStatus("a/s.py", "as-laid", ("02.names",), holds=False),)), "was made of 02.names, which changed since"),
    (10, "M", changed("vector", verification=replayed(failed("tick", 2))), "tick 2"),
    (10, "M", changed("vector", changed=("src/herd.py differs",)), "other code: src/herd.py"),
    (10, "M", changed("vector", program="other.py:main"), "other.py:main"),
    (10, "M", changed("vector", seed=8), "a run with seed 8, and 00 specifies 7"),
    (10, "M", changed("vector", config=("n=3", "ticks=4")), "n=3, ticks=4, and 00 configures n=2"),
    (10, "M", changed("vector", predicate="two runs are alike"), "another class"),
    (10, "M", changed("vector", ticks=0), "it holds no tick"),
    (11, "L", ended(lineages={"main/task/task": 2, "main/thread": 1}), "does not name"),
    (11, "L", given(**varied(task_order="differs")), "hang on no schedule"),
    (12, "L", also_loaded(blas("openblas", 4)), "BLAS has 4"),
    (12, "L", ended(threads={"libmkl.so": 2}), "BLAS has 2"),
    (12, "L", ended(probes={}), "flushed in a run"),
    (12, "L", given(**varied(threads="differs")), "another number of threads"),
    (13, "L", gpu(driver="571.0"), "the trial had 571.0"),
    (13, "L", gpu(driver="570.10"), "the trial had 570.10"),
    (13, "L", gpu(cards=("another",)), "the trial ran on another"),
    (13, "L", gpu(**{"cudnn.benchmark": "true"}), "cudnn.benchmark is stated as false"),
    (13, "L", gpu(**{"cudnn.allow_tf32": "true"}), "allow_tf32 is stated as false"),
    (12, "L", recorded_elsewhere, "the trial has none"),
    (12, "L", also_loaded(blas("mkl", 1)), "no row pins BLAS, and a run here has mkl 3.9"),
    (12, "L", other_libc, "no row pins libm, and a run here has musl 3.9"),
    (12, "L", changed("policies", probes={}), "flushed in a run"),
    (14, "M", changed("code", raw=(HERE,)), "beside the effects layer"),
    (14, "M", changed("code", mocks=(HERE,)), "a mock is for tests"),
    (14, "M", changed("sealed", inventory=[UNRECORDED]), "network.connect"),
    (14, "M", given(sealed=replayed(failed("effect", 1))), "effect of tick 1"),
    (14, "M", ended(asked={"network.connect": 1}), "no network is listed"),
    (14, "M", ended(asked={"clock.time": 4, "clock.monotonic": 1}), "asked clock.monotonic, and no row of clock names it"),
    (15, "M", changed("code", pickles=(HERE,)), "no canonical form"),
    (15, "M", changed("encoded", wrong=("[1e21]",)), "RFC 8785"),
    (15, "M", changed("encoded", versions={}), "blake3 is pinned"),
    (16, "M", changed("suite", failed=("test_laws.test_x",), exit_code=1), "test_x failed"),
    (16, "M", changed("suite", passed=0, exit_code=5, told="no tests ran"), "no tests ran"),
    (16, "M", changed("suite", exercised=("seed-isolation",)), "no test of"),
    (16, "M", changed("suite", database="git ignores tests/examples"), "git ignores"),
    (16, "M", changed("suite", left_out=("tests/a.py::test_x",)), "were left out: tests/a.py"),
    (16, "M", changed("suite", passed_over=("tests/c.jsonl:3",)), "replayed by no test: tests/c"),
    (17, "M", changed("costs", total_percent=None), "holds no total"),
    (17, "M", changed("costs", code=()), "names no code"),
    (17, "M", changed("costs", code=("src/other.py",)), "measured without src/herd.py"),
    (17, "M", changed("costs", program="other.py:main"), "is of other.py:main, and 00 specifies"),
    (17, "M", changed("costs", program=""), "is of no program"),
    (17, "M", changed("costs", result=""), "does not say what became of the budget"),
    (17, "M", changed("costs", result="breach"), "twice cost found the budget broken"),
    (17, "M", changed("costs", total_percent=60.0), "60 % slower"),
    (17, "M", changed("costs", rules={}), "it was guessed"),
    (17, "M", changed("costs", changed=("src/herd.py",)), "other code"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "tier", "change", "words"), SHOWN)
def test_evidence_turns_its_check_red_and_no_other(
    tmp_path: Path, number: int, tier: str, change: Change, words: str
) -> None:
    known = facts(tmp_path, tier, **change(good_evidence(good_heads(tier))))

    found = {each.id: judge(each, known) for each in CHECKS}

    red = {one for one, each in found.items() if each.outcome is FAIL}
    assert red == {number}
    assert words in found[number].reason


def test_below_its_tier_a_schedule_is_varied_where_the_system_has_concurrency(
    tmp_path: Path,
) -> None:
    heads = good_heads("S")
    for row in heads["00"]["traits"]:
        row["here"] = row["here"] or row["name"] == "concurrency"
    facts(tmp_path, "S", heads=heads)

    assert "task order" in list_varied(open_workspace(tmp_path))


def test_a_digest_that_is_not_cryptographic_does_below_tier_xl(tmp_path: Path) -> None:
    heads = good_heads("L")
    heads["11"]["hash"] = "xxh3_128"

    assert "can be made to collide" not in judged(tmp_path, 15, "L", heads=heads).reason


def test_a_stream_that_was_adopted_with_a_seed_of_its_own_is_red_until_it_is_accepted(
    tmp_path: Path,
) -> None:
    heads = good_heads("M")
    trial = good_evidence(heads)["trial"]
    streams = {**trial.streams, "herd": {"kind": "adopted", "draws": 4, "seed": None}}
    heads["03"]["slots"][0]["kind"] = "other"
    adopted = with_ending(trial, streams=streams)

    red = judged(tmp_path / "a", 3, heads=heads, trial=adopted)
    heads["02"]["accepted"] = [{"place": "herd", "why": "a library seeds it"}]
    green = judged(tmp_path / "b", 3, heads=heads, trial=adopted)

    assert (red.outcome, green.outcome) == (FAIL, PASS)
    assert "'herd' was adopted, and its seed is not derived from the run's" in red.reason
    assert "the run drew from weather, from its seed by rule 1" in green.evidence


def test_a_run_that_does_not_count_by_numpy_needs_no_pin_but_that_of_libm(tmp_path: Path) -> None:
    heads = good_heads("L")
    evidence = good_evidence(heads)
    kinds = evidence["policies"].arithmetic
    pins = heads["08"]["pins"]
    heads["08"]["pins"] = [row for row in pins if kinds[row["library"]] == "libm"]
    plain = {"trial": replace(evidence["trial"], numpy=False)}

    assert judged(tmp_path, 12, "L", heads=heads, **plain).outcome is PASS
    assert "no row pins NumPy" in judged(tmp_path, 12, "L", heads=heads).reason

    heads["08"]["pins"] = [row for row in pins if kinds[row["library"]] != "libm"]

    assert "no row pins libm" in judged(tmp_path, 12, "L", heads=heads, **plain).reason


def test_a_stream_that_no_sheet_names_is_red_in_both_sheets_that_should(tmp_path: Path) -> None:
    trial = good_evidence(good_heads("M"))["trial"]
    streams = {**trial.streams, "night": {"kind": "numpy", "draws": 3, "seed": "0x4"}}

    found = outcomes(tmp_path, trial=with_ending(trial, streams=streams))

    assert {one for one, each in found.items() if each is FAIL} == {3, 4}


@pytest.mark.parametrize("number", range(1, 18))
def test_each_check_has_a_fixture_that_turns_it_red(number: int) -> None:
    assert any(each.check == number for each in BREAKS)


@pytest.mark.parametrize("number", [each.id for each in CHECKS if each.needs])
def test_a_check_without_its_evidence_is_blocked(tmp_path: Path, number: int) -> None:
    tier = "L" if number in {11, 12, 13} else "M"
    missing = dict.fromkeys(BY_NUMBER[number].needs, RAINED)

    found = judged(tmp_path, number, tier, **missing)

    assert (found.outcome, found.reason) == (BLOCKED, "it rained")


@pytest.mark.parametrize("number", [11, 12, 13, 14, 15])
def test_an_absence_without_a_reason_is_never_na(tmp_path: Path, number: int) -> None:
    heads = good_heads("S")
    heads["00"]["tier"] = heads["01"]["tier"] = "L"
    for row in heads["00"]["traits"]:
        row.update(here=False, why="?")

    found = judged(tmp_path, number, "L", heads=heads)

    assert found.outcome is not NA
    assert "?" not in found.reason
    if found.outcome is BLOCKED:
        assert "without a reason" in found.reason


def test_sheets_that_are_not_there_are_needed_or_not_and_never_both(tmp_path: Path) -> None:
    heads = good_heads("M")
    for number in ("06", "12"):
        del heads[number]

    found = judged(tmp_path, 1, heads=heads)

    missing = {fault.split()[1] for fault in found.faults if fault.startswith("sheet ")}
    unneeded = {seen.split()[0] for seen in found.evidence if " is not needed: " in seen}
    assert missing == {"06", "12"}
    assert unneeded == {"07", "08", "09"}
    assert "sheet 06 (Replay infrastructure) is not there, and every tier needs it" in found.faults


def test_a_sheet_in_no_lock_is_told_with_the_command(tmp_path: Path) -> None:
    found = judge(BY_NUMBER[9], replace(facts(tmp_path, "M"), lock=Lock()))

    assert all(fault.endswith("it is in no lock yet: twice spec bump") for fault in found.faults)
    assert found.evidence == ()


def test_one_page_does_at_tier_xs(tmp_path: Path) -> None:
    heads = good_heads("S")
    heads["00"]["tier"] = heads["01"]["tier"] = "XS"
    for number in ("04", "05", "06"):
        heads[number] = {"status": "memo"}

    found = outcomes(tmp_path, heads=heads, operations=())

    assert [each for each in found.values() if each is FAIL] == []
