"""Causes that an experiment bears out, and causes that it refutes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

import twice
from programs import write
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.executions import Side, Window
from twice.diagnosis.experiments import hold_still_one_by_one
from twice.recorder.environment.process_start import CHILD_SWITCH
from twice.recorder.runrecord import RunRecord


def confirmed(
    folder: Path,
    source: str,
    a: Mapping[str, str] | None = None,
    b: Mapping[str, str] | None = None,
) -> Divergence:
    program = write(folder, source)
    for name, env in (("a", a), ("b", b)):
        twice.record(program, seed=1, out=folder / f"{name}.twice", env=env).close()
    return twice.diagnose(folder / "a.twice", folder / "b.twice", confirm=True)


def outcomes(found: Divergence) -> dict[str, str]:
    return {each.cause: each.outcome for each in found.experiments}


def channels(found: Divergence) -> dict[str, bool | None]:
    return {each.channel.value: each.confirmed for each in found.attribution}


@pytest.mark.heavy
def test_the_read_that_makes_the_difference_is_confirmed_and_an_idle_one_refuted(
    tmp_path: Path,
) -> None:
    found = confirmed(
        tmp_path,
        """
        import os, time
        def main(run):
            for tick in run.ticks(2):
                began = time.time()
                run.compare("token", os.urandom(8).hex())
        """,
    )

    assert outcomes(found) == {"clock": "refuted", "entropy": "confirmed"}
    assert channels(found)["effects"] is True
    assert found.to_json()["experiments"][0]["outcome"] == "refuted"
    assert "confirmed" in found.to_text()


@pytest.mark.heavy
def test_reads_that_differ_and_change_nothing_sink_their_channel(tmp_path: Path) -> None:
    found = confirmed(
        tmp_path,
        """
        import time
        def main(run):
            for tick in run.ticks(2):
                began = time.time()
                run.compare("names", list({f"name {at}" for at in range(40)}))
        """,
        b={"PYTHONHASHSEED": "9"},
    )

    assert outcomes(found) == {"hash seed": "confirmed"}
    assert found.attribution[0].channel.value == "concurrency"
    assert found.attribution[0].confirmed is True


@pytest.mark.heavy
def test_surroundings_that_differ_only_together_are_confirmed_together(tmp_path: Path) -> None:
    found = confirmed(
        tmp_path,
        """
        import os
        def main(run):
            for tick in run.ticks(2):
                here = os.environ.get("ONE"), os.environ.get("TWO")
                run.compare("both", here == ("1", "2"))
        """,
        a={"ONE": "0", "TWO": "0", "THREE": "0"},
        b={"ONE": "1", "TWO": "2", "THREE": "3"},
    )

    assert outcomes(found) == {
        "env ONE": "refuted",
        "env TWO": "refuted",
        "env THREE": "refuted",
        "env ONE + env TWO": "confirmed",
    }
    assert channels(found)["effects"] is True


@pytest.mark.heavy
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds to processors")
def test_a_race_is_steadied_by_holding_the_turns_of_threads(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        import threading
        def main(run):
            for tick in run.ticks(1):
                written = []
                def write(who):
                    for _ in range(4000):  # longer than a processor is taken away for
                        sum(range(300))
                        written.append(who)
                threads = [threading.Thread(target=write, args=(who,)) for who in "abc"]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                run.compare("written", "".join(written))
        """,
    )
    path = tmp_path / "a.twice"
    twice.record(program, seed=1, out=path, env={CHILD_SWITCH: "0.00001"}).close()
    with RunRecord.open(path) as record, closing(Side("a", record)) as side:
        tried = {
            each.cause: each for each in hold_still_one_by_one(side, Window(0, 1), ["written"])
        }

    assert tried["turns of threads"].outcome == "confirmed", tried
    assert tried["garbage collection"].outcome == "refuted", tried
    assert tried["addresses"].outcome == "open", tried


@pytest.mark.integration
def test_a_run_that_reproduces_itself_needs_no_steadying(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        def main(run):
            for tick in run.ticks(1):
                run.compare("one", 1)
        """,
    )
    twice.record(program, seed=1, out=tmp_path / "a.twice").close()

    with RunRecord.open(tmp_path / "a.twice") as record, closing(Side("a", record)) as side:
        assert hold_still_one_by_one(side, Window(0, 1), ["one"]) == []


@pytest.mark.heavy
def test_without_being_asked_nothing_is_tried(tmp_path: Path) -> None:
    program = write(
        tmp_path,
        """
        import time
        def main(run):
            for tick in run.ticks(2):
                run.compare("now", time.time())
        """,
    )
    for name in ("a", "b"):
        twice.record(program, seed=1, out=tmp_path / f"{name}.twice").close()

    found = twice.diagnose(tmp_path / "a.twice", tmp_path / "b.twice")

    assert list(found.experiments) == []
    assert {each.confirmed for each in found.attribution} == {None}
