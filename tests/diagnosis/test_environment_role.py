"""What runs ran on votes for a channel where executions show that something outside of the record differs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import twice
from twice.diagnosis.attribution import Observations, attribute
from twice.diagnosis.diagnose import diagnose_failure
from twice.diagnosis.environment_role import EnvironmentEvidence, execute_whole_runs
from twice.foundation.environment import Affects, EnvironmentDifference, classify_differences
from twice.replayer.file_report import FileJudgement
from twice.replayer.outcome import Failure


def row(what: str, recorded: str, now: str, affects: Affects = "numerics") -> EnvironmentDifference:
    return EnvironmentDifference(what, recorded, now, affects)


NUMPY = row("library numpy", "1.26.4", "2.4.6")
BLAS = row("blas openblas in numpy.libs version", "0.3.23", "0.3.31")
PROBE = row("probe lapack.svd", "12c5", "a8ec")
DRIVER = row("gpu driver", "550.54", "560.35")
CUDNN = row("library nvidia-cudnn-cu12", "9.1.0", "9.2.0")
PYTHON = row("python version", "3.11.7", "3.12.1", "identity")
FEATURES = row("cpu features", "", "avx2 avx512f bmi2 fma")


def ranked(*rows: EnvironmentDifference, used_gpu: bool = False, role: str = "suspected") -> list:
    evidence = EnvironmentEvidence(rows, role, "run b agrees with itself", used_gpu)
    return attribute(Observations(environment=evidence))


def test_a_library_that_is_another_one_is_named_first_and_probes_make_it_surer() -> None:
    (alone,) = ranked(NUMPY, BLAS)
    (shown,) = ranked(NUMPY, BLAS, PROBE)

    assert alone.channel.value == "floating-point"
    assert alone.evidence == (
        "run b agrees with itself: library numpy (1.26.4 / 2.4.6); blas openblas in numpy.libs version (0.3.23 / 0.3.31)",
    )
    assert alone.confidence < shown.confidence < 0.9
    assert shown.evidence[0].endswith("; 1 numeric probe differs")


def test_a_driver_is_a_matter_of_the_gpu_and_its_libraries_are_where_a_run_used_one() -> None:
    assert [each.channel.value for each in ranked(DRIVER)] == ["gpu"]
    assert [each.channel.value for each in ranked(CUDNN, used_gpu=True)] == ["gpu"]
    assert [each.channel.value for each in ranked(CUDNN)] == ["floating-point"]


def test_another_interpreter_is_a_matter_of_encoding_and_less_sure_than_arithmetic() -> None:
    first, second = ranked(PYTHON, NUMPY)

    assert (first.channel.value, second.channel.value) == ("floating-point", "encoding")
    assert first.confidence > second.confidence


@pytest.mark.parametrize("role", ["none", "suspected"])
def test_rows_that_move_nothing_and_runs_that_part_in_spite_of_them_give_no_vote(role: str) -> None:
    notes = [row("os release", "6.1", "6.2", "note"), row("variable OMP_NUM_THREADS", "1", "2")]

    assert ranked(*notes, *([NUMPY] if role == "none" else []), role=role) == []


@pytest.mark.parametrize(
    ("rows", "classification"),
    [
        ([], "same-environment"),
        ([row("variable TZ", "UTC", "CET")], "same-environment"),
        ([row("os release", "6.1", "6.2", "note")], "same-environment"),
        ([NUMPY, BLAS], "cross-version"),
        ([PYTHON], "cross-version"),
        ([FEATURES, NUMPY], "cross-machine"),
        ([DRIVER], "cross-machine"),
        ([row("dispatch numpy", "SSE", "SSE AVX2")], "cross-machine"),
        ([row("dispatch numpy", "SSE", "SSE AVX2"), NUMPY], "cross-version"),
    ],
)
def test_two_runs_are_classified_by_what_was_under_them(
    rows: list[EnvironmentDifference], classification: str
) -> None:
    assert classify_differences(rows) == classification


def test_what_to_do_names_the_row_that_explains_most() -> None:
    asked = EnvironmentEvidence([BLAS, PROBE, NUMPY], "suspected", "why")
    processor = EnvironmentEvidence([FEATURES], "suspected", "why")

    assert "(library numpy: 1.26.4)" in asked.remedy
    assert "(the recorded processor)" in processor.remedy
    assert EnvironmentEvidence([NUMPY]).remedy == ""


def test_features_are_shown_by_what_one_side_alone_has() -> None:
    (found,) = ranked(FEATURES)

    assert found.evidence[0].endswith("cpu features (without / with avx2 avx512f bmi2 and 1 more)")


class Run:
    """A side whose executions end as they are told to."""

    python = ""

    def __init__(self, label: str, *left: str) -> None:
        self.record = SimpleNamespace(ending={})
        self.label = label
        self.executions = [
            Failure(0, 0, "files", (), "one", text) if text else None for text in left
        ]

    def execute_whole(self) -> Any:
        failure = self.executions.pop(0)
        return SimpleNamespace(failure=failure, files=FileJudgement(), environment=[NUMPY])


@pytest.mark.parametrize(
    ("a", "b", "role", "of"),
    [
        (["", ""], ["two", "two"], "suspected", "run b"),
        (["two", "two"], [""], "suspected", "run a"),
        ([""], [""], "none", ""),
        ([""], ["two", "three"], "none", ""),
    ],
)
def test_a_run_that_leaves_something_else_here_each_time_was_made_on_something_else(
    a: list[str], b: list[str], role: str, of: str
) -> None:
    both: Any = (Run("a", *a), Run("b", *b))

    found = execute_whole_runs([NUMPY], both, lambda _: None)

    assert found.role == role
    assert found.why.startswith(of)


def test_whole_runs_are_not_executed_where_nothing_can_follow_from_their_environments() -> None:
    both: Any = (Run("a"), Run("b"))

    found = execute_whole_runs([row("variable TZ", "UTC", "CET")], both, lambda _: None)

    assert found.role == "none"


READS = """
from pathlib import Path

def main(run):
    held = run.track("held", {"text": ""})
    for _ in run.ticks(2):
        held["text"] += Path("data.txt").read_text()
"""


@pytest.mark.integration
@pytest.mark.heavy
def test_a_file_that_has_changed_since_is_the_cause_and_the_environment_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs are executed again in processes of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("twice.replayer.evidence.diff_fingerprints", lambda *_: [NUMPY, BLAS])
    Path("reads.py").write_text(READS)
    Path("data.txt").write_text("1")
    twice.record("reads.py:main", seed=1, out="a.twice").close()
    Path("data.txt").write_text("2")
    statement = twice.verify("a.twice")
    assert statement.failure is not None

    found = diagnose_failure("a.twice", statement.failure, environment=statement.environment)

    assert [row.what for row in found.environment] == [NUMPY.what, BLAS.what]
    (only,) = found.attribution
    assert only.channel.value == "effects"
    assert only.evidence == ("a file that run a read is not here as it was: data.txt",)
    assert "--files contents" in found.remedies[0]
