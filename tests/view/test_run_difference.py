"""What the page says of two runs: where they part, and what that answer does not cover."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from programs import recorded
from twice import DeterminismClass, Predicate
from twice.recorder.runrecord import RunRecord
from twice.view import run_difference
from twice.view.run_difference import compare_runs, tell_results

integration = pytest.mark.integration  # real records

ENDING = """
    def main(run):
        c = run.track("c", {"n": 0})
        for tick in run.ticks(3):
            c["n"] += 1
        if run.config["v"] == 2:
            raise SystemExit(3)
        return run.config["v"]
"""
LONG = """
    def main(run):
        c = run.track("c", {"n": 0})
        for tick in run.ticks(5000):
            c["n"] += 1
"""
DRAWING = """
    def main(run):
        draws = run.rng("s")
        c = run.track("c", {"n": 0.0})
        for tick in run.ticks(9):
            c["n"] += draws.normal() if tick > 3 else 1.0
        run.summary("n", c["n"])
"""
TOLERATING = """
    from twice import Abs

    def main(run):
        c = run.track("c", {"n": 0.0}, equivalence=Abs(0.001))
        for tick in run.ticks(9):
            c["n"] += 1.0
            if tick == 5:
                c["n"] += run.config["d"]
"""


def compare(
    folder: Path, source: str, *options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, tuple[str, str]]]:
    """Compare two records of a program; the answer, and what differs beside the compare-points."""
    with ExitStack() as stack:
        records = list[RunRecord]()
        for name, each in zip("ab", options, strict=True):
            (folder / name).mkdir()
            records.append(stack.enter_context(recorded(folder / name, source, **each)))
        told = compare_runs(*records)
    return told, {each["what"]: (each["a"], each["b"]) for each in told["others"]}


@integration
def test_other_endings_and_results_are_told_beside_equal_points(tmp_path: Path) -> None:
    told, others = compare(tmp_path, ENDING, {"config": {"v": 0}}, {"config": {"v": 2}})

    assert told["tick"] is None
    assert told["sentence"].startswith("No difference at 5 compare-points, in the digests of c,")
    assert others["ending"] == ("completed, exit code 0", "exit, exit code 3")
    assert others["config.v"] == ("0", "2")
    assert "returned value" in others


@integration
def test_runs_that_are_the_same_differ_in_nothing(tmp_path: Path) -> None:
    told, others = compare(tmp_path, ENDING, *[{"config": {"v": 0}}] * 2)

    assert told["sentence"].startswith("No difference at 5 compare-points")
    assert (told["notes"], others) == ([], {})


@integration
def test_the_columns_that_a_class_leaves_out_are_named(tmp_path: Path) -> None:
    logical = {"predicate": Predicate(DeterminismClass.LOGICAL)}
    told, others = compare(tmp_path, DRAWING, {"seed": 1, **logical}, {"seed": 2, **logical})

    assert told["sentence"].endswith("in the digests of inputs, output.")
    assert "Not compared, by the class of these runs: c, effects, streams." in told["notes"]
    assert "The digests of c differ, first at tick 4." in told["notes"]
    assert "The digests of streams differ, first in the construction." in told["notes"]
    assert {"seed", "summary n"} <= set(others)


@integration
def test_values_within_a_tolerance_are_told(tmp_path: Path) -> None:
    told, _ = compare(tmp_path, TOLERATING, {"config": {"d": 0.0}}, {"config": {"d": 0.0005}})

    assert "c" not in told["sentence"].partition("digests of")[2].rstrip(".").split(", ")
    assert told["notes"] == ["Compared by value, with a tolerance: c. 5 values differ within it."]


@integration
def test_long_runs_are_not_said_to_agree_in_values_that_were_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_difference, "_COMPARED_WHOLE", 5)
    told, others = compare(tmp_path, TOLERATING, {"config": {"d": 0.0}}, {"config": {"d": 0.5}})

    assert told["tick"] is None
    assert "in the chains of the digests of effects, inputs," in told["sentence"]
    assert any(note.startswith("Not compared: c. It has a tolerance") for note in told["notes"])
    assert others == {"config.d": ("0.0", "0.5")}


@integration
def test_a_record_that_is_not_closed_is_named(tmp_path: Path) -> None:
    with recorded(tmp_path, ENDING, config={"v": 0}) as record:
        torn = tmp_path / "torn.twice"
        content = record.path.read_bytes()
        torn.write_bytes(content[: len(content) * 4 // 5])
        with RunRecord.open(torn) as other:
            told = compare_runs(record, other)

    assert "Not closed: torn.twice. What it does not hold is not compared." in told["notes"]


@integration
@pytest.mark.parametrize("compared_whole", [run_difference._COMPARED_WHOLE, 0])
def test_a_record_that_is_not_closed_does_not_part_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compared_whole: int
) -> None:
    monkeypatch.setattr(run_difference, "_COMPARED_WHOLE", compared_whole)
    with recorded(tmp_path, LONG) as record:
        torn = tmp_path / "torn.twice"
        content = record.path.read_bytes()
        torn.write_bytes(content[: len(content) // 2])
        with RunRecord.open(torn) as other:
            points = len(other.reader.points)
            told = [compare_runs(record, other), compare_runs(other, record)]

    assert 0 < points < len(record.reader.points)
    for each in told:
        assert each["sentence"].startswith(
            f"As far as both records go: no difference at {points:,} compare-points, in "
        )
        assert (each["tick"], each["shorter"], each["columns"]) == (None, None, [])


@integration
def test_records_without_compare_points_say_so(tmp_path: Path) -> None:
    with recorded(tmp_path, ENDING, config={"v": 0}) as record:
        torn = tmp_path / "torn.twice"
        content = record.path.read_bytes()
        torn.write_bytes(content[: len(content) // 3])
        with RunRecord.open(torn) as other:
            both, one = compare_runs(other, other), compare_runs(other, record)

    end = "no compare-points, so they do not say whether the runs are equal."
    assert both["sentence"] == f"These records have {end}"
    assert one["sentence"] == f"One of these records has {end}"


@integration
def test_results_stand_before_inputs_and_what_is_left_out_is_counted(tmp_path: Path) -> None:
    configs = [{"config": {f"k{at}": v for at in range(44)} | {"v": v}} for v in (0, 7)]
    told, others = compare(tmp_path, ENDING, *configs)

    assert next(iter(others)) == "returned value"
    assert len(others) == 1 + 40
    assert "Not listed: 5 more inputs that differ." in told["notes"]


@integration
def test_sources_that_gave_other_values_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = """
        import os

        def main(run):
            run.track("c", {"n": 0})
            for tick in run.ticks(3):
                os.urandom(4)
    """
    with recorded(tmp_path, source) as a, recorded(tmp_path, source, out=tmp_path / "b.twice") as b:
        told = compare_runs(a, b)
        monkeypatch.setattr(run_difference, "_READS_COMPARED", 0)
        told_of_many = compare_runs(a, b)

    assert told["notes"] == [
        "They read other values from the world, or make other reads: entropy.urandom."
    ]
    assert told_of_many["notes"] == ["Not compared: the values that the runs read from the world."]


def test_a_diagnosis_tells_results_reads_samples_and_steps() -> None:
    told = tell_results(
        {
            "evidence": ["3 values from 1 to 2, mean 1.5"],
            "outcome": [{"what": "file out.csv", "a": "1 byte", "b": "2 bytes", "where": "byte 0"}],
            "reads": [{"what": "clock.time", "file": "/run/a.py", "line": 3, "code": "time()"}],
            "samples": {"summary": "loss", "agrees": False},
            "schedule": {"step": 4, "sentences": ["b goes first."], "obstacle": ""},
        }
    )

    assert told["outcome"][0]["what"] == "file out.csv (byte 0)"
    assert told["notes"] == [
        "One run alone makes this read: clock.time, at /run/a.py:3.",
        "The samples of loss differ.",
        "They take other steps from step 4 on.",
        "b goes first.",
        "3 values from 1 to 2, mean 1.5",
    ]
    assert tell_results({"evidence": []}) == {"outcome": [], "notes": []}
