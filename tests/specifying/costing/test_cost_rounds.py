"""Real programs in real processes: switches take effect, rounds turn, bytes are those of the record."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from costedprograms import ORDERED, SALTED, SWARM, declared, reader, written

from twice.errors import ConfigKeyUnused, ProgramFailed, UsageError
from twice.foundation.seeds import Seed
from twice.recording.naming import parse_program
from twice.recording.runrecord import RunRecord
from twice.recording.setup import Setup
from twice.recording.surroundings import for_recording
from twice.specifying.costing.costing import chosen_rules, measure_cost
from twice.specifying.costing.figures import orders
from twice.specifying.costing.making import Making
from twice.specifying.costing.rounds import Made, made, measure_rounds, plans_of
from twice.specifying.costing.rules import RULES, Rule

SWITCHED = [rule for rule in RULES if rule.switch and not rule.kind]


OTHERS = ("--digest sha256", "--snapshots tick", "--compare snapshot", "--files contents")


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Made]:
    """One run of the program that reads: with everything, bare, without each rule, and in some other ways."""
    folder = tmp_path_factory.mktemp("costed")
    plans, _ = plans_of(declared(reader(folder)), RULES)
    wanted = [
        each
        for each in plans
        if not each.key.startswith(("alone ", "other ")) or each.key.endswith(OTHERS)
    ]
    return {each.key: made(each.making, folder / "run.twice") for each in wanted}


@pytest.mark.integration
@pytest.mark.parametrize("rule", SWITCHED, ids=[rule.name for rule in SWITCHED])
def test_a_rule_that_is_off_is_read_back_as_off(rule: Rule, read: Mapping[str, Made]) -> None:
    if rule.name == "one numeric thread" and os.cpu_count() == 1:
        pytest.skip("a machine with one processor chooses one thread by itself")
    on, off = read["everything"].seen, read[f"without {rule.name}"].seen

    assert [name for name in rule.seen if on[name] != off[name]]


@pytest.mark.integration
@pytest.mark.parametrize("rule", SWITCHED, ids=[rule.name for rule in SWITCHED])
def test_a_rule_that_is_off_leaves_the_others_on(rule: Rule, read: Mapping[str, Made]) -> None:
    on, off = read["everything"].seen, read[f"without {rule.name}"].seen
    others = [name for each in SWITCHED if each is not rule for name in each.seen]
    # Without a record nobody counts its snapshots; without points there are none to count them by.
    others = [name for name in others if name in off]

    assert [name for name in others if on[name] != off[name] and name not in rule.seen] == []


@pytest.mark.integration
def test_nothing_is_in_force_in_the_bare_run(read: Mapping[str, Made]) -> None:
    bare = read["bare"]

    assert bare.seen["points"] == "0"
    assert bare.seen["reads"] == "plain"
    assert bare.seen["watch"] == "alone"
    assert bare.seen["record"] == "dropped"
    assert bare.took.size == 0
    assert bare.took.ticks == read["everything"].took.ticks == 20


@pytest.mark.integration
def test_another_way_to_keep_a_rule_is_read_back(read: Mapping[str, Made]) -> None:
    assert read["other --digest sha256"].seen["digest"] == "sha256"
    assert read["other --snapshots tick"].seen["snapshots"] == "20"
    assert read["other --compare snapshot"].seen["granularity"] == "snapshot"
    assert read["other --files contents"].seen["files"] == "contents"


@pytest.mark.integration
def test_points_snapshots_and_bytes_are_those_of_the_record(tmp_path: Path) -> None:
    out = tmp_path / "run.twice"
    one = made(declared(SWARM), out)

    assert one.took.size == out.stat().st_size
    with RunRecord.open(out) as record:
        assert one.seen["points"] == str(len(record.reader.points)) == "42"
        assert one.seen["snapshots"] == str(len(record.reader.snapshots)) == "2"


@pytest.mark.integration
def test_the_record_of_a_run_without_a_part_says_so(tmp_path: Path) -> None:
    plans, _ = plans_of(declared(SWARM), chosen_rules(["effects recorded"]))
    making = next(each.making for each in plans if each.key == "without effects recorded")
    made(making, tmp_path / "run.twice")

    with RunRecord.open(tmp_path / "run.twice") as record:
        assert record.ending is not None
        assert "the session was run without its reads" in record.ending["caveats"]


@pytest.mark.parametrize(("count", "rounds"), [(1, 2), (2, 2), (3, 2), (7, 5), (35, 5), (4, 9)])
def test_every_round_makes_every_run_once_and_begins_further_on(count: int, rounds: int) -> None:
    found = orders(count, rounds)

    assert len(found) == rounds
    assert all(sorted(order) == list(range(count)) for order in found)
    if count >= rounds:
        assert len({order[0] for order in found}) == rounds, "each begins elsewhere"


@pytest.mark.heavy
def test_rounds_are_made_in_that_order() -> None:
    plans, _ = plans_of(declared(SWARM), chosen_rules(["output captured"]))
    told: list[str] = []
    found = measure_rounds(plans, 2, told.append)
    keys = [each.key for each in plans]
    counted = [each.split(": ", 1)[1] for each in told if each.startswith("round ")]

    assert counted == [keys[at] for order in orders(len(keys), 2) for at in order]
    assert {key: len(runs) for key, runs in found.made.items()} == dict.fromkeys(keys, 2)


@pytest.mark.heavy
def test_a_cost_holds_every_rule_that_was_asked_for(tmp_path: Path) -> None:
    rules = chosen_rules(["snapshots", "digest", "library steps"])
    cost = measure_cost(declared(SWARM), rounds=2, rules=rules, project=SWARM.parents[1])
    document = cost.to_json()

    assert document["format"] == "twice.cost/1"
    assert [each["rule"] for each in document["rules"]] == ["snapshots"]
    assert [each["rule"] for each in document["unmeasured"]] == ["library steps", "digest"]
    assert [each["name"] for each in document["others"]] == [
        "--snapshots tick", "--strategy full", "--strategy delta", "--strategy event-sourced",
        "--digest sha256", "--digest xxh3_128",
    ]  # fmt: skip
    assert list(document["code"]) == ["examples/swarm.py"]
    assert document["rounds"] == 2
    assert document["config"] == {"n": 4, "ticks": 20}
    assert document["bare"]["bytes"] == {"median": 0, "lowest": 0, "highest": 0}
    assert document["rules"][0]["same_run"] is True
    everything = document["everything"]
    assert 0 < everything["wall_s"]["lowest"] <= everything["wall_s"]["median"]
    assert everything["wall_s"]["median"] <= everything["wall_s"]["highest"]
    assert "the start dominates" in document["caveats"][0]
    assert "--set ticks=2000" in document["caveats"][0]


@pytest.mark.integration
def test_a_rule_whose_switch_had_no_effect_has_a_reason_and_no_figure() -> None:
    making = declared(SWARM)
    zoneless = Making(making.setup, for_recording({}, explicit={"LC_ALL": "C"}))
    cost = measure_cost(zoneless, rounds=2, rules=chosen_rules(["time zone"]))

    # Where the machine's own zone is UTC, leaving it to the machine changes nothing.
    if cost.rules == []:
        (row,) = cost.unmeasured
        assert (row.name, row.artifact) == ("time zone", "10")
        assert "nothing changed" in row.why


@pytest.mark.integration
def test_a_program_that_fails_without_a_rule_loses_that_figure_alone(tmp_path: Path) -> None:
    plans, _ = plans_of(declared(written(tmp_path, SALTED)), chosen_rules(["hash seed"]))
    wanted = [each for each in plans if each.key in {"everything", "without hash seed"}]
    found = measure_rounds(wanted, 2, lambda _: None)

    assert "the hash seed is not fixed" in found.dropped["without hash seed"]
    assert len(found.took("everything")) == 2
    assert found.took("without hash seed") == []


@pytest.mark.integration
def test_a_program_that_does_not_run_bare_is_told_so(tmp_path: Path) -> None:
    making = declared(written(tmp_path, SALTED))

    with pytest.raises(ProgramFailed, match="runs as declared, and fails where nothing is pinned"):
        measure_cost(making, rounds=2, rules=chosen_rules(["output captured"]))


@pytest.mark.heavy
def test_a_run_that_comes_to_something_else_without_a_rule_is_marked(tmp_path: Path) -> None:
    making = declared(written(tmp_path, ORDERED))
    cost = measure_cost(making, rounds=2, rules=chosen_rules(["hash seed", "output captured"]))

    assert {each.rule.name: each.same for each in cost.rules} == {
        "output captured": True,
        "hash seed": False,
    }
    assert "hash seed (another run)" in cost.to_text()


@pytest.mark.heavy
def test_of_a_program_that_is_never_the_same_no_rule_is_said_to_change_it(tmp_path: Path) -> None:
    making = declared(reader(tmp_path))
    cost = measure_cost(making, rounds=2, rules=chosen_rules(["output captured"]))

    assert [each.same for each in cost.rules] == [None]
    assert any("something else each time" in each for each in cost.caveats)


@pytest.mark.heavy
def test_a_script_is_measured_too(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("import os, time\nprint(time.time())\nos._exit(0)\n", encoding="utf-8")
    making = Making(Setup(parse_program(str(path)), Seed(1)), for_recording({}))
    cost = measure_cost(making, rounds=2, rules=chosen_rules(["effects recorded"]))

    assert [each.rule.name for each in cost.rules] == ["effects recorded"]
    assert cost.to_json()["everything"]["ticks_per_s"] is None
    assert any("no ticks" in each for each in cost.caveats)


@pytest.mark.integration
def test_a_program_that_fails_is_an_error_with_its_own_words(tmp_path: Path) -> None:
    making = declared(written(tmp_path, "def main(run):\n    raise ValueError('no luck')\n"))

    with pytest.raises(ProgramFailed, match="ValueError: no luck"):
        measure_cost(making, rounds=2)


@pytest.mark.integration
def test_a_value_that_is_never_read_is_an_error() -> None:
    making = declared(SWARM)
    making = Making(
        Setup(making.setup.program, making.setup.seed, {**making.setup.config, "tiks": 3}),
        making.surroundings,
    )

    with pytest.raises(ConfigKeyUnused, match="tiks"):
        measure_cost(making, rounds=2)


def test_one_round_has_no_spread() -> None:
    with pytest.raises(UsageError, match="--rounds is 1"):
        measure_cost(declared(SWARM), rounds=1)


def test_a_rule_that_there_is_not_is_refused() -> None:
    with pytest.raises(UsageError, match="no rule 'luck'"):
        chosen_rules(["luck"])
