"""Claims about the statistical class: N seeds recorded, run afresh, and held against each other."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from twice.errors import SampleMissing, SampleUndecided
from twice.foundation.determinism_class import DeterminismClass, Predicate, SampleTest, Summary
from twice.foundation.seeds import Seed, derive_in
from twice.recorder.runrecord import RunRecord
from twice.recorder.samples import read_sample
from twice.replayer.verify import verify
from twice.worker.executor import LocalExecutor

pytestmark = pytest.mark.integration

PROGRAM = """
import os

def main(run):
    rng = run.rng("walk")
    score = float(rng.normal())
    for tick in run.ticks(2):
        score += float(rng.normal())
    noise = int.from_bytes(os.urandom(4), "little") / 2**32
    run.summary("score", -1.0)
    run.summary("score", score + run.config["noise"] * noise)
    if run.config["silent"]:
        raise ValueError("before the end")
"""


def recorded(
    folder: Path,
    name: str,
    sample: Summary | None,
    classes: dict[str, DeterminismClass] | None = None,
    **config: object,
) -> Path:
    program = folder / "walk.py"
    program.write_text(PROGRAM)
    predicate = Predicate(DeterminismClass.STATISTICAL, subsystems=classes or {}, sample=sample)
    settings = {"noise": 0.0, "silent": False, **config}
    out = folder / name
    twice.record(f"{program}:main", seed=7, config=settings, out=out, predicate=predicate).close()
    return out


def score(test: SampleTest = SampleTest.MEAN, epsilon: float = 1.0, n: int = 3) -> Summary:
    return Summary("score", test, epsilon, n)


def test_a_record_holds_a_number_for_every_derived_seed(tmp_path: Path) -> None:
    path = recorded(tmp_path, "a.twice", score())

    with RunRecord.open(path) as record:
        members = read_sample(record).members

    assert [member.seed for member in members] == [
        derive_in(Seed(7), "sweep", at) for at in range(3)
    ]
    assert len({member.value for member in members}) == 3
    assert -1.0 not in {member.value for member in members}, "the last value counts"


def test_the_same_numbers_seed_by_seed_pass(tmp_path: Path) -> None:
    statement = twice.verify(recorded(tmp_path, "a.twice", score()))

    assert (statement.result, statement.exit_code) == ("PASS", 0)
    samples = statement.to_json()["samples"]
    assert samples["recorded"] == samples["replayed"]
    assert samples["identical"]
    assert len(samples["seeds"]) == samples["n"] == 3


@pytest.mark.heavy
def test_members_that_an_executor_runs_are_the_same(tmp_path: Path) -> None:
    path = recorded(tmp_path, "a.twice", score())

    with LocalExecutor(2) as executor:
        statement = verify(path, executor=executor)

    assert statement.samples is not None
    assert statement.samples["replayed"] == statement.samples["recorded"]
    assert statement.environment == verify(path).environment


def test_a_sample_whose_seeds_reach_nothing_says_so(tmp_path: Path) -> None:
    program = tmp_path / "clocked.py"
    program.write_text(
        "import random, time\n\ndef main(run):\n    run.summary('score', random.Random(time.time_ns()).random())\n"
    )
    predicate = Predicate(DeterminismClass.STATISTICAL, sample=score(epsilon=50.0))
    out = tmp_path / "a.twice"
    twice.record(f"{program}:main", seed=7, out=out, predicate=predicate).close()
    statement = twice.verify(out)

    assert statement.result == "PASS"
    assert any(each.endswith("the seeds of the sample are no sample") for each in statement.caveats)
    drawing = twice.verify(recorded(tmp_path, "b.twice", score()))
    assert not any("no sample" in each for each in drawing.caveats)


@pytest.mark.heavy
def test_a_sample_that_is_too_small_cannot_tell(tmp_path: Path) -> None:
    statement = twice.verify(recorded(tmp_path, "a.twice", score(epsilon=0.05), noise=1.0))

    assert (statement.result, statement.exit_code) == ("UNKNOWN", 2)
    assert statement.samples is not None
    assert statement.samples["seeds_needed"] > 3
    assert any("cannot tell" in caveat for caveat in statement.caveats)


def test_other_numbers_fail(tmp_path: Path) -> None:
    statement = twice.verify(
        recorded(tmp_path, "a.twice", score(SampleTest.MULTISET, 0.0), noise=1.0)
    )

    assert (statement.result, statement.exit_code) == ("FAIL", 1)
    assert statement.to_json()["first_failure"]["name"] == "summary:score"


@pytest.mark.heavy
def test_a_wide_margin_takes_noise(tmp_path: Path) -> None:
    path = recorded(tmp_path, "a.twice", score(epsilon=50.0), noise=0.001)

    statement = twice.verify(path)

    assert statement.result == "PASS"
    assert statement.samples is not None
    assert not statement.samples["identical"]


def test_subsystems_of_another_class_are_judged_besides(tmp_path: Path) -> None:
    exact = {"streams": DeterminismClass.BIT_EXACT}

    statement = twice.verify(recorded(tmp_path, "a.twice", score(), exact))

    assert statement.result == "PASS"
    assert statement.counts["evaluated"] > 0
    assert statement.samples is not None


def test_a_run_that_never_ends_well_has_no_summary(tmp_path: Path) -> None:
    with pytest.raises(SampleMissing, match="exception"):
        recorded(tmp_path, "a.twice", score(), silent=True)

    assert not (tmp_path / "a.twice").exists()


@pytest.mark.parametrize("sample", [None, Summary("misspelt")])
def test_a_summary_that_nobody_reports_is_refused(tmp_path: Path, sample: Summary | None) -> None:
    with pytest.raises(SampleMissing):
        recorded(tmp_path, "a.twice", sample)

    assert not (tmp_path / "a.twice").exists()


def test_a_record_without_a_sample_cannot_tell(tmp_path: Path) -> None:
    program = tmp_path / "plain.py"
    program.write_text("def main(run):\n    run.summary('score', 1.0)\n")
    twice.record(f"{program}:main", seed=1, out=tmp_path / "a.twice").close()

    statement = twice.verify(
        tmp_path / "a.twice",
        predicate=Predicate(DeterminismClass.STATISTICAL, sample=score()),
    )

    assert statement.result == "UNKNOWN"
    assert "holds no sample" in statement.caveats[0]


def test_two_equal_samples_are_the_same(tmp_path: Path) -> None:
    one, two = (recorded(tmp_path, name, score()) for name in ("a.twice", "b.twice"))

    verdict = twice.diagnose(one, two)

    assert (verdict.result, verdict.exit_code) == ("same", 0)
    assert verdict.to_json()["samples"]["identical"]


def test_two_near_samples_are_within_tolerance(tmp_path: Path) -> None:
    wide = score(epsilon=50.0)
    one, two = (recorded(tmp_path, name, wide, noise=0.001) for name in ("a.twice", "b.twice"))

    assert twice.diagnose(one, two).result == "within-tolerance"


@pytest.mark.heavy
def test_two_other_samples_are_unlocalised_with_the_evidence(tmp_path: Path) -> None:
    other = score(SampleTest.MULTISET, 0.0)
    one, two = (recorded(tmp_path, name, other, noise=1.0) for name in ("a.twice", "b.twice"))

    verdict = twice.diagnose(one, two)

    assert (verdict.result, verdict.exit_code) == ("unlocalised", 1)
    assert verdict.operation is None
    assert verdict.evidence[0].startswith("score, 3 seeds: 3 values from ")
    assert "samples of 'score' differ" in verdict.headline()


def test_two_samples_that_cannot_tell_are_refused_with_the_size_that_could(tmp_path: Path) -> None:
    small = score(epsilon=0.05)
    one, two = (recorded(tmp_path, name, small, noise=1.0) for name in ("a.twice", "b.twice"))

    with pytest.raises(SampleUndecided, match=r"--n [0-9]+"):
        twice.diagnose(one, two)
