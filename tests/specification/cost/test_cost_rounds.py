"""Real programs in real processes: switches take effect, bytes are those of the record. Rounds turn on figures made up."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from costedprograms import ORDERED, SWARM, declared, reader, run_of, written

from twice.errors import ConfigKeyUnused, ProgramFailed
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.specification.cost import measurement
from twice.specification.cost.measurement import (
    BARE,
    EVERYTHING,
    measure_cost,
    measure_once,
    measure_rounds,
    plan_variants,
    turn_order,
)
from twice.specification.cost.result import MeasuredRun
from twice.specification.cost.rules import RULES, CostRule, RunVariant, choose_rules

SWITCHED = [rule for rule in RULES if not rule.whole]


@pytest.fixture(scope="module")
def costed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("costed")


@pytest.fixture(scope="module")
def read(costed: Path) -> Mapping[str, MeasuredRun]:
    """One run of the program that reads: with everything, bare, and without each rule; records have their names."""
    variants, _ = plan_variants(declared(reader(costed)), RULES)
    return {name: measure_once(each, costed / f"{name}.twice") for name, each in variants.items()}


@pytest.mark.integration
@pytest.mark.parametrize("rule", SWITCHED, ids=[rule.name for rule in SWITCHED])
@pytest.mark.sample(3)
def test_a_rule_that_is_off_is_read_back_as_off(
    rule: CostRule, read: Mapping[str, MeasuredRun]
) -> None:
    if rule.name == "one numeric thread" and os.cpu_count() == 1:
        pytest.skip("a machine with one processor chooses one thread by itself")
    on, off = read[EVERYTHING].seen, read[rule.name].seen

    assert on[rule.name] != off[rule.name]


@pytest.mark.integration
@pytest.mark.parametrize("rule", SWITCHED, ids=[rule.name for rule in SWITCHED])
def test_a_rule_that_is_off_leaves_the_others_on(
    rule: CostRule, read: Mapping[str, MeasuredRun]
) -> None:
    on, off = read[EVERYTHING].seen, read[rule.name].seen
    # Without a record nobody counts its snapshots; without points there are none to count them by.
    others = [each.name for each in SWITCHED if each is not rule and each.name in off]

    assert [name for name in others if on[name] != off[name]] == []


@pytest.mark.integration
def test_nothing_is_in_force_in_the_bare_run(read: Mapping[str, MeasuredRun]) -> None:
    bare = read[BARE]

    assert bare.seen["compare-points"] == "0"
    assert bare.seen["effects recorded"] == "plain"
    assert bare.seen["back channels watched"] == "alone"
    assert bare.seen["record written"] == "dropped"
    assert bare.size_bytes == 0
    assert bare.ticks == read[EVERYTHING].ticks == 20


@pytest.mark.integration
def test_points_snapshots_and_bytes_are_those_of_the_record(
    costed: Path, read: Mapping[str, MeasuredRun]
) -> None:
    one, out = read[EVERYTHING], costed / f"{EVERYTHING}.twice"

    assert one.size_bytes == out.stat().st_size
    with RunRecord.open(out) as record:
        assert one.seen["compare-points"] == str(len(record.reader.points)) == "22"
        assert one.seen["snapshots"] == str(len(record.reader.snapshots)) == "2"


@pytest.mark.integration
@pytest.mark.usefixtures("read")
def test_the_record_of_a_run_without_a_part_says_so(costed: Path) -> None:
    with RunRecord.open(costed / "effects recorded.twice") as record:
        assert record.ending is not None
        assert "the session was run without its reads" in record.ending["caveats"]


def make_up(monkeypatch: pytest.MonkeyPatch, failing: str = "", **seen: str) -> None:
    """Let every run be made up: what it reads back, and the rule without which it fails; no process is started."""

    def run_once(variant: RunVariant, out: Path) -> MeasuredRun:
        del out
        if failing in variant.off:
            raise ProgramFailed(f"{failing} is off", "Expected it.", "Leave it on.")
        off = dict.fromkeys(variant.off, "off")
        return replace(run_of(1.0), seen={**dict.fromkeys(variant.off, "on"), **off, **seen})

    monkeypatch.setattr(measurement, "measure_once", run_once)


def test_rounds_are_made_in_that_order(monkeypatch: pytest.MonkeyPatch) -> None:
    make_up(monkeypatch)
    variants, _ = plan_variants(declared(SWARM), choose_rules(["output captured"]))
    told: list[str] = []
    runs, _ = measure_rounds(variants, 2, told.append)
    names = list(variants)
    counted = [each.split(": ", 1)[1] for each in told if each.startswith("round ")]

    assert counted == [name for number in range(2) for name in turn_order(names, number, 2)]
    assert {name: len(each) for name, each in runs.items()} == dict.fromkeys(names, 2)


@pytest.mark.heavy
def test_a_cost_holds_every_rule_that_was_asked_for(tmp_path: Path) -> None:
    rules = choose_rules(["snapshots", "library steps"])
    cost = measure_cost(declared(SWARM), rounds=2, rules=rules, project=SWARM.parents[1])
    document = cost.to_json()

    assert document["format"] == "twice.cost/1"
    assert [each["rule"] for each in document["rules"]] == ["snapshots"]
    assert [each["rule"] for each in document["unmeasured"]] == ["library steps"]
    assert list(document["code"]) == ["examples/swarm.py"]
    assert document["rounds"] == 2
    assert document["config"] == {"n": 4, "ticks": 20}
    assert document["bare"]["bytes"] == {"median": 0, "lowest": 0, "highest": 0}
    assert document["rules"][0]["same_run"] is True
    everything = document["everything"]
    assert 0 < everything["wall_s"]["lowest"] <= everything["wall_s"]["median"]
    assert everything["wall_s"]["median"] <= everything["wall_s"]["highest"]
    assert "the start dominates" in document["caveats"][0]


def test_a_rule_whose_switch_had_no_effect_has_a_reason_and_no_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Where the machine's own zone is the declared one, leaving it to the machine changes nothing.
    make_up(monkeypatch, **{"time zone": "UTC"})
    cost = measure_cost(declared(SWARM), rounds=2, rules=choose_rules(["time zone"]))

    assert cost.rules == []
    (row,) = cost.unmeasured
    assert (row.name, row.artifact) == ("time zone", "10")
    assert "nothing changed: time zone is still UTC" in row.why


def test_a_program_that_fails_without_a_rule_loses_that_figure_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_up(monkeypatch, failing="hash seed")
    variants, _ = plan_variants(declared(SWARM), choose_rules(["hash seed"]))
    del variants[BARE]
    runs, dropped = measure_rounds(variants, 2, lambda _: None)

    assert "the program fails like this: hash seed is off" in dropped["hash seed"]
    assert {name: len(each) for name, each in runs.items()} == {EVERYTHING: 2}


def test_a_program_that_does_not_run_bare_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    make_up(monkeypatch, failing="hash seed")

    with pytest.raises(ProgramFailed, match="runs as declared, and fails where nothing is pinned"):
        measure_cost(declared(SWARM), rounds=2, rules=choose_rules(["output captured"]))


@pytest.mark.heavy
def test_a_run_that_comes_to_something_else_without_a_rule_is_marked(tmp_path: Path) -> None:
    variant = declared(written(tmp_path, ORDERED))
    cost = measure_cost(variant, rounds=2, rules=choose_rules(["hash seed", "output captured"]))

    assert {each.rule.name: each.same for each in cost.rules} == {
        "output captured": True,
        "hash seed": False,
    }
    assert "hash seed (another run)" in cost.to_text()


@pytest.mark.heavy
def test_of_a_program_that_is_never_the_same_no_rule_is_said_to_change_it(tmp_path: Path) -> None:
    variant = declared(reader(tmp_path))
    cost = measure_cost(variant, rounds=2, rules=choose_rules(["output captured"]))

    assert [each.same for each in cost.rules] == [None]
    assert any("each run has another result" in each for each in cost.caveats)


@pytest.mark.heavy
def test_a_script_is_measured_too(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import os, time\nprint(time.time())\nos._exit(0)\n", encoding="utf-8")
    variant = RunVariant(Setup(parse_program(str(path)), Seed(1)), for_recording({}))
    cost = measure_cost(variant, rounds=2, rules=choose_rules(["effects recorded"]))

    assert [each.rule.name for each in cost.rules] == ["effects recorded"]
    assert cost.to_json()["everything"]["ticks_per_s"] is None
    assert any("no ticks" in each for each in cost.caveats)


@pytest.mark.integration
def test_a_program_that_fails_is_an_error_with_its_own_words(tmp_path: Path) -> None:
    variant = declared(written(tmp_path, "def main(run):\n    raise ValueError('no luck')\n"))

    with pytest.raises(ProgramFailed, match="ValueError: no luck"):
        measure_cost(variant, rounds=2)


@pytest.mark.integration
def test_a_value_that_is_never_read_is_an_error() -> None:
    variant = declared(SWARM)
    variant = RunVariant(
        Setup(variant.setup.program, variant.setup.seed, {**variant.setup.config, "tiks": 3}),
        variant.surroundings,
    )

    with pytest.raises(ConfigKeyUnused, match="tiks"):
        measure_cost(variant, rounds=2)
