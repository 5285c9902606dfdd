"""Replays are measured beside the recordings of the same round; one that is another run gives no figure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from costedprograms import SWARM, declared, made_cost, run_of, written

from programs import cli
from twice.specification.cost import measurement
from twice.specification.cost.measurement import ReplayMeasurement, measure_cost, measure_once
from twice.specification.cost.result import MeasuredReplay, MeasuredRun
from twice.specification.cost.rules import NOT_SWITCHED, RULES, SEALED_REPLAY, RunVariant

DRIFTING = """
import posix

def main(run):
    counter = run.track("counter", Counter())
    for tick in run.ticks(run.config["ticks"]):
        counter.seen = [int.from_bytes(posix.urandom(8))]
"""
REPLAYS = [MeasuredReplay(2.0, 3.0, 100), MeasuredReplay(2.0, 5.0, 100)]


@pytest.mark.integration
def test_a_recording_is_replayed_and_both_times_are_kept(tmp_path: Path) -> None:
    out, measured = tmp_path / "run.twice", ReplayMeasurement()
    run = measure_once(declared(SWARM), out)

    measured.add(out, run)
    measured.add(out, run)

    assert measured.why == ""
    assert [each.recorded_s for each in measured.agreed_replays] == [run.wall_s] * 2
    assert [each.ticks for each in measured.agreed_replays] == [20, 20]
    assert all(each.replayed_s > 0 for each in measured.agreed_replays)


@pytest.mark.integration
def test_a_replay_that_is_another_run_gives_a_reason_and_no_figure(tmp_path: Path) -> None:
    out, measured = tmp_path / "run.twice", ReplayMeasurement()
    run = measure_once(declared(written(tmp_path, DRIFTING)), out)

    measured.add(out, run)

    assert measured.agreed_replays == ()
    assert measured.why == "its replay differs at tick of tick 0: counter"


def test_each_round_has_one_replay_of_its_recording(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[Path] = []

    def run_once(variant: RunVariant, out: Path) -> MeasuredRun:
        off = dict.fromkeys(variant.off, "off")
        return replace(run_of(1.0), seen={**dict.fromkeys(variant.off, "on"), **off})

    def add(self: ReplayMeasurement, path: Path, run: MeasuredRun) -> None:
        replayed.append(path)
        self.replays.append(MeasuredReplay(run.wall_s, 1.5, run.ticks))

    monkeypatch.setattr(measurement, "measure_once", run_once)
    monkeypatch.setattr(ReplayMeasurement, "add", add)
    cost = measure_cost(declared(SWARM), rounds=3, with_replay=True)
    without = measure_cost(declared(SWARM), rounds=3)

    assert len(replayed) == len(cost.replays) == 3
    assert SEALED_REPLAY not in {each.name for each in cost.unmeasured}
    assert SEALED_REPLAY in {each.name for each in without.unmeasured}
    assert "replay" not in without.to_json()


def test_the_document_and_the_text_have_the_ratio_with_its_spread() -> None:
    cost = replace(made_cost(), replays=REPLAYS)

    told = cost.to_json()["replay"]

    assert told["ratio"] == {"median": 2.0, "lowest": 1.5, "highest": 2.5}
    assert told["ticks_per_s"]["highest"] == 33.3
    assert "2.00 times as long as the recording (1.50 to 2.50)" in cost.to_text()


def test_a_run_without_ticks_has_a_ratio_and_no_rate() -> None:
    cost = replace(made_cost(), replays=[replace(each, ticks=0) for each in REPLAYS])

    assert cost.to_json()["replay"]["ticks_per_s"] is None
    assert "ticks/s, 2.00 times" not in cost.to_text()


def test_the_list_of_rules_names_the_option() -> None:
    (why,) = [each.why for each in NOT_SWITCHED if each.name == SEALED_REPLAY]

    assert "--replay" in why
    assert SEALED_REPLAY not in {each.name for each in RULES}


@pytest.mark.heavy
def test_the_command_prints_the_replay(tmp_path: Path) -> None:
    run = (f"{SWARM}:main", "--seed", 42, "--set", "n=4", "--set", "ticks=20")
    done = cli("cost", *run, "--rounds", 2, "--rule", "snapshots", "--replay", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert " times as long as the recording (" in done.stdout
