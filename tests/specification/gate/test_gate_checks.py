"""Each check, on facts that turn it green and on facts that turn it red."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from breaks import BREAKS, Break, nothing, untouched
from gatefacts import (
    ENDS,
    facts,
    failed,
    good_evidence,
    good_heads,
    planted,
    replayed,
    varied,
    with_ending,
)
from more_breaks import MORE

from twice.diagnosis.log_comparison import PointRef
from twice.foundation.environment import BlasFacts
from twice.replayer.verification import Verification
from twice.specification.gate.checks import CHECKS
from twice.specification.gate.evidence.context import ReportedFinding, SourcePlace, Unavailable
from twice.specification.gate.evidence.runs import KnownRun, RestoredSnapshots
from twice.specification.gate.evidence.trials import OperationTrial
from twice.specification.gate.model import CheckOutcome
from twice.specification.gate.plan import list_varied
from twice.specification.gate.runner import judge
from twice.specification.lock import Lock
from twice.specification.scaffold.lock import DriftStatus
from twice.specification.workspace import open_workspace

BY_NUMBER = {each.id: each for each in CHECKS}
NO_GPU = {"told": True, "reached": [], "driver": "", "cards": [], "switches": {}}
UNRECORDED = {
    "source": "network.connect", "class": "unsupported", "allowed": False, "why": "nothing records it"
}  # fmt: skip
HERE = SourcePlace("src/herd.py", 3, "random.random()", "jitter")


def outcomes(project: Path, tier: str = "M", **other: Any) -> dict[int, CheckOutcome]:
    known = facts(project, tier, **other)
    return {each.id: judge(each, known).outcome for each in CHECKS}


def reason(project: Path, number: int, tier: str = "M", **other: Any) -> str:
    return judge(BY_NUMBER[number], facts(project, tier, **other)).reason


@pytest.mark.parametrize(
    ("tier", "na", "blocked"),
    [("S", {11, 13, 16}, set()), ("M", {11, 13}, set()), ("L", set(), set())],
)
def test_good_facts_are_green(tmp_path: Path, tier: str, na: set[int], blocked: set[int]) -> None:
    found = outcomes(tmp_path, tier)

    assert {number for number, each in found.items() if each is CheckOutcome.FAIL} == set()
    assert {number for number, each in found.items() if each is CheckOutcome.NA} == na
    assert {number for number, each in found.items() if each is CheckOutcome.BLOCKED} == blocked


def test_a_reason_stands_in_place_of_a_seed_that_matters(tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["02"]["seedless"] = "whoever calls it draws"
    heads["12"]["properties"].remove("seed-matters")

    found = outcomes(tmp_path, "M", heads=heads, reseeded=None)

    assert {number for number, each in found.items() if each is CheckOutcome.FAIL} == set()


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

    assert {number for number, one in found.items() if one is CheckOutcome.FAIL} == {each.check}


def changed(kind: str, **values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: {kind: replace(good[kind], **values)}


def ended(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: {"trial": with_ending(good["trial"], **values)}


def given(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda _: values


def gpu(**values: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
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


def also_loaded(one: BlasFacts) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda good: {"policies": replace(good["policies"], blas=(*good["policies"].blas, one))}


def other_libc(good: dict[str, Any]) -> dict[str, Any]:
    here = good["policies"]
    return {"policies": replace(here, os=replace(here.os, libc="musl 3.9"))}


def recorded_elsewhere(good: dict[str, Any]) -> dict[str, Any]:
    trial = good["trial"]
    return {"trial": replace(trial, environment=replace(trial.environment, libraries={}, blas=()))}


def reports(rule: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Let the checker report something of a GPU, which sheet 99 does not forget."""
    return changed("code", reported=(ReportedFinding(rule, "09", HERE),))


SHOWN: list[tuple[int, str, Callable[[dict[str, Any]], dict[str, Any]], str]] = [
    (3, "M", changed("code", orphans=(HERE,)), "src/herd.py:3: random.random() has no owner"),
    (
        3,
        "M",
        changed("code", orphans=(replace(HERE, fault="is seeded with 42"),)),
        "src/herd.py:3: random.random() is seeded with 42",
    ),
    (4, "M", changed("code", shared=(HERE,)), "one generator serves several"),
    (4, "M", ended(globals_used=["global/numpy"]), "everybody draws from numpy"),
    (3, "S", given(reseeded=False), "another seed gives the same run"),
    (4, "M", given(taken="'herd' was taken before"), "may not have"),
    (5, "M", changed("restored", failed=("herd: it differs",), missing=("herd.age",)), "herd.age"),
    (
        5,
        "M",
        ended(tracked_twice=[["herd", "flock"]]),
        "tracks one object as 'herd' and 'flock'",
    ),
    (6, "M", given(planted=planted(result="unlocalised")), "came out as unlocalised"),
    (6, "M", given(planted=planted(compare_point=PointRef(4, 3, "tick"))), "at tick 3"),
    (6, "M", given(planted=planted(components=("weather",))), "placed in weather"),
    (
        6,
        "M",
        given(
            planted=planted(operation=replace(planted().divergence.operation, file="src/herd.py"))
        ),
        "src/herd.py:30 was named as the operation",
    ),
    (6, "M", given(planted=planted(operation=None)), "no operation was named"),
    (13, "L", reports("atomic-scatter"), "none is stated, and twice check reports"),
    (7, "M", lambda _: {"operations": (OperationTrial("step", worked=False, told="no"),)}, "step"),
    (
        8,
        "M",
        changed("code", reported=(ReportedFinding("time-seed", "02", HERE),)),
        "belongs to 02",
    ),
    (8, "M", changed("code", unread=(HERE,)), "not read"),
    (
        9,
        "M",
        given(laid=(DriftStatus("a/seeds.py", "edited", (), holds=False),)),
        "a/seeds.py: what the scaffold laid down is edited: twice scaffold NAME --replace",
    ),
    (
        9,
        "M",
        given(laid=(DriftStatus("a/s.py", "as-laid", ("02.names",), holds=False),)),
        "was made of 02.names, which changed since",
    ),
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
    (
        14,
        "M",
        ended(asked={"clock.time": 4, "clock.monotonic": 1}),
        "asked clock.monotonic, and no row of clock names it",
    ),
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
]


@pytest.mark.parametrize(("number", "tier", "change", "words"), SHOWN)
def test_evidence_turns_its_check_red_and_no_other(
    tmp_path: Path,
    number: int,
    tier: str,
    change: Callable[[dict[str, Any]], dict[str, Any]],
    words: str,
) -> None:
    other = change(good_evidence(good_heads(tier)))

    found = outcomes(tmp_path, tier, **other)

    assert {one for one, each in found.items() if each is CheckOutcome.FAIL} == {number}
    assert words in reason(tmp_path, number, tier, **other)


def test_a_stream_that_was_adopted_with_a_seed_of_its_own_is_red_until_it_is_accepted(
    tmp_path: Path,
) -> None:
    heads = good_heads("M")
    trial = good_evidence(heads)["trial"]
    streams = {**trial.streams, "herd": {"kind": "adopted", "draws": 4, "seed": None}}
    heads["03"]["slots"][0]["kind"] = "other"
    adopted = with_ending(trial, streams=streams)

    red = judge(BY_NUMBER[3], facts(tmp_path / "a", heads=heads, trial=adopted))
    heads["02"]["accepted"] = [{"place": "herd", "why": "a library seeds it"}]
    green = judge(BY_NUMBER[3], facts(tmp_path / "b", heads=heads, trial=adopted))

    assert (red.outcome, green.outcome) == (CheckOutcome.FAIL, CheckOutcome.PASS)
    assert "'herd' was adopted, and its seed is not derived from the run's" in red.reason
    assert "the run drew from weather, from its seed by rule 1" in green.evidence


@pytest.mark.parametrize("accepted", ["src/herd.py", "src/herd.py:jitter"])
def test_a_shared_generator_that_is_accepted_is_green(tmp_path: Path, accepted: str) -> None:
    heads = good_heads("M")
    heads["03"]["shared"] = [{"stream": accepted, "owners": ["herd", "weather"], "why": "a plot"}]
    good = good_evidence(heads)

    judged = judge(
        BY_NUMBER[4], facts(tmp_path, heads=heads, code=replace(good["code"], shared=(HERE,)))
    )

    assert judged.outcome is CheckOutcome.PASS


def test_code_that_needs_a_gpu_speaks_against_its_absence(tmp_path: Path) -> None:
    other = reports("warn-only")(good_evidence(good_heads("M")))

    judged = judge(BY_NUMBER[13], facts(tmp_path, "M", **other))

    assert judged.outcome is CheckOutcome.FAIL
    assert (
        "by sheet 00 nothing runs on a GPU, and twice check reports src/herd.py:3" in judged.reason
    )


def test_without_a_snapshot_nothing_shows_that_no_float_is_in_the_state(tmp_path: Path) -> None:
    heads = good_heads("M")
    for each in heads["00"]["traits"]:
        each["here"] = each["here"] and each["name"] != "floating-point"
    trial = replace(good_evidence(heads)["trial"], floats="", snapshots=0)

    judged = judge(BY_NUMBER[12], facts(tmp_path, heads=heads, trial=trial))

    assert judged.outcome is CheckOutcome.BLOCKED
    assert "no snapshot that would show" in judged.reason


def test_below_its_tier_a_schedule_that_decides_is_red_without_its_sheet(tmp_path: Path) -> None:
    heads = good_heads("S")
    for each in heads["00"]["traits"]:
        each["here"] = each["here"] or each["name"] == "concurrency"
    trial = with_ending(good_evidence(heads)["trial"], lineages={"main/task/task": 2})

    same = judge(BY_NUMBER[11], facts(tmp_path, "S", heads=heads, trial=trial))
    parted = judge(
        BY_NUMBER[11],
        facts(tmp_path, "S", heads=heads, trial=trial, **varied(task_order="differs")),
    )

    assert (same.outcome, parted.outcome) == (CheckOutcome.PASS, CheckOutcome.FAIL)
    assert "no sheet says what decides the order" in parted.reason
    assert "task order" in list_varied(open_workspace(tmp_path))


def test_a_run_that_does_not_count_by_numpy_needs_no_pin_but_that_of_libm(tmp_path: Path) -> None:
    heads = good_heads("L")
    good = good_evidence(heads)
    kinds = good["policies"].arithmetic
    pins = heads["08"]["pins"]
    heads["08"]["pins"] = [row for row in pins if kinds[row["library"]] == "libm"]
    plain = {"trial": replace(good["trial"], numpy=False)}

    assert outcomes(tmp_path, "L", heads=heads, **plain)[12] is CheckOutcome.PASS
    assert "no row pins NumPy" in reason(tmp_path, 12, "L", heads=heads)

    heads["08"]["pins"] = [row for row in pins if kinds[row["library"]] != "libm"]

    assert "no row pins libm" in reason(tmp_path, 12, "L", heads=heads, **plain)


def test_a_stream_that_no_sheet_names_is_red_in_both_sheets_that_should(tmp_path: Path) -> None:
    good = good_evidence(good_heads("M"))["trial"]
    streams = {**good.streams, "night": {"kind": "numpy", "draws": 3, "seed": "0x4"}}

    found = outcomes(tmp_path, trial=with_ending(good, streams=streams))

    assert {one for one, each in found.items() if each is CheckOutcome.FAIL} == {3, 4}


@pytest.mark.parametrize("number", range(1, 18))
def test_each_check_has_a_fixture_that_turns_it_red(number: int) -> None:
    assert any(each.check == number for each in BREAKS)


@pytest.mark.parametrize("number", [each.id for each in CHECKS if each.needs])
def test_a_check_without_its_evidence_is_blocked(tmp_path: Path, number: int) -> None:
    tier = "L" if number in {11, 12, 13} else "M"
    missing = {need: Unavailable("it rained") for need in BY_NUMBER[number].needs}

    judged = judge(BY_NUMBER[number], facts(tmp_path, tier, **missing))

    assert judged.outcome is CheckOutcome.BLOCKED
    assert judged.reason == "it rained"


def test_a_fault_in_a_sheet_is_told_though_evidence_is_missing(tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["05"]["retention"] = "?"

    judged = judge(
        BY_NUMBER[6], facts(tmp_path, heads=heads, planted=Unavailable("the program does not run"))
    )

    assert judged.outcome is CheckOutcome.FAIL
    assert "retention is unknown" in judged.reason


@pytest.mark.parametrize(
    ("trait", "number", "tier", "values"),
    [
        ("concurrency", 11, "L", {"lineages": {"main/job": 2}}),
        (
            "gpu",
            13,
            "L",
            {"streams": {"dropout": {"kind": "torch-cuda", "draws": 1, "seed": "0x5"}}},
        ),
        ("gpu", 13, "L", {}),
        ("floating-point", 12, "L", {}),
        ("external-effects", 14, "M", {}),
    ],
)
def test_what_is_said_to_be_absent_and_was_seen_is_red_and_not_na(
    tmp_path: Path, trait: str, number: int, tier: str, values: dict[str, Any]
) -> None:
    heads = good_heads(tier)
    for row in heads["00"]["traits"]:
        if row["name"] == trait:
            row["here"] = False
    good = good_evidence(good_heads(tier))

    judged = judge(
        BY_NUMBER[number],
        facts(tmp_path, tier, heads=heads, trial=with_ending(good["trial"], **values)),
    )

    assert judged.outcome is CheckOutcome.FAIL
    assert "by sheet 00" in judged.reason or "is said to ask nothing" in judged.reason


@pytest.mark.parametrize("lineages", [{"main/inner": 3}, {"main/task": 3}, {}])
def test_what_a_library_starts_and_one_task_alone_are_no_concurrency(
    tmp_path: Path, lineages: dict[str, int]
) -> None:
    trial = with_ending(good_evidence(good_heads("M"))["trial"], lineages=lineages)

    judged = judge(BY_NUMBER[11], facts(tmp_path, trial=trial))

    assert judged.outcome is CheckOutcome.NA


def test_a_sheet_of_effects_beside_their_absence_is_red(tmp_path: Path) -> None:
    heads = good_heads("M")
    for row in heads["00"]["traits"]:
        row["here"] = row["here"] and row["name"] != "external-effects"
    trial = with_ending(good_evidence(good_heads("M"))["trial"], asked={})

    judged = judge(BY_NUMBER[14], facts(tmp_path, heads=heads, trial=trial))

    assert judged.outcome is CheckOutcome.FAIL
    assert "is said to ask nothing, and determinism-and-replay/10-" in judged.reason


def test_a_component_that_names_nothing_is_red(tmp_path: Path) -> None:
    heads = good_heads("M")
    heads["04"]["components"] = [{"name": "herd"}, {"name": "flock"}]

    judged = judge(BY_NUMBER[5], facts(tmp_path, heads=heads))

    assert judged.outcome is CheckOutcome.FAIL
    assert "'flock' names nothing; the trial tracks herd, weather" in judged.reason


def test_tier_xl_refuses_a_digest_that_is_not_cryptographic(tmp_path: Path) -> None:
    for tier, words in (("XL", True), ("L", False)):
        heads = good_heads(tier)
        heads["11"]["hash"] = "xxh3_128"
        (tmp_path / tier).mkdir()

        judged = judge(BY_NUMBER[15], facts(tmp_path / tier, tier, heads=heads))

        assert ("xxh3_128 can be made to collide" in judged.reason) is words


def test_snapshots_that_stand_before_the_first_tick_alone_show_nothing(tmp_path: Path) -> None:
    judged = judge(BY_NUMBER[5], facts(tmp_path, restored=RestoredSnapshots(1, (), (), 0)))

    assert judged.outcome is CheckOutcome.BLOCKED
    assert "no snapshot of the trial stands after its first tick" in judged.reason


@pytest.mark.parametrize("said", [{"cadence": "none"}, {"strategy": "event-sourced"}])
@pytest.mark.parametrize(
    ("sealed", "outcome", "words"),
    [
        (replayed(), CheckOutcome.PASS, ""),
        (
            replayed(failed("tick", 1)),
            CheckOutcome.FAIL,
            "executing from the top gives FAIL at tick of tick 1",
        ),
        (Unavailable("it rained"), CheckOutcome.BLOCKED, "no replay from the top: it rained"),
    ],
)
def test_what_keeps_no_snapshots_has_to_replay_from_the_top(
    tmp_path: Path,
    said: dict[str, str],
    sealed: Verification | Unavailable,
    outcome: CheckOutcome,
    words: str,
) -> None:
    heads = good_heads("M")
    heads["04"].update(said)

    judged = judge(BY_NUMBER[5], facts(tmp_path, heads=heads, sealed=sealed))

    assert judged.outcome is outcome
    assert words in judged.reason
    assert outcome is not CheckOutcome.PASS or "executed from the top" in judged.evidence[-1]


def test_tests_that_were_skipped_leave_the_laws_open(tmp_path: Path) -> None:
    good = good_evidence(good_heads("M"))["suite"]

    judged = judge(
        BY_NUMBER[16], facts(tmp_path, suite=replace(good, skipped=("tests/a.py::test_x",)))
    )

    assert judged.outcome is CheckOutcome.BLOCKED
    assert "1 tests were skipped or expected to fail: tests/a.py::test_x" in judged.reason


def test_an_absence_that_nothing_speaks_against_is_na_with_its_reason(tmp_path: Path) -> None:
    judged = judge(BY_NUMBER[11], facts(tmp_path))

    assert judged.outcome is CheckOutcome.NA
    assert judged.reason == (
        "by sheet 00 the system has no concurrency: looked at: concurrency; and the trial started none"
    )


@pytest.mark.parametrize(
    ("number", "values", "words"),
    [
        (11, {"lineages": None}, "does not say what it started"),
        (11, {"lineages": {"main/task": 3}}, "the trial started none, so nothing is told of tasks"),
        (13, {"gpu": {"told": False}}, "does not say whether a GPU was reached"),
        (13, {"gpu": NO_GPU}, "the trial reached no GPU"),
        (
            13,
            {"gpu": {**NO_GPU, "reached": ["torch"], "driver": "570.1", "cards": ["one card"]}},
            "nothing reads torch.use",
        ),
    ],
)
def test_what_a_run_does_not_show_is_blocked(
    tmp_path: Path, number: int, values: dict[str, Any], words: str
) -> None:
    good = good_evidence(good_heads("L"))["trial"]

    judged = judge(BY_NUMBER[number], facts(tmp_path, "L", trial=with_ending(good, **values)))

    assert judged.outcome is CheckOutcome.BLOCKED
    assert words in judged.reason


@pytest.mark.parametrize("number", [11, 12, 13])
def test_an_absence_that_no_run_could_speak_against_is_blocked(tmp_path: Path, number: int) -> None:
    heads = good_heads("L")
    for each in heads["00"]["traits"]:
        each["here"] = False

    judged = judge(
        BY_NUMBER[number], facts(tmp_path, "L", heads=heads, trial=Unavailable("it rained"))
    )

    assert (judged.outcome, judged.reason) == (CheckOutcome.BLOCKED, "it rained")


def test_a_schedule_that_is_said_to_be_recorded_is_blocked(tmp_path: Path) -> None:
    heads = good_heads("L")
    heads["07"]["subsystems"][0]["strategy"] = "recorded-schedule"
    heads["07"]["trace_format"] = "one line for each turn"

    judged = judge(BY_NUMBER[11], facts(tmp_path, "L", heads=heads, varied=()))

    assert judged.outcome is CheckOutcome.BLOCKED
    assert "twice records no schedule yet" in judged.reason


def test_other_instructions_are_asked_of_a_promise_that_reaches_other_hosts(tmp_path: Path) -> None:
    heads = good_heads("L")
    heads["01"]["scope"] = "cross-host"
    none = judge(BY_NUMBER[12], facts(tmp_path, "L", heads=heads))
    factors = varied(libm="differs", cpu_features="same")
    parted = judge(
        BY_NUMBER[12],
        facts(tmp_path, "L", heads=heads, **factors),
    )

    assert (none.outcome, parted.outcome) == (CheckOutcome.BLOCKED, CheckOutcome.FAIL)
    assert "with other libm the run differs" in parted.reason


@pytest.mark.parametrize("number", [11, 12, 13, 14, 15])
def test_an_absence_without_a_reason_is_never_na(tmp_path: Path, number: int) -> None:
    heads = good_heads("S")
    heads["00"]["tier"] = heads["01"]["tier"] = "L"
    for row in heads["00"]["traits"]:
        row.update(here=False, why="?")
    known = facts(tmp_path, "L", heads=heads)

    judged = judge(BY_NUMBER[number], known)

    assert judged.outcome is not CheckOutcome.NA
    assert "?" not in judged.reason
    if judged.outcome is CheckOutcome.BLOCKED:
        assert "without a reason" in judged.reason


def test_sheets_that_are_not_there_are_needed_or_not_and_never_both(tmp_path: Path) -> None:
    heads = good_heads("M")
    for number in ("06", "12"):
        del heads[number]

    judged = judge(BY_NUMBER[1], facts(tmp_path, "M", heads=heads))

    missing = {fault.split()[1] for fault in judged.faults if fault.startswith("sheet ")}
    unneeded = {seen.split()[0] for seen in judged.evidence if " is not needed: " in seen}
    assert missing == {"06", "12"}
    assert unneeded == {"07", "08", "09"}
    assert "sheet 06 (Replay infrastructure) is not there, and every tier needs it" in judged.faults


def test_a_sheet_in_no_lock_is_told_with_the_command(tmp_path: Path) -> None:
    known = replace(facts(tmp_path, "M"), lock=Lock())

    judged = judge(BY_NUMBER[9], known)

    assert all(fault.endswith("it is in no lock yet: twice spec bump") for fault in judged.faults)
    assert judged.evidence == ()


def test_no_finding_is_said_as_nothing(tmp_path: Path) -> None:
    evidence = good_evidence(good_heads("M"))
    evidence["code"] = replace(evidence["code"], reported=())

    judged = judge(BY_NUMBER[8], facts(tmp_path, "M", **evidence))

    assert judged.evidence[-1] == "twice check reports nothing in src"


def test_one_page_does_at_tier_xs(tmp_path: Path) -> None:
    heads = good_heads("S")
    heads["00"]["tier"] = heads["01"]["tier"] = "XS"
    for number in ("04", "05", "06"):
        heads[number] = {"status": "memo"}

    found = outcomes(tmp_path, heads=heads, operations=())

    assert [each for each in found.values() if each is CheckOutcome.FAIL] == []


def test_the_program_of_a_vector_is_not_executed_when_its_code_moved(tmp_path: Path) -> None:
    vector = KnownRun(ENDS, "src/herd.py:main", 4, changed=("src/herd.py differs",))

    told = reason(tmp_path, 10, vector=vector)

    assert "src/herd.py differs" in told
    assert "twice record" in told
